// Work on gradients and parameters once a step, after the last backward: reductions inside and between
// replicas, then the optimizer.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/stage_symbols.h"

namespace shardscape {

// One all-reduce (sum) of a flat gradient buffer. Elements and bytes: the full buffer on one rank.
struct GradReduction {
  MeshAxes axes;                 // mesh axes of the group; empty for pairs
  bool embedding_group = false;  // ranks of the first and the last stage, which share a tied parameter
  // The two stages that hold the same virtual stages (ChunkLayout::BothWays).
  bool mirror = false;
  Expr elements, bytes;
  DType dtype = DType::FP32;
  bool pair() const { return embedding_group || mirror; }  // one rank of each of two stages
  std::string group() const { return embedding_group ? "embedding" : mirror ? "mirror" : group_name(axes); }
};

// A parameter on one rank of a stage. A parameter tied to another one on the same rank appears once.
struct StageParam {
  const Segment* segment;
  const Param* param;
  Expr count;  // copies on this stage
};
std::vector<StageParam> stage_params(const Graph& graph, ModelStart first, bool last, bool has_layers);
// Those that gradients train; empty in inference.
std::vector<StageParam> trained_params(const Graph& graph, ModelStart first, bool last, bool has_layers);

// Reductions that follow the reductions over replicas (sync_model.h), in order of issue: tp (norms and biases
// under sequence parallelism), KV replicas, the embedding group. The placements of the parameters' gradients
// determine the reductions; Megatron-LM merges and orders them in the same way. Empty for FSDP, which runs
// these reductions per unit before the scatter. owned: StageSync::owned.
std::vector<GradReduction> plan_grad_reduce(const Graph& graph, const Expr& owned, ModelStart first,
                                            bool last, bool has_layers);
// The reductions of the gradients of `params`. ends: tied parameters also live on the other end of the
// pipeline.
std::vector<GradReduction> reductions_of(const Graph& graph, const std::vector<StageParam>& params,
                                         bool ends);

// Bytes of quantized weight copies on one rank, made once a step and stored: one for the forward, one scaled
// along the other dimension (or transposed) for the input gradient (Transformer Engine's weight cache). Only
// the first one where GEMMs read FP8 operands in any layout (Structure::transposed_weights). 0 for FSDP1,
// which quantizes the gathered unit every time.
Expr quantized_weight_bytes(const Graph& graph, ModelStart first, bool last, bool has_layers);

// Elements of quantized weights on one rank, before data parallelism shards them.
Expr quantized_weights(const Graph& graph, ModelStart first, bool last, bool has_layers);

// The type in which updated weights of quantized GEMMs are gathered: FP8 data (Megatron-core,
// param_and_grad_buffer.py, buffers of torch.uint8), or the data type. MXFP8 and NVFP4 gather the data type,
// because both copies are quantized from it.
DType gathered_weight_type(const Structure& structure);

// Adam (Kingma and Ba, arXiv 1412.6980, algorithm 1): 12 FLOPs per parameter in float32, whatever the types
// of its states. The bytes include the quantization of updated weights. Muon's Newton-Schulz iterations are
// not included (MuonWork); the rest of its update counts like Adam with one moment.
struct OptimizerCost {
  Expr flops, read_bytes, written_bytes;  // per rank and step
};
// owned: elements of the parameters whose states the rank owns (StageSync::owned); the device updates those
// that the host does not. matrices: those with one momentum (MuonWork::owned).
OptimizerCost optimizer_cost(const Graph& graph, const Expr& owned, const Expr& matrices, ModelStart first,
                             bool last, bool has_layers);

// Elements that the host updates and stores, of `owned` elements: all, or with offload_part the blocks of 256
// elements (as 8-bit moments have) that `blocks` counts: Of / 1,000 of all blocks.
Expr offloaded_elements(const Structure& structure, const Expr& owned, Symbol blocks = Symbol::intern("Ph"));
// Whether the device updates parameters.
inline bool updates_on_device(const Structure& structure) {
  return !structure.offload_optimizer || structure.offload_part;
}
DerivedSymbol offloaded_blocks(Symbol name, const Expr& owned);

// Optimizer offload: bytes per step from the device to the host (gradients) and back (parameters), for the
// part that the rank owns (Ren et al., arXiv 2101.06840, section 4.1).
struct OffloadedStep {
  Expr gradient_bytes, parameter_bytes;
};
OffloadedStep offloaded_step(const Graph& graph, const Expr& owned);

// Elements of the parameters on one rank of a stage, before data parallelism shards them. Tied parameters on
// the same rank count once.
Expr stage_parameters(const Graph& graph, ModelStart first, bool last, bool has_layers);

// Elements of the parameters that gradients do not train: those of a frozen tower.
Expr frozen_parameters(const Graph& graph, ModelStart first, bool last, bool has_layers);

// The segments of a stage in order of execution, with their number. A tower that no pass runs is among them.
struct StageSegment {
  int segment;
  Expr count;
};
std::vector<StageSegment> stage_segments(const Graph& graph, ModelStart first, bool last, bool has_layers);

}  // namespace shardscape
