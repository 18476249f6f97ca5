#include "serving/requests/request_wait.h"

#include <algorithm>
#include <utility>

namespace shardscape {

const char* wait_text(WaitReason reason) {
  switch (reason) {
    case WaitReason::None: return "";
    case WaitReason::RunningStep: return "running step";
    case WaitReason::Sequences: return "sequences";
    case WaitReason::Tokens: return "tokens";
    case WaitReason::Blocks: return "blocks";
    case WaitReason::Load: return "KV load";
    case WaitReason::Receipt: return "receive interval";
  }
  return "";
}

// If the engine schedules a step while the previous one runs, a step that follows without a gap was scheduled
// when the step before it began (engine.h). Every other step was scheduled when it began.
RequestWaits::RequestWaits(const std::vector<EngineSettings>& engines, const RequestSimulation& simulation)
    : engines_(engines) {
  for (const PoolUse& pool : simulation.pools) first_replicas_.push_back(pool.first_replica);
  for (const StepRecord& step : simulation.steps) {
    const EngineSettings& of = settings(step.replica);
    const bool overlaps = of.pipeline_stages == 1 && steps_in_flight(of) > 1;
    const auto replica = static_cast<size_t>(step.replica);
    if (replica >= decisions_.size()) decisions_.resize(replica + 1);
    std::vector<Decision>& all = decisions_[replica];
    const StepRecord* before = all.empty() ? nullptr : all.back().step;
    const bool ahead = overlaps && before && step.begin <= before->begin + before->seconds;
    all.push_back({ahead ? before->begin : step.begin, &step});
  }
}

const EngineSettings& RequestWaits::settings(int32_t replica) const {
  const bool last = first_replicas_.empty() || replica >= first_replicas_.back();
  return last ? engines_.back() : engines_.front();
}

RequestWait RequestWaits::of(const RequestRecord& record) const {
  const int32_t replica = record.prefill_replica >= 0 ? record.prefill_replica : record.replica;
  const EngineSettings& engine = settings(replica);
  RequestWait out;
  // SGLang receives a request at the latest after so many decode steps. A prefill batch ends the wait, too.
  int64_t unreceived = engine.engine == EngineKind::Sglang ? engine.sglang.scheduler_recv_interval - 1 : 0;
  if (record.scheduled <= record.arrival) return out;
  const double load_begin = record.load_end - record.load_seconds;
  out.reason = record.load_end > 0 ? WaitReason::Load : WaitReason::RunningStep;
  if (static_cast<size_t>(replica) >= decisions_.size()) return out;
  const std::vector<Decision>& all = decisions_[static_cast<size_t>(replica)];
  auto at = std::lower_bound(all.begin(), all.end(), record.arrival,
                             [](const Decision& d, double time) { return d.time < time; });
  for (; at != all.end() && at->time < record.scheduled; ++at) {
    const StepRecord& step = *at->step;
    const int64_t tokens = int64_t{step.prefill_tokens} + step.decode_sequences + step.draft_tokens;
    ++out.steps;
    out.most_running = std::max<int64_t>(out.most_running, step.running);
    out.most_blocks = std::max<int64_t>(out.most_blocks, step.blocks);
    const bool endless = cache_blocks(engine) == 0;
    if (step.prefill_tokens > 0) unreceived = 0;
    if (record.load_end > 0 && at->time >= load_begin && at->time < record.load_end)
      ++out.load;
    else if (unreceived-- > 0)
      ++out.receipt;
    else if (step.running >= most_sequences(engine))
      ++out.sequences;
    else if (tokens >= most_step_tokens(engine) || endless)
      ++out.tokens;
    else
      ++out.blocks;
  }
  const std::pair<int64_t, WaitReason> counts[] = {{out.sequences, WaitReason::Sequences},
                                                   {out.tokens, WaitReason::Tokens},
                                                   {out.blocks, WaitReason::Blocks},
                                                   {out.load, WaitReason::Load},
                                                   {out.receipt, WaitReason::Receipt}};
  int64_t most = 0;
  for (const auto& [steps, reason] : counts)
    if (steps > most) {
      most = steps;
      out.reason = reason;
    }
  return out;
}

}  // namespace shardscape
