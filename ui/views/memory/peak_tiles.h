// The bytes of a stage at its peak, one tile for each group of tensors and layer, as the memory timeline
// counts them.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/memory_timeline.h"
#include "ui/selection/selection.h"

namespace shardscape::ui {

class ResolvedSelection;

struct PeakTile {
  int contributor = 0;    // index into StageMemory::contributors
  bool by_layer = false;  // the bytes of one layer; otherwise of all tensors of the contributor
  int64_t layer = -1;     // by_layer: layer of the model; -1: outside of layers
  int64_t bytes = 0;
};

// Sorted by category, contributor and layer, the most bytes first. They add up to in_use.
std::vector<PeakTile> peak_tiles(const StageMemory& memory);

// What a click on the tile selects: the layer, or the category of memory.
Selection selection_of(const Report& report, const StageMemory& memory, const PeakTile& tile);
// True if the tile belongs to the selection of any view.
bool belongs(const Report& report, const StageMemory& memory, const PeakTile& tile,
             const ResolvedSelection& resolved);

}  // namespace shardscape::ui
