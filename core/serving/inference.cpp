#include "serving/inference.h"

#include <algorithm>
#include <cmath>

#include "design/limits.h"
#include "design/validate/checks.h"

namespace shardscape {
namespace {

// Tokens of one prefill microbatch of short prompts. Engines bound a batch in a similar way (vLLM,
// max_num_batched_tokens).
constexpr int64_t kPromptTokens = 8192;
constexpr int64_t kUsualContexts[] = {1024, 4096, 16384, 65536};
constexpr int64_t kSimulated = 32;  // prefill microbatches that are simulated; others are extrapolated
// Usual batches: the smallest range as a multiple of the smallest batch, and the maximum number of steps.
constexpr int64_t kLeastReach = 64, kMostSteps = 12;

// The microbatch size must be a multiple of this number: tp where tp splits tokens, and cp if experts are
// spread over cp.
int64_t sequences_at_least(Design design) {
  design.workload.mode = Mode::Decode;
  const ParallelSpec& p = design.parallel;
  const bool spread = design.model.experts > 0 && (p.ep > 1 || p.folds_experts());
  return (splits_tokens_over_tp(design) ? p.tp : 1) * (spread ? p.cp : 1);
}

std::vector<int64_t> ascending(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

InferenceFigures figures_of(const Report& report, double seconds, double first_seconds) {
  InferenceFigures out;
  out.seconds = seconds;
  out.first_seconds = first_seconds;
  if (out.seconds > 0) out.tokens_per_second = static_cast<double>(report.tokens_per_step) / out.seconds;
  out.tokens_per_gpu = out.tokens_per_second / static_cast<double>(std::max<int64_t>(1, report.ranks));
  for (const StageReport& stage : report.stages)
    out.kv_cache_bytes = std::max(
        out.kv_cache_bytes,
        static_cast<int64_t>(stage.memory[static_cast<size_t>(MemoryCategory::KvCache)].value));
  return out;
}

// Prefill with many equal microbatches: simulates `few` microbatches and half as many, and extrapolates the
// difference. Empty if there are few microbatches, or if stopped.
std::optional<InferenceFigures> figures_of_many(const Report& report, std::stop_token stop) {
  const Design& d = report.design;
  const int64_t few = std::max(kSimulated, 2 * d.parallel.pp);
  if (d.workload.mode != Mode::Prefill || report.microbatches <= 2 * few) return std::nullopt;
  const auto simulated = [&](int64_t microbatches) {
    Design shorter = d;
    shorter.workload.batch = microbatches * d.workload.microbatch * d.parallel.dp;
    return serve(shorter, stop, report.cache);
  };
  const ServedPhase half = simulated(few / 2), whole = simulated(few);
  if (!half.valid() || !whole.valid()) return std::nullopt;
  const double each = (whole.figures.seconds - half.figures.seconds) / static_cast<double>(few - few / 2);
  return figures_of(report, whole.figures.seconds + each * static_cast<double>(report.microbatches - few),
                    whole.figures.first_seconds);
}

}  // namespace

InferenceFigures inference_figures(const Report& report, const Simulation& simulation) {
  return figures_of(report, served_seconds(report, simulation),
                    report.design.workload.mode == Mode::Decode ? 0 : seconds_through_stages(simulation));
}

Design serving_design(const Design& design, Mode mode, int64_t batch, int64_t context) {
  Design out = design;
  out.workload.mode = mode;
  out.workload.batch = batch;
  out.workload.microbatch = 1;
  const int64_t of_replica = batch / std::max<int64_t>(1, design.parallel.dp),
                least = sequences_at_least(design);
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
  // As few microbatches as stages, because each microbatch reads all weights again. The last one may have
  // empty places.
  const auto each = [&](int64_t m) { return ((of_replica + m - 1) / m + least - 1) / least * least; };
  if (of_replica < 1 || batch % design.parallel.dp != 0) return out;
  const int64_t microbatch = each(std::min(design.parallel.pp, of_replica)),
                places = (of_replica + microbatch - 1) / microbatch * microbatch;
  if (places > kMaxBatch / design.parallel.dp) return out;
  out.workload.microbatch = microbatch;
  out.workload.batch = places * design.parallel.dp;
  return out;
}

ServedPhase serve(const Design& design, std::stop_token stop, std::shared_ptr<PlanCache> cache) {
  if (!cache) cache = std::make_shared<PlanCache>();
  ServedPhase out;
  out.report = estimate(design, std::move(cache), stop);
  if (!out.report || !out.report->valid() || !out.report->accelerator) return out;
  out.simulation = simulate(*out.report, stop);
  if (out.simulation) out.figures = inference_figures(*out.report, *out.simulation);
  return out;
}

int64_t largest_batch(const Design& design, int64_t context, std::stop_token stop,
                      std::shared_ptr<PlanCache> cache) {
  if (!cache) cache = std::make_shared<PlanCache>();
  const int64_t unit = design.parallel.dp * design.parallel.pp * sequences_at_least(design);
  const auto fits = [&](int64_t units) {
    const auto report = estimate(serving_design(design, Mode::Decode, units * unit, context), cache, stop);
    return report && report->valid() && report->memory->fits;
  };
  if (unit < 1 || unit > kMaxBatch || !fits(1)) return 0;
  int64_t low = 1, high = 2;  // low fits; high is not known to fit
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

int64_t least_batch(const Design& design) { return design.parallel.dp * sequences_at_least(design); }

std::vector<int64_t> usual_contexts(const Design& design) {
  const WorkloadSpec& w = design.workload;
  const int64_t own = w.mode == Mode::Decode ? w.context_length : w.seq;
  const int64_t most = uses_axis(design, Axis::Positions) ? design.model.positions : kMaxSeq;
  std::vector<int64_t> out{own};
  for (const int64_t context : kUsualContexts)
    if (context <= most) out.push_back(context);
  return ascending(std::move(out));
}

std::vector<int64_t> usual_batches(const Design& design, const std::vector<int64_t>& contexts,
                                   std::stop_token stop, std::shared_ptr<PlanCache> cache) {
  if (!cache) cache = std::make_shared<PlanCache>();
  const int64_t unit = least_batch(design);
  std::vector<int64_t> out{design.workload.batch};
  if (unit < 1 || unit > kMaxBatch || contexts.empty()) return out;
  const int64_t shortest = *std::min_element(contexts.begin(), contexts.end()),
                most = std::max(largest_batch(design, shortest, stop, cache), unit * kLeastReach);
  // Larger factors if caches are so small that thousands of sequences fit on a replica.
  int64_t step = 2;
  while (std::log(static_cast<double>(most / unit)) / std::log(static_cast<double>(step)) > kMostSteps)
    step *= 2;
  for (int64_t batch = unit;; batch *= step) {
    out.push_back(batch);
    if (batch > most || batch > kMaxBatch / step) break;
  }
  return ascending(std::move(out));
}

SweptPhase swept_phase(const Design& design, std::stop_token stop, std::shared_ptr<PlanCache> cache) {
  if (!cache) cache = std::make_shared<PlanCache>();
  SweptPhase out;
  const auto report = estimate(design, std::move(cache), stop);
  if (!report || !report->valid() || !report->accelerator) {
    out.problem = Problem{ProblemCode::UnknownAccelerator, "accelerator",
                          "the accelerator is not in the catalogue, so times are unknown",
                          "the id of an accelerator"};
    if (report)
      for (const Problem& problem : report->problems)
        if (problem.severity == Severity::Error) {
          out.problem = problem;
          break;
        }
    return out;
  }
  if (const auto many = figures_of_many(*report, stop))
    out.figures = *many;
  else if (const auto simulation = simulate(*report, stop))
    out.figures = inference_figures(*report, *simulation);
  out.microbatch = report->design.workload.microbatch;
  out.memory = memory_in_use(*report, report->memory->peak_stage);
  out.cache_per_token = static_cast<int64_t>(report->kv_cache_bytes.value);
  out.fits = report->memory->fits;
  return out;
}

ServedPoint served_point(const Design& design, int64_t batch, int64_t context, std::stop_token stop,
                         std::shared_ptr<PlanCache> cache) {
  const Design decoding = serving_design(design, Mode::Decode, batch, context);
  ServedPoint point{batch, context,
                    swept_phase(serving_design(design, Mode::Prefill, batch, context), stop, cache),
                    swept_phase(decoding, stop, cache)};
  const double used = static_cast<double>(batch) / static_cast<double>(decoding.workload.batch);
  point.decode.figures.tokens_per_second *= used;
  point.decode.figures.tokens_per_gpu *= used;
  return point;
}

ServingSweep sweep(const Design& design, const std::vector<int64_t>& of_batches,
                   const std::vector<int64_t>& of_contexts, std::stop_token stop,
                   const SweepProgress& progress, std::shared_ptr<PlanCache> cache) {
  if (!cache) cache = std::make_shared<PlanCache>();
  ServingSweep out{design, {}, {}};
  const std::vector<int64_t> batches = ascending(of_batches), contexts = ascending(of_contexts);
  size_t done = 0;
  const size_t of = contexts.size() * (batches.size() + 1);
  const auto report_progress = [&] {
    ++done;
    if (progress) progress(done, of);
  };
  for (const int64_t context : contexts) {
    const int64_t largest = largest_batch(design, context, stop, cache);
    const size_t first = out.points.size();
    std::vector<int64_t> of_context = batches;
    if (largest > 0 && std::find(batches.begin(), batches.end(), largest) == batches.end())
      of_context.insert(std::upper_bound(of_context.begin(), of_context.end(), largest), largest);
    report_progress();
    for (const int64_t batch : of_context) {
      ServedPoint point = served_point(design, batch, context, stop, cache);
      if (stop.stop_requested()) {
        out.points.resize(first);  // removes the points of the incomplete context
        return out;
      }
      point.largest = batch == largest;
      point.requested = !point.largest || of_context.size() == batches.size();
      out.points.push_back(std::move(point));
      if (out.points.back().requested) report_progress();
    }
    out.largest.emplace_back(context, largest);
  }
  return out;
}

std::optional<Problem> point_problem(const ServedPoint& point) {
  return point.prefill.problem ? point.prefill.problem : point.decode.problem;
}

}  // namespace shardscape
