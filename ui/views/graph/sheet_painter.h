// Draws nested sheets through a view transform: with texts at large zooms, as plain rectangles at small
// zooms.
#pragma once

#include <QPainter>
#include <QPointF>
#include <QRectF>
#include <optional>
#include <unordered_set>
#include <vector>

#include "ui/views/graph/graph_heat.h"
#include "ui/views/graph/sheet.h"
#include "ui/views/graph/sheet_walk.h"

namespace shardscape::ui {

// Scene to widget: widget = scene * zoom + origin.
struct ViewTransform {
  double zoom = 1;
  QPointF origin;
  QPointF map(QPointF scene) const { return scene * zoom + origin; }
  QRectF map(const QRectF& scene) const { return {map(scene.topLeft()), scene.size() * zoom}; }
  QPointF unmap(QPointF widget) const { return (widget - origin) / zoom; }
};

// Ops that a search found, by segment and op, and the blocks and segments that contain them.
class SearchHits {
 public:
  void add(int segment, bool backward, int block, OpId op);
  bool has_op(int segment, OpId op) const { return ops_.count(key(segment, false, op)) > 0; }
  bool has_block(int segment, bool backward, int block) const {
    return blocks_.count(key(segment, backward, block)) > 0;
  }
  bool has_segment(int segment) const { return segments_.count(segment) > 0; }
  bool empty() const { return segments_.empty(); }

 private:
  static int64_t key(int segment, bool backward, int id) {
    return (int64_t{segment} * 2 + backward) << 32 | id;
  }
  std::unordered_set<int64_t> ops_, blocks_;
  std::unordered_set<int> segments_;
};

// The differences of another design's graph. Its letter is drawn on different pieces: filled if the op is
// placed differently or missing, outlined if only sizes differ.
struct DifferenceMarks {
  QString letter;
  QColor color;
  SearchHits otherwise, sized;
};

// Ops that belong to the selection of any view, with the stage and units of the selection.
struct SelectedOps {
  SearchHits ops;
  int stage = -1;                      // -1: all
  int first_unit = -1, end_unit = -1;  // -1: all
  bool has(const Piece& piece, const NodeId& id) const;
};

struct PaintMarks {
  NodeId selected, hovered;  // Root: none
  bool focused = false;
  const Wire* selected_wire = nullptr;
  NodeId selected_wire_around;  // the container of the selected wire: a shared sheet is drawn in several
                                // containers
  const SearchHits* hits = nullptr;
  const std::vector<DifferenceMarks>* differences = nullptr;
  const SelectedOps* selected_ops = nullptr;
  const GraphHeat* heat = nullptr;  // null: colours by kind
};

void paint_sheet(QPainter& painter, const Sheet& root, const ViewTransform& view, const QRectF& clip,
                 const SheetFonts& fonts, const PaintMarks& marks);

}  // namespace shardscape::ui
