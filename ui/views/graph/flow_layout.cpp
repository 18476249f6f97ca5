#include "ui/views/graph/flow_layout.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "graph_layout/layered.h"
#include "ui/views/graph/wire_labels.h"

namespace shardscape::ui {
namespace {

constexpr double kPortStep = 26, kTwoWay = 24, kArrow = 4;

using Points = std::vector<QPointF>;

// One wire while its ends are being placed: points from the upper to the lower end.
struct Run {
  Points points;
};

QPainterPath path_of(const Points& points, bool up, bool arrow) {
  QPainterPath path(points.front());
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    const QPointF p = points[i], q = points[i + 1];
    const double middle = (p.y() + q.y()) / 2;
    if (std::abs(p.x() - q.x()) < 0.5)
      path.lineTo(q);
    else
      path.cubicTo({p.x(), middle}, {q.x(), middle}, q);
  }
  if (!arrow) return path;
  const QPointF tip = up ? points.front() : points.back();
  const double back = up ? 1.4 * kArrow : -1.4 * kArrow;
  path.moveTo(tip + QPointF(-kArrow, back));
  path.lineTo(tip);
  path.lineTo(tip + QPointF(kArrow, back));
  return path;
}

// Makes the layered graph: one edge for each distinct pair of pieces, and two more nodes for the upper and
// lower edge of the sheet.
struct Layered {
  std::vector<LayoutNode> nodes;
  std::vector<LayoutEdge> edges;
  std::vector<int> edge_of_link;
  int entry = -1, exit = -1;
};

// The distance from a piece's left edge to its flow line. Frames are aligned by their flow lines, not by
// their centres.
double axis_of(const Piece& piece, bool up) {
  if (!piece.inside) return piece.rect.width() / 2;
  const double top = piece.inside->top[up], bottom = piece.inside->bottom[up];
  if (top <= 0 && bottom <= 0) return piece.rect.width() / 2;
  return piece.inside_at.x() + (top <= 0 ? bottom : bottom <= 0 ? top : (top + bottom) / 2);
}

bool flows_up_only(const std::vector<Link>& links) {
  return !links.empty() && std::all_of(links.begin(), links.end(), [](const Link& link) { return link.up; });
}

bool flows_both_ways(const std::vector<Link>& links) {
  return !flows_up_only(links) &&
         std::any_of(links.begin(), links.end(), [](const Link& link) { return link.up; });
}

Layered layered_graph(const Sheet& sheet, const std::vector<Link>& links, const std::vector<double>& axis) {
  Layered graph;
  for (size_t i = 0; i < sheet.pieces.size(); ++i) {
    const QRectF& rect = sheet.pieces[i].rect;
    graph.nodes.push_back({2 * std::max(axis[i], rect.width() - axis[i]), rect.height()});
  }
  const int pieces = static_cast<int>(graph.nodes.size());
  const auto edge_node = [&](int& node) {
    if (node < 0) {
      node = static_cast<int>(graph.nodes.size());
      graph.nodes.push_back({});
    }
    return node;
  };
  std::map<std::pair<int, int>, int> known;
  const auto edge = [&](int upper, int lower) {
    const auto [at, added] = known.try_emplace({upper, lower}, static_cast<int>(graph.edges.size()));
    if (added) graph.edges.push_back({upper, lower});
    return at->second;
  };
  std::vector<bool> has_upper(graph.nodes.size(), false), has_lower(graph.nodes.size(), false);
  for (const Link& link : links) {
    const int upper = link.up ? link.to : link.from, lower = link.up ? link.from : link.to;
    graph.edge_of_link.push_back(
        edge(upper < 0 ? edge_node(graph.entry) : upper, lower < 0 ? edge_node(graph.exit) : lower));
    if (lower >= 0) has_upper[static_cast<size_t>(lower)] = true;
    if (upper >= 0) has_lower[static_cast<size_t>(upper)] = true;
  }
  // Invisible edges keep the sheet's edges outermost and the graph connected.
  for (int piece = 0; piece < pieces; ++piece) {
    if (graph.entry >= 0 && !has_upper[static_cast<size_t>(piece)]) edge(graph.entry, piece);
    if (graph.exit >= 0 && !has_lower[static_cast<size_t>(piece)]) edge(piece, graph.exit);
  }
  return graph;
}

// The x position at which lines must meet the upper or lower side of a piece; negative: anywhere.
double fixed_port(const Piece& piece, bool lower_side, bool up, bool two_way) {
  if (piece.inside) {
    const double* ports = lower_side ? piece.inside->bottom : piece.inside->top;
    return piece.rect.left() + piece.inside_at.x() + ports[up];
  }
  return two_way ? piece.rect.center().x() + (up ? kTwoWay : -kTwoWay) : -1;
}

// Moves one end of a run sideways, together with the straight part inside its layer.
void move_end(Points& points, bool upper, double x) {
  const size_t n = points.size();
  const size_t end = upper ? 0 : n - 1, next = upper ? 1 : n - 2;
  if (n > 2 && points[next].x() == points[end].x()) points[next].setX(x);
  points[end].setX(x);
}

// Spreads the ends of lines over a card's edge. Lines of one tensor leave from one point.
void spread(const Sheet& sheet, const std::vector<Link>& links, std::vector<Run>& runs, size_t piece,
            bool lower_side) {
  struct End {
    size_t link;
    double far_x;
    TensorId tensor;  // -1 for readers: each line has its own end
  };
  std::vector<End> ends;
  for (size_t i = 0; i < links.size(); ++i) {
    const Link& link = links[i];
    const int upper = link.up ? link.to : link.from, lower = link.up ? link.from : link.to;
    if ((lower_side ? upper : lower) != static_cast<int>(piece)) continue;
    const bool leaves = link.from == static_cast<int>(piece);
    ends.push_back(
        {i, lower_side ? runs[i].points.back().x() : runs[i].points.front().x(), leaves ? link.tensor : -1});
    if (runs[i].points.size() > 2) {  // long lines are sorted by their first bend
      const auto& p = runs[i].points;
      ends.back().far_x = lower_side ? p[std::min<size_t>(2, p.size() - 1)].x()
                                     : p[p.size() - std::min<size_t>(3, p.size())].x();
    }
  }
  std::stable_sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.far_x < b.far_x; });
  std::vector<std::vector<size_t>> ports;
  for (size_t i = 0; i < ends.size(); ++i) {
    const auto same = std::find_if(ports.begin(), ports.end(), [&](const auto& port) {
      return ends[i].tensor >= 0 && ends[port.front()].tensor == ends[i].tensor;
    });
    if (same != ports.end())
      same->push_back(i);
    else
      ports.push_back({i});
  }
  const QRectF rect = sheet.pieces[piece].rect;
  const double centre = rect.center().x(), count = static_cast<double>(ports.size());
  const double step = std::min(kPortStep, (rect.width() - 24) / std::max(1.0, count));
  // A straight line keeps the middle. Without a straight line the ends are centred.
  double first = -(count - 1) / 2;
  for (size_t port = 0; port < ports.size(); ++port)
    if (std::abs(ends[ports[port].front()].far_x - centre) < 1) first = -static_cast<double>(port);
  for (size_t port = 0; port < ports.size(); ++port)
    for (size_t i : ports[port])
      move_end(runs[ends[i].link].points, lower_side, centre + (first + static_cast<double>(port)) * step);
}

void settle_ends(const Sheet& sheet, const std::vector<Link>& links, std::vector<Run>& runs) {
  const bool two_way = flows_both_ways(links);
  for (size_t piece = 0; piece < sheet.pieces.size(); ++piece)
    if (!two_way && !sheet.pieces[piece].inside)
      for (const bool lower_side : {false, true}) spread(sheet, links, runs, piece, lower_side);
  for (size_t i = 0; i < links.size(); ++i) {
    const Link& link = links[i];
    const int upper = link.up ? link.to : link.from, lower = link.up ? link.from : link.to;
    for (const bool lower_side : {false, true}) {
      const int piece = lower_side ? upper : lower;
      if (piece < 0) continue;
      const double x = fixed_port(sheet.pieces[static_cast<size_t>(piece)], lower_side, link.up, two_way);
      if (x >= 0) move_end(runs[i].points, lower_side, x);
    }
    // With both directions, each crosses the sheet's edge straight.
    if (two_way && upper < 0) move_end(runs[i].points, true, runs[i].points.back().x());
    if (two_way && lower < 0) move_end(runs[i].points, false, runs[i].points.front().x());
  }
}

}  // namespace

TextLine make_line(const QString& text, QPointF at) {
  TextLine line{text, QStaticText(text), at};
  line.drawn.setTextFormat(Qt::PlainText);
  line.drawn.setPerformanceHint(QStaticText::AggressiveCaching);
  // The text is not prepared here: glyphs belong to the drawing thread, which prepares the text on first use.
  return line;
}

bool arrange(Sheet& sheet, const std::vector<Link>& links, const FlowGaps& gaps, const QFont& label_font,
             const std::stop_token& stop) {
  std::vector<double> axis;
  for (const Piece& piece : sheet.pieces)
    axis.push_back(flows_both_ways(links) ? piece.rect.width() / 2 : axis_of(piece, flows_up_only(links)));
  const Layered graph = layered_graph(sheet, links, axis);
  const LayoutResult layout = layered_layout(graph.nodes, graph.edges, {gaps.between, gaps.below}, stop);
  if (layout.stopped) return false;
  for (size_t i = 0; i < sheet.pieces.size(); ++i) {
    Piece& piece = sheet.pieces[i];
    const double centre = layout.positions[i].x + graph.nodes[i].width / 2;
    piece.rect.moveTo(std::round(centre - axis[i]), std::round(layout.positions[i].y));
    sheet.nodes += 1 + (piece.inside ? piece.inside->nodes : 0);
  }
  sheet.size = {std::ceil(layout.width), std::ceil(layout.height)};
  std::vector<Run> runs(links.size());
  for (size_t i = 0; i < links.size(); ++i)
    for (const LayoutPoint& p : layout.routes[static_cast<size_t>(graph.edge_of_link[i])])
      runs[i].points.emplace_back(std::round(p.x), std::round(p.y));
  settle_ends(sheet, links, runs);
  std::vector<QString> labels;
  for (size_t i = 0; i < links.size(); ++i) {
    const Link& link = links[i];
    Wire wire;
    wire.up = link.up;
    wire.upper = link.up ? link.to : link.from;
    wire.lower = link.up ? link.from : link.to;
    wire.segment = link.segment;
    wire.tensor = link.tensor;
    wire.transfer = link.transfer;
    wire.path = path_of(runs[i].points, link.up, link.to >= 0);
    wire.bounds = wire.path.boundingRect();
    if (wire.upper < 0) sheet.top[link.up] = runs[i].points.front().x();
    if (wire.lower < 0) sheet.bottom[link.up] = runs[i].points.back().x();
    sheet.wires.push_back(std::move(wire));
    labels.push_back(link.label);
  }
  place_labels(sheet, labels, label_font);
  return true;
}

void merge(Sheet& into, const Sheet& part, QPointF offset) {
  const int shift = static_cast<int>(into.pieces.size());
  for (Piece piece : part.pieces) {
    piece.rect.translate(offset);
    into.pieces.push_back(std::move(piece));
  }
  for (Wire wire : part.wires) {
    if (wire.upper >= 0) wire.upper += shift;
    if (wire.lower >= 0) wire.lower += shift;
    wire.path.translate(offset);
    wire.bounds.translate(offset);
    wire.label.at += offset;
    into.wires.push_back(std::move(wire));
  }
  for (int up = 0; up < 2; ++up) {
    if (part.top[up] > 0) into.top[up] = part.top[up] + offset.x();
    if (part.bottom[up] > 0) into.bottom[up] = part.bottom[up] + offset.x();
  }
  into.nodes += part.nodes;
}

void extend_to_edges(Sheet& part, double above, double below) {
  const auto extend = [&](Wire& wire, double x, double from, double to) {
    wire.path.moveTo(x, from);
    wire.path.lineTo(x, to);
    wire.bounds = wire.path.boundingRect();
  };
  bool top_done = above <= 0, bottom_done = below <= 0;
  for (Wire& wire : part.wires) {
    if (wire.upper < 0 && !std::exchange(top_done, true)) extend(wire, part.top[wire.up], 0, -above);
    if (wire.lower < 0 && !std::exchange(bottom_done, true))
      extend(wire, part.bottom[wire.up], part.size.height(), part.size.height() + below);
  }
}

void join_lines(Sheet& sheet) {
  for (const Wire& wire : sheet.wires) {
    sheet.lines.addPath(wire.path);
    // A straight line per path element: from far, curves and arrow heads are invisible.
    QPointF last;
    for (int i = 0; i < wire.path.elementCount(); ++i) {
      const QPainterPath::Element e = wire.path.elementAt(i);
      if (e.isMoveTo() && i > 0 && i + 3 == wire.path.elementCount()) break;
      if (e.isCurveTo()) i += 2;
      const QPointF to(wire.path.elementAt(i).x, wire.path.elementAt(i).y);
      if (!e.isMoveTo()) sheet.coarse_lines.append({last, to});
      last = to;
    }
  }
}

}  // namespace shardscape::ui
