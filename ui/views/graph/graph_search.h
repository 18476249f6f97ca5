// Finds ops by label, name, kind, shape or group.
#pragma once

#include <QString>
#include <vector>

#include "ui/views/graph/graph_scene.h"
#include "ui/views/graph/sheet_painter.h"

namespace shardscape::ui {

struct GraphSearchResult {
  SearchHits hits;
  // Where the search steps through, in order: every unfolded unit, and the first of each run of equal folded
  // layers.
  std::vector<NodeId> stops;
};

// All words must be found, in any order and case.
GraphSearchResult search_ops(const GraphTree& tree, const SheetOptions& options, const Expanded& expanded,
                             const QString& words);

// Where stepping through these ops of each segment stops, in the order of the model.
std::vector<NodeId> stops_of(const GraphTree& tree, const Expanded& expanded,
                             const std::vector<std::vector<OpId>>& found);

}  // namespace shardscape::ui
