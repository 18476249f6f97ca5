#include "simulate/pass_times.h"

#include <algorithm>

namespace shardscape {
namespace {

constexpr int kNone = -1;

int pass_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::Forward: return 0;
    case ActionKind::Backward:
    case ActionKind::BackwardInput: return 1;
    case ActionKind::BackwardWeight: return 2;
    default: return kNone;
  }
}

int pass_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::Forward: return 0;
    case SpanKind::Recompute:
    case SpanKind::Backward:
    case SpanKind::BackwardInput: return 1;
    case SpanKind::BackwardWeight: return 2;
    default: return kNone;
  }
}

}  // namespace

PassTimes::PassTimes(const StageTimes& stage) {
  for (size_t i = 0; i < stage.spans.size(); ++i) {
    const Span& span = stage.spans[i];
    if (span.stream != StreamKind::Compute || span.microbatch < 0 || pass_of(span.kind) == kNone) continue;
    const auto [it, made] = stretches_.try_emplace({pass_of(span.kind), span.microbatch, span.chunk}, PassStretch{span.begin, span.end, static_cast<int>(i)});
    if (!made) it->second.end = std::max(it->second.end, span.end);
  }
}

const PassStretch* PassTimes::of(const Action& action) const {
  const auto it = stretches_.find({pass_of(action.kind), action.microbatch, action.chunk});
  return it == stretches_.end() ? nullptr : &it->second;
}

bool is_pass(ActionKind kind) { return pass_of(kind) != kNone; }

std::optional<double> peak_seconds(const StageMemory& memory, const Simulation& simulation) {
  const StageTimes& stage = simulation.stages[static_cast<size_t>(memory.stage)];
  if (memory.of.kind == ActionKind::Optimizer)
    for (const Span& span : stage.spans)
      if (span.kind == SpanKind::Optimizer) return (span.begin + span.end) / 2;
  if (!is_pass(memory.of.kind)) return std::nullopt;
  const PassTimes times(stage);
  const PassStretch* stretch = times.of(memory.of);
  return stretch ? std::optional((stretch->begin + stretch->end) / 2) : std::nullopt;
}

}  // namespace shardscape
