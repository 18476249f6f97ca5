// The segments of a design in their places, as the interpreter runs them.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace shardscape::test {

// A segment in place: which layer it is, for the names of parameters.
struct Instance {
  int segment;
  std::string name;  // "embedding", "layer3", "head"
  CheckpointPolicy checkpoint_policy = CheckpointPolicy::Activations;
  size_t replay_from = 0;  // of the last layer of a group that is recomputed: where the group begins
  bool ends_group = false;
};

// Of the whole model: the layer's own, or the key of what is tied.
std::string parameter_name(const Segment& s, const Instance& instance, const Param& p);
std::vector<std::vector<Instance>> instances_by_virtual_stage(const Design& d, const Graph& graph);

}  // namespace shardscape::test
