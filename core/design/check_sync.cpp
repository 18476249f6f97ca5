// What the policy of gradient sync asks of the rest of the design.
#include "design/checks.h"

namespace shardscape {

void check_sync(Checks& checks) {
  const ParallelSpec& p = checks.design.parallel;
  if (p.overlap_grad_reduce && checks.sound({"sync", "dp", "cp"}) && (p.dp * p.cp == 1 || p.sync == SyncStrategy::Fsdp1 || p.sync == SyncStrategy::DdpBuckets)) {
    checks.note("overlap_grad_reduce", p.dp * p.cp == 1 ? "there are no replicas (dp = 1): it has no effect"
                                                 : "this gradient sync always overlaps: it has no effect",
                "off, or the gradient sync ddp-flat or distributed-optimizer over dp of at least 2",
                {set_to("overlap_grad_reduce", std::string("false"))});
  }
  if (!checks.sound({"sync", "dp", "cp", "virtual_stages"}) || p.sync == SyncStrategy::DdpFlat) return;
  const Fix plain = set_to("sync", std::string("ddp-flat"));
  if (p.dp * p.cp == 1) {
    checks.note("sync", "there are no replicas to shard over (dp = 1): it has no effect", "dp of at least 2, or ddp-flat", {plain});
  } else if (p.sync == SyncStrategy::Fsdp1 && p.virtual_stages > 1) {
    checks.error("sync", "FSDP units with virtual stages are not supported", "1 virtual stage, or another gradient sync",
                 {set_to("virtual_stages", 1), set_to("sync", std::string("distributed-optimizer")), plain});
  }
}

}  // namespace shardscape
