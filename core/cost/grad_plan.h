// What happens to gradients and parameters once a step, after the last backward: reductions, then the optimizer.
#pragma once

#include <string>
#include <vector>

#include "cost/step_model.h"

namespace shardscape {

// One all-reduce (sum) of a flat gradient buffer. Elements and bytes are per rank, of the full buffer.
struct GradReduction {
  MeshAxes axes;                 // the group; empty for the embedding group
  bool embedding_group = false;  // ranks of the first and the last stage that share a tied parameter
  bool mirror = false;           // the two stages that hold the same virtual stages (ChunkLayout::BothWays)
  Expr elements, bytes;
  DType dtype = DType::FP32;
  std::string why;
  bool pair() const { return embedding_group || mirror; }  // one rank of each of two stages
  std::string group() const { return embedding_group ? "embedding" : mirror ? "mirror" : group_name(axes); }
};

// A parameter on one rank of a stage; one that is tied to itself on the same rank appears once.
struct StageParam {
  const Segment* segment;
  const Param* param;
  Expr count;  // copies on this stage
};
std::vector<StageParam> stage_params(const Graph& graph, bool first, bool last, bool has_layers);

// What follows the reductions over replicas (sync_model.h), in order of issue: tp (norms and biases under sequence
// parallelism), then KV replicas, then the embedding group. Follows from the placements of the parameters' gradients;
// Megatron-LM merges and orders alike. FSDP does these by unit, before it scatters: none is here.
std::vector<GradReduction> plan_grad_reduce(const Graph& graph, bool first, bool last, bool has_layers);
// Of these parameters: ends says that tied ones live on the other end of the pipeline too.
std::vector<GradReduction> reductions_of(const Graph& graph, const std::vector<StageParam>& params, bool ends);

// Quantized copies of the weights on one rank: one for the forward, one scaled along the other dimension (or transposed) for
// the input gradient, made once a step and kept (Transformer Engine's weight cache). FSDP quantizes what it has gathered
// every time instead.
Expr quantized_weight_bytes(const Graph& graph, bool first, bool last, bool has_layers);

// Adam (Kingma and Ba, arXiv 1412.6980, algorithm 1): per parameter 12 FLOPs in float32, whatever its states are kept in.
// After it the weights are quantized.
struct OptimizerCost {
  Expr flops, read_bytes, written_bytes;  // per rank and step
};
OptimizerCost optimizer_cost(const Graph& graph, bool first, bool last, bool has_layers);

// Where the host updates the parameters: what it is sent, and what it sends back, of the part that the rank owns (Ren et al.,
// arXiv 2101.06840, section 4.1).
struct OffloadedStep {
  Expr gradient_bytes, parameter_bytes;
};
OffloadedStep offloaded_step(const Graph& graph, bool first, bool last, bool has_layers);

// Parameters of one rank of such a stage, tied ones that meet on it counted once; before data parallelism shards them.
Expr stage_parameters(const Graph& graph, bool first, bool last, bool has_layers);

// The segments of a stage with how often each occurs (1 or a layer-count symbol), in order of execution.
struct StageSegment {
  int segment;
  Expr count;
};
std::vector<StageSegment> stage_segments(const Graph& graph, bool first, bool last, bool has_layers);

}  // namespace shardscape
