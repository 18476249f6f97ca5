// The table of settings.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/units.h"
#include "serving/service/service_spec.h"
#include "serving/service_limits.h"

namespace shardscape {
namespace {

using Text = std::string (*)(const ServiceSpec&);
using Read = bool (*)(ServiceSpec&, const std::string&);

template <class T>
bool read_number(T& value, const std::string& text) {
  T read{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  if constexpr (std::is_floating_point_v<T>)
    if (!std::isfinite(read)) return false;
  value = read;
  return true;
}

std::string number_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

ServiceSetting row(SettingKind kind, const char* id, const char* label, SettingGroup group, const char* help,
                   Text text, Read read, std::vector<const char*> choices = {}) {
  return {id, label, help, group, kind, std::move(choices), text, read};
}

// member: a function that returns a reference to the value in a spec.
template <auto member>
ServiceSetting whole(const char* id, const char* label, SettingGroup group, const char* help) {
  return row(
      SettingKind::Whole, id, label, group, help,
      [](const ServiceSpec& spec) { return std::to_string(member(spec)); },
      [](ServiceSpec& spec, const std::string& text) { return read_number(member(spec), text); });
}
template <auto member>
ServiceSetting number(const char* id, const char* label, SettingGroup group, const char* help) {
  return row(
      SettingKind::Number, id, label, group, help,
      [](const ServiceSpec& spec) { return number_text(member(spec)); },
      [](ServiceSpec& spec, const std::string& text) { return read_number(member(spec), text); });
}
// may_be_empty: an empty text is an empty list.
template <auto member, bool may_be_empty = false>
ServiceSetting numbers(const char* id, const char* label, SettingGroup group, const char* help) {
  return row(
      SettingKind::Numbers, id, label, group, help,
      [](const ServiceSpec& spec) {
        std::string out;
        for (const double value : member(spec)) out += (out.empty() ? "" : ",") + number_text(value);
        return out;
      },
      [](ServiceSpec& spec, const std::string& text) {
        std::vector<double> values;
        for (size_t at = 0; at <= text.size() && !(may_be_empty && text.empty());) {
          const size_t end = std::min(text.find(',', at), text.size());
          if (!read_number(values.emplace_back(), text.substr(at, end - at))) return false;
          at = end + 1;
        }
        member(spec) = std::move(values);
        return true;
      });
}
template <auto member>
ServiceSetting file(const char* id, const char* label, SettingGroup group, const char* help) {
  return row(
      SettingKind::File, id, label, group, help, [](const ServiceSpec& spec) { return member(spec); },
      [](ServiceSpec& spec, const std::string& text) {
        member(spec) = text;
        return true;
      });
}
template <auto member>
ServiceSetting on_off(const char* id, const char* label, SettingGroup group, const char* help) {
  return row(
      SettingKind::Switch, id, label, group, help,
      [](const ServiceSpec& spec) { return std::string(member(spec) ? "true" : "false"); },
      [](ServiceSpec& spec, const std::string& text) {
        if (text != "true" && text != "false") return false;
        member(spec) = text == "true";
        return true;
      });
}
template <auto member>
ServiceSetting limit(const char* id, const char* label, SettingGroup group, const char* help) {
  return row(
      SettingKind::Seconds, id, label, group, help,
      [](const ServiceSpec& spec) {
        const auto& value = member(spec);
        return value ? limit_text(*value) : std::string();
      },
      [](ServiceSpec& spec, const std::string& text) {
        const auto read = limit_seconds(text, "");
        if (std::holds_alternative<Problem>(read)) return false;
        member(spec) = std::get<0>(read);
        return true;
      });
}

constexpr const char* kArrivals[] = {"all-at-once", "constant", "poisson", "gamma"};
constexpr const char* kPolicies[] = {"fcfs", "priority"};
constexpr const char* kSglangPolicies[] = {"fcfs", "lpm"};
constexpr const char* kStateStrategies[] = {"extra_buffer", "no_buffer"};
constexpr const char* kCapacityPolicies[] = {"GUARANTEED_NO_EVICT", "MAX_UTILIZATION", "STATIC_BATCH"};
constexpr const char* kChunkingPolicies[] = {"FIRST_COME_FIRST_SERVED", "EQUAL_PROGRESS"};
constexpr const char* kSpeculativeMethods[] = {"none", "mtp", "eagle", "ngram", "draft-model"};
constexpr const char* kHandoffs[] = {"engine", "source-first", "destination-first"};
constexpr const char* kConnectors[] = {"engine", "network", "mooncake", "nixl"};
constexpr const char* kRouters[] = {"round-robin", "least-outstanding", "prefix-aware"};

template <auto member, const auto& names>
ServiceSetting choice(const char* id, const char* label, SettingGroup group, const char* help) {
  return row(
      SettingKind::Choice, id, label, group, help,
      [](const ServiceSpec& spec) { return std::string(names[static_cast<size_t>(member(spec))]); },
      [](ServiceSpec& spec, const std::string& text) {
        for (size_t i = 0; i < std::size(names); ++i)
          if (text == names[i]) {
            member(spec) = static_cast<std::decay_t<decltype(member(spec))>>(i);
            return true;
          }
        return false;
      },
      {std::begin(names), std::end(names)});
}

#define MEMBER(path) \
  [](auto& spec) -> auto& { return spec.path; }

std::vector<ServiceSetting> request_settings() {
  constexpr SettingGroup kGroup = SettingGroup::Requests;
  return {
      file<MEMBER(source.trace)>(
          "trace", "Trace", kGroup,
          "File of recorded requests: CSV with arrival_s, input_tokens and "
          "output_tokens or with the columns of Azure's traces or BurstGPT, Mooncake's "
          "JSON Lines, or a result of vllm bench with start_times; also compressed "
          "with gzip."),
      choice<MEMBER(source.arrivals), kArrivals>("arrivals", "Arrivals", kGroup,
                                                 "Gaps between requests. gamma follows burstiness."),
      number<MEMBER(source.rate)>("rate", "Rate", kGroup, "Requests per second, on average."),
      number<MEMBER(source.burstiness)>("burstiness", "Burstiness", kGroup,
                                        "Shape of the gamma distribution of gaps, as in vllm bench serve: "
                                        "below 1 requests come in bursts, above 1 more evenly."),
      whole<MEMBER(source.users)>("users", "Users", kGroup,
                                  "Closed loop: so many users send one request each, and the next one when "
                                  "it ends. 0: requests arrive at the rate, whatever the service does."),
      whole<MEMBER(source.requests)>("requests", "Requests", kGroup, "Number of drawn requests."),
      whole<MEMBER(source.input_len)>("input_len", "Input length", kGroup, "Tokens of a prompt."),
      whole<MEMBER(source.output_len)>("output_len", "Output length", kGroup, "Tokens of an answer."),
      number<MEMBER(source.range_ratio)>("range_ratio", "Range ratio", kGroup,
                                         "Lengths are uniform between this share of the length and the "
                                         "whole length. 1: all are equal."),
      file<MEMBER(source.lengths)>("lengths", "Lengths", kGroup,
                                   "File of lengths, from whose rows requests draw theirs: CSV with "
                                   "input_length and output_length, a result of vllm bench, or conversations "
                                   "of ShareGPT with characters per token."),
      number<MEMBER(source.characters_per_token)>(
          "characters_per_token", "Characters per token", kGroup,
          "Turns texts of conversations (ShareGPT) into tokens; about 4 for English. 0: texts are refused."),
      whole<MEMBER(source.seed)>("seed", "Seed", kGroup,
                                 "Seed of arrivals and lengths. Equal seeds give equal results."),
  };
}

std::vector<ServiceSetting> pattern_settings() {
  constexpr SettingGroup kGroup = SettingGroup::Requests;
  return {
      numbers<MEMBER(source.rate_profile), true>(
          "rate_profile", "Rate profile", kGroup,
          "Points of seconds and factor of the rate, such as 0,1,60,1,60,4,90,4,90,1: linear between two "
          "points, with a step between points of equal time. After the last point its factor holds."),
      number<MEMBER(source.rate_period)>(
          "rate_period", "Rate period", kGroup,
          "Seconds after which the rate profile repeats, for bursts and days. 0: it does not repeat."),
      whole<MEMBER(source.turns)>("turns", "Turns", kGroup,
                                  "Requests of a session. The prompt of a later turn starts with the prompt "
                                  "and the answer of the previous one. Sessions arrive at the rate divided "
                                  "by the turns."),
      number<MEMBER(source.think_time)>("think_time", "Thinking time", kGroup,
                                        "Mean seconds between an answer and the next turn of its session "
                                        "(exponential)."),
  };
}

std::vector<ServiceSetting> of_engine(EngineKind engine, std::vector<ServiceSetting> rows) {
  for (ServiceSetting& row : rows) row.engine = engine;
  return rows;
}

std::vector<ServiceSetting> engine_choice() {
  return {choice<MEMBER(engine.engine), kEngineIds>(
      "engine", "Engine", SettingGroup::Engine,
      "The serving engine, whose scheduler decides on the steps: vLLM V1, SGLang or TensorRT-LLM.")};
}

std::vector<ServiceSetting> vllm_settings() {
  constexpr SettingGroup kGroup = SettingGroup::Engine;
  return of_engine(
      EngineKind::Vllm,
      {
          whole<MEMBER(engine.max_num_batched_tokens)>("max_num_batched_tokens", "Tokens per step", kGroup,
                                                       "The most tokens that a step computes (vLLM)."),
          whole<MEMBER(engine.max_num_seqs)>("max_num_seqs", "Sequences", kGroup,
                                             "The most sequences that run at once (vLLM)."),
          whole<MEMBER(engine.max_model_len)>(
              "max_model_len", "Longest sequence", kGroup,
              "The most tokens of a prompt and its answer. Longer requests are "
              "refused (vLLM)."),
          whole<MEMBER(engine.block_size)>("block_size", "Block size", kGroup,
                                           "Tokens of a cache block (vLLM)."),
          number<MEMBER(gpu_memory_utilization)>(
              "gpu_memory_utilization", "Memory utilization", kGroup,
              "Share of the accelerator's memory that the engine uses. What "
              "weights and the largest step leave is the KV cache (vLLM)."),
          whole<MEMBER(engine.num_gpu_blocks)>("num_gpu_blocks", "Cache blocks", kGroup,
                                               "Blocks of the KV cache. 0: as many as fit (vLLM: "
                                               "num_gpu_blocks_override)."),
          on_off<MEMBER(engine.enable_chunked_prefill)>(
              "enable_chunked_prefill", "Chunked prefill", kGroup,
              "Long prompts are computed over several steps (vLLM)."),
          whole<MEMBER(engine.long_prefill_token_threshold)>("long_prefill_token_threshold", "Longest chunk",
                                                             kGroup,
                                                             "The most tokens of one prompt in a step. 0: no "
                                                             "limit (vLLM)."),
          on_off<MEMBER(engine.enable_prefix_caching)>("enable_prefix_caching", "Prefix caching", kGroup,
                                                       "Prompts reuse the cached blocks of equal prefixes "
                                                       "(vLLM)."),
          choice<MEMBER(engine.policy), kPolicies>(
              "scheduling_policy", "Policy", kGroup,
              "Order of waiting requests: first come, first served, or by "
              "the priority in the trace (vLLM)."),
          on_off<MEMBER(engine.scheduler_reserve_full_isl)>(
              "scheduler_reserve_full_isl", "Reserve prompts", kGroup,
              "A request starts only if all its tokens fit into "
              "the free blocks (vLLM)."),
          number<MEMBER(engine.watermark)>(
              "watermark", "Watermark", kGroup,
              "Share of the blocks that stays free when a request starts (vLLM)."),
          on_off<MEMBER(engine.disable_hybrid_kv_cache_manager)>(
              "disable_hybrid_kv_cache_manager", "No hybrid cache", kGroup,
              "Layers with a window store all tokens, as other layers do (vLLM)."),
          on_off<MEMBER(engine.mxfp4_use_marlin)>(
              "mxfp4_use_marlin", "Marlin for MXFP4", kGroup,
              "Marlin kernels multiply experts in MXFP4, with more padding of their weights than Triton's, "
              "so less memory is left for the cache (vLLM: VLLM_MXFP4_USE_MARLIN, and servers without "
              "Triton's "
              "kernels)."),
          on_off<MEMBER(engine.async_scheduling)>("async_scheduling", "Asynchronous scheduling", kGroup,
                                                  "The engine schedules a step while the previous one runs "
                                                  "(vLLM)."),
      });
}

std::vector<ServiceSetting> sglang_settings() {
  constexpr SettingGroup kGroup = SettingGroup::Engine;
  return of_engine(
      EngineKind::Sglang,
      {
          whole<MEMBER(engine.sglang.context_len)>(
              "context_len", "Longest sequence", kGroup,
              "The most tokens of a prompt and its answer. Longer requests are refused (SGLang: "
              "context_length)."),
          number<MEMBER(mem_fraction_static)>(
              "mem_fraction_static", "Static memory", kGroup,
              "Share of the accelerator's memory for weights and KV cache. 0: what SGLang estimates that "
              "activations and graphs leave (SGLang)."),
          whole<MEMBER(engine.sglang.max_total_tokens)>(
              "max_total_tokens", "Cache tokens", kGroup,
              "Tokens of the KV cache. 0: as many as fit (SGLang)."),
          whole<MEMBER(engine.sglang.max_running_requests)>(
              "max_running_requests", "Running requests", kGroup,
              "The most sequences that run at once. Pipeline stages share them (SGLang)."),
          whole<MEMBER(engine.sglang.max_prefill_tokens)>("max_prefill_tokens", "Prefill tokens", kGroup,
                                                          "The most tokens of a prefill batch (SGLang)."),
          whole<MEMBER(engine.sglang.chunked_prefill_size)>(
              "chunked_prefill_size", "Chunk size", kGroup,
              "The most prompt tokens of a step. Longer prompts are computed over several steps. -1: prompts "
              "are not cut (SGLang)."),
          on_off<MEMBER(engine.sglang.enable_mixed_chunk)>(
              "enable_mixed_chunk", "Mixed chunks", kGroup,
              "A prefill batch also computes the next tokens of the running sequences (SGLang)."),
          choice<MEMBER(engine.sglang.schedule_policy), kSglangPolicies>(
              "schedule_policy", "Policy", kGroup,
              "Order of waiting requests: first come, first served, or the longest cached prefix first "
              "(SGLang)."),
          number<MEMBER(engine.sglang.schedule_conservativeness)>(
              "schedule_conservativeness", "Conservativeness", kGroup,
              "Factor of the cache that is reserved for the rest of running answers. Lower values start more "
              "requests and retract more of them (SGLang)."),
          on_off<MEMBER(engine.sglang.disable_radix_cache)>("disable_radix_cache", "No radix cache", kGroup,
                                                            "Prompts do not reuse cached prefixes (SGLang)."),
          on_off<MEMBER(engine.sglang.disable_overlap_schedule)>(
              "disable_overlap_schedule", "No overlap schedule", kGroup,
              "The engine schedules a step after the previous one has ended (SGLang)."),
          whole<MEMBER(engine.sglang.scheduler_recv_interval)>(
              "scheduler_recv_interval", "Receive interval", kGroup,
              "The most decode steps in a row before the engine looks for new requests. Larger values save "
              "time of the host and delay first tokens (SGLang)."),
          whole<MEMBER(engine.sglang.page_size)>("page_size", "Page size", kGroup,
                                                 "Tokens of a page of the cache. Prefixes are reused and "
                                                 "chunks are cut in whole pages (SGLang)."),
          whole<MEMBER(engine.sglang.max_mamba_cache_size)>(
              "max_mamba_cache_size", "Cached states", kGroup,
              "States of mixers that the cache holds, of running requests and of prefixes. 0: as many as fit "
              "(SGLang)."),
          choice<MEMBER(engine.sglang.mamba_radix_cache_strategy), kStateStrategies>(
              "mamba_radix_cache_strategy", "Stored states", kGroup,
              "Where the radix cache stores the states of mixers, so that later requests find a prefix. "
              "extra_buffer: at multiples of 64 tokens of a prompt and of 256 tokens of an answer. "
              "no_buffer: at the end of each chunk and each answer, without overlap (SGLang)."),
      });
}

std::vector<ServiceSetting> trtllm_settings() {
  constexpr SettingGroup kGroup = SettingGroup::Engine;
  return of_engine(
      EngineKind::Trtllm,
      {
          whole<MEMBER(engine.trtllm.max_seq_len)>(
              "max_seq_len", "Longest sequence", kGroup,
              "The most tokens of a prompt and its answer. Longer requests are refused (TensorRT-LLM)."),
          whole<MEMBER(engine.trtllm.max_batch_size)>("max_batch_size", "Batch size", kGroup,
                                                      "The most sequences of a step (TensorRT-LLM)."),
          whole<MEMBER(engine.trtllm.max_num_tokens)>("max_num_tokens", "Tokens per step", kGroup,
                                                      "The most tokens that a step computes (TensorRT-LLM)."),
          number<MEMBER(free_gpu_memory_fraction)>(
              "free_gpu_memory_fraction", "Free memory", kGroup,
              "Share for the KV cache of the memory that weights and the largest step leave (TensorRT-LLM)."),
          whole<MEMBER(engine.trtllm.max_tokens)>(
              "max_tokens", "Cache tokens", kGroup,
              "Tokens of the KV cache. 0: as many as fit (TensorRT-LLM)."),
          whole<MEMBER(engine.trtllm.tokens_per_block)>("tokens_per_block", "Tokens per block", kGroup,
                                                        "Tokens of a cache block (TensorRT-LLM)."),
          on_off<MEMBER(engine.trtllm.enable_block_reuse)>(
              "enable_block_reuse", "Block reuse", kGroup,
              "Prompts reuse the cached blocks of equal prefixes (TensorRT-LLM)."),
          choice<MEMBER(engine.trtllm.capacity_scheduler_policy), kCapacityPolicies>(
              "capacity_scheduler_policy", "Capacity policy", kGroup,
              "Which requests start: those whose whole answers fit into the cache, all whose next tokens "
              "fit, or a batch when the previous one has ended (TensorRT-LLM)."),
          on_off<MEMBER(engine.trtllm.enable_chunked_context)>(
              "enable_chunked_context", "Chunked context", kGroup,
              "Long prompts are computed over several steps (TensorRT-LLM: enable_chunked_prefill)."),
          choice<MEMBER(engine.trtllm.context_chunking_policy), kChunkingPolicies>(
              "context_chunking_policy", "Chunking policy", kGroup,
              "How prompts share the tokens of a step: in the order of arrival, or in turns (TensorRT-LLM)."),
          on_off<MEMBER(engine.trtllm.disable_overlap_scheduler)>(
              "disable_overlap_scheduler", "No overlap scheduler", kGroup,
              "The engine schedules a step after the previous one has ended (TensorRT-LLM)."),
          on_off<MEMBER(engine.trtllm.enable_balance)>(
              "enable_balance", "Balance prompts", kGroup,
              "Attention replicas that share experts start prompts together (TensorRT-LLM: "
              "attention_dp_config)."),
          whole<MEMBER(engine.trtllm.timeout_iters)>(
              "timeout_iters", "Balance timeout", kGroup,
              "The most steps that a prompt waits until all attention replicas have one (TensorRT-LLM: "
              "attention_dp_config)."),
          whole<MEMBER(engine.trtllm.batching_wait_iters)>(
              "batching_wait_iters", "Balance wait", kGroup,
              "Steps that prompts wait for more prompts when all attention replicas have one (TensorRT-LLM: "
              "attention_dp_config)."),
          whole<MEMBER(engine.trtllm.batch_wait_timeout_iters)>(
              "batch_wait_timeout_iters", "Batch wait", kGroup,
              "The most steps that prompts wait for more prompts while others generate (TensorRT-LLM)."),
          number<MEMBER(engine.trtllm.batch_wait_max_tokens_ratio)>(
              "batch_wait_max_tokens_ratio", "Batch wait tokens", kGroup,
              "Share of the tokens per step from which prompts do not wait for more (TensorRT-LLM)."),
      });
}

std::vector<ServiceSetting> tier_settings() {
  constexpr SettingGroup kGroup = SettingGroup::Engine;
  return {
      number<MEMBER(host_cache_gib)>(
          "host_cache_gib", "Host cache", kGroup,
          "GiB of host memory of a replica that store cache blocks (vLLM: "
          "OffloadingConnector, SGLang: HiCache, TensorRT-LLM: host_cache_size). 0: "
          "none."),
      number<MEMBER(host_cache_gbps)>("host_cache_gbps", "Host link", kGroup,
                                      "10^9 bytes per second from host memory to one accelerator."),
      number<MEMBER(disk_cache_gib)>(
          "disk_cache_gib", "Disk cache", kGroup,
          "GiB on disk of a replica that store cache blocks which the host evicts. "
          "0: none."),
      number<MEMBER(disk_cache_gbps)>("disk_cache_gbps", "Disk rate", kGroup,
                                      "10^9 bytes per second that a replica reads from disk."),
  };
}

std::vector<ServiceSetting> speculative_settings() {
  constexpr SettingGroup kGroup = SettingGroup::Engine;
  return {
      choice<MEMBER(engine.speculation.method), kSpeculativeMethods>(
          "speculative_method", "Speculative decoding", kGroup,
          "What proposes draft tokens, which one step verifies: the module for multi-token prediction of the "
          "model, an EAGLE layer, n-grams of the text, or a smaller model (vLLM: method of "
          "speculative_config; SGLang: speculative_algorithm NEXTN, EAGLE, NGRAM, STANDALONE; TensorRT-LLM: "
          "decoding_type MTP, Eagle, NGram, DraftTarget)."),
      file<MEMBER(draft_model)>(
          "draft_model", "Draft model", kGroup,
          "The smaller model of draft-model, or the layer of eagle: a preset, the config.json of a model, or "
          "a saved design. Its weights and its cache are in the memory (vLLM: model of speculative_config; "
          "SGLang: speculative_draft_model_path; TensorRT-LLM: speculative_model_dir)."),
      whole<MEMBER(draft_tensor_parallel_size)>(
          "draft_tensor_parallel_size", "Draft tp", kGroup,
          "Tensor-parallel ranks that share the draft model; the other ranks compute the same. 0: those of "
          "the model (vLLM: draft_tensor_parallel_size of speculative_config)."),
      whole<MEMBER(engine.speculation.num_speculative_tokens)>(
          "num_speculative_tokens", "Draft tokens", kGroup,
          "Draft tokens of a sequence in each step (vLLM; SGLang: speculative_num_steps, with top-k 1; "
          "TensorRT-LLM: max_draft_len, num_nextn_predict_layers)."),
      numbers<MEMBER(engine.speculation.acceptance)>(
          "acceptance_per_position", "Acceptance", kGroup,
          "Share of the drafts whose token is accepted, for each position: the per-position acceptance rate "
          "that vLLM logs. One rate alone is that of the first token; every further token is then accepted "
          "as often, given those before it."),
  };
}

std::vector<ServiceSetting> fleet_settings() {
  constexpr SettingGroup kFleet = SettingGroup::Fleet, kLimits = SettingGroup::Limits;
  return {
      whole<MEMBER(replicas)>("replicas", "Replicas", kFleet,
                              "Engines that share the requests; with least replicas the most. 0: the "
                              "data-parallel degree of the design."),
      choice<MEMBER(router), kRouters>("router", "Router", kFleet, "How requests are given to replicas."),
      limit<MEMBER(limits.ttft)>("ttft_limit", "TTFT", kLimits,
                                 "Limit of the time to first token of a request, such as 2 s."),
      limit<MEMBER(limits.tpot)>("tpot_limit", "TPOT", kLimits,
                                 "Limit of the time per output token of a request, such as 50 ms."),
      limit<MEMBER(limits.e2e)>("e2e_limit", "End to end", kLimits,
                                "Limit of the time from arrival to the last token of a request."),
  };
}

std::vector<ServiceSetting> level_settings() {
  return {{"slo",
           "Percentiles",
           "Limits of percentiles, such as p99 ttft<2s, p99 tpot<50ms: mean, p50, p90, p95 or p99 of ttft, "
           "tpot, itl, e2e or queueing.",
           SettingGroup::Limits,
           SettingKind::Level,
           {},
           [](const ServiceSpec& spec) { return level_text(spec.level); },
           [](ServiceSpec& spec, const std::string& text) {
             const auto read = parse_service_level(text, "");
             if (std::holds_alternative<Problem>(read)) return false;
             spec.level = std::get<0>(read);
             return true;
           }}};
}

std::vector<ServiceSetting> pool_settings() {
  constexpr SettingGroup kFleet = SettingGroup::Fleet;
  return {
      whole<MEMBER(fleet.prefill_replicas)>("prefill_replicas", "Prefill replicas", kFleet,
                                            "Replicas that compute prompts only. Their caches are sent to "
                                            "the decode replicas over the network. "
                                            "0: every replica computes prompts and answers."),
      whole<MEMBER(fleet.decode_replicas)>(
          "decode_replicas", "Decode replicas", kFleet,
          "Replicas that generate the answers, with prefill replicas. 0: the data-parallel degree of the "
          "design."),
      file<MEMBER(fleet.prefill_design)>("prefill_design", "Prefill design", kFleet,
                                         "Saved design of the prefill replicas: another layout, another "
                                         "accelerator. Without a file it is the design of the others."),
      whole<MEMBER(fleet.prefill_step_tokens)>(
          "prefill_step_tokens", "Prefill tokens per step", kFleet,
          "The most tokens that a step of a prefill replica computes. 0: "
          "as the decode replicas."),
      choice<MEMBER(fleet.kv_handoff), kHandoffs>(
          "kv_handoff", "KV handoff", kFleet,
          "Who takes blocks for a prompt first. source-first: the prompt is computed, then a decode replica "
          "takes blocks (vLLM, TensorRT-LLM). destination-first: the prompt waits until a decode replica has "
          "taken blocks (SGLang). engine: as the engine does."),
      choice<MEMBER(fleet.kv_connector), kConnectors>(
          "kv_connector", "KV connector", kFleet,
          "What sends caches to the decode replicas, and its time on top of the network: mooncake per "
          "transfer, nixl per block of each layer. network: no time of its own. engine: nixl (vLLM), "
          "mooncake (SGLang), network (TensorRT-LLM, of which no figures are known)."),
      whole<MEMBER(fleet.least_replicas)>(
          "least_replicas", "Least replicas", kFleet,
          "The number of replicas follows the load, from this number up to the replicas; with prefill "
          "replicas, that of the decode replicas. 0: it is fixed."),
      number<MEMBER(fleet.requests_per_replica)>(
          "requests_per_replica", "Requests per replica", kFleet,
          "With least replicas: outstanding requests for each replica. More requests start another replica."),
      number<MEMBER(fleet.start_seconds)>(
          "start_seconds", "Start-up", kFleet,
          "Seconds from the decision for another replica to its first request."),
      number<MEMBER(fleet.cool_down_seconds)>(
          "cool_down_seconds", "Cool-down", kFleet,
          "Seconds for which too many replicas stay before some of them leave."),
      whole<MEMBER(fleet.least_prefill_replicas)>(
          "least_prefill_replicas", "Least prefill replicas", kFleet,
          "The number of prefill replicas follows the prompts that wait or are computed, from this number up "
          "to the prefill replicas. 0: it is fixed."),
      number<MEMBER(fleet.requests_per_prefill_replica)>(
          "requests_per_prefill_replica", "Requests per prefill replica", kFleet,
          "With least prefill replicas: prompts for each of them. More prompts start another one."),
      number<MEMBER(fleet.prefill_start_seconds)>(
          "prefill_start_seconds", "Prefill start-up", kFleet,
          "Seconds from the decision for another prefill replica to its first prompt."),
      number<MEMBER(fleet.prefill_cool_down_seconds)>(
          "prefill_cool_down_seconds", "Prefill cool-down", kFleet,
          "Seconds for which too many prefill replicas stay before some of them leave."),
      number<MEMBER(fleet.failure_time)>("failure_time", "Failure at", kFleet,
                                         "Seconds at which a replica fails, with failure seconds."),
      number<MEMBER(fleet.failure_seconds)>(
          "failure_seconds", "Failure lasts", kFleet,
          "Seconds until the failed replica is back, with an empty cache. Its requests are sent again to "
          "others, with the tokens that have arrived. 0: no replica fails."),
      whole<MEMBER(fleet.failed_replica)>("failed_replica", "Failed replica", kFleet,
                                          "Number of the replica that fails. Prefill replicas come first."),
  };
}

#undef MEMBER

}  // namespace

std::span<const ServiceSetting> service_settings() {
  static const std::vector<ServiceSetting> all = [] {
    std::vector<ServiceSetting> out;
    for (auto rows :
         {request_settings, pattern_settings, engine_choice, vllm_settings, sglang_settings, trtllm_settings,
          tier_settings, speculative_settings, fleet_settings, pool_settings, level_settings})
      for (ServiceSetting& setting : rows()) out.push_back(std::move(setting));
    return out;
  }();
  return all;
}

}  // namespace shardscape
