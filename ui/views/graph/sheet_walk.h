// Finds things on nested sheets: where a node lies, what lies under a point, which node is next.
#pragma once

#include <optional>

#include "ui/views/graph/sheet.h"

namespace shardscape::ui {

// A piece in scene coordinates, with its full name.
struct Spot {
  NodeId id;
  QRectF rect;
  const Piece* piece = nullptr;
  const Sheet* sheet = nullptr;  // that holds it
  int index = -1;                // in the sheet
  QPointF sheet_at;              // where that sheet's origin lies in the scene
};

struct WireSpot {
  const Wire* wire = nullptr;
  const Sheet* sheet = nullptr;
  QPointF sheet_at;
  NodeId around;  // the container of the sheet
};

// Stage and unit of a piece are its container's where the sheet is stamped.
NodeId full_id(const Piece& piece, const NodeId& container);
// The node itself, or the innermost container of it that is on a sheet. Empty for the root.
std::optional<Spot> locate(const Sheet& root, const NodeId& id);
std::optional<Spot> spot_at(const Sheet& root, QPointF point);
std::optional<WireSpot> wire_at(const Sheet& root, QPointF point, double reach);

enum class Step { Up, Down, Left, Right };
// The neighbour along the lines (up, down) or next to it (left, right); through the edges of containers.
std::optional<Spot> neighbour(const Sheet& root, const Spot& from, Step step);
// The child of a frame that the flow meets first.
std::optional<Spot> first_inside(const Spot& frame);

}  // namespace shardscape::ui
