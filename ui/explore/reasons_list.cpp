#include "ui/explore/reasons_list.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "design/knobs.h"
#include "ui/models/value_scale.h"
#include "ui/theme/contrast.h"
#include "ui/theme/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kRow = 36, kBar = 6;

}  // namespace

ReasonsList::ReasonsList(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("reasons"));
  setAccessibleName(tr("Why designs are left out"));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void ReasonsList::clear() {
  reasons_.clear();
  enumerated_ = 0;
  updateGeometry();
  update();
}

void ReasonsList::setCounts(const SearchCounts& counts) {
  reasons_.clear();
  enumerated_ = counts.enumerated;
  for (const auto& [id, n] : counts.invalid) {
    const Knob* knob = find_knob(id);
    const QString label = knob ? QString::fromStdString(knob->label) : QString::fromStdString(id);
    reasons_.push_back({label, tr("%1 is the first thing that is wrong with these designs").arg(label), n, true});
  }
  for (const auto& [text, n] : counts.excluded) reasons_.push_back({QString::fromStdString(text), tr("Do not meet the condition %1").arg(QString::fromStdString(text)), n, true});
  if (counts.too_large > 0) reasons_.push_back({tr("Does not fit in memory"), tr("Valid, but more memory than the GPU has, with the margin"), counts.too_large, true});
  if (counts.repeated > 0) reasons_.push_back({tr("The same as another design"), tr("What differs has no effect on these designs"), counts.repeated, false});
  std::stable_sort(reasons_.begin(), reasons_.end(), [](const Reason& a, const Reason& b) { return a.count > b.count; });
  QStringList words;
  for (const Reason& reason : reasons_) words << reason.label + QStringLiteral(": ") + grouped_text(reason.count);
  setAccessibleDescription(words.join(QStringLiteral("; ")));
  updateGeometry();
  update();
}

QSize ReasonsList::sizeHint() const { return {200, std::max<int>(1, static_cast<int>(reasons_.size())) * kRow}; }

void ReasonsList::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& colors = Theme::instance().colors();
  const QFont font = Theme::instance().uiFont(12);
  painter.setFont(font);
  const QFontMetricsF metrics(font);
  if (reasons_.empty()) {
    painter.setPen(colors.secondary);
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, tr("A search says here why designs are left out."));
    return;
  }
  for (size_t i = 0; i < reasons_.size(); ++i) {
    const Reason& reason = reasons_[i];
    const QRectF row(0, static_cast<double>(i) * kRow, width(), kRow);
    const QString count = grouped_text(reason.count);
    const double taken = metrics.horizontalAdvance(count) + 10;
    painter.setPen(colors.text);
    painter.drawText(row.adjusted(0, 2, -taken, -14), Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(reason.label, Qt::ElideRight, row.width() - taken));
    painter.setPen(colors.secondary);
    painter.drawText(row.adjusted(0, 2, 0, -14), Qt::AlignRight | Qt::AlignVCenter, count);
    const QRectF track(0, row.top() + 23, width(), kBar);
    painter.setPen(Qt::NoPen);
    painter.setBrush(mixed(colors.panel, colors.line, 0.75));
    painter.drawRoundedRect(track, 3, 3);
    painter.setBrush(reason.kept_out ? colors.runtime : mixed(colors.panel, colors.runtime, 0.5));
    const double share = enumerated_ > 0 ? static_cast<double>(reason.count) / static_cast<double>(enumerated_) : 0;
    painter.drawRoundedRect(QRectF(track.left(), track.top(), std::max(3.0, track.width() * share), kBar), 3, 3);
  }
}

bool ReasonsList::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto row = static_cast<size_t>(std::max(0, help->pos().y() / kRow));
    if (row < reasons_.size())
      QToolTip::showText(help->globalPos(), tr("%1: %2 of %3").arg(reasons_[row].tip, grouped_text(reasons_[row].count), grouped_text(enumerated_)), this);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace shardscape::ui
