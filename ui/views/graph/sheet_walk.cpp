#include "ui/views/graph/sheet_walk.h"

#include <algorithm>
#include <cmath>

namespace shardscape::ui {
namespace {

bool covers(const NodeId& container, int units, const NodeId& id) {
  if (container.level == NodeLevel::Stage)
    return id.stage >= container.stage && id.stage < container.stage + units;
  if (container.stage != id.stage) return false;
  const bool same_unit = id.unit >= container.unit && id.unit < container.unit + units;
  if (container.level == NodeLevel::Unit) return same_unit && id.level >= NodeLevel::Unit;
  if (!same_unit || container.backward != id.backward) return false;
  if (container.level == NodeLevel::Block) return id.level >= NodeLevel::Block && container.block == id.block;
  return container == id;
}

Spot spot_of(const Sheet& sheet, int index, const NodeId& container, QPointF sheet_at) {
  const Piece& piece = sheet.pieces[static_cast<size_t>(index)];
  return {full_id(piece, container), piece.rect.translated(sheet_at), &piece, &sheet, index, sheet_at};
}

// Descends through containers and returns the innermost spot for which want(spot) is true.
template <class Want>
std::optional<Spot> descend(const Sheet& root, const Want& want) {
  std::optional<Spot> best;
  const Sheet* sheet = &root;
  NodeId container;
  QPointF at;
  for (bool found = true; found && sheet;) {
    found = false;
    for (int i = 0; i < static_cast<int>(sheet->pieces.size()); ++i) {
      const Spot spot = spot_of(*sheet, i, container, at);
      if (!want(spot)) continue;
      best = spot;
      found = true;
      container = spot.id;
      at = spot.rect.topLeft() + spot.piece->inside_at;
      sheet = spot.piece->inside.get();
      break;
    }
  }
  return best;
}

double distance_to(const QPainterPath& path, QPointF point) {
  double best = 1e9;
  for (const QPolygonF& line : path.toSubpathPolygons())
    for (qsizetype i = 0; i + 1 < line.size(); ++i) {
      const QPointF d = line[i + 1] - line[i], v = point - line[i];
      const double length = QPointF::dotProduct(d, d);
      const double t = length > 0 ? std::clamp(QPointF::dotProduct(v, d) / length, 0.0, 1.0) : 0;
      const QPointF off = v - d * t;
      best = std::min(best, std::hypot(off.x(), off.y()));
    }
  return best;
}

void wire_below(const Sheet& sheet, QPointF sheet_at, const NodeId& container, QPointF point, double& reach,
                std::optional<WireSpot>& best) {
  for (const Wire& wire : sheet.wires) {
    if (!wire.bounds.adjusted(-reach, -reach, reach, reach).contains(point - sheet_at)) continue;
    if (const double distance = distance_to(wire.path, point - sheet_at); distance < reach) {
      reach = distance;
      best = WireSpot{&wire, &sheet, sheet_at, container};
    }
  }
  for (const Piece& piece : sheet.pieces) {
    const QPointF at = sheet_at + piece.rect.topLeft();
    if (piece.inside && piece.rect.translated(sheet_at).contains(point))
      wire_below(*piece.inside, at + piece.inside_at, full_id(piece, container), point, reach, best);
  }
}

// Descends to the first card of the flow that enters from above (or from below).
Spot enter(Spot spot, bool from_above) {
  while (spot.piece->inside && !spot.piece->inside->pieces.empty()) {
    const Sheet& inside = *spot.piece->inside;
    int first = -1;
    for (const Wire& wire : inside.wires)
      if ((from_above ? wire.upper : wire.lower) < 0 && first < 0)
        first = from_above ? wire.lower : wire.upper;
    if (first < 0) {
      const auto by_y = [](const Piece& a, const Piece& b) { return a.rect.y() < b.rect.y(); };
      const auto [low, high] = std::minmax_element(inside.pieces.begin(), inside.pieces.end(), by_y);
      first = static_cast<int>((from_above ? low : high) - inside.pieces.begin());
    }
    spot = spot_of(inside, first, spot.id, spot.rect.topLeft() + spot.piece->inside_at);
  }
  return spot;
}

NodeId container_of(const Spot& spot) {
  NodeId id = spot.id;
  switch (id.level) {
    case NodeLevel::Op:
      if (id.block >= 0) return {NodeLevel::Block, id.stage, id.unit, id.backward, id.block};
      [[fallthrough]];
    case NodeLevel::Block: return {NodeLevel::Unit, id.stage, id.unit};
    case NodeLevel::Unit: return {NodeLevel::Stage, id.stage};
    default: return {};
  }
}

}  // namespace

NodeId full_id(const Piece& piece, const NodeId& container) {
  NodeId id = piece.id;
  if (id.stage < 0) id.stage = container.stage;
  if (id.unit < 0 && id.level > NodeLevel::Stage) id.unit = container.unit;
  return id;
}

bool has_card_in(const Sheet& root, const QRectF& area) {
  return std::any_of(root.pieces.begin(), root.pieces.end(), [&](const Piece& piece) {
    if (!piece.rect.intersects(area)) return false;
    return !piece.inside ||
           has_card_in(*piece.inside, area.translated(-(piece.rect.topLeft() + piece.inside_at)));
  });
}

std::optional<Spot> locate(const Sheet& root, const NodeId& id) {
  return descend(root, [&](const Spot& spot) { return covers(spot.id, spot.piece->units, id); });
}

std::optional<Spot> spot_at(const Sheet& root, QPointF point) {
  return descend(root, [&](const Spot& spot) { return spot.rect.contains(point); });
}

std::optional<WireSpot> wire_at(const Sheet& root, QPointF point, double reach) {
  std::optional<WireSpot> best;
  wire_below(root, {}, {}, point, reach, best);
  return best;
}

std::optional<Spot> first_inside(const Spot& frame) {
  if (!frame.piece->inside || frame.piece->inside->pieces.empty()) return std::nullopt;
  Spot spot = enter(frame, true);
  // Returns the direct child of the frame, not the innermost piece.
  const Sheet& inside = *frame.piece->inside;
  const QPointF at = frame.rect.topLeft() + frame.piece->inside_at;
  for (int i = 0; i < static_cast<int>(inside.pieces.size()); ++i) {
    const Spot child = spot_of(inside, i, frame.id, at);
    if (child.rect.contains(spot.rect.center())) return child;
  }
  return std::nullopt;
}

std::optional<Spot> neighbour(const Sheet& root, const Spot& from, Step step) {
  const NodeId container = container_of(from);
  if (step == Step::Left || step == Step::Right) {
    std::optional<Spot> best;
    for (int i = 0; i < static_cast<int>(from.sheet->pieces.size()); ++i) {
      const Spot other = spot_of(*from.sheet, i, container, from.sheet_at);
      const double dx = other.rect.center().x() - from.rect.center().x();
      const bool same_row = other.rect.top() < from.rect.bottom() && other.rect.bottom() > from.rect.top();
      if (i == from.index || !same_row || (step == Step::Right) != (dx > 0)) continue;
      if (!best || std::abs(dx) < std::abs(best->rect.center().x() - from.rect.center().x())) best = other;
    }
    return best;
  }
  const bool down = step == Step::Down;
  std::optional<Spot> best;
  for (const Wire& wire : from.sheet->wires) {
    if ((down ? wire.upper : wire.lower) != from.index) continue;
    const int next = down ? wire.lower : wire.upper;
    if (next < 0) continue;
    const Spot other = spot_of(*from.sheet, next, container, from.sheet_at);
    const auto away = [&](const Spot& s) { return std::abs(s.rect.center().x() - from.rect.center().x()); };
    const auto gap = [&](const Spot& s) {
      return down ? s.rect.top() - from.rect.bottom() : from.rect.top() - s.rect.bottom();
    };
    if (!best || gap(other) < gap(*best) - 1 || (gap(other) < gap(*best) + 1 && away(other) < away(*best)))
      best = other;
  }
  if (best) return enter(*best, down);
  // No neighbour in this container: continue from the container itself.
  const auto outer = container.level == NodeLevel::Root ? std::nullopt : locate(root, container);
  if (!outer || outer->id != container) return std::nullopt;
  return neighbour(root, *outer, step);
}

}  // namespace shardscape::ui
