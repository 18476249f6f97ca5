// Draws the mesh on any device: the sentence, the legend, the cells around the selected rank, the blocks of
// all ranks.
#pragma once

#include <QPainter>

#include "ui/views/communication/mesh_layout.h"
#include "ui/views/communication/rank_groups.h"

namespace shardscape::ui {

struct MeshDrawing {
  const MeshGrid* grid = nullptr;
  const std::vector<RankGroup>* groups = nullptr;
  int64_t selected = 0;
  int chosen = -1;  // the index of the shown group
  bool focused = false;
  QColor ground;
};

// Paints into the rectangle and returns the layout. A null painter means layout only.
MeshLayout paint_mesh(QPainter* painter, const QRectF& rect, const MeshDrawing& drawing,
                      const MeshWindow& before);

}  // namespace shardscape::ui
