// Kernel profiles: what each kind of op keeps for its backward, per code base. Data, not code.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/axis.h"

namespace shardscape {

// A tensor that only the kernel knows (norm statistics, softmax statistics, rotary tables), kept for backward.
struct KernelStat {
  std::string name;
  std::string over;// letters of the op's spec that size it: "bs" of rms_norm[bsd,d->bsd]; "sd" of rope[bshd->bshd];
                   // "..." stands for those that the op's parameter does not have: one per row that is normalised;
                   // "result" for all of the result, "parameter" for those of the last operand, "operand 2" for those of that one
  DType dtype = DType::FP32;
  int copies = 1;
  // All of these, joined by "&": "dropout", "b>1" (microbatch larger than one), "grouped" (query heads share KV heads),
  // "alltoall" and "allgather" (how tokens get to experts), "local_experts>1" (on one
  // rank), "no ring" (K and V do not go round a ring). Or "sharded:v" alone (letter
  // v is sharded).
  std::string when;
  int dtype_of = -1;    // operand whose type it has, whatever dtype says
  int64_t chunk = 0;    // one per so many tokens instead of one per token; 0: per token
  int replaces = -1;    // operand that the backward does not read where it has this copy of it
};

// Chunks of so many tokens in a sequence: "nc2048" = ceil(S / 2048).
Symbol chunk_count_symbol(int64_t tokens);

struct KernelRule {
  std::vector<int> saves_inputs;  // operand numbers kept for backward
  bool saves_output = false;
  bool in_place = false;       // the result is written over operand 0, or is a view of it: one storage
  bool float_result = false;   // the result is fp32 whatever the precision of activations
  std::vector<KernelStat> stats;
  // Where data operands must be: as they come; summed whole (no reduce-scatter into the stream); or in the stream.
  enum class Operands { AsTheyCome, Whole, Stream } operands = Operands::AsTheyCome;
  int64_t backward_products = 5;  // attention: matrix products of the backward; flash makes the scores again
  std::string kernel;          // attention: the fused kernel, where it is not the fastest of its device ("flash-attention-2")
  // Where the backward writes the gradient of operand 0: into memory of its own, over that operand, or into the gradient that
  // another op of the same kernel makes.
  enum class Gradient { Fresh, OverInput, Shared } gradient = Gradient::Fresh;
  // What the kernels need while they run, sized by letters as stats are.
  std::vector<KernelStat> forward_workspace, backward_workspace;
  // Results and workspace of the forward stay until an op of this kind in the same block has run: variables of its code.
  std::string held_until;
  int64_t flops = 0;           // counted FLOPs per element of the index space, forward
  int64_t backward_flops = 0;  // the same for backward
};

// What the backward allocates for the gradient of a weight beside the buffer that gradients accumulate in. Fresh: the
// gradient itself, added to the buffer afterwards. None: products add to the buffer. Dummy: likewise, but a tensor as large as
// the weight tells autograd that there is a gradient; SharedDummy: weights of one shape share it for good.
enum class WeightGradient : uint8_t { Fresh, None, Dummy, SharedDummy };

struct KernelProfile {
  std::string id, label, source;
  std::map<std::string, KernelRule> rules;              // op kind -> rule
  std::vector<std::vector<std::string>> packed;         // op outputs that are views of one storage: [["q","k","v"]]
  bool keeps_gathered = false;       // what tensor parallelism gathers for products is kept as they read it; otherwise the share of it, gathered again
  bool sums_at_once = false;         // gradients of one tensor are added up when all are there, by one kernel; otherwise each as it comes
  bool reduce_per_consumer = false;  // gradients of an input that several products share are reduced one by one, not summed first
  // Outputs of block lines that are not kept ("g", or "rms_norm.y" of one block): the backward makes each again from what its
  // op read, where first needed.
  std::vector<std::string> recomputes;
  WeightGradient weight_gradient = WeightGradient::Fresh;  // of matrix products; those of tables and norms are always fresh
  std::optional<bool> separate_experts; // a matrix product per expert of a rank, one after the other, not one grouped kernel
  std::optional<DType> residual;     // type of the residual stream where it is not that of activations
  const KernelRule* rule(const std::string& op) const;
  std::set<int64_t> chunks(const std::set<std::string>& ops) const;  // that these kinds of op keep statistics of, ascending
};

}  // namespace shardscape
