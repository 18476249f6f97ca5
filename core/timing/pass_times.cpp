#include "timing/pass_times.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"
#include "plan/stage_layout.h"
#include "timing/op_seconds.h"

namespace shardscape {
namespace {

constexpr int kNone = -1;

int pass_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::Forward: return 0;
    case ActionKind::Backward:
    case ActionKind::BackwardInput: return 1;
    case ActionKind::BackwardWeight: return 2;
    case ActionKind::ReceiveForward:
    case ActionKind::SendForward:
    case ActionKind::ReceiveBackward:
    case ActionKind::SendBackward:
    case ActionKind::GradReduce:
    case ActionKind::Optimizer: return kNone;
  }
  return kNone;
}

int pass_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::Forward: return 0;
    case SpanKind::Recompute:
    case SpanKind::Backward:
    case SpanKind::BackwardInput: return 1;
    case SpanKind::BackwardWeight: return 2;
    case SpanKind::Collective:
    case SpanKind::Send:
    case SpanKind::Receive:
    case SpanKind::Store:
    case SpanKind::Load:
    case SpanKind::Optimizer: return kNone;
  }
  return kNone;
}

constexpr size_t kPasses = 3;  // kinds of passes that compute; index of messages

// Sums over all stages: seconds and number of each kind of pass and of messages, bytes that a microbatch
// saves, and bytes that its deferred weight gradients read.
struct Sums {
  std::array<double, kPasses + 1> seconds{};
  std::array<int64_t, kPasses + 1> count{};
  double saved = 0, deferred = 0;
};

Sums sums_of(const Report& report, const Simulation& simulation) {
  Sums sums;
  for (const StageTimes& stage : simulation.stages)
    for (const Span& span : stage.spans) {
      const int pass = span.kind == SpanKind::Send ? static_cast<int>(kPasses)
                       : span.stream == StreamKind::Compute && span.microbatch >= 0 ? pass_of(span.kind)
                                                                                    : kNone;
      if (pass == kNone) continue;
      sums.seconds[static_cast<size_t>(pass)] += span.end - span.begin;
      sums.count[static_cast<size_t>(pass)] += span.kind != SpanKind::Recompute;
    }
  for (const StageReport& stage : report.stages)
    for (const StageInstance& instance : stage_layout(report, stage).instances) {
      const Segment& segment = report.graph().segments[static_cast<size_t>(instance.segment)];
      const auto bytes = [&](const SavedStorage& s) {
        return number(segment.storages[static_cast<size_t>(s.storage)].bytes, stage.binding);
      };
      for (const SavedStorage& s : saved_by(segment, instance.of.checkpoint_policy)) sums.saved += bytes(s);
      for (const SavedStorage& s : deferred_in(segment, instance.of.checkpoint_policy))
        sums.deferred += bytes(s);
    }
  return sums;
}

// Times of the other kinds of passes, in units of a forward.
std::array<double, kPasses> proportions(const std::vector<int64_t>& times) {
  if (times.size() != kPasses + 1) return {1, 1, 0};
  const auto forward = static_cast<double>(times[0]);
  return {static_cast<double>(times[1]) / forward, static_cast<double>(times[2]) / forward,
          static_cast<double>(times[3]) / forward};
}

}  // namespace

PassTimes::PassTimes(const StageTimes& stage) {
  for (size_t i = 0; i < stage.spans.size(); ++i) {
    const Span& span = stage.spans[i];
    if (span.stream != StreamKind::Compute || span.microbatch < 0 || pass_of(span.kind) == kNone) continue;
    const auto [it, made] = intervals_.try_emplace({pass_of(span.kind), span.microbatch, span.chunk},
                                                   PassInterval{span.begin, span.end, static_cast<int>(i)});
    if (!made) it->second.end = std::max(it->second.end, span.end);
  }
}

const PassInterval* PassTimes::of(const Action& action) const {
  const auto it = intervals_.find({pass_of(action.kind), action.microbatch, action.chunk});
  return it == intervals_.end() ? nullptr : &it->second;
}

PassPlan measured_passes(const Report& report, const Simulation& simulation) {
  const Sums sums = sums_of(report, simulation);
  PassPlan out = report.design.parallel.passes;
  out.times.clear();
  for (size_t i = 0; i <= kPasses; ++i) {
    const double mean = sums.count[i] > 0 ? sums.seconds[i] / static_cast<double>(sums.count[i]) : 0;
    out.times.push_back(std::max<int64_t>(std::llround(mean * 1e6), i < kPasses ? 1 : 0));
  }
  out.waiting_percent = sums.saved > 0 ? std::llround(100 * std::min(1.0, sums.deferred / sums.saved)) : 100;
  return out;
}

std::optional<Problem> pass_times_note(const Report& report, const Simulation& simulation) {
  constexpr double kEqualTimes = 0.03;        // share of a forward
  constexpr int64_t kEqualMemoryPercent = 5;  // percent of the saved bytes of a microbatch
  if (schedule_of(report.design.parallel) != ScheduleKind::ZbAuto) return std::nullopt;
  const PassPlan measured = measured_passes(report, simulation);
  const std::array<double, kPasses> given = proportions(report.design.parallel.passes.times),
                                    found = proportions(measured.times);
  const PassPlan& now = report.design.parallel.passes;
  if (std::equal(given.begin(), given.end(), found.begin(),
                 [](double a, double b) { return std::abs(a - b) < kEqualTimes; }) &&
      std::abs(now.waiting_percent - measured.waiting_percent) <= kEqualMemoryPercent)
    return std::nullopt;
  const auto text = [](const std::array<double, kPasses>& of) {
    std::string out = "100";
    for (const double share : of) out += " : " + std::to_string(std::llround(100 * share));
    return out;
  };
  std::string times;
  for (const int64_t time : measured.times) times += (times.empty() ? "" : ",") + std::to_string(time);
  return Problem::note(
      ProblemCode::PassTimesOutdated, "pass_times",
      "zb-auto ordered the passes for durations of " + text(given) + " and " +
          std::to_string(now.waiting_percent) + " % of the saved bytes deferred, but this step has " +
          text(found) + " and " + std::to_string(measured.waiting_percent) + " %",
      times + " with waiting_percent " + std::to_string(measured.waiting_percent),
      {{"use the durations of this step",
        {{"pass_times", times}, {"waiting_percent", std::to_string(measured.waiting_percent)}}}});
}

bool is_pass(ActionKind kind) { return pass_of(kind) != kNone; }

double peak_seconds_of(int stage, const Action& action, const PeakPlace& at, const PassInterval& interval,
                       StepOps& ops) {
  const StageTimes& times = ops.simulation().stages[static_cast<size_t>(stage)];
  using Lives = SegmentLifetimes::Part;
  const auto is_there = [&](const SimulatedLayer& layer) {
    const Span& span = times.spans[static_cast<size_t>(layer.span)];
    return layer.instance == at.instance && (layer.part == Part::Forward) == (at.part == Lives::Forward) &&
           span.microbatch == action.microbatch && span.chunk == action.chunk;
  };
  const auto from = std::lower_bound(times.layers.begin(), times.layers.end(), interval.begin,
                                     [](const SimulatedLayer& l, double begin) { return l.begin < begin; });
  // The simulated part of the layer that contains the op. Deferred weight gradients belong to a later action.
  const auto part = [&](const SimulatedLayer& layer) {
    if (at.part == Lives::Forward) return Part::Forward;
    if (at.part == Lives::Replay || at.part == Lives::ReplayInGroup) return Part::Replay;
    return at.op < 0 || action.kind == ActionKind::BackwardInput
               ? Part::Backward
               : part_of(ops.report().graph().structure, ops.segment_of(stage, layer), at.op);
  };
  for (auto layer = from; layer != times.layers.end() && layer->begin <= interval.end; ++layer)
    if (is_there(*layer) && layer->part == part(*layer))
      return std::min(at.after_run ? layer->end : ops.begin_of(stage, *layer, at.op), interval.end);
  return interval.end;
}

std::optional<double> peak_seconds(const StageMemory& memory, StepOps& ops) {
  const StageTimes& stage = ops.simulation().stages[static_cast<size_t>(memory.stage)];
  if (memory.action.kind == ActionKind::Optimizer)
    for (const Span& span : stage.spans)
      if (span.kind == SpanKind::Optimizer) return span.begin;
  if (!is_pass(memory.action.kind)) return std::nullopt;
  const PassTimes times(stage);
  const PassInterval* interval = times.of(memory.action);
  return interval ? std::optional(peak_seconds_of(memory.stage, memory.action, memory.at, *interval, ops))
                  : std::nullopt;
}

}  // namespace shardscape
