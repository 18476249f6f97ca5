// Kernel profiles: data per code base that states, for each op kind, the saved tensors, workspaces and FLOPs.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/axis.h"

namespace shardscape {

// An extra output of an op's kernel that is saved for the backward: norm statistics, softmax statistics,
// rotary tables.
struct KernelStat {
  std::string name;
  // The letters of the op's spec that give its shape: "bs" of rms_norm[bsd,d->bsd]; "sd" of rope[bshd->bshd].
  // "...": the letters of the result that the last operand lacks (one element per normalized row). "result",
  // "parameter" (the last operand) and "operand N": all letters of that tensor. "rows of operand N": without
  // the last. "bth, width of operand N": these letters and the last of that tensor.
  std::string over;
  DType dtype = DType::FP32;
  int copies = 1;
  // Conditions joined by "&": "dropout", "b>1" (microbatch above one), "grouped" (query heads share KV
  // heads), "alltoall" and "allgather" (expert dispatchers), "at_once" and "by_node" (direct or per-node
  // dispatch), "unpadded" (experts without padding to a capacity), "local_experts>1" (experts per rank), "no
  // ring" (no ring attention). Or alone: "sharded:v" (letter v is sharded), "delta rule" and "channel" (of a
  // linear scan, see LinearScanAttributes).
  std::string when;
  int dtype_of = -1;                // operand whose data type replaces `dtype`; -1: none
  int64_t chunk = 0;                // tokens per element along the sequence; 0: one element per token
  std::optional<Axis> last_axis{};  // a further dimension
  int replaces = -1;  // operand whose copy this is: the backward reads the copy instead; -1: none
};

// The symbol of the number of chunks with this many tokens in a sequence: "nc2048" = ceil(S / 2048).
Symbol chunk_count_symbol(int64_t tokens);

struct KernelRule {
  std::vector<int> saves_inputs;  // operand numbers saved for the backward
  bool saves_output = false;
  bool in_place = false;      // the result overwrites operand 0 or is a view of it: one storage
  bool float_result = false;  // the result is float32, whatever the type of activations
  std::vector<KernelStat> stats;
  // Required placement of data operands. Any: no requirement. Whole: partial sums are all-reduced, never
  // reduce-scattered into the residual stream. Stream: the placement of the residual stream.
  enum class Operands { Any, Whole, Stream } operands = Operands::Any;
  // attention: matrix products of the backward; 5 with recomputed scores (flash)
  int64_t backward_products = 5;
  // Attention: name of the fused kernel if it is not the device's fastest ("flash-attention-2").
  std::string kernel;
  // Memory of the gradient of operand 0. Fresh: its own memory. OverInput: overwrites the operand. Shared:
  // the gradient that another op of the same kernel allocates.
  enum class Gradient { Fresh, OverInput, Shared } gradient = Gradient::Fresh;
  // Temporary memory of the kernels while they run. `over` gives the shape, as for stats.
  std::vector<KernelStat> forward_workspace, backward_workspace;
  // Op kind. Results and forward workspace live until the next op of this kind in the same block has run,
  // because variables of the code base hold them. Empty: no such op.
  std::string held_until;
  int64_t flops = 0;           // counted FLOPs of the forward per element of the index space
  int64_t backward_flops = 0;  // counted FLOPs of the backward per element of the index space
};

// Memory that the backward allocates for a weight gradient, in addition to the accumulation buffer. Fresh:
// the gradient, which is then added to the buffer. None: the GEMM accumulates into the buffer. Dummy: as
// None, plus a tensor of the weight's size that tells autograd that a gradient exists. SharedDummy: as Dummy,
// but weights of equal shape share one permanent tensor. UntilPassEnds: as Fresh, but the gradients of all
// parameters live until the backward of a virtual stage ends, and are then added.
enum class WeightGradient : uint8_t { Fresh, None, Dummy, SharedDummy, UntilPassEnds };

struct KernelProfile {
  std::string id, label, source;
  std::map<std::string, KernelRule> rules;       // op kind -> rule
  std::vector<std::vector<std::string>> packed;  // op outputs that are views of one storage: [["q","k","v"]]
  // Chains of forward ops that one kernel computes, by kind: {"dropout", "add"}. Each op of a chain is the
  // only reader of the previous result. The first chain that fits an op applies.
  std::vector<std::vector<std::string>> fused;
  // Tensor-parallel gathers of GEMM operands: true saves the gathered tensor, false saves the shard and
  // gathers again.
  bool saves_gathered = false;
  // Gradients of one tensor: true adds all of them in one kernel, false adds each as it arrives.
  bool adds_gradients_at_once = false;
  // Gradients of an input that several GEMMs share: true reduces each on its own, false adds them first.
  bool reduce_per_consumer = false;
  // Outputs of block lines that are not saved ("g", or "rms_norm.y" of one block). The backward recomputes
  // each from the op's inputs at first use.
  std::vector<std::string> recomputes;
  // Of matrix products. Gradients of embedding tables and norms are always Fresh.
  WeightGradient weight_gradient = WeightGradient::Fresh;
  // PyTorch's DDP wraps the model: its reducer has buckets of the size of the parameters, in addition to the
  // accumulation buffer. Only with UntilPassEnds.
  bool reducer_buckets = false;
  // One GEMM per local expert, one after the other, instead of one grouped GEMM.
  std::optional<bool> separate_experts;
  // Bytes that separate bias kernels of the experts move per element of the experts' result: {forward,
  // backward}. No value: the GEMMs add the bias.
  std::optional<std::array<double, 2>> expert_bias;
  // Experts multiply their activations by the weights of their tokens, and results are added without weights
  // (passes/weigh_experts.cpp). Otherwise the sum of a token's results is weighted.
  bool weighs_activations = false;
  std::optional<DType> residual;  // type of the residual stream if it differs from that of activations
  // Chains as in `fused` whose results between other ops may read, too: the kernel writes these results.
  // Besides op kinds of templates, they name "quantize" and "cache_write".
  std::vector<std::vector<std::string>> fused_results;
  // Forward ops of one block with these kinds are one kernel, unless a kernel in between needs one of them:
  // {"rope", "concat"} rotates queries and keys at once.
  std::vector<std::vector<std::string>> merged;
  // The sum at the end of a layer is computed by the first norm of the next layer.
  bool sums_in_next_norm = false;
  // Training: factor on the time of GEMMs and attention, in addition to the factor of the accelerator
  // ("training_factor"), for what a version of the code base does not overlap. At least 1.
  double slowdown = 1;
  // Training: microseconds that the host needs to launch an op. No value: that of the accelerator's tables.
  std::optional<double> host_launch_us;
  // Training: kernels that the host launches for an op of a kind, forward and backward. Kinds without an
  // entry launch one kernel. GEMMs of separate experts launch one kernel per local expert.
  std::map<std::string, std::array<int64_t, 2>> launches;
  // Training: the host reads the tokens of each expert from the device before it launches the kernels
  // behind the router, unless experts are padded to a capacity (Megatron-core, token_dispatcher.py).
  bool host_reads_routing = false;
  // The host waits for the device at the begin and the end of every forward and backward.
  bool host_waits_for_passes = false;
  // Shared experts run on a stream of their own next to the routed experts.
  bool concurrent_shared_experts = false;
  const KernelRule* rule(const std::string& op) const;
  // Whether GEMMs of weight gradients add to the gradient buffer.
  // Whether attention computes blocks of scores and saves their log-sum-exp instead of rows of scores.
  bool has_blockwise_attention() const {
    const KernelRule* of = rule("attention");
    if (!of) return false;
    const auto any = [&](auto wanted) { return std::any_of(of->stats.begin(), of->stats.end(), wanted); };
    // Transformer Engine's copy of the values for the backward is no row of scores.
    return of->saves_output && any([](const KernelStat& s) { return s.name == "lse"; }) &&
           !any([](const KernelStat& s) { return s.replaces >= 0 && s.over != "operand 2"; });
  }
  bool fuses_weight_gradients() const {
    return weight_gradient == WeightGradient::None || weight_gradient == WeightGradient::SharedDummy;
  }
  // KernelStat::chunk of the statistics of these op kinds, ascending.
  std::set<int64_t> chunks(const std::set<std::string>& ops) const;
};

}  // namespace shardscape
