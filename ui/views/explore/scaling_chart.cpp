#include "ui/views/explore/scaling_chart.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/session/comparisons.h"
#include "ui/toolkit/arrow_keys.h"
#include "ui/toolkit/canvas_events.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kLeft = 60, kTop = 34, kRight = 24, kBottom = 38, kReach = 9;

}  // namespace

double per_gpu(const ScalePoint& p) {
  return p.evaluation.timed()
             ? p.evaluation.tokens_per_second / static_cast<double>(std::max<int64_t>(1, p.gpus))
             : 0;
}

ScalingChart::ScalingChart(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("scaling_chart"));
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Tokens per second and GPU over the number of GPUs"));
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void ScalingChart::setPoints(std::vector<ScalePoint> strong, std::vector<ScalePoint> weak, int64_t gpus_now,
                             Mode mode) {
  lines_[Strong] = std::move(strong);
  lines_[Weak] = std::move(weak);
  now_ = gpus_now;
  mode_ = mode;
  selected_ = -1;
  fitAxes();
}

void ScalingChart::setComparedDesigns(std::vector<OtherDesign> others) {
  others_ = std::move(others);
  fitAxes();
}

void ScalingChart::fitAxes() {
  low_ = 1e9;
  high_ = 0;
  most_ = 0;
  const auto take = [this](const std::vector<ScalePoint>& line) {
    for (const ScalePoint& p : line) {
      if (per_gpu(p) <= 0) continue;
      low_ = std::min(low_, std::log2(static_cast<double>(p.gpus)));
      high_ = std::max(high_, std::log2(static_cast<double>(p.gpus)));
      most_ = std::max(most_, per_gpu(p));
    }
  };
  for (const Line line : {Strong, Weak}) {
    take(lines_[line]);
    for (const OtherDesign& other : others_) take(other.lines[line]);
  }
  update();
}

QPointF ScalingChart::placeIn(const QRectF& plot, const ScalePoint& p) const {
  const double span = std::max(1.0, high_ - low_);
  return {plot.left() +
              plot.width() * (std::log2(static_cast<double>(p.gpus)) - low_ + 0.04 * span) / (span * 1.08),
          plot.bottom() - plot.height() * per_gpu(p) / (1.08 * std::max(1e-9, most_))};
}

QPointF ScalingChart::place(Line line, int point) const {
  return placeIn(QRectF(rect()).adjusted(kLeft, kTop, -kRight, -kBottom),
                 lines_[line][static_cast<size_t>(point)]);
}

void ScalingChart::select(Line line, int point) {
  line_ = line;
  selected_ = point;
  update();
  if (point >= 0) {
    setAccessibleDescription(tipAt(place(line, point)));
    Q_EMIT pointSelected(line, point);
  }
}

void ScalingChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paint(painter, QRectF(rect()), Theme::instance().colors().ground);
}

// Alone, lines are told apart by colour and shape; in a comparison colours tell designs apart, and weak
// scaling is dashed.
QColor ScalingChart::ink(Line line) const {
  const Colors& colors = Theme::instance().colors();
  if (!others_.empty()) return Theme::instance().designColor(0);
  return line == Strong ? colors.activations : colors.parameters;
}

void ScalingChart::paintAxes(QPainter& painter, const QRectF& rect, const QRectF& plot) const {
  const Colors& colors = Theme::instance().colors();
  painter.drawText(QRectF(rect.left() + 4, rect.top() + 8, 260, 16), Qt::AlignLeft | Qt::AlignVCenter,
                   tr("Tokens per second and GPU"));
  painter.drawText(QRectF(plot.left(), plot.bottom() + 20, plot.width(), 16), Qt::AlignCenter, tr("GPUs"));
  const double power = std::pow(10, std::floor(std::log10(most_ / 4))), rough = most_ / 4 / power,
               step = power * (rough < 2   ? 1
                               : rough < 5 ? 2
                                           : 5);
  for (double value = 0; value <= most_ * 1.08; value += step) {
    const double y = std::round(plot.bottom() - plot.height() * value / (1.08 * most_));
    painter.fillRect(QRectF(plot.left(), y, plot.width(), 1), colors.line);
    painter.drawText(QRectF(rect.left(), y - 8, kLeft - 8, 16), Qt::AlignRight | Qt::AlignVCenter,
                     grouped_text(static_cast<Wide>(std::llround(value))));
  }
  const int every = std::max(
      1, static_cast<int>(std::ceil((high_ - low_ + 1) * 58 / std::max(1.0, plot.width()))));
  for (int e = static_cast<int>(std::ceil(low_)); e <= high_ + 1e-9; e += every) {
    ScalePoint at;
    at.gpus = int64_t{1} << e;
    const double x = placeIn(plot, at).x();
    painter.fillRect(QRectF(std::round(x), plot.top(), 1, plot.height()), colors.line);
    painter.drawText(QRectF(x - 40, plot.bottom() + 4, 80, 15), Qt::AlignCenter, grouped_text(at.gpus));
  }
}

void ScalingChart::paintLegend(QPainter& painter, const QRectF& rect, const QRectF& plot) const {
  const Colors& colors = Theme::instance().colors();
  const QFontMetricsF metrics(Theme::instance().uiFont(11));
  // The legend, from the right.
  double x = plot.right();
  const double y = rect.top() + 16;
  const auto entry = [&](const QString& text, Line line) {
    x -= metrics.horizontalAdvance(text);
    painter.setPen(colors.secondary);
    painter.drawText(QPointF(x, y + 4), text);
    x -= 12;
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink(line));
    if (line == Strong)
      painter.drawRect(QRectF(x, y - 4, 7, 7));
    else
      painter.drawEllipse(QPointF(x + 3.5, y), 3.8, 3.8);
    x -= 18;
  };
  entry(tr("weak: the batch grows along"), Weak);
  entry(tr("strong: the batch stays"), Strong);
  // Whose the lines are, behind the name of the axis.
  x = rect.left() + 4 + metrics.horizontalAdvance(tr("Tokens per second and GPU")) + 24;
  const auto whose = [&](int member) {
    painter.setPen(QPen(Theme::instance().designColor(member), 2));
    painter.drawLine(QPointF(x, y), QPointF(x + 14, y));
    painter.setPen(colors.secondary);
    painter.drawText(QPointF(x + 19, y + 4), Comparisons::letter(member));
    x += 42;
  };
  if (!others_.empty()) whose(0);
  for (const OtherDesign& other : others_) whose(other.member);
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
  paintAxes(painter, rect, plot);
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
  for (const Line line : {Weak, Strong}) {
    for (const OtherDesign& other : others_)
      paintLine(painter, plot, other.lines[line], line, Theme::instance().designColor(other.member), false,
                ground);
    paintLine(painter, plot, lines_[line], line, ink(line), true, ground);
  }
  paintLegend(painter, rect, plot);
  painter.restore();
}

void ScalingChart::paintLine(QPainter& painter, const QRectF& plot, const std::vector<ScalePoint>& points,
                             Line line, const QColor& ink, bool present, const QColor& ground) const {
  QPolygonF path;
  for (const ScalePoint& p : points)
    if (per_gpu(p) > 0) path << placeIn(plot, p);
  painter.setPen(
      QPen(ink, present ? 2 : 1.4, !others_.empty() && line == Weak ? Qt::DashLine : Qt::SolidLine));
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(path);
  const double r = present ? 1 : 0.8;
  for (size_t i = 0; i < points.size(); ++i) {
    const ScalePoint& p = points[i];
    if (per_gpu(p) <= 0) continue;
    // What does not fit is hollow.
    painter.setPen(QPen(ink, 1.6));
    painter.setBrush(p.evaluation.feasibility == Feasibility::Fits ? ink : ground);
    const QPointF at = placeIn(plot, p);
    if (line == Strong)
      painter.drawRect(QRectF(at.x() - 3.4 * r, at.y() - 3.4 * r, 6.8 * r, 6.8 * r));
    else
      painter.drawEllipse(at, 3.8 * r, 3.8 * r);
    if (present && selected_ == static_cast<int>(i) && line_ == line) {
      painter.setPen(QPen(Theme::instance().colors().accent, 2.2));
      painter.setBrush(Qt::NoBrush);
      painter.drawEllipse(at, 8, 8);
    }
  }
}

QString ScalingChart::text(Line line, const ScalePoint& p) const {
  return tr("%1, %2 GPUs, dp %3, batch %4\n%5, %6 tokens/s per GPU, efficiency %7")
             .arg(line == Weak ? tr("Weak") : tr("Strong"), grouped_text(p.gpus), grouped_text(p.dp),
                  grouped_text(p.batch),
                  (mode_ == Mode::Train ? tr("step %1") : stepHeading(mode_) + QStringLiteral(" %1"))
                      .arg(QString::fromStdString(format_seconds(p.evaluation.step_seconds))),
                  grouped_text(static_cast<Wide>(std::llround(per_gpu(p)))), percent_text(p.efficiency)) +
         (p.evaluation.feasibility == Feasibility::Fits ? QString() : tr("\ndoes not fit in memory"));
}

QString ScalingChart::tipAt(const QPointF& point) const {
  const QRectF plot = QRectF(rect()).adjusted(kLeft, kTop, -kRight, -kBottom);
  const auto hit = [&](const ScalePoint& p) {
    return per_gpu(p) > 0 && (placeIn(plot, p) - point).manhattanLength() <= kReach;
  };
  for (const Line line : {Strong, Weak})
    for (const ScalePoint& p : lines_[line]) {
      if (!hit(p)) continue;
      QString out = text(line, p);
      for (const OtherDesign& other : others_) {
        const auto same = std::find_if(
            other.lines[line].begin(), other.lines[line].end(),
            [&](const ScalePoint& o) { return o.gpus == p.gpus && per_gpu(o) > 0; });
        const QString letter = Comparisons::letter(other.member);
        out += same == other.lines[line].end()
                   ? tr("\n%1: not on so many GPUs").arg(letter)
                   : tr("\n%1: %2 tokens/s per GPU, %3")
                         .arg(letter, grouped_text(static_cast<Wide>(std::llround(per_gpu(*same)))),
                              signed_percent_text(per_gpu(*same) / per_gpu(p) - 1));
      }
      return out;
    }
  for (const OtherDesign& other : others_)
    for (const Line line : {Strong, Weak})
      for (const ScalePoint& p : other.lines[line])
        if (hit(p)) return Comparisons::letter(other.member) + QStringLiteral(": ") + text(line, p);
  return {};
}

void ScalingChart::mousePressEvent(QMouseEvent* event) {
  for (const Line line : {Strong, Weak})
    for (size_t i = 0; i < lines_[line].size(); ++i)
      if (per_gpu(lines_[line][i]) > 0 &&
          (place(line, static_cast<int>(i)) - event->position()).manhattanLength() <= kReach)
        return select(line, static_cast<int>(i));
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
