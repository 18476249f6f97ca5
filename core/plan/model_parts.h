// The parameters of a whole unsharded model by part. The vocabulary is not padded, and tied weights count
// once, in the first part that has them. Buffers count too.
#pragma once

#include <array>

#include "graph/graph.h"

namespace shardscape {

struct PartParameters {
  Expr parameters;
  Expr active;  // that one token uses; of routed experts only the top-k of a token count
};
using ModelParts = std::array<PartParameters, kModelPartCount>;  // index: ModelPart

std::string_view model_part_name(ModelPart part);  // JSON key: "language"
ModelParts count_parts(const Graph& graph);
// Parameters that gradients do not train.
Expr count_buffers(const Graph& graph);

}  // namespace shardscape
