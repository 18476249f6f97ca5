// Inspector texts about a node or a tensor of the graph.
#pragma once

#include "base/units.h"
#include "timing/simulation.h"
#include "ui/selection/graph_tree.h"
#include "ui/selection/inspection.h"

namespace shardscape::ui {

// simulation: of the tree's report; null: no times.
Inspection inspect_node(const GraphTree& tree, const NodeId& id, int units, Passes passes, UnitSystem system,
                        const Simulation* simulation = nullptr);
Inspection inspect_tensor(const GraphTree& tree, int segment, TensorId tensor, const QString& where,
                          bool sent, UnitSystem system);

}  // namespace shardscape::ui
