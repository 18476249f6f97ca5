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
  int chosen = -1;  // index of the group that is shown
  bool focused = false;
  QColor ground;
};

// Paints into the rectangle and returns where things lie; with a null painter it only lays out.
MeshLayout paint_mesh(QPainter* painter, const QRectF& rect, const MeshDrawing& drawing,
                      const MeshWindow& before);

}  // namespace shardscape::ui
