// Properties that every valid design has.
#pragma once

#include <vector>

#include <QStringList>

#include "design/design.h"

namespace shardscape::test {

// Parameters: shards of all ranks add up to the model. OpFlops: all ranks together do the work of one.
// StageFlops: reports count every op. Transfers: each message that is sent is received. Groups: members of a
// group agree. Gradients: ranks that differ in a gradient reduce it.
enum Property { Parameters, OpFlops, StageFlops, Transfers, Groups, Gradients, kPropertyCount };

// Adds what the design breaks to the list of the property, with its flags. False: it has no report or graph.
bool examine(const Design& design, std::vector<QStringList>& failures);

}  // namespace shardscape::test
