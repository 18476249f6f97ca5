// What the inspector shows of a node or a tensor of the graph.
#pragma once

#include "ui/graph_view/outline.h"
#include "ui/state/session.h"

namespace shardscape::ui {

Inspection inspect_node(const Outline& outline, const NodeId& id, int units, Passes passes, UnitSystem system);
Inspection inspect_tensor(const Outline& outline, int segment, TensorId tensor, const QString& where, bool sent, UnitSystem system);

}  // namespace shardscape::ui
