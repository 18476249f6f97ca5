// Reference kernels: the result of each kind of op on one rank, forward and backward. Backward kernels read
// only inputs that the graph gives them.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "support/real_tensor.h"

namespace shardscape::test {

// Offset of this rank's part in the whole tensor, per dimension.
using Starts = std::vector<int64_t>;

struct KernelCall {
  const Op& op;
  std::vector<const RealTensor*> inputs;
  std::vector<Starts> input_starts, output_starts;
  std::vector<std::vector<int64_t>> output_shapes;
  std::vector<std::string> input_names, output_names;
  int64_t heads_per_kv = 1;
  int64_t window = 0;  // of sliding-window attention
  int64_t experts = 0, experts_per_token = 0;
  // Routing: per row of this rank, the index of its token in the microbatch; -1: an empty slot of a node.
  std::vector<int64_t> tokens{};
  // Per input: position in the sequence of every row of dimension 1.
  std::vector<std::vector<int64_t>> input_positions{};
  int64_t ring_ranks = 1, ring_position = 0;
  int64_t expert_groups = 1, groups_per_token = 1;
  int64_t tokens_of_sequence = 0;
  int64_t image_tokens = 0;     // tokens of all images of a sequence
  int64_t chunk = 0;            // of attention in chunks
  int64_t document = 0;         // tokens of a document in a packed sequence
  int64_t rope_width = 0;       // of a partial rotation
  int64_t norm_width = 0;       // of a norm in two steps: numbers in a whole row
  int64_t copies = 1;           // of an operand of a sum of squares, on ranks that add their shares
  int64_t score_width = 0;      // of latent attention: the head size that scales the scores
  int64_t zero_experts = 0;     // the last of the experts; they return their input
  int64_t sequence_stride = 0;  // tokens from one sequence to the next
  int picked = -1;              // sparse attention: the input with the picked keys
  int64_t index_block = 0;      // keys of a picked block; 0: single keys
  int compressed = -1;          // attention: the input with compressed keys
  int64_t compress_ratio = 0;   // tokens of a compressed key
  int64_t tokens_so_far = 0;    // of a sequence, with the new ones
};

std::vector<RealTensor> run_kernel(const KernelCall& call);

}  // namespace shardscape::test
