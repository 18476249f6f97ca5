// Kernel profiles: what each kind of op keeps for its backward, per code base. Data, not code.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/axis.h"

namespace shardscape {

// A tensor that only the kernel knows (norm statistics, softmax statistics, rotary tables), kept for backward.
struct KernelStat {
  std::string name;
  std::string over;// letters of the op's spec that size it: "bs" of rms_norm[bsd,d->bsd]; "sd" of rope[bshd->bshd];
                   // "..." stands for those that the op's parameter does not have: one per row that is normalised;
                   // "result" for all of the result, "parameter" for those of the last operand
  DType dtype = DType::FP32;
  int copies = 1;
  std::string when;     // "", "dropout", "b>1" (microbatch larger than one), "grouped" (query heads share KV heads),
                        // "no ring" (K and V do not go round a ring) or "sharded:v" (letter v is sharded)
  int replaces = -1;    // operand that the backward does not read where it has this copy of it
};

struct KernelRule {
  std::vector<int> saves_inputs;  // operand numbers kept for backward
  bool saves_output = false;
  bool in_place = false;       // the result is written over operand 0: one storage
  std::vector<KernelStat> stats;
  // Where data operands must be: as they come; summed whole (no reduce-scatter into the stream); or in the stream.
  enum class Operands { AsTheyCome, Whole, Stream } operands = Operands::AsTheyCome;
  int64_t backward_products = 5;  // attention: matrix products of the backward; flash makes the scores again
  int64_t flops = 0;           // counted FLOPs per element of the index space, forward
  int64_t backward_flops = 0;  // the same for backward
};

struct KernelProfile {
  std::string id, label, source;
  std::map<std::string, KernelRule> rules;              // op kind -> rule
  std::vector<std::vector<std::string>> packed;         // op outputs that are views of one storage: [["q","k","v"]]
  bool reduce_per_consumer = false;  // gradients of an input that several products share are reduced one by one, not summed first
  const KernelRule* rule(const std::string& op) const;
};

}  // namespace shardscape
