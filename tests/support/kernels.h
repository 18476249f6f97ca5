// What each kind of op computes on one rank, forward and backward. Backward kernels see only what the graph
// gives them.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "support/real_tensor.h"

namespace shardscape::test {

// Where this rank's part of a tensor begins in the whole, per dimension.
using Starts = std::vector<int64_t>;

struct KernelCall {
  const Op& op;
  std::vector<const RealTensor*> inputs;
  std::vector<Starts> input_starts, output_starts;
  std::vector<std::vector<int64_t>> output_shapes;
  std::vector<std::string> input_names, output_names;
  int64_t heads_per_kv = 1;
  int64_t window = 0;  // of attention that slides
  int64_t experts = 0, experts_per_token = 0;
  std::vector<int64_t> tokens{};  // of routing: which token of the microbatch each of this rank's rows is;
                                  // -1: an empty slot of a node
  std::vector<std::vector<int64_t>>
      input_positions{};  // per input: place in the sequence of every row of dimension 1
  int64_t ring_ranks = 1, ring_position = 0;
  int64_t expert_groups = 1, groups_per_token = 1;
  int64_t tokens_of_sequence = 0;
  int64_t score_width = 0;  // of attention to latents: the head size that scales its scores
};

std::vector<RealTensor> run_kernel(const KernelCall& call);

}  // namespace shardscape::test
