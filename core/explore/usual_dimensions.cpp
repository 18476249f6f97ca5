// What is worth varying of a design, for those who do not say.
#include <algorithm>

#include "design/checks.h"
#include "design/cluster.h"
#include "explore/space.h"

namespace shardscape {
namespace {

std::string at_most(const std::vector<int64_t>& values, int64_t limit) {
  std::string text;
  for (int64_t n : values)
    if (n <= limit) text += (text.empty() ? "" : ",") + std::to_string(n);
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> usual_dimensions(const Design& base, int64_t gpus, const std::vector<std::string>& fixed) {
  constexpr int64_t kLongSequence = 32768, kMostContext = 16, kMostVirtualStages = 8, kMostMicrobatch = 8;
  Design on = base;
  on.parallel.tp = on.parallel.pp = on.parallel.cp = 1;
  on.parallel.dp = std::max<int64_t>(gpus, 1);
  const bool experts = base.model.experts > 0;
  std::vector<std::pair<std::string, std::string>> out{
      {"tp", at_most(divisors(on.parallel.dp), scaleup_domain(on))},
      {"pp", "all"},
      {"virtual_stages", at_most(divisors(base.model.layers), kMostVirtualStages)},
      {"microbatch", at_most(divisors(base.workload.batch), kMostMicrobatch)},
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
  if (experts) out.push_back({"ep", at_most(divisors(base.model.experts), std::max<int64_t>(gpus, 1))});
  std::erase_if(out, [&](const auto& d) { return std::find(fixed.begin(), fixed.end(), d.first) != fixed.end(); });
  return out;
}

}  // namespace shardscape
