#include "ui/views/memory/peak_tiles.h"

#include <algorithm>
#include <tuple>

#include "ui/selection/resolved_selection.h"
#include "ui/selection/step_relations.h"

namespace shardscape::ui {

std::vector<PeakTile> peak_tiles(const StageMemory& memory) {
  std::vector<PeakTile> out;
  for (size_t c = 0; c < memory.contributors.size(); ++c) {
    const MemoryContributor& of = memory.contributors[c];
    const int index = static_cast<int>(c);
    if (of.layers.empty()) out.push_back({index, false, -1, of.bytes});
    for (const auto& [layer, bytes] : of.layers) out.push_back({index, true, layer, bytes});
  }
  // Contributors are sorted by bytes already.
  const auto key = [&](const PeakTile& tile) {
    const auto category = static_cast<size_t>(
        memory.contributors[static_cast<size_t>(tile.contributor)].category);
    return std::tuple(-memory.at_peak[category], category, tile.contributor, -tile.bytes, tile.layer);
  };
  std::sort(out.begin(), out.end(), [&](const PeakTile& a, const PeakTile& b) { return key(a) < key(b); });
  return out;
}

Selection selection_of(const Report& report, const StageMemory& memory, const PeakTile& tile) {
  Selection out;
  out.stage = memory.stage;
  if (tile.layer >= 0) {
    out.kind = SelectionKind::Unit;
    out.unit = unit_of(report, 0, static_cast<int>(tile.layer));
    return out;
  }
  out.kind = SelectionKind::Memory;
  out.memory = memory.contributors[static_cast<size_t>(tile.contributor)].category;
  return out;
}

bool belongs(const Report& report, const StageMemory& memory, const PeakTile& tile,
             const ResolvedSelection& resolved) {
  const MemoryCategory category = memory.contributors[static_cast<size_t>(tile.contributor)].category;
  return resolved.memory(memory.stage, category) &&
         (tile.layer < 0 || resolved.unit(unit_of(report, 0, static_cast<int>(tile.layer))));
}

}  // namespace shardscape::ui
