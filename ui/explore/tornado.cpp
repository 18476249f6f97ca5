#include "ui/explore/tornado.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/models/value_scale.h"
#include "ui/state/display_text.h"
#include "ui/theme/contrast.h"
#include "ui/theme/theme.h"
#include "ui/widgets/arrow_keys.h"
#include "ui/widgets/canvas_events.h"

namespace shardscape::ui {
namespace {

constexpr double kRow = 30, kBar = 14, kTop = 24, kLabel = 260;
constexpr double kLeastTime = 5e-4;       // changes below these are none
constexpr double kLeastMemory = 1 << 20;

}  // namespace

Tornado::Tornado(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("tornado"));
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("What one knob changes"));
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

// Of tokens per second as a share, of memory in bytes.
double Tornado::change(const Neighbour& neighbour) const {
  const Evaluation& now = sensitivity_->now;
  if (matters_ == Matters::Memory) return static_cast<double>(neighbour.evaluation.memory - now.memory);
  return neighbour.evaluation.timed() && now.tokens_per_second > 0 ? neighbour.evaluation.tokens_per_second / now.tokens_per_second - 1 : 0;
}

void Tornado::setSensitivity(std::shared_ptr<const Sensitivity> sensitivity, Matters matters, UnitSystem units) {
  sensitivity_ = std::move(sensitivity);
  matters_ = matters;
  units_ = units;
  rows_.clear();
  selected_ = -1;
  if (sensitivity_)
    for (size_t k = 0; k < sensitivity_->knobs.size(); ++k) {
      Row row;
      row.knob = static_cast<int>(k);
      const std::vector<Neighbour>& neighbours = sensitivity_->knobs[k].neighbours;
      for (size_t n = 0; n < neighbours.size(); ++n) {
        const double by = change(neighbours[n]);
        if (by < row.low) row = {row.knob, by, row.high, static_cast<int>(n), row.high_at};
        if (by > row.high) row = {row.knob, row.low, by, row.low_at, static_cast<int>(n)};
      }
      if (std::max(row.high, -row.low) >= (matters_ == Matters::Time ? kLeastTime : kLeastMemory)) rows_.push_back(row);
    }
  std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return std::max(a.high, -a.low) > std::max(b.high, -b.low); });
  update();
}

int Tornado::shown() const { return std::min<int>(static_cast<int>(rows_.size()), std::max(1, static_cast<int>((height() - kTop) / kRow))); }

QRectF Tornado::rowRect(int row) const { return {0, kTop + row * kRow, static_cast<double>(width()), kRow}; }

void Tornado::select(int row) {
  selected_ = row < static_cast<int>(rows_.size()) ? row : -1;
  setAccessibleDescription(selected_ >= 0 ? tipAt(rowRect(selected_).center()) : QString());
  update();
  if (selected_ >= 0) Q_EMIT picked(selected_);
}

QString Tornado::changeText(double by) const {
  const QString sign = by < 0 ? QString(QChar(0x2212)) : QStringLiteral("+");
  if (matters_ == Matters::Memory) return sign + bytes_text(static_cast<Wide>(std::fabs(by)), units_);
  return sign + QString::number(std::fabs(100 * by), 'f', std::fabs(by) < 0.0995 ? 1 : 0) + QStringLiteral(" %");
}

const Neighbour* Tornado::best(int row) const {
  const KnobSensitivity& knob = sensitivity_->knobs[static_cast<size_t>(rows_[static_cast<size_t>(row)].knob)];
  const Neighbour* found = nullptr;
  const auto gain = [&](const Neighbour& n) { return matters_ == Matters::Memory ? -change(n) : change(n); };
  for (const Neighbour& n : knob.neighbours) {
    const bool fits = n.evaluation.feasibility == Feasibility::Fits || sensitivity_->now.feasibility != Feasibility::Fits;
    if (fits && gain(n) > 0 && (!found || gain(n) > gain(*found))) found = &n;
  }
  return found;
}

void Tornado::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paint(painter, QRectF(rect()), Theme::instance().colors().ground);
}

void Tornado::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  if (!sensitivity_) return;
  const Colors& colors = Theme::instance().colors();
  const QFont plain = Theme::instance().uiFont(12), small = Theme::instance().uiFont(11);
  const QFontMetricsF metrics(plain), small_metrics(small);
  painter.save();
  painter.translate(rect.topLeft());
  painter.setRenderHint(QPainter::Antialiasing);
  const int count = std::min<int>(static_cast<int>(rows_.size()), std::max(1, static_cast<int>((rect.height() - kTop) / kRow)));
  if (count == 0 || rows_.empty()) {
    painter.setFont(plain);
    painter.setPen(colors.secondary);
    painter.drawText(QRectF(0, 0, rect.width(), rect.height()), Qt::AlignCenter, tr("No knob changes this by itself."));
    painter.restore();
    return;
  }
  double least = 0, most = 0;
  for (const Row& row : rows_) {
    least = std::min(least, row.low);
    most = std::max(most, row.high);
  }
  // Room at both ends for the words of the values.
  const double label = std::min(kLabel, rect.width() * 0.3), words = std::min(150.0, rect.width() * 0.2);
  const double left = label + (least < 0 ? words : 10), right = rect.width() - (most > 0 ? words : 10);
  const double scale = (right - left) / std::max(1e-12, most - least), zero = left - least * scale;
  const bool time = matters_ == Matters::Time;
  const QColor good = colors.parameters, bad = colors.activations;  // told apart by their side, too
  painter.setFont(small);
  painter.setPen(colors.secondary);
  if (least < 0) painter.drawText(QRectF(zero - 200, 0, 192, kTop - 6), Qt::AlignRight | Qt::AlignVCenter, time ? tr("fewer tokens per second") : tr("less memory"));
  if (most > 0) painter.drawText(QRectF(zero + 8, 0, 192, kTop - 6), Qt::AlignLeft | Qt::AlignVCenter, time ? tr("more tokens per second") : tr("more memory"));
  for (int i = 0; i < count; ++i) {
    const Row& row = rows_[static_cast<size_t>(i)];
    const KnobSensitivity& of = sensitivity_->knobs[static_cast<size_t>(row.knob)];
    const QRectF line(0, kTop + i * kRow, rect.width(), kRow);
    if (i == selected_) {
      painter.setPen(Qt::NoPen);
      painter.setBrush(colors.accent_soft);
      painter.drawRoundedRect(line.adjusted(0, 1, 0, -1), 4, 4);
    }
    painter.setFont(plain);
    painter.setPen(colors.text);
    const QString now = displayText(*of.knob, QString::fromStdString(of.value));
    const QString name = QString::fromStdString(of.knob->label);
    painter.drawText(QRectF(6, line.top(), label - 12, kRow), Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(name + QStringLiteral(": ") + now, Qt::ElideRight, label - 12));
    painter.setFont(small);
    const auto bar = [&](double by, int neighbour, bool to_right) {
      if (neighbour < 0) return;
      const double x = zero + by * scale;
      const Neighbour& what = of.neighbours[static_cast<size_t>(neighbour)];
      const bool fits = what.evaluation.feasibility == Feasibility::Fits;
      QColor ink = (by > 0) == time ? good : bad;
      if (!fits) ink = mixed(i == selected_ ? colors.accent_soft : ground, ink, 0.4);
      painter.fillRect(QRectF(std::min(zero, x), line.center().y() - kBar / 2, std::max(1.0, std::fabs(x - zero)), kBar), ink);
      const QString text = displayText(*of.knob, QString::fromStdString(what.value)) + u' ' + changeText(by) + (fits ? QString() : tr(", too large"));
      painter.setPen(colors.secondary);
      const double room = to_right ? rect.width() - x - 8 : x - label - 6;
      const QString shown = small_metrics.elidedText(text, Qt::ElideMiddle, std::max(40.0, room));
      painter.drawText(to_right ? QRectF(x + 6, line.top(), room, kRow) : QRectF(x - 6 - room, line.top(), room, kRow), (to_right ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter, shown);
    };
    bar(row.low, row.low_at, false);
    bar(row.high, row.high_at, true);
  }
  painter.fillRect(QRectF(std::round(zero), kTop - 2, 1, count * kRow + 4), mixed(ground, colors.secondary, 0.6));
  painter.restore();
}

QString Tornado::tipAt(const QPointF& point) const {
  const int at = static_cast<int>(std::floor((point.y() - kTop) / kRow));
  if (!sensitivity_ || point.y() < kTop || at >= static_cast<int>(rows_.size())) return {};
  const KnobSensitivity& of = sensitivity_->knobs[static_cast<size_t>(rows_[static_cast<size_t>(at)].knob)];
  QStringList lines{tr("%1 is %2. With").arg(QString::fromStdString(of.knob->label), displayText(*of.knob, QString::fromStdString(of.value)))};
  for (const Neighbour& n : of.neighbours) {
    QString line = displayText(*of.knob, QString::fromStdString(n.value)) + QStringLiteral(": ");
    if (n.evaluation.timed() && sensitivity_->now.tokens_per_second > 0)
      line += tr("step %1, ").arg(QString::fromStdString(format_seconds(n.evaluation.step_seconds)));
    line += bytes_text(n.evaluation.memory, units_);
    if (n.evaluation.feasibility != Feasibility::Fits) line += tr(", does not fit");
    QStringList also;
    for (const auto& [id, value] : n.also) {
      const Knob* knob = find_knob(id);
      also << (knob ? QString::fromStdString(knob->label) + u' ' + displayText(*knob, QString::fromStdString(value)) : QString::fromStdString(id + ' ' + value));
    }
    if (!also.isEmpty()) line += tr("; with %1").arg(also.join(QStringLiteral(", ")));
    lines << line;
  }
  if (best(at)) lines << tr("Double click or Enter takes the best of these that fits");
  return lines.join(u'\n');
}

void Tornado::mousePressEvent(QMouseEvent* event) {
  const int at = static_cast<int>(std::floor((event->position().y() - kTop) / kRow));
  keyboard_ = false;
  select(event->position().y() >= kTop && at < shown() ? at : -1);
}

void Tornado::mouseDoubleClickEvent(QMouseEvent*) {
  if (selected_ >= 0 && best(selected_)) Q_EMIT taken(selected_);
}

void Tornado::keyPressEvent(QKeyEvent* event) {
  if (rows_.empty()) return QWidget::keyPressEvent(event);
  const int last = shown() - 1;
  switch (event->key()) {
    case Qt::Key_Up: return select(std::max(0, selected_ - 1));
    case Qt::Key_Down: return select(std::min(last, selected_ + 1));
    case Qt::Key_Home: return select(0);
    case Qt::Key_End: return select(last);
    case Qt::Key_Escape: return select(-1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (selected_ >= 0 && best(selected_)) Q_EMIT taken(selected_);
      return;
    default: QWidget::keyPressEvent(event);
  }
}

bool Tornado::event(QEvent* event) {
  if (keep_arrow_keys(event)) return true;
  if (show_tip(this, event, [this](QPoint at) { return tipAt(at); })) return true;
  return QWidget::event(event);
}

}  // namespace shardscape::ui
