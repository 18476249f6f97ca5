// Segments of a design with their layers, as the interpreter runs them.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace shardscape::test {

// A segment at its place in the model; the layer index is part of parameter names.
struct Instance {
  int segment;
  std::string name;  // "embedding", "layer3", "head"
  CheckpointPolicy checkpoint_policy = CheckpointPolicy::Activations;
  // For the last layer of a recomputed group: index of the group's first instance.
  size_t replay_from = 0;
  bool ends_group = false;
};

// Name in the whole model: the layer's own name, or the key of a tied parameter.
std::string parameter_name(const Segment& s, const Instance& instance, const Param& p);
std::vector<std::vector<Instance>> instances_by_virtual_stage(const Design& d, const Graph& graph);

}  // namespace shardscape::test
