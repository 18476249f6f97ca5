// The tiles of the treemap as a table: one row per group of tensors and layer.
#pragma once

#include "ui/plot/table_model.h"
#include "ui/views/memory/peak_tiles.h"

namespace shardscape::ui {

class PeakTensorsModel : public TableModel {
  Q_OBJECT
 public:
  enum Column { Category, Tensors, Layer, Bytes, Share };

  using TableModel::TableModel;
  // Rows in the order of the tiles.
  void setTiles(const StageMemory& memory, const std::vector<PeakTile>& tiles, UnitSystem units);
};

}  // namespace shardscape::ui
