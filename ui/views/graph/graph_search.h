// Finds ops by label, name, kind, shape or group.
#pragma once

#include <QString>
#include <vector>

#include "ui/views/graph/graph_scene.h"
#include "ui/views/graph/sheet_painter.h"

namespace shardscape::ui {

struct GraphSearchResult {
  SearchHits hits;
  // The nodes that the search steps through, in order: hits in every unfolded unit, and in the first layer or
  // stage of each folded run.
  std::vector<NodeId> stops;
};

// Finds ops whose texts contain all words, in any order and case.
GraphSearchResult search_ops(const GraphTree& tree, const SheetOptions& options, const Expanded& expanded,
                             const QString& words);

// The nodes at which stepping through the found ops stops, in the order of the model. found: [segment] ops.
std::vector<NodeId> stops_of(const GraphTree& tree, const Expanded& expanded,
                             const std::vector<std::vector<OpId>>& found);

}  // namespace shardscape::ui
