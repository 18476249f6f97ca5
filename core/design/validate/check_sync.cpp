// Checks the requirements of gradient-sync policies.
#include <algorithm>

#include "base/number_text.h"
#include "base/units.h"
#include "design/validate/checks.h"

namespace shardscape {
namespace {

Fix sync_to(const char* policy) { return set_to("sync", std::string(policy)); }

// DeepSpeed's pipeline engine supports only ZeRO stages 0 and 1, because it does not reduce gradients between
// microbatches (deepspeed/runtime/pipe/engine.py, PipelineEngine.__init__).
void check_deepspeed(Checks& checks) {
  const ParallelSpec& p = checks.design.parallel;
  if (!is_deepspeed(p.sync)) return;
  if (p.pp > 1 && (p.sync == SyncStrategy::Zero2 || p.sync == SyncStrategy::Zero3)) {
    if (checks.record_first("sync")) return;
    const std::string policy = p.sync == SyncStrategy::Zero2 ? "zero-2" : "zero-3";
    checks.error(ProblemCode::ZeroWithPipeline, "sync",
                 policy + " does not support pipeline stages: it reduces gradients after every microbatch",
                 "zero-1, fsdp1 or fsdp2, or pp = 1",
                 {sync_to(p.virtual_stages > 1 ? "distributed-optimizer" : "zero-1"), sync_to("fsdp2")});
  } else if (p.virtual_stages > 1 && !checks.record_first("sync")) {
    checks.error(ProblemCode::DeepSpeedWithVirtualStages, "sync",
                 "DeepSpeed's pipelines have no virtual stages", "1 virtual stage, or another gradient sync",
                 {set_to("virtual_stages", 1), sync_to("distributed-optimizer")});
  }
}

// Every copy of the states must hold all experts. Megatron asserts that the number of instances divides the
// expert data-parallel size (parallel_state.py). torchtitan takes the ranks of experts out of one copy
// (parallel_dims.py).
void check_experts_in_copies(Checks& checks) {
  const ParallelSpec& p = checks.design.parallel;
  if (!checks.in_range({"ep", "etp", "tp"}) || checks.design.model.experts == 0 ||
      (p.ep == 1 && !p.folds_experts()))
    return;
  const int64_t copies = p.dp / p.dp_shard, inner = p.cp * (p.folds_experts() ? p.tp : 1),
                wanted = p.ep * (p.folds_experts() ? p.etp : 1);
  // check_experts.cpp reports the first case.
  if (p.dp * inner % wanted != 0 || p.dp_shard * inner % wanted == 0) return;
  std::vector<Fix> fixes{set_to("dp_shard", 0)};
  for (const int64_t n : divisors(p.dp))
    if (n > p.dp_shard && n < p.dp && n * inner % wanted == 0) {
      fixes.push_back(set_to("dp_shard", n));
      break;
    }
  const std::vector<int64_t> degrees = divisors(p.ep);
  for (auto ep = degrees.rbegin(); ep != degrees.rend(); ++ep)
    if (p.dp_shard * inner % (*ep * (p.folds_experts() ? p.etp : 1)) == 0) {
      fixes.push_back(set_to("ep", *ep));
      break;
    }
  checks.error(
      ProblemCode::ExpertsExceedShardGroup, "dp_shard",
      grouped(copies) + " copies of the states do not divide the " + grouped(p.edp()) +
          " replicas of each expert: a copy of ds x cp" + (p.folds_experts() ? " x tp = " : " = ") +
          grouped(p.dp_shard * inner) + " ranks cannot hold all experts spread over " +
          (p.folds_experts() ? "ep x etp = " : "ep = ") + grouped(wanted),
      "0, or a group size for which ds x cp" +
          std::string(p.folds_experts() ? " x tp is a multiple of ep x etp" : " is a multiple of ep"),
      std::move(fixes));
}

void check_hybrid(Checks& checks) {
  const ParallelSpec& p = checks.design.parallel;
  if (p.dp_shard == 0) return;
  const Fix all = set_to("dp_shard", 0);
  const bool fits = p.dp % p.dp_shard == 0 && p.dp_shard * p.cp > 1;
  const bool mics = p.sync == SyncStrategy::Zero3;
  if (!shards_in_groups(p.sync)) {
    std::vector<Fix> fixes{all};
    if (fits)
      fixes.insert(fixes.end(), {sync_to("distributed-optimizer"), sync_to("fsdp1"), sync_to("fsdp2")});
    if (fits && is_deepspeed(p.sync) && p.pp == 1) fixes.push_back(sync_to("zero-3"));
    checks.error(ProblemCode::DpShardWithOtherSync, "dp_shard",
                 "only FSDP, ZeRO-1 to ZeRO-3 and Megatron's distributed optimizer shard inside a group of "
                 "replicas and replicate across groups",
                 "0, or the gradient sync distributed-optimizer, FSDP, zero-1, zero-2 or zero-3",
                 std::move(fixes));
    return;
  }
  // mics.py, allreduce_mics_shard_grads: "Local sharding has no support for CPU offloading".
  if (mics && p.dp_shard < p.dp && checks.design.workload.offload_optimizer) {
    checks.error(
        ProblemCode::DpShardWithOtherSync, "dp_shard",
        "DeepSpeed's MiCS all-reduces shards of gradients on the GPU, so the host cannot update them",
        "0, or offload_optimizer off", {all, set_to("offload_optimizer", std::string("false"))});
    return;
  }
  if (fits) return check_experts_in_copies(checks);
  std::vector<int64_t> sizes = divisors(p.dp);
  std::erase_if(sizes, [&](int64_t n) { return n * p.cp < 2; });
  std::vector<Fix> fixes{all};
  const auto above = std::upper_bound(sizes.begin(), sizes.end(), p.dp_shard);
  if (above != sizes.begin()) offer(fixes, "dp_shard", *(above - 1));
  if (above != sizes.end()) offer(fixes, "dp_shard", *above);
  const std::string accepted = sizes.empty() ? "0" : "0, or a divisor of dp: " + or_list(sizes);
  if (p.dp % p.dp_shard != 0)
    checks.error(ProblemCode::DpShardIndivisible, "dp_shard",
                 grouped(p.dp) + " replicas do not split into groups of " + grouped(p.dp_shard), accepted,
                 std::move(fixes));
  else
    checks.error(ProblemCode::DpShardOfOneRank, "dp_shard", "a group of one replica shards nothing", accepted,
                 std::move(fixes));
}

// Both ends of a pipeline would wait for each other in every microbatch.
void check_tied_embeddings(Checks& checks) {
  const ParallelSpec& p = checks.design.parallel;
  if (p.pp == 1 || !checks.design.model.tied_embeddings) return;
  const bool always = p.sync == SyncStrategy::MegatronFsdp;
  if (!always && !(p.reduce_every_microbatch && is_fsdp(p.sync))) return;
  checks.error(
      ProblemCode::EagerReduceWithTiedEmbeddings, always ? "sync" : "reduce_every_microbatch",
      "in a pipeline, the first and the last stage reduce tied embeddings only after the last microbatch",
      always ? "distributed-optimizer, or embeddings that are not tied"
             : "off, or embeddings that are not tied",
      {always ? set_to("sync", std::string("distributed-optimizer"))
              : set_to("reduce_every_microbatch", std::string("false")),
       set_to("tied_embeddings", std::string("false"))});
}

// Megatron-core: arguments.py asserts that emerging optimizers have no Megatron-FSDP; its CPU offload and its
// 8-bit moments are those of Adam. FSDP1 flattens and shards parameters, so that no rank has a matrix.
// DeepSpeed runs Muon with ZeRO (github deepspeedai/DeepSpeed, pull 7509), but refuses offload
// (stage_1_and_2.py).
void check_muon(Checks& checks) {
  const Design& d = checks.design;
  const ParallelSpec& p = d.parallel;
  const WorkloadSpec& w = d.workload;
  if (!trains(d) || w.optimizer != OptimizerKind::Muon || !no_muon(d).empty()) return;
  const Fix adam = set_to("optimizer", std::string("adam"));
  const bool sharded = p.dp * p.cp > 1 &&
                       (p.sync == SyncStrategy::Fsdp1 || p.sync == SyncStrategy::MegatronFsdp);
  if (sharded && !checks.record_first("sync"))
    checks.error(ProblemCode::MuonUnsupported, "sync",
                 p.sync == SyncStrategy::Fsdp1
                     ? "fsdp1 shards flat parameters, but Muon updates whole matrices"
                     : "Megatron-FSDP does not support Muon",
                 "ddp-flat, distributed-optimizer, ddp, zero-0, zero-1 or zero-2, or optimizer adam",
                 {sync_to("distributed-optimizer"), adam});
  if (w.offload_optimizer && !checks.record_first("offload_optimizer"))
    checks.error(ProblemCode::MuonUnsupported, "offload_optimizer",
                 "optimizers on the host run Adam, not Muon", "false, or optimizer adam",
                 {set_to("offload_optimizer", std::string("false")), adam});
  if ((w.moment_dtype == DType::FP8 || w.moment_dtype == DType::Int8Block) &&
      !checks.record_first("moment_dtype"))
    checks.error(ProblemCode::MuonUnsupported, "moment_dtype", "8-bit moments are those of Adam, not of Muon",
                 "fp32, bf16 or fp16, or optimizer adam",
                 {set_to("moment_dtype", std::string("fp32")), adam});
}

}  // namespace

void check_sync(Checks& checks) {
  if (!checks.in_range({"sync", "dp", "cp", "pp", "virtual_stages", "dp_shard"})) return;
  const ParallelSpec& p = checks.design.parallel;
  check_muon(checks);
  if (p.dp * p.cp == 1) {
    if (p.dp_shard > 1)
      checks.error(ProblemCode::DpShardWithoutReplicas, "dp_shard",
                   "there are no replicas to shard over (dp = 1)", "0", {set_to("dp_shard", 0)});
    return;
  }
  check_tied_embeddings(checks);
  check_hybrid(checks);
  check_deepspeed(checks);
}

}  // namespace shardscape
