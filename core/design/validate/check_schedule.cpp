// Checks the requirements of pipeline schedules.
#include <algorithm>
#include <iterator>

#include "base/units.h"
#include "design/limits.h"
#include "design/validate/checks.h"
#include "mesh/pipeline_layout.h"
#include "model/library.h"

namespace shardscape {
namespace {

std::string label(const Design& d) { return schedule_label(d.parallel.schedule); }

Fix to_1f1b() { return set_to("schedule", std::string("1f1b")); }
// A fix to plain 1F1B, away from schedules that require virtual stages.
Fix plain(const Design& d) {
  return d.parallel.virtual_stages > 1 ? both(to_1f1b(), set_to("virtual_stages", 1)) : to_1f1b();
}

// Virtual stages of V schedules, which need exactly two, and of the flexible schedule, which needs at least
// two.
void check_chunks(Checks& checks) {
  const Design& d = checks.design;
  const int64_t v = d.parallel.virtual_stages;
  if (chunk_layout(d.parallel.schedule) == ChunkLayout::Vee) {
    if (v == 2 || checks.record_first("virtual_stages")) return;
    checks.error(
        ProblemCode::VScheduleNeedsTwoChunks, "virtual_stages",
        label(d) + " needs two virtual stages per stage, but there are " + grouped(v),
        "2, or another schedule",
        {set_to("virtual_stages", 2), v == 1 ? to_1f1b() : both(to_1f1b(), set_to("virtual_stages", 1))});
  } else if (d.parallel.schedule == ScheduleKind::Flexible) {
    if (v == 1)
      checks.error(ProblemCode::FlexibleNeedsVirtualStages, "virtual_stages",
                   "the flexible schedule needs several virtual stages per stage, but there is one",
                   "2 or more, or the schedule 1f1b", {set_to("virtual_stages", 2), to_1f1b()});
    if (const int64_t n = d.parallel.microbatch_group;
        checks.in_range({"microbatch_group"}) && n > 0 && n < d.parallel.pp)
      checks.error(ProblemCode::MicrobatchGroupTooSmall, "microbatch_group",
                   "groups of " + grouped(n) + (n == 1 ? " microbatch do" : " microbatches do") +
                       " not fill the pipeline of " + grouped(d.parallel.pp) + " stages",
                   "0 (as many as stages), or at least pp = " + grouped(d.parallel.pp),
                   {set_to("microbatch_group", 0), set_to("microbatch_group", d.parallel.pp)});
  }
}

void check_pass_times(Checks& checks) {
  const Design& d = checks.design;
  const std::vector<int64_t>& times = d.parallel.passes.times;
  if (d.parallel.schedule != ScheduleKind::ZbAuto || times.empty()) return;
  constexpr const char* kPasses[] = {"the forward", "the gradient of the input", "the gradient of weights",
                                     "a message"};
  constexpr size_t kTimes = std::size(kPasses);
  std::string wrong;
  if (times.size() != kTimes)
    wrong = grouped(static_cast<int64_t>(times.size())) + (times.size() == 1 ? " time is" : " times are") +
            " listed, but the schedule needs four";
  for (size_t i = 0; wrong.empty() && i < kTimes; ++i) {
    if (times[i] < 0 || (times[i] == 0 && i + 1 < kTimes))
      wrong = std::string(kPasses[i]) + " takes " + grouped(times[i]) + " µs";
    if (times[i] > kMaxPassTime)
      wrong = std::string(kPasses[i]) + " takes " + grouped(times[i]) + " us, more than " +
              grouped(kMaxPassTime);
  }
  if (wrong.empty() || checks.record_first("pass_times")) return;
  checks.error(ProblemCode::PassTimesInvalid, "pass_times", wrong,
               "four whole numbers as in 18522,18086,9337,601 (forward, gradient of the input and gradient "
               "of weights: at least 1; message: at least 0), or nothing for passes of equal duration",
               {set_to("pass_times", std::string()), to_1f1b()});
}

void check_dual_pipe(Checks& checks) {
  const Design& d = checks.design;
  const ScheduleKind kind = d.parallel.schedule;
  if (kind != ScheduleKind::DualPipe && kind != ScheduleKind::DualPipeV) return;
  const int64_t pp = d.parallel.pp;
  const bool both_ways = kind == ScheduleKind::DualPipe;
  if (both_ways && pp % 2 != 0)
    checks.error(ProblemCode::DualPipeOddStages, "pp",
                 "DualPipe pairs stages from both ends of the pipeline and needs an even number, but pp = " +
                     grouped(pp),
                 "an even number of stages", {set_to("pp", pp - 1), to_1f1b()});
  if (!checks.in_range({"batch", "microbatch", "dp"})) return;
  const int64_t slots = d.workload.microbatch * d.parallel.dp, m = d.workload.batch / slots, least = 2 * pp;
  if (d.workload.batch % slots != 0 || (m >= least && (!both_ways || m % 2 == 0))) return;
  std::vector<Fix> fixes;
  const int64_t enough = std::max(least, m + (both_ways ? m % 2 : 0));
  if (enough <= kMaxBatch / slots) offer(fixes, "batch", enough * slots);
  fixes.push_back(chunk_layout(kind) == ChunkLayout::Vee ? both(to_1f1b(), set_to("virtual_stages", 1))
                                                         : to_1f1b());
  const std::string even = both_ways ? "an even number of microbatches, " : "";
  checks.error(ProblemCode::DualPipeMicrobatches, "batch",
               label(d) + " needs " + even + "2 pp = " + grouped(least) +
                   " or more, but m = B / (b dp) = " + grouped(m),
               "m " + std::string(both_ways ? "even and " : "") + "at least " + grouped(least),
               std::move(fixes));
}

// FSDP with split backwards in torch.distributed.pipelining (stage.py, schedules.py; torchtitan's
// ZBVZeroBubble and DualPipeV, or a list of actions from a file): units of fully_shard, reduced once a step,
// and every stage of the model on a single rank.
void check_split_units(Checks& checks) {
  const Design& d = checks.design;
  const ParallelSpec& p = d.parallel;
  const bool both_ways = chunk_layout(p.schedule) == ChunkLayout::BothWays, flat = has_flat_units(p.sync);
  if (!flat && (p.sync != SyncStrategy::Fsdp2 || !(both_ways || p.reduce_every_microbatch))) return;
  Fix fsdp2 = set_to("sync", std::string("fsdp2"));
  if (p.reduce_every_microbatch)
    fsdp2 = both(std::move(fsdp2), set_to("reduce_every_microbatch", std::string("false")));
  const Fix sharded_states = set_to("sync", std::string("distributed-optimizer"));
  if (both_ways) {
    checks.error(ProblemCode::FsdpWithBothWays, "sync",
                 label(d) +
                     " holds every layer on two stages, but torch.distributed.pipelining, which runs FSDP "
                     "with split backwards, places each stage on one rank",
                 "distributed-optimizer, or the schedule dualpipe-v, zb-v or 1f1b",
                 {sharded_states, plain(d)});
  } else if (flat) {
    checks.error(ProblemCode::Fsdp1WithSplitBackward, "sync",
                 std::string(p.sync == SyncStrategy::Fsdp1 ? "FSDP1" : "Megatron-FSDP") +
                     " reduces and frees a flat unit after autograd has accumulated all its gradients, but " +
                     label(d) + " splits the backward; torch.distributed.pipelining supports only fsdp2",
                 "fsdp2, ddp-flat, ddp-buckets or distributed-optimizer, or the schedule 1f1b",
                 {fsdp2, plain(d)});
  } else {
    checks.error(
        ProblemCode::EagerReduceWithSplitBackward, "reduce_every_microbatch",
        "under " + label(d) +
            " torch.distributed.pipelining reduces the gradients of a stage once, after its last backward",
        "off, or the schedule 1f1b", {set_to("reduce_every_microbatch", std::string("false")), plain(d)});
  }
}

// Features that do not support split backwards.
void check_split_backward(Checks& checks) {
  const Design& d = checks.design;
  const ParallelSpec& p = d.parallel;
  if (!splits_backward(p.schedule)) return;
  if (d.workload.offload_activations > 0 && !checks.record_first("offload_activations"))
    checks.error(ProblemCode::OffloadWithSplitBackward, "offload_activations",
                 "offloaded activations are loaded for a whole backward, which " + label(d) +
                     " splits: no code base offloads with split backwards",
                 "0, or the schedule 1f1b", {set_to("offload_activations", 0), plain(d)});
  if (!checks.in_range({"sync", "dp", "cp"}) || p.dp * p.cp == 1) return;
  check_split_units(checks);
  if (is_deepspeed(p.sync) && !checks.record_first("sync"))
    checks.error(ProblemCode::DeepSpeedWithSplitBackward, "sync",
                 "DeepSpeed's pipelines do not run " + label(d) + ": its engine has only 1f1b",
                 "ddp-flat, ddp-buckets or distributed-optimizer, or the schedule 1f1b",
                 {set_to("sync", std::string("distributed-optimizer")), plain(d)});
  if (p.reduce_every_microbatch && p.sync == SyncStrategy::DdpBuckets &&
      chunk_layout(p.schedule) == ChunkLayout::BothWays)
    checks.error(ProblemCode::EagerReduceWithBothWays, "reduce_every_microbatch",
                 "under DualPipe, the two stages with the same parameters reduce gradients once per step",
                 "off, or the schedule 1f1b",
                 {set_to("reduce_every_microbatch", std::string("false")), plain(d)});
}

// Assertions of Megatron-core on overlapped pairs of forward and backward (transformer_config.py, from 0.14).
void check_pairs(Checks& checks) {
  const Design& d = checks.design;
  const WorkloadSpec& w = d.workload;
  if (schedule_of(d.parallel) != ScheduleKind::OneFOneBPairs || d.model.experts == 0) return;
  if (!checks.in_range({"ep", "sync", "dispatcher", "dtype", "recompute", "mtp_layers"})) return;
  const auto refuse = [&](ProblemCode code, const char* what, const std::string& accepted,
                          std::vector<Fix> fixes) {
    if (checks.record_first("ep_comm_overlap")) return;
    fixes.push_back(set_to("ep_comm_overlap", std::string("false")));
    checks.error(code, "ep_comm_overlap",
                 std::string("Megatron-core runs forwards and backwards in pairs ") + what,
                 "off, or " + accepted, std::move(fixes));
  };
  if (d.parallel.dispatcher != Dispatcher::AllToAll && d.parallel.dispatcher != Dispatcher::Flex)
    refuse(ProblemCode::PairsDispatcher, "only with the dispatchers alltoall and flex",
           "the dispatcher alltoall or flex", {set_to("dispatcher", std::string("alltoall"))});
  if (w.recompute == Recompute::Full)
    refuse(ProblemCode::PairsFullRecompute, "only without full recompute", "recompute selective or none",
           {set_to("recompute", std::string("selective")), set_to("recompute", std::string("none"))});
  if (w.recompute == Recompute::Selective && w.recompute_modules.has(RecomputeModule::Moe))
    refuse(ProblemCode::PairsRecomputeMoe, "only without recompute of moe",
           "modules without moe, such as moe_act", {set_to("recompute_modules", std::string("moe_act"))});
  if (w.dtype == DType::FP32)
    refuse(ProblemCode::PairsDataType, "only in bfloat16 or float16", "the data type bf16 or fp16",
           {set_to("dtype", std::string("bf16"))});
  const Architecture* architecture = ModelLibrary::instance().architecture(d.model.architecture);
  if (d.model.mtp_layers > 1 && architecture && !architecture->mtp.lines.empty())
    refuse(ProblemCode::PairsPredictionDepth, "with at most one module of multi-token prediction",
           "1 or 0 MTP depths", {set_to("mtp_layers", 1)});
}

}  // namespace

void check_schedule(Checks& checks) {
  if (checks.in_range({"schedule", "pp", "virtual_stages"})) check_pairs(checks);
  if (!checks.in_range({"schedule", "pp", "virtual_stages"}) || checks.design.parallel.pp == 1) return;
  check_chunks(checks);
  check_pass_times(checks);
  check_dual_pipe(checks);
  check_split_backward(checks);
}

std::string schedule_label(ScheduleKind kind) {
  const Knob& knob = *find_knob("schedule");
  Design d;
  d.parallel.schedule = kind;
  const std::string value = knob_text(d, knob);
  const auto choice = std::find_if(knob.choices.begin(), knob.choices.end(),
                                   [&](const KnobChoice& c) { return c.value == value; });
  return choice == knob.choices.end() ? value : choice->label;
}

int64_t microbatch_multiple(const Design& design) {
  const ParallelSpec& p = design.parallel;
  if (p.pp < 2 || p.pp > kMaxWorld) return 1;
  if (p.schedule == ScheduleKind::DualPipe) return 2;
  return p.schedule == ScheduleKind::OneFOneB && p.virtual_stages > 1 ? p.pp : 1;
}

}  // namespace shardscape
