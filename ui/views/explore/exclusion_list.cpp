#include "ui/views/explore/exclusion_list.h"

#include <QPainter>
#include <algorithm>

#include "design/knobs/knobs.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kRow = 36, kBar = 6, kBelowExample = 4;

}  // namespace

ExclusionList::ExclusionList(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("reasons"));
  setAccessibleName(tr("Why designs are left out"));
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void ExclusionList::setExamples(const std::map<std::string, std::string>& examples) {
  examples_ = examples;
  for (Reason& reason : reasons_)
    if (const auto it = examples_.find(reason.knob); it != examples_.end())
      reason.example = QString::fromStdString(it->second);
  updateGeometry();
  update();
}

// An example may take several lines, because it says what the person must fix.
int ExclusionList::rowHeight(const Reason& reason, int width) const {
  if (reason.example.isEmpty()) return kRow;
  const QFontMetrics metrics(Theme::instance().uiFont(11));
  return kRow +
         metrics.boundingRect(QRect(0, 0, width, 1000), Qt::AlignLeft | Qt::TextWordWrap, reason.example)
             .height() +
         kBelowExample;
}

void ExclusionList::clear() {
  reasons_.clear();
  examples_.clear();
  enumerated_ = 0;
  updateGeometry();
  update();
}

void ExclusionList::setCounts(const SearchCounts& counts) {
  reasons_.clear();
  enumerated_ = counts.enumerated;
  for (const auto& [id, n] : counts.invalid) {
    const Knob* knob = find_knob(id);
    const QString label = knob ? QString::fromStdString(knob->label) : QString::fromStdString(id);
    Reason reason{label, tr("The first problem of these designs is %1").arg(label), id};
    reason.count = n;
    if (const auto it = examples_.find(id); it != examples_.end())
      reason.example = QString::fromStdString(it->second);
    reasons_.push_back(std::move(reason));
  }
  const auto add = [&](const QString& label, const QString& tip, int64_t n, bool left_out = true) {
    if (n > 0) reasons_.push_back({label, tip, {}, n, {}, left_out});
  };
  for (const auto& [text, n] : counts.excluded)
    add(QString::fromStdString(text), tr("Do not meet the condition %1").arg(QString::fromStdString(text)),
        n);
  add(tr("Does not fit in memory"), tr("Valid, but memory plus margin exceeds the GPU's memory"),
      counts.too_large);
  for (const auto& [text, n] : counts.unknown)
    add(QString::fromStdString(text), tr("They fit, but their objective is unknown"), n);
  add(tr("The same as another design"), tr("The settings that differ have no effect on these designs"),
      counts.repeated, false);
  std::stable_sort(reasons_.begin(), reasons_.end(),
                   [](const Reason& a, const Reason& b) { return a.count > b.count; });
  QStringList words;
  for (const Reason& reason : reasons_)
    words << reason.label + QStringLiteral(": ") + grouped_text(reason.count);
  setAccessibleDescription(words.join(QStringLiteral("; ")));
  updateGeometry();
  update();
}

int ExclusionList::heightForWidth(int width) const {
  int height = 0;
  for (const Reason& reason : reasons_) height += rowHeight(reason, width);
  return std::max(kRow, height);
}

void ExclusionList::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& colors = Theme::instance().colors();
  const QFont font = Theme::instance().uiFont(12);
  painter.setFont(font);
  const QFontMetricsF metrics(font);
  if (reasons_.empty()) {
    painter.setPen(colors.secondary);
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
                     tr("A search shows here why designs are left out."));
    return;
  }
  double top = 0;
  for (const Reason& reason : reasons_) {
    const QRectF row(0, top, width(), kRow);
    const int height = rowHeight(reason, width());
    top += height;
    const QString count = grouped_text(reason.count);
    const double taken = metrics.horizontalAdvance(count) + 10;
    painter.setPen(colors.text);
    painter.drawText(row.adjusted(0, 2, -taken, -14), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(reason.label, Qt::ElideRight, row.width() - taken));
    painter.setPen(colors.secondary);
    painter.drawText(row.adjusted(0, 2, 0, -14), Qt::AlignRight | Qt::AlignVCenter, count);
    const QRectF track(0, row.top() + 23, width(), kBar);
    painter.setPen(Qt::NoPen);
    painter.setBrush(mixed(colors.panel, colors.line, 0.75));
    painter.drawRoundedRect(track, 3, 3);
    painter.setBrush(reason.left_out ? colors.runtime : mixed(colors.panel, colors.runtime, 0.5));
    const double share = enumerated_ > 0
                             ? static_cast<double>(reason.count) / static_cast<double>(enumerated_)
                             : 0;
    painter.drawRoundedRect(QRectF(track.left(), track.top(), std::max(3.0, track.width() * share), kBar), 3,
                            3);
    if (reason.example.isEmpty()) continue;
    const QFont small = Theme::instance().uiFont(11);
    painter.setFont(small);
    painter.setPen(colors.secondary);
    painter.drawText(QRectF(0, track.bottom() + 3, width(), height - kRow + kBelowExample),
                     Qt::AlignLeft | Qt::TextWordWrap, reason.example);
    painter.setFont(font);
  }
}

QString ExclusionList::tipAt(const QPointF& point) const {
  double bottom = 0;
  for (const Reason& reason : reasons_) {
    bottom += rowHeight(reason, width());
    if (point.y() < bottom)
      return tr("%1: %2 of %3").arg(reason.tip, grouped_text(reason.count), grouped_text(enumerated_));
  }
  return {};
}

bool ExclusionList::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), tipAt(help->pos()), this);  // no text hides the tip
  return true;
}

}  // namespace shardscape::ui
