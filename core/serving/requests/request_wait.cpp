#include "serving/requests/request_wait.h"

#include <algorithm>
#include <iterator>
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
    Decision decision{ahead ? before->begin : step.begin, &step};
    if (!all.empty()) decision.used_up = all.back().used_up;
    const WaitReason reason = used_up(step);
    ++decision.used_up[reason == WaitReason::Sequences ? 0 : reason == WaitReason::Tokens ? 1 : 2];
    all.push_back(decision);
  }
}

const EngineSettings& RequestWaits::settings(int32_t replica) const {
  const bool last = first_replicas_.empty() || replica >= first_replicas_.back();
  return last ? engines_.back() : engines_.front();
}

namespace {

int32_t waiting_replica(const RequestRecord& record) {
  return record.prefill_replica >= 0 ? record.prefill_replica : record.replica;
}

// SGLang receives a request at the latest after so many decode steps.
int64_t unreceived_steps(const EngineSettings& engine) {
  return engine.engine == EngineKind::Sglang ? engine.sglang.scheduler_recv_interval - 1 : 0;
}

WaitReason without_steps(const RequestRecord& record) {
  if (record.scheduled <= record.arrival) return WaitReason::None;
  return record.load_end > 0 ? WaitReason::Load : WaitReason::RunningStep;
}

// The reason of most steps; of equal ones, the first. other: without any.
WaitReason of_most(const RequestWait& wait, WaitReason other) {
  const std::pair<int64_t, WaitReason> counts[] = {{wait.sequences, WaitReason::Sequences},
                                                   {wait.tokens, WaitReason::Tokens},
                                                   {wait.blocks, WaitReason::Blocks},
                                                   {wait.load, WaitReason::Load},
                                                   {wait.receipt, WaitReason::Receipt}};
  int64_t most = 0;
  for (const auto& [steps, reason] : counts)
    if (steps > most) {
      most = steps;
      other = reason;
    }
  return other;
}

}  // namespace

WaitReason RequestWaits::used_up(const StepRecord& step) const {
  const EngineSettings& engine = settings(step.replica);
  const int64_t tokens = int64_t{step.prefill_tokens} + step.decode_sequences + step.draft_tokens;
  if (step.running >= most_sequences(engine)) return WaitReason::Sequences;
  const bool endless = cache_blocks(engine) == 0;
  return tokens >= most_step_tokens(engine) || endless ? WaitReason::Tokens : WaitReason::Blocks;
}

std::optional<RequestWaits::Waited> RequestWaits::waited(const RequestRecord& record) const {
  const auto replica = static_cast<size_t>(waiting_replica(record));
  if (record.scheduled <= record.arrival || replica >= decisions_.size()) return std::nullopt;
  const Decisions& all = decisions_[replica];
  const auto at = [&](double time) {
    return std::lower_bound(all.begin(), all.end(), time,
                            [](const Decision& d, double limit) { return d.time < limit; });
  };
  return Waited{at(record.arrival), at(record.scheduled)};
}

RequestWait RequestWaits::of(const RequestRecord& record) const {
  RequestWait out;
  out.reason = without_steps(record);
  const auto steps = waited(record);
  if (!steps) return out;
  // A prefill batch ends the wait for a receipt, too.
  int64_t unreceived = unreceived_steps(settings(waiting_replica(record)));
  const double load_begin = record.load_end - record.load_seconds;
  for (auto at = steps->begin; at != steps->end; ++at) {
    const StepRecord& step = *at->step;
    ++out.steps;
    out.most_running = std::max<int64_t>(out.most_running, step.running);
    out.most_blocks = std::max<int64_t>(out.most_blocks, step.blocks);
    if (step.prefill_tokens > 0) unreceived = 0;
    if (record.load_end > 0 && at->time >= load_begin && at->time < record.load_end)
      ++out.load;
    else if (unreceived-- > 0)
      ++out.receipt;
    else
      switch (used_up(step)) {
        case WaitReason::Sequences: ++out.sequences; break;
        case WaitReason::Tokens: ++out.tokens; break;
        default: ++out.blocks;
      }
  }
  out.reason = of_most(out, out.reason);
  return out;
}

WaitReason RequestWaits::reason_of(const RequestRecord& record) const {
  if (record.load_end > 0 || unreceived_steps(settings(waiting_replica(record))) > 0)
    return of(record).reason;
  const auto steps = waited(record);
  if (!steps || steps->begin == steps->end) return without_steps(record);
  const std::array<int64_t, 3>& last = std::prev(steps->end)->used_up;
  const Decisions& all = decisions_[static_cast<size_t>(waiting_replica(record))];
  const std::array<int64_t, 3> before = steps->begin == all.begin() ? std::array<int64_t, 3>{}
                                                                    : std::prev(steps->begin)->used_up;
  RequestWait counted;
  counted.sequences = last[0] - before[0];
  counted.tokens = last[1] - before[1];
  counted.blocks = last[2] - before[2];
  return of_most(counted, WaitReason::RunningStep);
}

}  // namespace shardscape
