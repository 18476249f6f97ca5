#include "serving/service/engine_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace shardscape {
namespace {

constexpr int64_t kDecodeSizes[] = {8, 64, 512};
constexpr int64_t kMostChunks = 64;  // of a prompt; longer prompts are extrapolated

int64_t whole(double tokens) { return std::max<int64_t>(1, std::llround(tokens)); }

// Seconds of a prompt in chunks of at most `budget` tokens: alone on the engine, or of the slowest stage,
// which other steps follow at once.
double prompt_in_chunks(StepClock& clock, int64_t prompt, int64_t budget, bool alone) {
  const int64_t chunks = (prompt + budget - 1) / budget, computed = std::min(chunks, kMostChunks);
  double seconds = 0;
  for (int64_t i = 0; i < computed; ++i) {
    const PrefillChunk chunk{std::min(budget, prompt - i * budget), i * budget};
    const StepBatch step{0, 0, std::span(&chunk, 1), i + 1 == chunks ? 1 : 0};
    seconds += alone ? clock.seconds(step) : clock.bottleneck_seconds(step);
  }
  return seconds * static_cast<double>(chunks) / static_cast<double>(computed);
}

// Seconds per prompt in steps with as many whole prompts as the budget has room for.
double prompt_in_full_steps(StepClock& clock, int64_t prompt, int64_t budget) {
  constexpr int64_t kMostPrompts = 1 << 16;  // more change nothing per prompt
  const int64_t number = std::min(budget / prompt, kMostPrompts);
  if (number < 1) return prompt_in_chunks(clock, prompt, budget, false);
  const std::vector<PrefillChunk> chunks(static_cast<size_t>(number), PrefillChunk{prompt, 0});
  return clock.bottleneck_seconds({0, 0, chunks, number}) / static_cast<double>(number);
}

// The strictest limit of a latency.
std::optional<double> strictest(const ServiceLevel& level, Latency latency) {
  std::optional<double> out;
  for (const LatencyTarget& target : level.targets)
    if (target.latency == latency) out = std::min(out.value_or(target.seconds), target.seconds);
  return out;
}

// prompt_seconds: of each request, between the steps that decode.
double most_answers(const EngineFigures& figures, const ServiceLevel& level, const WorkloadMeans& means,
                    double prompt_seconds, StepClock& clock) {
  const auto tpot = strictest(level, Latency::Tpot);
  const double context = means.prompt + means.output / 2;
  const int64_t most = std::max<int64_t>(1, figures.sequences / figures.replicas);
  double best = 0;
  for (int64_t running = 1; running <= most; running *= 2) {
    const auto b = static_cast<double>(running);
    const StepBatch step{running, whole(b * context), {}, running};
    const double between = b * prompt_seconds / means.output;
    if (tpot && clock.seconds(step) + between > *tpot) break;
    best = std::max(best, b / means.output / (clock.bottleneck_seconds(step) + between));
  }
  return best * static_cast<double>(figures.replicas);
}

}  // namespace

WorkloadMeans workload_means(const Workload& workload) {
  WorkloadMeans out;
  double prompt = 0, output = 0, first = std::numeric_limits<double>::infinity(), last = 0;
  size_t arrivals = 0;
  for (const Request& request : workload.requests) {
    prompt += request.prompt;
    output += request.output;
    if (request.parent >= 0) continue;  // its arrival is a thinking time
    ++arrivals;
    first = std::min(first, request.arrival);
    last = std::max(last, request.arrival);
  }
  if (arrivals == 0) return out;
  const auto number = static_cast<double>(workload.requests.size());
  out.prompt = std::max(1.0, prompt / number);
  out.output = std::max(1.0, output / number);
  if (workload.users == 0 && last > first) out.rate = number / (last - first);
  return out;
}

Result<EngineFigures> engine_figures(const Design& design, const ServiceSpec& spec,
                                     const WorkloadMeans& means, StepClock& clock,
                                     std::shared_ptr<PlanCache> cache) {
  EngineFigures out;
  out.accelerators = design.world();
  out.replicas = std::max<int64_t>(1, design.parallel.dp);
  const int32_t block = cache_block_size(spec.engine);
  int64_t tokens = cache_blocks(spec.engine) * block;
  if (tokens == 0) {
    const auto capacity = service_cache(design, spec, std::move(cache));
    if (const auto* problem = std::get_if<Problem>(&capacity)) return *problem;
    tokens = std::get<0>(capacity).blocks * block;
    if (tokens == 0) return no_cache_problem(spec.engine.engine, std::get<0>(capacity));
  }
  const int64_t longest = whole(means.prompt + means.output);
  out.cache_tokens = tokens * out.replicas;
  out.sequences = out.replicas *
                  std::clamp<int64_t>(tokens / longest, 1, std::max<int64_t>(1, most_sequences(spec.engine)));
  const int64_t prompt = whole(means.prompt), budget = most_step_tokens(spec.engine);
  out.lone_ttft = prompt_in_chunks(clock, prompt, budget, true);
  out.prompt_seconds = prompt_in_full_steps(clock, prompt, budget);
  for (const int64_t size : kDecodeSizes) {
    const int64_t running = std::max<int64_t>(1, size / out.replicas);
    const auto context = static_cast<double>(running) * (means.prompt + means.output / 2);
    const StepBatch step{running, whole(context), {}, running};
    out.decode_seconds.push_back(clock.seconds(step));
    out.decode_seconds.push_back(clock.bottleneck_seconds(step));
  }
  const ServiceLevel level = promised_level(spec);
  out.answers_per_second = most_answers(out, level, means, 0, clock);
  if (const auto ttft = strictest(level, Latency::Ttft); ttft && out.lone_ttft > *ttft) return out;
  out.prompts_per_second = static_cast<double>(out.replicas) / out.prompt_seconds;
  out.requests_per_second = most_answers(out, level, means, out.prompt_seconds, clock);
  return out;
}

bool dominates(const EngineFigures& a, const EngineFigures& b) {
  if (a.accelerators != b.accelerators || a.cache_tokens < b.cache_tokens || a.sequences < b.sequences ||
      a.lone_ttft > b.lone_ttft ||
      a.prompt_seconds * static_cast<double>(b.replicas) > b.prompt_seconds * static_cast<double>(a.replicas))
    return false;
  return std::equal(a.decode_seconds.begin(), a.decode_seconds.end(), b.decode_seconds.begin(),
                    b.decode_seconds.end(), [](double x, double y) { return x <= y; });
}

}  // namespace shardscape
