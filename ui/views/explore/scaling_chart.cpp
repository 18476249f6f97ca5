#include "ui/views/explore/scaling_chart.h"

#include <QPainter>
#include <algorithm>
#include <cmath>
#include <iterator>

#include "ui/plot/axis_paint.h"
#include "ui/plot/design_overlay.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kLeft = 60, kTop = 34, kRight = 24, kBottom = 38, kReach = 9;
constexpr double kGpusApart = 58;  // pixels between ticks of GPUs
constexpr double kLegendLine = 18;
constexpr double kMargin = 0.04;  // share of the axis

QString yTitle() { return ScalingChart::tr("Tokens/s per GPU"); }

}  // namespace

double per_gpu(const ScalePoint& p) {
  return p.evaluation.timed()
             ? p.evaluation.tokens_per_second / static_cast<double>(std::max<int64_t>(1, p.gpus))
             : 0;
}

ScalingChart::ScalingChart(QWidget* parent)
    : Canvas(QStringLiteral("scaling_chart"), tr("Tokens per second per GPU over the number of GPUs"),
             parent) {}

void ScalingChart::setPoints(std::vector<ScalePoint> strong, std::vector<ScalePoint> weak, int64_t gpus_now,
                             Mode mode) {
  lines_[Strong] = std::move(strong);
  lines_[Weak] = std::move(weak);
  now_ = gpus_now;
  mode_ = mode;
  selected_ = -1;
  setMessage(tr("No number of GPUs gives a valid design."));
  fitAxes();
}

void ScalingChart::setComparedDesigns(std::vector<OtherDesign> others) {
  others_ = std::move(others);
  fitAxes();
}

void ScalingChart::setExtraLines(std::vector<ExtraLine> lines) {
  extra_ = std::move(lines);
  if (extra_.size() > kMostExtra) extra_.resize(kMostExtra);
  fitAxes();
}

QRectF ScalingChart::plotOf(const QRectF& rect) const {
  return rect.adjusted(kLeft, kTop + (extra_.empty() ? 0 : kLegendLine), -kRight, -kBottom);
}

QPointF ScalingChart::placeOf(int extra_line, int point) const {
  return placeIn(plotOf(QRectF(rect())),
                 extra_[static_cast<size_t>(extra_line)].points[static_cast<size_t>(point)]);
}

QColor ScalingChart::extraInk(size_t line) const {
  const Colors& c = Theme::instance().colors();
  const QColor inks[] = {c.good, c.buffers, c.optimizer, c.logits, c.kv_cache};
  return inks[std::min(line, std::size(inks) - 1)];
}

void ScalingChart::paintExtra(QPainter& painter, const QRectF& plot, const QColor& ground) const {
  constexpr double r = 4;
  for (size_t i = 0; i < extra_.size(); ++i) {
    const QColor ink = extraInk(i);
    QPolygonF path;
    for (const ScalePoint& p : extra_[i].points)
      if (per_gpu(p) > 0) path << placeIn(plot, p);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(ink, 1.6, extra_[i].best ? Qt::DashLine : Qt::SolidLine));
    painter.drawPolyline(path);
    for (const ScalePoint& p : extra_[i].points) {
      if (per_gpu(p) <= 0) continue;
      const QPointF at = placeIn(plot, p);
      painter.setPen(QPen(ink, 1.4));
      painter.setBrush(p.evaluation.feasibility == Feasibility::Fits ? ink : ground);
      if (extra_[i].best)
        painter.drawPolygon(
            QPolygonF({at + QPointF(0, -r), at + QPointF(r, 0), at + QPointF(0, r), at + QPointF(-r, 0)}));
      else
        painter.drawPolygon(QPolygonF({at + QPointF(0, -r), at + QPointF(r, r), at + QPointF(-r, r)}));
    }
  }
}

// The names of the further lines, below the other legend, from the right. What has no room ends in "…".
void ScalingChart::paintExtraLegend(QPainter& painter, const QRectF& rect, const QRectF& plot) const {
  const QFontMetricsF metrics(Theme::instance().uiFont(11));
  const double y = rect.top() + 16 + kLegendLine;
  const double room = (rect.width() - 16) / static_cast<double>(std::max<size_t>(1, extra_.size())) - 34;
  double x = plot.right();
  for (size_t i = extra_.size(); i-- > 0;) {
    const QString words = metrics.elidedText(extra_[i].label, Qt::ElideMiddle, room);
    x -= metrics.horizontalAdvance(words);
    painter.setPen(Theme::instance().colors().secondary);
    painter.drawText(QPointF(x, y + 4), words);
    x -= 20;
    painter.setPen(QPen(extraInk(i), 2, extra_[i].best ? Qt::DashLine : Qt::SolidLine));
    painter.drawLine(QPointF(x, y), QPointF(x + 15, y));
    x -= 14;
  }
}

void ScalingChart::fitAxes() {
  double fewest = 1e18, largest = 1, fastest = 0;
  const auto take = [&](const std::vector<ScalePoint>& line) {
    for (const ScalePoint& p : line) {
      if (per_gpu(p) <= 0) continue;
      fewest = std::min(fewest, static_cast<double>(p.gpus));
      largest = std::max(largest, static_cast<double>(p.gpus));
      fastest = std::max(fastest, per_gpu(p));
    }
  };
  for (const Line line : {Strong, Weak}) {
    take(lines_[line]);
    for (const OtherDesign& other : others_) take(other.lines[line]);
  }
  for (const ExtraLine& line : extra_) take(line.points);
  x_ = log_scale(std::min(fewest, largest), largest, 2);
  const double margin = kMargin * std::max(1.0, x_.high - x_.low);
  x_.from = x_.low - margin;
  x_.to = std::max(x_.high, x_.low + 1) + margin;
  y_ = linear_scale(0, (1 + 2 * kMargin) * fastest);
  update();
}

QPointF ScalingChart::placeIn(const QRectF& plot, const ScalePoint& p) const {
  return {plot.left() + plot.width() * x_.share(static_cast<double>(p.gpus)),
          plot.bottom() - plot.height() * y_.share(per_gpu(p))};
}

QPointF ScalingChart::place(Line line, int point) const {
  return placeIn(plotOf(QRectF(rect())), lines_[line][static_cast<size_t>(point)]);
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

// Without pinned designs, colour and shape distinguish the lines. In a comparison, colours distinguish
// designs, and weak scaling is dashed.
QColor ScalingChart::ink(Line line) const {
  const Colors& colors = Theme::instance().colors();
  if (!others_.empty()) return Theme::instance().designColor(0);
  return line == Strong ? colors.activations : colors.parameters;
}

void ScalingChart::paintAxes(QPainter& painter, const QRectF& rect, const QRectF& plot) const {
  painter.drawText(QRectF(rect.left() + 4, rect.top() + 8, 260, 16), Qt::AlignLeft | Qt::AlignVCenter,
                   yTitle());
  painter.drawText(QRectF(plot.left(), plot.bottom() + 20, plot.width(), 16), Qt::AlignCenter, tr("GPUs"));
  paint_y_axis(painter, y_, plot, kLeft);
  paint_x_axis(painter, x_, plot, kGpusApart);
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
  entry(tr("weak: batch grows"), Weak);
  entry(tr("strong: constant batch"), Strong);
  if (others_.empty()) return;  // in a comparison: the legend of designs after the name of the axis
  const double left = rect.left() + 28 + metrics.horizontalAdvance(yTitle());
  paint_design_legend(painter, QPointF(left, y), members_of(others_, {0}));
}

void ScalingChart::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  const QFont small = Theme::instance().uiFont(11);
  const QFontMetricsF metrics(small);
  const QRectF plot = plotOf(rect);
  painter.save();
  painter.setFont(small);
  painter.setPen(colors.secondary);
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
  paintExtra(painter, plot, ground);
  paintLegend(painter, rect, plot);
  paintExtraLegend(painter, rect, plot);
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
    // Points that do not fit are hollow.
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
  const QRectF plot = plotOf(QRectF(rect()));
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
        out += u'\n' + of_design(other.member,
                                 same == other.lines[line].end()
                                     ? tr("invalid on this number of GPUs")
                                     : tr("%1 tokens/s per GPU, %2")
                                           .arg(grouped_text(static_cast<Wide>(std::llround(per_gpu(*same)))),
                                                signed_percent_text(per_gpu(*same) / per_gpu(p) - 1)));
      }
      return out;
    }
  for (const OtherDesign& other : others_)
    for (const Line line : {Strong, Weak})
      for (const ScalePoint& p : other.lines[line])
        if (hit(p)) return of_design(other.member, text(line, p));
  for (const ExtraLine& line : extra_)
    for (const ScalePoint& p : line.points)
      if (hit(p)) return line.label + u'\n' + text(Strong, p);
  return {};
}

void ScalingChart::click(const QPointF& at, Qt::KeyboardModifiers) {
  for (const Line line : {Strong, Weak})
    for (size_t i = 0; i < lines_[line].size(); ++i)
      if (per_gpu(lines_[line][i]) > 0 && (place(line, static_cast<int>(i)) - at).manhattanLength() <= kReach)
        return select(line, static_cast<int>(i));
  select(line_, -1);
}

// Moves along the line and skips points that cannot run.
void ScalingChart::step(int by) {
  const auto& line = lines_[line_];
  for (int i = selected_ + by; i >= 0 && i < static_cast<int>(line.size()); i += by)
    if (per_gpu(line[static_cast<size_t>(i)]) > 0) return select(line_, i);
}

bool ScalingChart::go(Way way, Qt::KeyboardModifiers) {
  switch (way) {
    case Way::Left: step(-1); return true;
    case Way::Right: step(1); return true;
    case Way::Up:
    case Way::Down:
      line_ = line_ == Strong ? Weak : Strong;
      selected_ = std::min(selected_, static_cast<int>(lines_[line_].size())) - 1;
      step(1);
      return true;
    case Way::First:
      selected_ = -1;
      step(1);
      return true;
    case Way::Last:
      selected_ = static_cast<int>(lines_[line_].size());
      step(-1);
      return true;
    case Way::PageUp:
    case Way::PageDown: break;
  }
  return false;
}

bool ScalingChart::clear() {
  select(line_, -1);
  return true;
}

}  // namespace shardscape::ui
