#include "ui/views/graph/row_layout.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

namespace shardscape::ui {
namespace {

// Lines of the two directions run kApart pixels from the middle between them, and kLane or 2 kLane outside of
// the frames that they go around.
constexpr double kGap = 64, kLane = 12, kApart = 7, kRound = 8, kAir = 6;

// The x at which a line leaves or enters a frame; an empty frame has no port of its own.
double port_of(const Piece& frame, const double (&ports)[2], bool up) {
  return ports[up] > 0 ? frame.rect.left() + frame.inside_at.x() + ports[up] : frame.rect.center().x();
}

struct Route {
  std::vector<QPointF> points;  // in the order of the pieces, with right angles
  QPointF label;                // the left end of the straight part under the label
  double room = 0;              // its length
};

// The route between two neighbours. both: the sheet has lines in both directions. Then the line to the next
// piece runs outside of the line back where they leave a frame, and inside where they enter one, so that they
// do not cross.
Route route_of(const Piece& from, const Piece& to, bool up, bool both, double middle) {
  Route route;
  const double side = both ? (up ? -kApart : kApart) : 0;
  const double turn = middle + side;
  const double exit_lane = kLane * (both && !up ? 2 : 1), entry_lane = kLane * (both && up ? 2 : 1);
  const auto at = [&](double x, double y) { route.points.emplace_back(std::round(x), std::round(y)); };
  double level = from.rect.center().y() + side;
  if (from.inside) {
    const double x = port_of(from, from.inside->bottom, up);
    level = from.rect.bottom() + exit_lane;
    at(x, from.rect.bottom());
    at(x, level);
  } else {
    at(from.rect.right(), level);
  }
  at(turn, level);
  if (to.inside) {
    const double x = port_of(to, to.inside->top, up);
    const double above = to.rect.top() - entry_lane;
    at(turn, above);
    at(x, above);
    at(x, to.rect.top());
    route.label = {turn, above};
    route.room = x - turn;
  } else {
    const double y = to.rect.center().y() + side;
    at(turn, y);
    at(to.rect.left(), y);
    route.label = {from.inside ? turn : from.rect.right(), y};
    route.room = to.rect.left() - route.label.x();
  }
  return route;
}

// Right angles become arcs.
QPainterPath path_of(std::vector<QPointF> points, bool up) {
  points.erase(std::unique(points.begin(), points.end()), points.end());
  QPainterPath path(points.front());
  for (size_t i = 1; i + 1 < points.size(); ++i) {
    const QPointF before = points[i - 1] - points[i], after = points[i + 1] - points[i];
    const double in = std::hypot(before.x(), before.y()), out = std::hypot(after.x(), after.y());
    const double radius = std::min({kRound, in / 2, out / 2});
    path.lineTo(points[i] + before * (radius / in));
    path.quadTo(points[i], points[i] + after * (radius / out));
  }
  path.lineTo(points.back());
  if (up) std::reverse(points.begin(), points.end());
  constexpr double kArrow = 4;
  const QPointF tip = points.back(), along = tip - points[points.size() - 2];
  const double length = std::hypot(along.x(), along.y());
  if (length <= 0) return path;
  const QPointF back = along * (-1.4 * kArrow / length),
                across = QPointF(-along.y(), along.x()) * (kArrow / length);
  path.moveTo(tip + back + across);
  path.lineTo(tip);
  path.lineTo(tip + back - across);
  return path;
}

}  // namespace

void arrange_row(Sheet& sheet, const std::vector<Link>& links, const QFont& label_font) {
  const QFontMetricsF metrics(label_font);
  const bool both = std::any_of(links.begin(), links.end(), [](const Link& link) { return link.up; }) &&
                    std::any_of(links.begin(), links.end(), [](const Link& link) { return !link.up; });
  // Room for labels above lines that run straight to a card.
  std::vector<double> gaps(sheet.pieces.size(), kGap);
  for (const Link& link : links) {
    const auto next = static_cast<size_t>(std::max(link.from, link.to));
    const bool leaves_frame = sheet.pieces[next - 1].inside != nullptr;
    if (!sheet.pieces[next].inside)
      gaps[next] = std::max(gaps[next], metrics.horizontalAdvance(link.label) + 4 * kAir +
                                            (leaves_frame ? 2 * kApart + kGap / 2 : 0));
  }
  const double top = 2 * kLane + metrics.height() + kAir;
  double x = 0, bottom = 0;
  for (size_t i = 0; i < sheet.pieces.size(); ++i) {
    Piece& piece = sheet.pieces[i];
    if (i > 0) x += std::round(gaps[i]);
    piece.rect.moveTo(x, top);
    x += piece.rect.width();
    bottom = std::max(bottom, piece.rect.bottom());
    sheet.nodes += 1 + (piece.inside ? piece.inside->nodes : 0);
  }
  sheet.size = {std::ceil(x), std::ceil(bottom + 3 * kLane)};
  for (const Link& link : links) {
    const int first = std::min(link.from, link.to), next = std::max(link.from, link.to);
    const Piece &from = sheet.pieces[static_cast<size_t>(first)],
                &to = sheet.pieces[static_cast<size_t>(next)];
    const double middle = from.rect.right() + kGap / 2;
    const Route route = route_of(from, to, link.up, both, middle);
    Wire wire;
    wire.upper = first;
    wire.lower = next;
    wire.up = link.up;
    wire.segment = link.segment;
    wire.tensor = link.tensor;
    wire.transfer = link.transfer;
    wire.path = path_of(route.points, link.up);
    wire.bounds = wire.path.boundingRect();
    // Both directions carry the same shape: one label above the upper line.
    const double width = metrics.horizontalAdvance(link.label);
    const bool upper = !both || link.up;
    if (upper && !link.label.isEmpty() && width + 2 * kAir <= route.room)
      wire.label = make_line(link.label,
                             route.label + QPointF((route.room - width) / 2, -metrics.height() - 2));
    sheet.wires.push_back(std::move(wire));
  }
}

}  // namespace shardscape::ui
