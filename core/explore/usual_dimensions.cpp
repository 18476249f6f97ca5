// Default dimensions of a space.
#include <algorithm>
#include <bit>

#include "design/cluster.h"
#include "design/knobs/knob_state.h"
#include "design/validate/checks.h"
#include "explore/space.h"

namespace shardscape {
namespace {

std::string at_most(const std::vector<int64_t>& values, int64_t limit) {
  std::string text;
  for (int64_t n : values)
    if (n <= limit) text += (text.empty() ? "" : ",") + std::to_string(n);
  return text;
}

auto as_bits(int64_t n) { return static_cast<uint64_t>(n); }

}  // namespace

std::vector<std::pair<std::string, std::string>> usual_dimensions(const Design& base, int64_t gpus,
                                                                  const std::vector<std::string>& fixed) {
  constexpr int64_t kLongSequence = 32768, kMostContext = 16, kMostVirtualStages = 8, kMostMicrobatch = 8;
  Design on = base;
  on.parallel.tp = on.parallel.pp = on.parallel.cp = 1;
  on.parallel.dp = std::max<int64_t>(gpus, 1);
  const bool experts = base.model.experts > 0;
  // Few stages may split the layers only if embedding and head count as one layer each: 126 + 2.
  const int64_t layers = base.model.layers;
  std::vector<int64_t> chunks = divisors(layers);
  const bool ends = base.parallel.stage_layers.empty() && layers > 0 &&
                    std::max(std::countr_zero(as_bits(layers + 1)), std::countr_zero(as_bits(layers + 2))) >
                        std::countr_zero(as_bits(layers));
  for (const int64_t parts : {layers + 1, layers + 2})
    for (const int64_t n : divisors(parts))
      if (ends && std::find(chunks.begin(), chunks.end(), n) == chunks.end()) chunks.push_back(n);
  std::sort(chunks.begin(), chunks.end());
  std::vector<std::pair<std::string, std::string>> out{
      {"tp", at_most(divisors(on.parallel.dp), scaleup_domain(on))},
      {"pp", "all"},
      {"virtual_stages", at_most(chunks, kMostVirtualStages)},
      {"microbatch",
       at_most(divisors(base.workload.batch), trains(base) ? kMostMicrobatch : base.workload.batch)},
      {"schedule", experts ? "1f1b,zb-v,dualpipe" : "1f1b,zb-h1,zb-v"},
      {"recompute", "all"},
      {"sequence_parallel", "all"},
      {"sync", "ddp-flat,distributed-optimizer,fsdp2"},
      {"tp_comm_overlap", "all"},
      {"overlap_grad_reduce", "all"},
      {"overlap_param_gather", "all"}};
  if (base.workload.seq >= kLongSequence) {
    out.push_back({"cp", at_most(divisors(on.parallel.dp), kMostContext)});
    out.push_back({"context", "all-gather,zigzag"});
  }
  if (ends)
    for (const char* end : {"account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split"})
      out.push_back({end, "all"});
  if (experts) out.push_back({"ep", at_most(divisors(base.model.experts), std::max<int64_t>(gpus, 1))});
  // Omits knobs that have no effect in inference under any parallelism. In training, the effect of a knob may
  // depend on other knobs that vary.
  Design spread = base;
  spread.parallel.tp = spread.parallel.pp = spread.parallel.dp = 2;
  spread.parallel.sequence_parallel = true;
  std::erase_if(out, [&](const auto& d) {
    return std::find(fixed.begin(), fixed.end(), d.first) != fixed.end() ||
           (!trains(base) && no_effect_test(*find_knob(d.first))(spread));
  });
  return out;
}

}  // namespace shardscape
