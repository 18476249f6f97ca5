#include "ui/views/compute/roofline_canvas.h"

#include <QPainter>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "ui/plot/axis_paint.h"
#include "ui/plot/design_overlay.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/graph_text.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kLeft = 62, kTop = 24, kRight = 24, kBottom = 34;
constexpr double kTera = 1e12;  // the vertical axis shows TFLOPs per second
constexpr double kApart = 40;   // pixels between ticks
constexpr int kNamed = 6;       // the most points with names
constexpr size_t kTried = 24;   // the longest points that are tried for a name

QString rate_text(double flops_per_second) {
  return flops_text(static_cast<Wide>(flops_per_second)) + QStringLiteral("/s");
}

QString roof_label(const Roof& roof) {
  return QStringLiteral("%1, %2").arg(rate_text(roof.peak), text_of(dtype_name(roof.compute)));
}

}  // namespace

QString roofline_title(const Report& report, const RooflinePoint& point) {
  QString title = kernel_title(report.graph().segments[static_cast<size_t>(point.segment)], point.op);
  if (!title.isEmpty()) title[0] = title[0].toUpper();
  return title;
}

struct RooflineCanvas::Axes {
  QRectF plot;
  AxisScale across, upright;  // FLOPs per byte, FLOPs per second; whole powers of ten at both ends
  double x(double value) const { return plot.left() + plot.width() * across.share(value); }
  double y(double value) const { return plot.bottom() - plot.height() * upright.share(value); }
  QPointF at(const RooflinePoint& point) const { return {x(point.intensity()), y(point.rate())}; }
  double left() const { return std::pow(10, across.low); }
  double right() const { return std::pow(10, across.high); }
};

RooflineCanvas::RooflineCanvas(QWidget* parent)
    : Canvas(QStringLiteral("roofline"), tr("Roofline: operations by FLOPs per byte and FLOPs per second"),
             parent) {
  setMessage(tr("There is no roofline: the accelerator of this design is not in the catalogue."));
}

void RooflineCanvas::setRoofline(std::shared_ptr<const Report> report, Roofline roofline) {
  report_ = std::move(report);
  data_ = std::move(roofline);
  others_.clear();
  marked_.clear();
  if (selected_ >= static_cast<int>(data_.points.size())) selected_ = -1;
  update();
}

void RooflineCanvas::setSelectedItem(int point) {
  selected_ = point;
  setAccessibleDescription(point < 0 ? QString()
                                     : roofline_title(*report_, data_.points[static_cast<size_t>(point)]) +
                                           comparedText(data_.points[static_cast<size_t>(point)]));
  update();
}

void RooflineCanvas::setMarked(std::vector<int> points) {
  if (points == marked_) return;
  marked_ = std::move(points);
  update();
}

void RooflineCanvas::setComparedDesigns(std::vector<ComparedRoofline> others) {
  others_ = data_.points.empty() ? std::vector<ComparedRoofline>() : std::move(others);
  setSelectedItem(selected_);
}

RooflineCanvas::Axes RooflineCanvas::axes(const QRectF& rect) const {
  Axes axes;
  axes.plot = rect.adjusted(kLeft, kTop, -kRight, -kBottom);
  if (data_.points.empty()) return axes;
  double low = 1e300, high = 0, least = 1e300, most = 0;
  const auto take = [&](const Roofline& of) {
    for (const RooflinePoint& point : of.points) {
      low = std::min(low, point.intensity());
      high = std::max(high, point.intensity());
      least = std::min(least, point.rate());
    }
    for (const Roof& roof : of.roofs) {
      most = std::max(most, roof.peak);
      high = std::max(high, of.ridge(roof) * 3);
    }
  };
  take(data_);
  for (const ComparedRoofline& other : others_) take(other.roofline);
  // Whole decades, a little beyond all points.
  const auto decades = [](double from, double to, double divisor) {
    return log_scale(std::pow(10, std::floor(std::log10(from) - 0.05)),
                     std::pow(10, std::ceil(std::log10(to) + 0.05)), 10, divisor);
  };
  axes.across = decades(low, high, 1);
  axes.upright = decades(least, most, kTera);
  return axes;
}

double RooflineCanvas::radius(const RooflinePoint& point) const {
  double most = data_.points.back().seconds;  // the longest point is the last
  for (const ComparedRoofline& other : others_) most = std::max(most, other.roofline.points.back().seconds);
  return 3.5 + 6.5 * std::sqrt(point.seconds / most);
}

QPointF RooflineCanvas::place(int point) const {
  const Axes axes = this->axes(QRectF(rect()));
  const RooflinePoint& of = data_.points[static_cast<size_t>(point)];
  return axes.at(of);
}

QPointF RooflineCanvas::comparedPointPlace(size_t others, int point) const {
  const Axes axes = this->axes(QRectF(rect()));
  const RooflinePoint& of = others_[others].roofline.points[static_cast<size_t>(point)];
  return axes.at(of);
}

// Backward points are squares, so that colour is not the only difference.
void RooflineCanvas::paintMark(QPainter& painter, const Axes& axes, const Report& report,
                               const RooflinePoint& point) const {
  const double r = radius(point);
  const QPointF at = axes.at(point);
  if (report.graph().segments[static_cast<size_t>(point.segment)].op(point.op).phase == Phase::Forward)
    painter.drawEllipse(at, r, r);
  else
    painter.drawRoundedRect(QRectF(at.x() - r * 0.88, at.y() - r * 0.88, r * 1.76, r * 1.76), 1.5, 1.5);
}

// Compared designs: outlined points in the design's colour; also their roofs if their machine differs.
void RooflineCanvas::paintComparedDesigns(QPainter& painter, const Axes& axes, const QColor& ground) const {
  painter.setBrush(Qt::NoBrush);
  for (const ComparedRoofline& other : others_) {
    // Accelerators with equal names have equal figures, because changed figures are part of the name.
    const auto& there = other.roofline.accelerator;
    const bool other_machine = !there != !data_.accelerator ||
                               (there && there->name != data_.accelerator->name);
    if (other_machine && !other.roofline.roofs.empty()) {
      const Roof& roof = other.roofline.roofs.front();
      const double ridge = other.roofline.ridge(roof), left = axes.left(), right = axes.right();
      painter.setPen(design_pen(other.member, 1.4, true));
      painter.drawLine(QPointF(axes.x(left), axes.y(left * other.roofline.bandwidth)),
                       QPointF(axes.x(ridge), axes.y(roof.peak)));
      painter.drawLine(QPointF(axes.x(ridge), axes.y(roof.peak)), QPointF(axes.x(right), axes.y(roof.peak)));
      paint_letter_at(painter, QPointF(axes.x(right) - 12, axes.y(roof.peak) - 4), other.member, ground);
    }
    std::set<int> same;  // the points that match a marked point
    for (const int of : marked_)
      same.insert(same_point(*report_, data_.points[static_cast<size_t>(of)], other));
    for (int i = 0; i < static_cast<int>(other.roofline.points.size()); ++i) {
      painter.setPen(design_pen(other.member, same.count(i) ? 3 : 1.5));
      paintMark(painter, axes, *other.report, other.roofline.points[static_cast<size_t>(i)]);
    }
  }
}

// Lines from the selected op to the same op of the compared designs.
void RooflineCanvas::paintLinks(QPainter& painter, const Axes& axes, const QColor& ground) const {
  const RooflinePoint& point = data_.points[static_cast<size_t>(selected_)];
  const QPointF from = axes.at(point);
  for (const ComparedRoofline& other : others_) {
    const int same = same_point(*report_, point, other);
    if (same < 0) continue;
    const RooflinePoint& there = other.roofline.points[static_cast<size_t>(same)];
    const QPointF to = axes.at(there);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(design_pen(other.member, 1.2));
    painter.drawLine(from, to);
    painter.setPen(design_pen(other.member, 2.6));
    paintMark(painter, axes, *other.report, there);
    paint_letter_at(painter, to + QPointF(radius(there) + 4, -4), other.member, ground);
  }
}

QString RooflineCanvas::comparedText(const RooflinePoint& of) const {
  QString text;
  for (const ComparedRoofline& other : others_) {
    const int same = same_point(*report_, of, other);
    if (same < 0) {
      text += u'\n' + of_design(other.member, tr("no such op on stage %1").arg(other.stage));
      continue;
    }
    const RooflinePoint& there = other.roofline.points[static_cast<size_t>(same)];
    text += u'\n' + of_design(other.member, tr("%1, %2, %3, %4 FLOPs per byte")
                                                .arg(QString::fromStdString(format_seconds(there.seconds)),
                                                     signed_percent_text(there.seconds / of.seconds - 1),
                                                     rate_text(there.rate()),
                                                     QString::fromStdString(significant(there.intensity()))));
  }
  return text;
}

QString RooflineCanvas::cacheLabel() const {
  return tr("cache, %1 MB").arg(QString::fromStdString(significant(data_.cache_bytes * 1e-6)));
}

// The roof of ops that fit into the cache, and the place of its label, where the slope enters the plot.
std::optional<std::pair<QLineF, QRectF>> RooflineCanvas::cacheRoof(const Axes& axes,
                                                                   const QFontMetricsF& metrics) const {
  const bool any = std::any_of(data_.points.begin(), data_.points.end(),
                               [&](const RooflinePoint& point) { return data_.cached(point); });
  if (!any || data_.roofs.empty()) return std::nullopt;
  const double peak = data_.roofs.front().peak,
               left = std::max(axes.left(), std::pow(10, axes.upright.low) / data_.cache_bandwidth);
  const QLineF slope(QPointF(axes.x(left), axes.y(left * data_.cache_bandwidth)),
                     QPointF(axes.x(peak / data_.cache_bandwidth), axes.y(peak)));
  const QSizeF size(metrics.horizontalAdvance(cacheLabel()) + 4, metrics.height());
  const QPointF at = slope.pointAt(0.3);
  return std::pair{slope, QRectF(QPointF(std::max(axes.plot.left() + 2, at.x() - size.width() - 8),
                                         at.y() - size.height()),
                                 size)};
}

void RooflineCanvas::paintGrid(QPainter& painter, const QRectF& rect, const Axes& axes) const {
  painter.setPen(Theme::instance().colors().secondary);
  painter.drawText(QRectF(rect.left(), rect.top(), 200, 16), Qt::AlignLeft | Qt::AlignVCenter,
                   tr("TFLOP/s, achieved"));
  painter.drawText(QRectF(axes.plot.left(), axes.plot.bottom() + 17, axes.plot.width(), 16), Qt::AlignCenter,
                   tr("FLOPs per byte of memory"));
  paint_x_axis(painter, axes.across, axes.plot, kApart);
  paint_y_axis(painter, axes.upright, axes.plot, kLeft);
}

void RooflineCanvas::paintRoofs(QPainter& painter, const Axes& axes, const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  const QFontMetricsF metrics(Theme::instance().uiFont(11));
  const QColor ink = readable(colors.accent, ground);
  bool slope = false;
  for (const Roof& roof : data_.roofs) {
    const double ridge = data_.ridge(roof), left = axes.left(), right = axes.right();
    painter.setPen(QPen(ink, 1.6));
    painter.drawLine(QPointF(axes.x(ridge), axes.y(roof.peak)), QPointF(axes.x(right), axes.y(roof.peak)));
    if (!slope)
      painter.drawLine(QPointF(axes.x(left), axes.y(left * data_.bandwidth)),
                       QPointF(axes.x(ridge), axes.y(roof.peak)));
    slope = true;
    painter.setPen(QPen(ink, 1, Qt::DotLine));
    painter.drawLine(QPointF(axes.x(ridge), axes.y(roof.peak)), QPointF(axes.x(ridge), axes.plot.bottom()));
    painter.setPen(ink);
    const QString label = roof_label(roof);
    painter.drawText(QPointF(axes.x(ridge) - 8 - metrics.horizontalAdvance(label), axes.y(roof.peak) + 4),
                     label);
    painter.drawText(QPointF(axes.x(ridge) + 4, axes.plot.bottom() - 5),
                     tr("ridge %1").arg(QString::fromStdString(significant(ridge))));
  }
  if (const auto cache = cacheRoof(axes, metrics)) {
    painter.setPen(QPen(ink, 1, Qt::DotLine));
    painter.drawLine(cache->first);
    painter.setPen(ink);
    painter.drawText(cache->second, Qt::AlignCenter, cacheLabel());
  }
}

// The legend: shapes of the two directions, and letters of the compared designs.
void RooflineCanvas::paintLegend(QPainter& painter, const QRectF& rect, const Axes& axes) const {
  const Colors& colors = Theme::instance().colors();
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  const double y = rect.top() + 8, right = axes.plot.right();
  painter.setFont(Theme::instance().uiFont(11));
  const std::vector<int> members = members_of(others_);
  paint_design_legend(painter, QPointF(right - 150 - design_legend_width(members.size()), y), members,
                      DesignSign::Ring);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colors.secondary);
  painter.drawEllipse(QPointF(right - 132, y), 4, 4);
  painter.drawRoundedRect(QRectF(right - 66, y - 4, 8, 8), 1.5, 1.5);
  painter.setPen(colors.secondary);
  painter.drawText(QPointF(right - 124, y + 4), tr("forward"));
  painter.drawText(QPointF(right - 54, y + 4), tr("backward"));
  painter.restore();
}

void RooflineCanvas::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  const Axes axes = this->axes(rect);
  const QFont small = Theme::instance().uiFont(11);
  painter.save();
  painter.setFont(small);
  paintGrid(painter, rect, axes);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setClipRect(axes.plot.adjusted(-1, -16, 1, 1));
  paintRoofs(painter, axes, ground);
  painter.setClipping(false);
  paintComparedDesigns(painter, axes, ground);
  for (const RooflinePoint& point : data_.points) {
    painter.setPen(QPen(ground, 1));
    painter.setBrush(Theme::instance().opColor(
        report_->graph().segments[static_cast<size_t>(point.segment)].op(point.op).kind));
    paintMark(painter, axes, *report_, point);
  }
  if (selected_ >= 0) paintLinks(painter, axes, ground);
  paintNames(painter, axes, ground);
  const auto ring = [&](int of) {
    const RooflinePoint& point = data_.points[static_cast<size_t>(of)];
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colors.accent, 2));
    const double r = radius(point) + 3;
    painter.drawEllipse(axes.at(point), r, r);
  };
  for (const int of : marked_) ring(of);
  if (selected_ >= 0) ring(selected_);
  painter.restore();
  paintLegend(painter, rect, axes);
}

// Names of the longest points, next to the point or at the end of a thin line. A name never covers a point,
// the roof or another name. Names without a place are only in the table.
void RooflineCanvas::paintNames(QPainter& painter, const Axes& axes, const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  const QFontMetricsF metrics(Theme::instance().uiFont(11));
  std::vector<QRectF> taken;
  std::vector<QPointF> places;
  for (const RooflinePoint& point : data_.points) {
    const double r = radius(point) + 1;
    places.push_back(axes.at(point));
    taken.emplace_back(places.back() - QPointF(r, r), QSizeF(2 * r, 2 * r));
  }
  for (const Roof& roof : data_.roofs) {
    const double x = axes.x(data_.ridge(roof)), y = axes.y(roof.peak);
    taken.emplace_back(QPointF(x - 8 - metrics.horizontalAdvance(roof_label(roof)), y - 9),
                       QPointF(axes.plot.right(), y + 3));
  }
  if (const auto cache = cacheRoof(axes, metrics)) taken.push_back(cache->second);
  std::vector<QRectF> names, lines;
  std::set<QString> named;
  const auto name = [&](size_t i) {
    const RooflinePoint& point = data_.points[i];
    const QString text = roofline_title(*report_, point);
    if (named.count(text)) return;
    const double width = metrics.horizontalAdvance(text), height = metrics.height(), r = radius(point);
    const QPointF at = places[i];
    const double centred = std::clamp(at.x() - width / 2, axes.plot.left() + 2,
                                      std::max(axes.plot.left() + 2, axes.plot.right() - width - 2));
    std::vector<QPointF> ways{{at.x() + r + 4, at.y() - height / 2},
                              {at.x() - r - 4 - width, at.y() - height / 2},
                              {centred, at.y() - r - 3 - height},
                              {centred, at.y() + r + 3}};
    for (double away = 26; away <= 96; away += 14) {
      ways.emplace_back(centred, at.y() + away);
      ways.emplace_back(centred, at.y() - away - height);
    }
    for (const QPointF& way : ways) {
      const QRectF box(way, QSizeF(width, height));
      const auto free = [&](const QRectF& rect, const std::vector<QRectF>& of) {
        return std::none_of(of.begin(), of.end(),
                            [&](const QRectF& other) { return other.intersects(rect); });
      };
      if (!axes.plot.contains(box) || !free(box, taken) || !free(box, lines)) continue;
      const double gap = std::max(box.top() - at.y(), at.y() - box.bottom());
      if (gap > r + 4) {
        const bool below = box.top() > at.y();
        const QRectF line(QPointF(at.x() - 1, below ? at.y() + r : box.bottom() - 2),
                          QPointF(at.x() + 1, below ? box.top() + 2 : at.y() - r));
        if (!free(line, names)) continue;
        lines.push_back(line.adjusted(-2, 0, 2, 0));
        painter.fillRect(QRectF(std::round(at.x()), line.top(), 1, line.height()),
                         mixed(ground, colors.secondary, 0.7));
      }
      names.push_back(box);
      taken.push_back(box.adjusted(-3, 0, 3, 0));
      named.insert(text);
      painter.setPen(colors.text);
      paint_veiled_text(painter, box, text, ground);
      return;
    }
  };
  if (selected_ >= 0) name(static_cast<size_t>(selected_));
  for (size_t k = 0; k < std::min(kTried, data_.points.size()) && named.size() < static_cast<size_t>(kNamed);
       ++k)
    name(data_.points.size() - 1 - k);
}

int RooflineCanvas::at(const QPointF& point) const {
  int best = -1;
  double nearest = 1e9;
  for (size_t i = 0; i < data_.points.size(); ++i) {
    const double distance = QLineF(point, place(static_cast<int>(i))).length();
    if (distance <= radius(data_.points[i]) + 3 && distance <= nearest) {
      nearest = distance;
      best = static_cast<int>(i);
    }
  }
  return best;
}

QString RooflineCanvas::tipAt(const QPointF& point) const {
  const int i = at(point);
  if (i < 0) {
    const auto other = comparedPointAt(point);
    if (!other) return {};
    const ComparedRoofline& whose = others_[other->first];
    return of_design(whose.member, describe(*whose.report, whose.roofline,
                                            whose.roofline.points[static_cast<size_t>(other->second)]));
  }
  const RooflinePoint& of = data_.points[static_cast<size_t>(i)];
  return describe(*report_, data_, of) + comparedText(of);
}

QString RooflineCanvas::describe(const Report& report, const Roofline& roofline,
                                 const RooflinePoint& of) const {
  const Op& op = report.graph().segments[static_cast<size_t>(of.segment)].op(of.op);
  const double memory = of.intensity() * roofline.bandwidth;
  QString why;
  if (of.rate() > roofline.attainable(of))
    why = tr("\nabove its roof: fused with another op, so it moves fewer bytes");
  else if (of.rate() > memory)
    why = tr("\nfaster than memory: the data fits into the cache, which has %1 times the bandwidth")
              .arg(QString::fromStdString(significant(roofline.cache_bandwidth / roofline.bandwidth)));
  return tr("%1, %2\n%3 in %4: %5\n%6 FLOPs per byte; %7 of the roof")
             .arg(roofline_title(report, of), words(phase_name(op.phase)),
                  flops_text(static_cast<Wide>(of.flops)), QString::fromStdString(format_seconds(of.seconds)),
                  rate_text(of.rate()), QString::fromStdString(significant(of.intensity())),
                  percent_text(of.rate() / std::max(1.0, roofline.attainable(of)))) +
         why;
}

std::optional<std::pair<size_t, int>> RooflineCanvas::comparedPointAt(const QPointF& point) const {
  for (size_t b = 0; b < others_.size(); ++b)
    for (size_t p = 0; p < others_[b].roofline.points.size(); ++p)
      if (QLineF(point, comparedPointPlace(b, static_cast<int>(p))).length() <=
          radius(others_[b].roofline.points[p]) + 2)
        return std::pair{b, static_cast<int>(p)};
  return std::nullopt;
}

// The point of the same op in the present design; -1: none.
int RooflineCanvas::matchingPoint(size_t others, int point) const {
  for (size_t i = 0; i < data_.points.size(); ++i)
    if (same_point(*report_, data_.points[i], others_[others]) == point) return static_cast<int>(i);
  return -1;
}

void RooflineCanvas::select(int point) {
  setSelectedItem(point);
  Q_EMIT pointSelected(point);
}

void RooflineCanvas::click(const QPointF& position, Qt::KeyboardModifiers) {
  int point = at(position);
  if (const auto other = point < 0 ? comparedPointAt(position) : std::nullopt)
    point = matchingPoint(other->first, other->second);
  if (point >= 0) select(point);
}

// Left and right go by FLOPs per byte, up and down by FLOPs per second.
bool RooflineCanvas::go(Way way, Qt::KeyboardModifiers) {
  const bool across = way == Way::Left || way == Way::Right;
  if (!across && way != Way::Up && way != Way::Down) return false;
  std::vector<int> order(data_.points.size());
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](int i) {
    return across ? data_.points[static_cast<size_t>(i)].intensity()
                  : data_.points[static_cast<size_t>(i)].rate();
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return value(a) < value(b); });
  const auto here = std::find(order.begin(), order.end(), selected_);
  const int by = way == Way::Left || way == Way::Down ? -1 : 1;
  const auto last = static_cast<std::ptrdiff_t>(order.size()) - 1;
  const std::ptrdiff_t next = here == order.end()
                                  ? (by > 0 ? 0 : last)
                                  : std::clamp<std::ptrdiff_t>(here - order.begin() + by, 0, last);
  select(order[static_cast<size_t>(next)]);
  return true;
}

}  // namespace shardscape::ui
