// The passes: assemble blocks -> place forward -> differentiate the placed graph -> simplify.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "design/design.h"
#include "graph/graph.h"
#include "model/library.h"

namespace shardscape {

Structure structure_of(const Design& design);
// A Problem names the template's file and line.
std::variant<std::shared_ptr<const Graph>, Problem> build_graph(const Structure& structure, const ModelLibrary& library);
// As build_graph, but from a small thread-safe cache; library is ModelLibrary::instance().
std::variant<std::shared_ptr<const Graph>, Problem> cached_graph(const Structure& structure);

}  // namespace shardscape
