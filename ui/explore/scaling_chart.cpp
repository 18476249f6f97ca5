#include "ui/explore/scaling_chart.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/models/value_scale.h"
#include "ui/theme/theme.h"
#include "ui/widgets/arrow_keys.h"
#include "ui/widgets/canvas_events.h"

namespace shardscape::ui {
namespace {

constexpr double kLeft = 60, kTop = 34, kRight = 24, kBottom = 38, kReach = 9;

double per_gpu(const ScalePoint& p) { return p.evaluation.timed() ? p.evaluation.tokens_per_second / static_cast<double>(std::max<int64_t>(1, p.gpus)) : 0; }

}  // namespace

ScalingChart::ScalingChart(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("scaling_chart"));
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Tokens per second and GPU over the number of GPUs"));
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void ScalingChart::setPoints(std::vector<ScalePoint> strong, std::vector<ScalePoint> weak, int64_t gpus_now) {
  lines_[Strong] = std::move(strong);
  lines_[Weak] = std::move(weak);
  now_ = gpus_now;
  selected_ = -1;
  low_ = 1e9;
  high_ = 0;
  most_ = 0;
  for (const auto& line : lines_)
    for (const ScalePoint& p : line) {
      if (per_gpu(p) <= 0) continue;
      low_ = std::min(low_, std::log2(static_cast<double>(p.gpus)));
      high_ = std::max(high_, std::log2(static_cast<double>(p.gpus)));
      most_ = std::max(most_, per_gpu(p));
    }
  update();
}

QPointF ScalingChart::placeIn(const QRectF& plot, const ScalePoint& p) const {
  const double span = std::max(1.0, high_ - low_);
  return {plot.left() + plot.width() * (std::log2(static_cast<double>(p.gpus)) - low_ + 0.04 * span) / (span * 1.08), plot.bottom() - plot.height() * per_gpu(p) / (1.08 * std::max(1e-9, most_))};
}

QPointF ScalingChart::place(Line line, int point) const {
  return placeIn(QRectF(rect()).adjusted(kLeft, kTop, -kRight, -kBottom), lines_[line][static_cast<size_t>(point)]);
}

void ScalingChart::select(Line line, int point) {
  line_ = line;
  selected_ = point;
  update();
  if (point >= 0) {
    setAccessibleDescription(tipAt(place(line, point)));
    Q_EMIT picked(line, point);
  }
}

void ScalingChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paint(painter, QRectF(rect()), Theme::instance().colors().ground);
}

void ScalingChart::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  const QFont small = Theme::instance().uiFont(11);
  const QFontMetricsF metrics(small);
  const QRectF plot = rect.adjusted(kLeft, kTop, -kRight, -kBottom);
  painter.save();
  painter.setFont(small);
  painter.setPen(colors.secondary);
  if (most_ <= 0) {
    painter.drawText(rect, Qt::AlignCenter, tr("No number of GPUs gives a valid design."));
    painter.restore();
    return;
  }
  painter.drawText(QRectF(rect.left() + 4, rect.top() + 8, 260, 16), Qt::AlignLeft | Qt::AlignVCenter, tr("Tokens per second and GPU"));
  painter.drawText(QRectF(plot.left(), plot.bottom() + 20, plot.width(), 16), Qt::AlignCenter, tr("GPUs"));
  const double power = std::pow(10, std::floor(std::log10(most_ / 4))), rough = most_ / 4 / power, step = power * (rough < 2 ? 1 : rough < 5 ? 2 : 5);
  for (double value = 0; value <= most_ * 1.08; value += step) {
    const double y = std::round(plot.bottom() - plot.height() * value / (1.08 * most_));
    painter.fillRect(QRectF(plot.left(), y, plot.width(), 1), colors.line);
    painter.drawText(QRectF(rect.left(), y - 8, kLeft - 8, 16), Qt::AlignRight | Qt::AlignVCenter, grouped_text(static_cast<Wide>(std::llround(value))));
  }
  const int every = std::max(1, static_cast<int>(std::ceil((high_ - low_ + 1) * 58 / std::max(1.0, plot.width()))));
  for (int e = static_cast<int>(std::ceil(low_)); e <= high_ + 1e-9; e += every) {
    ScalePoint at;
    at.gpus = int64_t{1} << e;
    const double x = placeIn(plot, at).x();
    painter.fillRect(QRectF(std::round(x), plot.top(), 1, plot.height()), colors.line);
    painter.drawText(QRectF(x - 40, plot.bottom() + 4, 80, 15), Qt::AlignCenter, grouped_text(at.gpus));
  }
  painter.setRenderHint(QPainter::Antialiasing);
  if (now_ > 0) {
    ScalePoint at;
    at.gpus = now_;
    const double x = std::round(placeIn(plot, at).x()) + 0.5;
    painter.setPen(QPen(colors.secondary, 1, Qt::DashLine));
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    painter.setPen(colors.secondary);
    const QString text = tr("current");
    const double width = metrics.horizontalAdvance(text);
    painter.drawText(QPointF(x + 5 + width > plot.right() ? x - 5 - width : x + 5, plot.bottom() - 6), text);
  }
  const QColor inks[] = {colors.activations, colors.parameters};
  for (const Line line : {Weak, Strong}) {
    QPolygonF path;
    for (const ScalePoint& p : lines_[line])
      if (per_gpu(p) > 0) path << placeIn(plot, p);
    painter.setPen(QPen(inks[line], 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(path);
    for (size_t i = 0; i < lines_[line].size(); ++i) {
      const ScalePoint& p = lines_[line][i];
      if (per_gpu(p) <= 0) continue;
      // What does not fit is hollow.
      painter.setPen(QPen(inks[line], 1.6));
      painter.setBrush(p.evaluation.feasibility == Feasibility::Fits ? inks[line] : ground);
      const QPointF at = placeIn(plot, p);
      if (line == Strong) painter.drawRect(QRectF(at.x() - 3.4, at.y() - 3.4, 6.8, 6.8));
      else painter.drawEllipse(at, 3.8, 3.8);
      if (selected_ == static_cast<int>(i) && line_ == line) {
        painter.setPen(QPen(colors.accent, 2.2));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(at, 8, 8);
      }
    }
  }
  // The legend, from the right.
  double x = plot.right();
  const double y = rect.top() + 16;
  const auto entry = [&](const QString& text, Line line) {
    x -= metrics.horizontalAdvance(text);
    painter.setPen(colors.secondary);
    painter.drawText(QPointF(x, y + 4), text);
    x -= 12;
    painter.setPen(Qt::NoPen);
    painter.setBrush(inks[line]);
    if (line == Strong) painter.drawRect(QRectF(x, y - 4, 7, 7));
    else painter.drawEllipse(QPointF(x + 3.5, y), 3.8, 3.8);
    x -= 18;
  };
  entry(tr("weak: the batch grows along"), Weak);
  entry(tr("strong: the batch stays"), Strong);
  painter.restore();
}

QString ScalingChart::tipAt(const QPointF& point) const {
  for (const Line line : {Strong, Weak})
    for (size_t i = 0; i < lines_[line].size(); ++i) {
      const ScalePoint& p = lines_[line][i];
      if (per_gpu(p) <= 0 || (place(line, static_cast<int>(i)) - point).manhattanLength() > kReach) continue;
      return tr("%1, %2 GPUs, dp %3, batch %4\nstep %5, %6 tokens/s per GPU, efficiency %7")
                 .arg(line == Weak ? tr("Weak") : tr("Strong"), grouped_text(p.gpus), grouped_text(p.dp), grouped_text(p.batch), QString::fromStdString(format_seconds(p.evaluation.step_seconds)),
                      grouped_text(static_cast<Wide>(std::llround(per_gpu(p)))), percent_text(p.efficiency)) +
             (p.evaluation.feasibility == Feasibility::Fits ? QString() : tr("\ndoes not fit in memory"));
    }
  return {};
}

void ScalingChart::mousePressEvent(QMouseEvent* event) {
  for (const Line line : {Strong, Weak})
    for (size_t i = 0; i < lines_[line].size(); ++i)
      if (per_gpu(lines_[line][i]) > 0 && (place(line, static_cast<int>(i)) - event->position()).manhattanLength() <= kReach) return select(line, static_cast<int>(i));
  select(line_, -1);
}

void ScalingChart::keyPressEvent(QKeyEvent* event) {
  const auto step = [this](int by) {
    const auto& line = lines_[line_];
    for (int i = selected_ + by; i >= 0 && i < static_cast<int>(line.size()); i += by)
      if (per_gpu(line[static_cast<size_t>(i)]) > 0) return select(line_, i);
  };
  switch (event->key()) {
    case Qt::Key_Left: return step(-1);
    case Qt::Key_Right: return step(1);
    case Qt::Key_Up:
    case Qt::Key_Down: {
      line_ = line_ == Strong ? Weak : Strong;
      const int before = selected_;
      selected_ = std::min(before, static_cast<int>(lines_[line_].size())) - 1;
      return step(1);
    }
    case Qt::Key_Escape: return select(line_, -1);
    default: QWidget::keyPressEvent(event);
  }
}

bool ScalingChart::event(QEvent* event) {
  if (keep_arrow_keys(event)) return true;
  if (show_tip(this, event, [this](QPoint at) { return tipAt(at); })) return true;
  return QWidget::event(event);
}

}  // namespace shardscape::ui
