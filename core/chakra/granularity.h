// Coarser traces: neighbouring compute nodes become one node. Communication and memory nodes stay.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "chakra/rank_program.h"

namespace shardscape {

// What one compute node of a trace covers, from the finest to the coarsest.
enum class Granularity : uint8_t {
  Op,     // an op
  Block,  // the ops of a block of a layer in one action of the schedule: attention, MLP
  Layer,  // the ops of a layer in one action
  Pass,   // the ops of one action: the forward or the backward of a microbatch on a virtual stage
  BetweenCommunications
};

std::string_view granularity_name(Granularity granularity);  // "between-communications"
// "op", "block of a layer", ...: what a node covers, for messages and pages.
std::string granularity_unit(Granularity granularity);
std::optional<Granularity> parse_granularity(std::string_view name);
std::string granularity_list();  // "op, block, ..." for messages

// Merges compute nodes of a program. Two compute nodes become one only if both follow the same communication
// and the same communication waits for both. So every communication still waits for the same compute, and
// all compute for the same communication: overlap is that of the ops. Within these limits a node covers what
// the granularity says; BetweenCommunications has no other limit. num_ops, tensor_size, seconds and
// durations of a node are the sums over its ops. Nodes are sorted so that dependencies have lower ids.
// Requires a program whose non-compute nodes form one chain of dependencies, as ProgramBuilder makes it.
// Tensor names are per op: a program with tensors stays as it is. Throws LoweringError if a sum does not fit.
RankProgram merge_compute_nodes(RankProgram program, Granularity granularity);

}  // namespace shardscape
