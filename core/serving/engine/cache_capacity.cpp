#include "serving/engine/cache_capacity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "design/layer_sizes.h"
#include "memory/estimate.h"
#include "memory/runtime_memory.h"
#include "serving/engine/cache_layers.h"
#include "serving/engine/padded_weights.h"
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
// indices of 8 bytes. The sort of more than 128 rows reads indices of 8 bytes and has second buffers for
// values and indices (PyTorch, aten/src/ATen/native/cuda/Sort.cu, segmented_sort_pairs; cub,
// DeviceSegmentedRadixSort).
int64_t sampler_bytes(const Design& design) {
  constexpr int64_t kFloat = 4, kIndex = 8;
  return design.model.vocab * (dtype_bytes(design.workload.dtype) + kFloat + 2 * (kFloat + kIndex) + kIndex);
}

// Memory outside of PyTorch that the first steps of vLLM add on one accelerator: loaded kernels and handles
// of libraries (non-torch memory of 0.13 to 0.14 GiB in seven logs of H100: llm-d/llm-d-benchmark @4f4d449,
// config_explorer/empirical-vllm-memory-results.md).
constexpr int64_t kVllmModules = 133 << 20;

// The largest batch that SGLang records as a graph (server_args.py, _handle_gpu_memory_settings).
int64_t sglang_graph_sequences(int64_t mib, int64_t tp) {
  if (mib < 20 * 1024) return 8;
  if (mib < 35 * 1024) return tp < 4 ? 24 : 80;
  if (mib < 60 * 1024) return tp < 4 ? 32 : 160;
  if (mib < 160 * 1024) return tp < 4 ? 256 : 512;
  return 512;
}

// The share of the memory that SGLang gives weights and cache if none is set: what its estimates of
// activations, graphs and communication leave (server_args.py, _handle_gpu_memory_settings; MiB).
double sglang_share(int64_t memory, const Design& design, const CacheSettings& settings) {
  const ParallelSpec& p = design.parallel;
  const int64_t mib = memory >> 20, tp = p.tp * p.dp;  // replicas of attention are in its tp
  const auto graphs = static_cast<double>(sglang_graph_sequences(mib, tp));
  double reserved = 512 +
                    1.5 * static_cast<double>(std::max<int64_t>(settings.max_num_batched_tokens, 2048)) +
                    2 * graphs + static_cast<double>(tp * p.pp) / 8 * 1024;
  if (p.dp > 1) reserved += graphs * static_cast<double>(p.dp) * (graphs > 300 ? 4.5 : 3);
  if (mib > 60 * 1024) reserved = std::max(reserved, 10.0 * 1024);
  return std::max(0.0, std::round((1 - reserved / static_cast<double>(mib)) * 1000) / 1000);
}

// Sets the usable bytes and those of the cache. States, runtime and activations are set.
void divide(int64_t memory, const Design& design, const CacheSettings& settings, CacheCapacity& of) {
  const double part = settings.engine == EngineKind::Sglang && settings.gpu_memory_utilization == 0
                          ? sglang_share(memory, design, settings)
                          : settings.gpu_memory_utilization;
  const auto share = [&](int64_t bytes) { return static_cast<int64_t>(part * static_cast<double>(bytes)); };
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

constexpr int64_t kContext = 1 << 17;  // tokens; longer than every window
// SGLang: swa_full_tokens_ratio, mamba_full_memory_ratio
constexpr double kWindowRatio = 0.8, kStateRatio = 0.9;
constexpr int64_t kManyBlocks = 1 << 24;

// What one rank of a stage stores.
struct StageStorage {
  int64_t token = 0;         // bytes of a token in layers that store every token
  int64_t window_token = 0;  // bytes of a token in layers with windows
  int64_t sequence = 0;      // bytes of the full windows and states of a sequence
  int64_t states = 0;        // of these: bytes that no engine stores by token
};

struct Storage {
  CacheGroups groups;
  std::vector<StageStorage> stages;
};

std::vector<StageStorage> stage_storages(const std::vector<CacheLayers>& layers, size_t stages) {
  std::vector<StageStorage> out(stages);
  const bool with_states = std::any_of(layers.begin(), layers.end(),
                                       [](const CacheLayers& of) { return of.state_bytes > 0; });
  for (const CacheLayers& of : layers)
    for (size_t s = 0; s < stages; ++s) {
      const int64_t window = of.layers[s] * of.token_bytes * of.window;
      out[s].sequence += window + of.layers[s] * of.state_bytes;
      // Windows next to states (DeepSeek-V4) have a fixed size, too.
      out[s].states += (with_states ? window : 0) + of.layers[s] * of.state_bytes;
      if (of.window == 0)
        out[s].token += of.layers[s] * of.token_bytes;
      else if (!with_states)
        out[s].window_token += of.layers[s] * of.token_bytes;
    }
  return out;
}

// Adds the layers of a draft to those of the last stage.
std::optional<Problem> add_draft(const Design& draft, std::vector<CacheLayers>& layers, size_t stages,
                                 const std::shared_ptr<PlanCache>& cache) {
  const auto report = draft_step(draft, cache);
  if (const auto problem = first_error(*report)) return *problem;
  const auto read = cache_layers(*report);
  if (const auto* problem = std::get_if<Problem>(&read)) return *problem;
  for (CacheLayers of : std::get<0>(read)) {
    const int64_t count = of.total();
    auto at = std::find_if(layers.begin(), layers.end(),
                           [&](const CacheLayers& known) { return known.stores_like(of); });
    if (at == layers.end()) {
      of.layers.assign(stages, 0);
      at = layers.insert(at, std::move(of));
    }
    at->layers.back() += count;
  }
  return std::nullopt;
}

Result<Storage> storage_of(const Design& design, const CacheSettings& settings,
                           const std::shared_ptr<PlanCache>& cache) {
  const auto report = make_report(serving_design(design, Mode::Decode, least_batch(design), kContext), cache);
  if (const auto problem = first_error(*report)) return *problem;
  auto read = cache_layers(*report);
  if (auto* problem = std::get_if<Problem>(&read)) return *std::move(problem);
  std::vector<CacheLayers>& layers = std::get<0>(read);
  if (settings.draft.design)
    if (auto problem = add_draft(*settings.draft.design, layers, report->stages.size(), cache))
      return *std::move(problem);
  Storage out;
  if (settings.engine == EngineKind::Vllm && settings.disable_hybrid_kv_cache_manager)
    for (CacheLayers& of : layers) of.window = 0;
  out.stages = stage_storages(layers, report->stages.size());
  out.groups = cache_groups(layers, settings.block_size);
  return out;
}

// Sets what blocks are. stage: the one that has them.
void describe(const Storage& storage, size_t stage, const Design& design, const CacheSettings& settings,
              CacheCapacity& out) {
  const StageStorage& of = storage.stages[stage];
  out.token_bytes = of.token;
  out.sequence_bytes = of.sequence;
  const auto block_bytes = [&](size_t s) {
    const StageStorage& at = storage.stages[s];
    switch (settings.engine) {
      case EngineKind::Vllm: return storage.groups.block_bytes[s];
      case EngineKind::Sglang: {
        const double windows = (at.token > 0 ? kWindowRatio : 1) * static_cast<double>(at.window_token);
        return settings.block_size * (at.token + static_cast<int64_t>(windows));
      }
      case EngineKind::Trtllm: return settings.block_size * (at.token + at.window_token);
    }
    return int64_t{0};
  };
  out.row_tokens = settings.block_size;
  if (settings.engine == EngineKind::Vllm) {
    out.layout = storage.groups.layout;
    out.row_tokens = storage.groups.row_tokens;
  } else if (settings.engine == EngineKind::Trtllm) {
    out.layout.prefixes = of.states == 0;
  } else if (of.states > 0) {
    out.state_slots = kManyBlocks;
  }
  out.block_bytes = block_bytes(stage);
  const int64_t ranks = design.world() / std::max<int64_t>(1, design.parallel.dp * design.parallel.pp);
  for (size_t s = 0; s < storage.stages.size(); ++s) out.replica_block_bytes += block_bytes(s) * ranks;
}

// Divides the cache of a rank into blocks.
void count_blocks(const Storage& storage, size_t stage, const CacheSettings& settings, CacheCapacity& out) {
  const int64_t states = storage.stages[stage].states;
  int64_t left = out.cache;
  switch (settings.engine) {
    case EngineKind::Vllm: break;
    case EngineKind::Sglang:
      if (states == 0) break;
      left = static_cast<int64_t>(static_cast<double>(left) * kStateRatio / (1 + kStateRatio));
      out.state_slots = std::max<int64_t>(1, left / states);
      out.sequences = left / states / settings.request_states;
      left = out.cache - left;
      break;
    case EngineKind::Trtllm: left = std::max<int64_t>(0, left - states * settings.max_num_seqs); break;
  }
  // Where no layer stores tokens, the states alone limit the requests.
  const bool states_only = out.block_bytes == 0 && states > 0 && left > 0;
  out.blocks = states_only ? kManyBlocks : out.block_bytes > 0 ? left / out.block_bytes : 0;
  out.tokens = out.blocks * settings.block_size;
  if (settings.engine == EngineKind::Vllm)
    out.tokens = out.blocks / std::max<int64_t>(1, storage.groups.groups) * storage.groups.block_tokens;
}

// The prompts of the largest step. TensorRT-LLM measures prompts that are as long as a step or a sequence
// (_torch/pyexecutor/_util.py, _create_dummy_context_requests).
int64_t sampled_prompts(const CacheSettings& settings) {
  if (settings.engine == EngineKind::Trtllm) return 1;
  return std::min(settings.max_num_seqs, settings.max_num_batched_tokens);
}

// The step that an engine runs at its start to measure its memory.
Design largest_step(const Design& design, const CacheSettings& settings) {
  const int64_t budget = settings.max_num_batched_tokens, sampled = sampled_prompts(settings);
  // Sequence and context parallelism split every prompt evenly, so fewer and longer prompts fill the budget.
  int64_t unit = prompt_unit(design);
  // A prompt has whole blocks of compressed keys.
  for (const LayerVariant& kind : kinds_with_sizes(design))
    unit = std::lcm(unit, std::max<int64_t>(1, layer_model(design.model, kind).compress_ratio));
  const int64_t tokens = (budget / sampled + unit - 1) / unit * unit,
                prompts = std::max<int64_t>(1, budget / tokens);
  return prompt_design(design, prompts, tokens);
}

// Of the stages whose mixers have states.
int64_t fewer_slots(const CacheCapacity& a, const CacheCapacity& b) {
  return a.state_slots == 0 || b.state_slots == 0 ? std::max(a.state_slots, b.state_slots)
                                                  : std::min(a.state_slots, b.state_slots);
}

}  // namespace

Result<CacheCapacity> cache_storage(const Design& design, const CacheSettings& settings,
                                    std::shared_ptr<PlanCache> cache) {
  if (!cache) cache = std::make_shared<PlanCache>();
  const auto storage = storage_of(design, settings, cache);
  if (const auto* problem = std::get_if<Problem>(&storage)) return *problem;
  CacheCapacity out;
  for (size_t s = 0; s < std::get<0>(storage).stages.size(); ++s) {
    CacheCapacity of;
    describe(std::get<0>(storage), s, design, settings, of);
    const int64_t slots = fewer_slots(out, of);
    if (s == 0 || of.block_bytes > out.block_bytes) out = of;
    out.state_slots = slots;
  }
  return out;
}

Result<CacheCapacity> cache_capacity(const Design& design, const CacheSettings& settings,
                                     std::shared_ptr<PlanCache> cache) {
  if (!cache) cache = std::make_shared<PlanCache>();
  const int64_t sampled = sampled_prompts(settings);
  const auto report = estimate(largest_step(design, settings), cache);
  if (const auto problem = first_error(*report)) return *problem;
  const auto storage = storage_of(design, settings, cache);
  if (const auto* problem = std::get_if<Problem>(&storage)) return *problem;
  const auto draft = draft_weights(settings.draft, *report, cache);
  if (const auto* problem = std::get_if<Problem>(&draft)) return *problem;
  CacheCapacity out;
  out.blocks = std::numeric_limits<int64_t>::max();
  for (size_t s = 0; s < report->stages.size(); ++s) {
    const StageMemory& memory = report->memory->stages[s];
    CacheCapacity of;
    const auto bytes = [&](MemoryCategory category) { return memory.at_peak[static_cast<size_t>(category)]; };
    of.states = bytes(MemoryCategory::Parameters);
    of.runtime = memory.in_use - memory.reserved;
    if (settings.engine == EngineKind::Vllm) of.runtime += kVllmModules - context_bytes();
    of.activations = memory.allocated - of.states - bytes(MemoryCategory::KvCache);
    // Layers without experts come first.
    const int64_t dense = s == 0 ? design.model.dense_layers : 0;
    if (settings.engine == EngineKind::Vllm)
      of.states += vllm_padding_bytes(design, *report->accelerator, settings.mxfp4_use_marlin,
                                      std::max<int64_t>(0, report->stages[s].layers - dense));
    if (report->stages[s].last) of.states += std::get<0>(draft);
    if (report->stages[s].last) of.activations = std::max(of.activations, sampled * sampler_bytes(design));
    divide(memory_of(*report->accelerator, settings), design, settings, of);
    describe(std::get<0>(storage), s, design, settings, of);
    count_blocks(std::get<0>(storage), s, settings, of);
    const int64_t slots = fewer_slots(out, of);
    if (of.blocks < out.blocks) out = of;
    out.state_slots = slots;
  }
  return out;
}

}  // namespace shardscape
