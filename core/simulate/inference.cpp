#include "simulate/inference.h"

#include <algorithm>

#include "design/limits.h"

namespace shardscape {
namespace {

// Tokens of prompts that are read at once, where they are short; engines bound a batch so (vLLM, max_num_batched_tokens).
constexpr int64_t kPromptTokens = 8192;

// Sequences of a microbatch come in multiples of this: what sequence parallelism splits, and cp where experts are spread over it.
int64_t sequences_at_least(const Design& design) {
  const ParallelSpec& p = design.parallel;
  const bool spread = design.model.experts > 0 && (p.ep > 1 || p.folds_experts());
  return (p.sequence_parallel ? p.tp : 1) * (spread ? p.cp : 1);
}

// Of one microbatch from its first stage to its last.
double way_through(const Simulation& simulation) {
  double end = 0;
  for (const StageTimes& stage : simulation.stages)
    for (const Span& span : stage.spans)
      if (span.microbatch == 0) end = std::max(end, span.end);
  return end;
}

double busiest_stage(const Simulation& simulation) {
  double most = 0;
  for (const StageTimes& stage : simulation.stages) {
    double busy = 0;
    for (const Span& span : stage.spans)
      if (span.stream == StreamKind::Compute) busy += span.end - span.begin;
    most = std::max(most, busy);
  }
  return most;
}

}  // namespace

InferenceFigures inference_figures(const Report& report, const Simulation& simulation) {
  InferenceFigures out;
  const bool decodes = report.design.workload.mode == Mode::Decode;
  out.seconds = decodes ? std::max(busiest_stage(simulation), way_through(simulation)) : simulation.step_seconds;
  if (out.seconds > 0) out.tokens_per_second = static_cast<double>(report.tokens_per_step) / out.seconds;
  out.tokens_per_gpu = out.tokens_per_second / static_cast<double>(std::max<int64_t>(1, report.ranks));
  for (const StageReport& stage : report.stages)
    out.kv_cache_bytes = std::max(out.kv_cache_bytes, static_cast<int64_t>(stage.memory[static_cast<size_t>(MemoryCategory::KvCache)].value));
  return out;
}

Design serving_design(const Design& design, Mode mode, int64_t batch, int64_t context) {
  Design out = design;
  out.workload.mode = mode;
  out.workload.batch = batch;
  out.workload.microbatch = 1;
  const int64_t of_replica = batch / std::max<int64_t>(1, design.parallel.dp), least = sequences_at_least(design);
  if (mode != Mode::Decode) {
    out.workload.seq = context;
    for (int64_t b = std::min(kPromptTokens / context, of_replica); b > 1; --b) {
      if (of_replica % b != 0 || of_replica / b < std::min(design.parallel.pp, of_replica)) continue;
      out.workload.microbatch = b;
      break;
    }
    return out;
  }
  out.workload.context_length = context;
  for (int64_t m = std::min(design.parallel.pp, of_replica); m >= 1 && m <= of_replica; ++m) {
    if (of_replica % m != 0 || (of_replica / m % least != 0 && m < of_replica)) continue;
    out.workload.microbatch = of_replica / m;
    break;
  }
  return out;
}

ServedPhase serve(const Design& design, std::stop_token stop) {
  ServedPhase out;
  out.report = estimate(design, stop);
  if (!out.report || !out.report->valid() || !out.report->accelerator) return out;
  out.simulation = simulate(*out.report, stop);
  if (out.simulation) out.figures = inference_figures(*out.report, *out.simulation);
  return out;
}

int64_t largest_batch(const Design& design, int64_t context, std::stop_token stop) {
  const int64_t unit = design.parallel.dp * design.parallel.pp * sequences_at_least(design);
  const auto fits = [&](int64_t units) {
    const auto report = estimate(serving_design(design, Mode::Decode, units * unit, context), stop);
    return report && report->valid() && report->memory->fits;
  };
  if (unit < 1 || unit > kMaxBatch || !fits(1)) return 0;
  int64_t low = 1, high = 2;  // fits; may not
  while (high <= kMaxBatch / unit && fits(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (middle <= kMaxBatch / unit && fits(middle) ? low : high) = middle;
  }
  return low * unit;
}

ServingSweep sweep(const Design& design, const std::vector<int64_t>& batches, const std::vector<int64_t>& contexts, std::stop_token stop) {
  ServingSweep out{design, {}, {}};
  for (const int64_t context : contexts) {
    out.largest.emplace_back(context, largest_batch(design, context, stop));
    for (const int64_t batch : batches) {
      if (stop.stop_requested()) return out;
      out.points.push_back({batch, context, serve(serving_design(design, Mode::Prefill, batch, context), stop),
                            serve(serving_design(design, Mode::Decode, batch, context), stop)});
    }
  }
  return out;
}

std::optional<Problem> point_problem(const ServedPoint& point) {
  for (const ServedPhase* phase : {&point.prefill, &point.decode}) {
    if (phase->valid() || !phase->report) continue;
    for (const Problem& problem : phase->report->problems)
      if (problem.severity == Severity::Error) return problem;
    return Problem{Severity::Error, "accelerator", "no time is known for it", "one of the catalogue", {}};
  }
  return std::nullopt;
}

}  // namespace shardscape
