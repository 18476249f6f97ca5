// Queries on nested sheets: the place of a node, the node or wire at a point, the next node.
#pragma once

#include <optional>

#include "ui/views/graph/sheet.h"

namespace shardscape::ui {

// A piece in scene coordinates, with its full name.
struct Spot {
  NodeId id;
  QRectF rect;
  const Piece* piece = nullptr;
  const Sheet* sheet = nullptr;  // the sheet of the piece
  int index = -1;                // in the sheet
  QPointF sheet_at;              // the sheet's origin in the scene
};

struct WireSpot {
  const Wire* wire = nullptr;
  const Sheet* sheet = nullptr;
  QPointF sheet_at;
  NodeId around;  // the container of the sheet
};

// The full id of a piece. On a shared sheet, stage and unit come from the container.
NodeId full_id(const Piece& piece, const NodeId& container);
// True if a card or pill without pieces inside meets the area.
bool has_card_in(const Sheet& root, const QRectF& area);
// The node, or its innermost container that is on a sheet. Empty for the root.
std::optional<Spot> locate(const Sheet& root, const NodeId& id);
std::optional<Spot> spot_at(const Sheet& root, QPointF point);
std::optional<WireSpot> wire_at(const Sheet& root, QPointF point, double reach);

enum class Step { Up, Down, Left, Right };
// The neighbour along the lines (up, down) or next to the piece (left, right), also across the edges of
// containers.
std::optional<Spot> neighbour(const Sheet& root, const Spot& from, Step step);
// The first child of a frame in the direction of the flow.
std::optional<Spot> first_inside(const Spot& frame);

}  // namespace shardscape::ui
