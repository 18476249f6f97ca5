#include "ui/views/serving/serving_chart.h"

#include <QPainter>
#include <algorithm>
#include <limits>

#include "serving/within_limits.h"
#include "ui/plot/axis_paint.h"
#include "ui/plot/design_overlay.h"
#include "ui/plot/point_shape.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kLeft = 60, kTop = 34, kRight = 24, kBottom = 40, kReach = 9, kRadius = 3.8;
constexpr double kLatencyApart = 64;  // pixels between ticks
constexpr double kFirstShade = 0.12;  // of the ramp; lighter shades are invisible on a light ground

const SweptPhase& phase_of(const ServedPoint& point, bool decodes) {
  return decodes ? point.decode : point.prefill;
}

// Draws a label on a patch of ground, if the label covers no other label.
bool put(QPainter& painter, const QRectF& box, const QString& text, const QColor& ground,
         std::vector<QRectF>& taken) {
  if (std::any_of(taken.begin(), taken.end(), [&](const QRectF& of) { return of.intersects(box); }))
    return false;
  taken.push_back(box);
  paint_veiled_text(painter, box, text, ground);
  return true;
}

void paint_cross(QPainter& painter, const QPointF& at, const QColor& color) {
  constexpr double kArm = 4.5;
  painter.setPen(QPen(color, 1.4));
  painter.drawLine(at + QPointF(-kArm, -kArm), at + QPointF(kArm, kArm));
  painter.drawLine(at + QPointF(-kArm, kArm), at + QPointF(kArm, -kArm));
}

}  // namespace

ServingChart::ServingChart(QWidget* parent)
    : ServingCanvas(QStringLiteral("serving_chart"), tr("Throughput against latency, by batch and context"),
                    parent) {}

bool ServingChart::shows(int at) const {
  if (!phase(at).valid()) return false;
  if (phase(at).fits) return true;
  const bool fits_before = std::any_of(
      sweep()->points.begin(), sweep()->points.end(),
      [&](const ServedPoint& p) { return phase_of(p, decodes()).valid() && phase_of(p, decodes()).fits; });
  if (!fits_before) return true;  // nothing fits: show all points
  for (int i = 0; i < at; ++i)
    if (point(i).context == point(at).context && phase(i).valid() && !phase(i).fits) return false;
  return true;
}

void ServingChart::changed() {
  ValueColumn x, y;
  x.label = decodes() ? tr("Time per output token") : tr("Time to first token of the last prompt");
  x.measure = Measure::Seconds;
  y.label = decodes() ? tr("Tokens/s per GPU") : tr("Prompt tokens/s per GPU");
  x.low = y.low = std::numeric_limits<double>::max();
  x.high = y.high = 0;
  const auto take = [&](const InferenceFigures& f) {
    x.low = std::min(x.low, f.seconds);
    x.high = std::max(x.high, f.seconds);
    y.low = std::min(y.low, f.tokens_per_gpu);
    y.high = std::max(y.high, f.tokens_per_gpu);
  };
  for (int i = 0; i < points(); ++i)
    if (shows(i)) take(phase(i).figures);
  any_ = x.high > 0;
  setMessage(sweep() ? tr("No batch of this sweep can run.") : QString());
  if (any_ && present()) take(present()->figures);
  for (const OtherDesign& other : others())
    for (const ServedPoint& p : other.sweep->points)
      if (any_ && phase_of(p, decodes()).valid() && phase_of(p, decodes()).fits)
        take(phase_of(p, decodes()).figures);
  if (!any_) return;
  x_ = scale_of(x, units(), {limit().value_or(std::numeric_limits<double>::quiet_NaN())});
  y_ = scale_of(y, units());
}

QRectF ServingChart::plotOf(const QRectF& rect) const {
  return rect.adjusted(kLeft, kTop, -kRight, -kBottom);
}

QPointF ServingChart::placeIn(const QRectF& plot, const InferenceFigures& f) const {
  return {plot.left() + plot.width() * x_.share(f.seconds),
          plot.bottom() - plot.height() * y_.share(f.tokens_per_gpu)};
}

QPointF ServingChart::place(int at) const { return placeIn(plotOf(QRectF(rect())), phase(at).figures); }
QPointF ServingChart::presentPlace() const { return placeIn(plotOf(QRectF(rect())), present()->figures); }

int ServingChart::pointAt(const QPointF& at) const {
  if (!any_) return -1;
  const QRectF plot = plotOf(QRectF(rect())).adjusted(-kReach, -kReach, kReach, kReach);
  int best = -1;
  double nearest = kReach * kReach;
  for (int i = 0; i < points(); ++i) {
    if (!phase(i).valid() || !plot.contains(place(i))) continue;
    const QPointF away = place(i) - at;
    const double distance = away.x() * away.x() + away.y() * away.y();
    if (distance >= nearest) continue;
    nearest = distance;
    best = i;
  }
  return best;
}

std::optional<double> ServingChart::limitIn(const QRectF& plot) const {
  if (!any_ || !limit()) return std::nullopt;
  const double share = x_.share(*limit());
  return share >= 0 && share <= 1 ? std::optional(plot.left() + plot.width() * share) : std::nullopt;
}

QString ServingChart::limitText() const {
  return tr("%1 limit %2").arg(decodes() ? tr("TPOT") : tr("TTFT"), text_of(limit_text(*limit())));
}

// Next to the upper end of the line, where there is room.
QRectF ServingChart::limitLabel(const QRectF& plot) const {
  const auto x = limitIn(plot);
  if (!x) return {};
  const double width = QFontMetricsF(Theme::instance().uiFont(11)).horizontalAdvance(limitText()) + 6;
  const double left = *x + 4 + width <= plot.right() ? *x + 4 : *x - 4 - width;
  return {left, plot.top() + 2, width, 15};
}

bool ServingChart::breaksOtherLimit(int at) const {
  return decodes() ? breaks_ttft(point(at), limits()) : breaks_tpot(point(at), limits());
}

// A dashed line, and a wash over the side that exceeds the limit.
void ServingChart::paintLimit(QPainter& painter, const QRectF& plot, const QColor& ground) const {
  const auto x = limitIn(plot);
  if (!x) return;
  const Colors& colors = Theme::instance().colors();
  QColor wash = colors.bad;
  wash.setAlphaF(0.07f);
  painter.fillRect(QRectF(QPointF(*x, plot.top()), plot.bottomRight()), wash);
  painter.setPen(QPen(colors.bad, 1.4, Qt::DashLine));
  painter.drawLine(QPointF(*x, plot.top()), QPointF(*x, plot.bottom()));
  painter.setPen(readable(colors.bad, ground));
  paint_veiled_text(painter, limitLabel(plot), limitText(), ground, Qt::AlignCenter);
}

QColor ServingChart::ink(int context) const {
  const int last = std::max(1, contexts() - 1);
  return ramp_color(1 - (1 - kFirstShade) * context / last);  // short contexts are dark
}

int ServingChart::focus() const {
  if (selected() >= 0) return contextOf(selected());
  if (hovered() >= 0) return contextOf(hovered());
  if (present())
    for (int i = 0; i < contexts(); ++i)
      if (sweep()->largest[static_cast<size_t>(i)].first == present()->context) return i;
  return 0;
}

void ServingChart::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  if (!any_) return;
  const QRectF plot = plotOf(rect);
  painter.save();
  painter.setFont(Theme::instance().uiFont(11));
  paintAxes(painter, rect, plot);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.save();
  painter.setClipRect(plot.adjusted(-8, -8, 8, 8));
  paintLimit(painter, plot, ground);
  for (const OtherDesign& other : others()) paintComparedDesigns(painter, plot, other, ground);
  for (int context = contexts() - 1; context >= 0; --context) paintLine(painter, plot, context, ground);
  paintLabels(painter, plot, ground);
  paintMarks(painter, plot, ground);
  painter.restore();
  paintLegend(painter, rect, plot, ground);
  painter.restore();
}

void ServingChart::paintAxes(QPainter& painter, const QRectF& rect, const QRectF& plot) const {
  painter.setPen(Theme::instance().colors().secondary);
  painter.drawText(QRectF(rect.left() + 4, rect.top() + 8, 260, 16), Qt::AlignLeft | Qt::AlignVCenter,
                   y_.title);
  painter.drawText(QRectF(plot.left(), plot.bottom() + 21, plot.width(), 16), Qt::AlignCenter, x_.title);
  paint_y_axis(painter, y_, plot, kLeft);
  paint_x_axis(painter, x_, plot, kLatencyApart);
}

// The legend: contexts from the right (every other one if there is no room for all), and the meaning of point
// shapes.
void ServingChart::paintLegend(QPainter& painter, const QRectF& rect, const QRectF& plot,
                               const QColor& ground) const {
  const QFontMetricsF metrics(painter.font());
  const Colors& colors = Theme::instance().colors();
  const double y = rect.top() + 16, from = rect.left() + metrics.horizontalAdvance(y_.title) + 30;
  const auto word = [&](int context) {
    return grouped_text(sweep()->largest[static_cast<size_t>(context)].first);
  };
  const auto wide = [&](int every) {
    double sum = metrics.horizontalAdvance(tr("context"));
    for (int i = 0; i < contexts(); i += every) sum += metrics.horizontalAdvance(word(i)) + 30;
    return sum;
  };
  int every = 1;
  while (every < contexts() && wide(every) > plot.right() - from) ++every;
  double x = plot.right() - wide(every);
  painter.setPen(colors.secondary);
  painter.drawText(QPointF(x, y + 4), tr("context"));
  x += metrics.horizontalAdvance(tr("context"));
  for (int i = 0; i < contexts(); i += every) {
    painter.setPen(QPen(ink(i), 2));
    painter.drawLine(QPointF(x + 10, y), QPointF(x + 24, y));
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink(i));
    painter.drawEllipse(QPointF(x + 17, y), 3, 3);
    painter.setPen(i == focus() ? colors.text : colors.secondary);
    painter.drawText(QPointF(x + 29, y + 4), word(i));
    x += metrics.horizontalAdvance(word(i)) + 30;
  }
  // At the left below the axis: hollow points do not fit.
  const bool hollow = std::any_of(sweep()->points.begin(), sweep()->points.end(), [&](const ServedPoint& p) {
    return phase_of(p, decodes()).valid() && !phase_of(p, decodes()).fits;
  });
  const double below = plot.bottom() + 29;
  x = rect.left() + 8;
  painter.setPen(QPen(colors.secondary, 1.6));
  painter.setBrush(ground);
  if (hollow) {
    painter.drawEllipse(QPointF(x, below), kRadius, kRadius);
    painter.setPen(colors.secondary);
    painter.drawText(QPointF(x + 9, below + 4), tr("does not fit"));
    x += metrics.horizontalAdvance(tr("does not fit")) + 26;
  }
  bool crossed = false;
  for (int i = 0; i < points(); ++i) crossed = crossed || (phase(i).valid() && breaksOtherLimit(i));
  if (!crossed) return;
  paint_cross(painter, QPointF(x, below), colors.text);
  painter.setPen(colors.secondary);
  painter.drawText(QPointF(x + 9, below + 4),
                   decodes() ? tr("over the TTFT limit") : tr("over the TPOT limit"));
}

void ServingChart::paintLine(QPainter& painter, const QRectF& plot, int context, const QColor& ground) const {
  const QColor color = ink(context);
  const double width = context == focus() ? 2.4 : 1.6;
  const std::vector<int> order = ServingCanvas::inOrder(context);
  int before = -1;
  for (const int i : order) {
    if (!phase(i).valid()) continue;
    if (before >= 0) {
      painter.setPen(QPen(color, width, phase(i).fits ? Qt::SolidLine : Qt::DashLine));
      painter.drawLine(placeIn(plot, phase(before).figures), placeIn(plot, phase(i).figures));
    }
    before = i;
  }
  for (const int i : order) {
    if (!phase(i).valid()) continue;
    painter.setPen(QPen(color, 1.6));
    painter.setBrush(phase(i).fits ? color : ground);
    const QPointF at = placeIn(plot, phase(i).figures);
    if (point(i).within)
      painter.drawPath(point_shape(1, kRadius + 2).translated(at));
    else if (decodes() && point(i).largest)
      painter.drawPath(point_shape(2, kRadius + 1).translated(at));
    else
      painter.drawEllipse(at, kRadius, kRadius);
    if (breaksOtherLimit(i)) paint_cross(painter, at, Theme::instance().colors().text);
  }
}

// Only the context in focus, because lines of all contexts would be indistinguishable.
void ServingChart::paintComparedDesigns(QPainter& painter, const QRectF& plot, const OtherDesign& other,
                                        const QColor& ground) const {
  const int64_t context = sweep()->largest[static_cast<size_t>(focus())].first;
  std::optional<QPointF> before;
  for (const ServedPoint& p : other.sweep->points) {
    const SweptPhase& of = phase_of(p, decodes());
    if (p.context != context || !of.valid()) continue;
    const QPointF at = placeIn(plot, of.figures);
    if (before) {
      painter.setPen(design_pen(other.member, 1.4, !of.fits));
      painter.drawLine(*before, at);
    }
    painter.setPen(design_pen(other.member, 1.4));
    painter.setBrush(of.fits ? painter.pen().color() : ground);
    painter.drawEllipse(at, 2.4, 2.4);
    before = at;
  }
}

// The place of the last point that fits.
std::optional<QPointF> ServingChart::endOf(const QRectF& plot, const OtherDesign& other) const {
  std::optional<QPointF> out;
  for (const ServedPoint& p : other.sweep->points)
    if (const SweptPhase& of = phase_of(p, decodes());
        p.context == sweep()->largest[static_cast<size_t>(focus())].first && of.valid() && of.fits &&
        plot.contains(placeIn(plot, of.figures)))
      out = placeIn(plot, of.figures);
  return out;
}

void ServingChart::paintLabels(QPainter& painter, const QRectF& plot, const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  const QFontMetricsF metrics(painter.font());
  std::vector<QRectF> taken;
  if (const QRectF label = limitLabel(plot); !label.isNull()) taken.push_back(label);
  if (present()) {
    const QPointF at = placeIn(plot, present()->figures);
    taken.push_back(QRectF(at.x() - 8, at.y() - 8, 16 + metrics.horizontalAdvance(tr("current")) + 14, 16));
  }
  for (int i = 0; i < points(); ++i)
    if (phase(i).valid())
      taken.push_back(QRectF(placeIn(plot, phase(i).figures) - QPointF(3, 3), QSizeF(6, 6)));
  // Labels "96 within limits" and "256 fit" at the largest batches, the context in focus first.
  painter.setPen(colors.text);
  const auto place_label = [&](const QPointF& at, const QString& text, double width,
                               std::initializer_list<QPointF> offsets) {
    for (const QPointF& by : offsets) {
      const QRectF box(at + by, QSizeF(width, 14));
      if (box.left() >= plot.left() - 8 && box.right() < plot.right() + 8 &&
          put(painter, box, text, ground, taken))
        return;
    }
  };
  const auto most = [&](int context) {
    for (const int i : ServingCanvas::inOrder(context)) {
      if (!phase(i).valid() || !(point(i).within || (decodes() && point(i).largest))) continue;
      const QString text = (point(i).within ? tr("%1 within limits") : tr("%1 fit"))
                               .arg(grouped_text(point(i).batch));
      const double width = metrics.horizontalAdvance(text) + 4;
      const QPointF at = placeIn(plot, phase(i).figures);
      place_label(at, text, width,
                  {{7, 3}, {-width / 2, 8}, {-7 - width, -18}, {-7 - width, 3}, {7, -18}, {-width / 2, -22}});
    }
  };
  most(focus());
  for (int context = 0; context < contexts(); ++context)
    if (context != focus()) most(context);
  painter.setPen(colors.secondary);
  for (const int i : ServingCanvas::inOrder(focus())) {
    if (!phase(i).valid() || point(i).within || (decodes() && point(i).largest && !point(i).requested))
      continue;
    const QPointF at = placeIn(plot, phase(i).figures);
    if (!plot.adjusted(-2, -2, 2, 2).contains(at)) continue;
    const QString text = grouped_text(point(i).batch);
    const double width = metrics.horizontalAdvance(text) + 4;
    place_label(at, text, width, {{-6 - width, -9}, {6, -5}, {-width / 2, 6}, {-width / 2, -20}});
  }
}

void ServingChart::paintMarks(QPainter& painter, const QRectF& plot, const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  for (const OtherDesign& other : others())
    if (const auto at = endOf(plot, other))
      paint_design_letter(painter, QRectF(*at + QPointF(6, -18), QSizeF(13, 13)),
                          Comparisons::letter(other.member), Theme::instance().designColor(other.member),
                          ground);
  for (const OtherDesign& other : others())
    if (other.itself) paint_design_mark(painter, placeIn(plot, other.itself->figures), other.member, ground);
  if (present()) {
    const QPointF at = placeIn(plot, present()->figures);
    others().empty() ? paint_present_mark(painter, at, plot, tr("current"), ground)
                     : paint_design_mark(painter, at, 0, ground);
  }
  painter.setBrush(Qt::NoBrush);
  const auto ring = [&](int at, double width, double gap) {
    if (!phase(at).valid()) return;
    painter.setPen(QPen(colors.accent, width));
    painter.drawEllipse(placeIn(plot, phase(at).figures), kRadius + gap, kRadius + gap);
  };
  if (hovered() >= 0 && hovered() != selected()) ring(hovered(), 1.4, 2.5);
  if (selected() >= 0) ring(selected(), 2.4, 4);
}

}  // namespace shardscape::ui
