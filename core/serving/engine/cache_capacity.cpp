#include "serving/engine/cache_capacity.h"

#include <algorithm>
#include <limits>

#include "memory/estimate.h"
#include "serving/engine/step_design.h"
#include "serving/inference.h"

namespace shardscape {
namespace {

// The first error of an invalid report; empty for a valid one.
std::optional<Problem> first_error(const Report& report) {
  for (const Problem& problem : report.problems)
    if (problem.severity == Severity::Error) return problem;
  return std::nullopt;
}

int64_t memory_of(const Accelerator& accelerator, const CacheSettings& settings) {
  if (settings.memory_bytes > 0) return settings.memory_bytes;
  return accelerator.device_bytes > 0 ? accelerator.device_bytes : accelerator.memory_bytes;
}

// Logits of a sequence while the sampler sorts them: in the type of the model and in float32; sorted, with
// indices of 8 bytes; the probabilities in sorted order.
int64_t sampler_bytes(const Design& design) {
  return design.model.vocab * (dtype_bytes(design.workload.dtype) + 4 + 4 + 8 + 4);
}

// Sets the usable bytes and those of the cache. States, runtime and activations are set.
void divide(int64_t memory, const CacheSettings& settings, CacheCapacity& of) {
  const auto share = [&](int64_t bytes) {
    return static_cast<int64_t>(settings.gpu_memory_utilization * static_cast<double>(bytes));
  };
  switch (settings.engine) {
    case EngineKind::Vllm:
      of.usable = share(memory);
      of.cache = of.usable - of.states - of.runtime - of.activations;
      break;
    case EngineKind::Sglang:
      of.usable = share(memory - of.runtime);
      of.cache = of.usable - of.states;
      break;
    case EngineKind::Trtllm:
      of.usable = memory;
      of.cache = share(memory - of.states - of.runtime - of.activations);
      break;
  }
  of.cache = std::max<int64_t>(0, of.cache);
}

}  // namespace

Result<CacheCapacity> cache_capacity(const Design& design, const CacheSettings& settings,
                                     std::shared_ptr<PlanCache> cache) {
  if (!cache) cache = std::make_shared<PlanCache>();
  const int64_t budget = settings.max_num_batched_tokens, sampled = std::min(settings.max_num_seqs, budget);
  // Sequence and context parallelism split every prompt evenly, so fewer and longer prompts fill the budget.
  const int64_t unit = prompt_unit(design);
  const int64_t tokens = (budget / sampled + unit - 1) / unit * unit,
                prompts = std::max<int64_t>(1, budget / tokens);
  const auto report = estimate(prompt_design(design, prompts, tokens), cache);
  if (const auto problem = first_error(*report)) return *problem;
  // Two contexts that exceed every window give the bytes of a token; the rest is of the sequence.
  constexpr int64_t kContexts[] = {1 << 17, 1 << 18};
  std::shared_ptr<const Report> decode[2];
  for (int i = 0; i < 2; ++i) {
    decode[i] = make_report(serving_design(design, Mode::Decode, least_batch(design), kContexts[i]), cache);
    if (const auto problem = first_error(*decode[i])) return *problem;
  }
  CacheCapacity out;
  out.blocks = std::numeric_limits<int64_t>::max();
  for (size_t s = 0; s < report->stages.size(); ++s) {
    const StageMemory& memory = report->memory->stages[s];
    CacheCapacity of;
    const auto bytes = [&](MemoryCategory category) { return memory.at_peak[static_cast<size_t>(category)]; };
    of.states = bytes(MemoryCategory::Parameters);
    of.runtime = memory.in_use - memory.reserved;
    of.activations = memory.allocated - of.states - bytes(MemoryCategory::KvCache);
    if (report->stages[s].last) of.activations = std::max(of.activations, sampled * sampler_bytes(design));
    divide(memory_of(*report->accelerator, settings), settings, of);
    const auto stored = [&](int i) {
      return static_cast<int64_t>(
                 decode[i]->stages[s].memory[static_cast<size_t>(MemoryCategory::KvCache)].value) *
             design.parallel.dp / least_batch(design);
    };
    of.token_bytes = (stored(1) - stored(0)) / (kContexts[1] - kContexts[0]);
    of.sequence_bytes = stored(0) - of.token_bytes * kContexts[0];
    of.blocks = of.token_bytes > 0 ? of.cache / (of.token_bytes * settings.block_size) : 0;
    if (of.blocks < out.blocks) out = of;
  }
  return out;
}

}  // namespace shardscape
