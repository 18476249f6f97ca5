// The first lines of the inspector about a node of the graph: its time, what bounds the time, and the numbers
// behind both.
#pragma once

#include <QPair>
#include <QString>
#include <QVector>

#include "base/units.h"
#include "timing/simulation.h"
#include "ui/selection/graph_tree.h"

namespace shardscape::ui {

// Ops: of one run. Blocks and layers: sums over their ops in the shown directions, for one microbatch.
// Stages: of the step. units: the layers of a folded run, or its stages.
QVector<QPair<QString, QString>> time_figures(const GraphTree& tree, const NodeId& id, int units,
                                              Passes passes, UnitSystem system, const Simulation& simulation);

}  // namespace shardscape::ui
