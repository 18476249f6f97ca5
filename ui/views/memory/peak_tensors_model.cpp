#include "ui/views/memory/peak_tensors_model.h"

#include "ui/plot/comparison_cells.h"

namespace shardscape::ui {

void PeakTensorsModel::setTiles(const StageMemory& memory, const std::vector<PeakTile>& tiles,
                                UnitSystem units) {
  const ValueScale scale = rank_memory_scale(static_cast<double>(memory.in_use), units);
  Rows rows;
  for (const PeakTile& tile : tiles) {
    const MemoryContributor& of = memory.contributors[static_cast<size_t>(tile.contributor)];
    const double share = static_cast<double>(tile.bytes) / static_cast<double>(memory.in_use);
    rows.push_back({text_cell(text_of(memory_category_label(of.category))), text_cell(words(of.name)),
                    tile.layer < 0 ? text_cell(tile.by_layer ? tr("none") : tr("all"))
                                   : number_cell(tile.layer, grouped_text(tile.layer)),
                    number_cell(tile.bytes, scaled_text(tile.bytes, scale), exact_bytes_text(tile.bytes)),
                    real_cell(share, percent_text(share))});
  }
  assign({{tr("Category"), QStringLiteral("category"), false, {}},
          {tr("Tensors"), QStringLiteral("tensors"), false, {}},
          {tr("Layer"), QStringLiteral("layer"), true,
           tr("Layer of the model; all: not counted by layer; none: outside of layers")},
          {scale.unit, QStringLiteral("bytes"), true, tr("On one rank of the stage at its peak")},
          {tr("Share"), QStringLiteral("share"), true, tr("Share of the peak")}},
         std::move(rows));
}

}  // namespace shardscape::ui
