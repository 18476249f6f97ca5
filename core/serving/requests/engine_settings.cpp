#include "serving/requests/engine_settings.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"

namespace shardscape {
namespace {

constexpr int64_t kMost = 1 << 30;
constexpr int64_t kMostBlockSize = 65536;

struct Bound {
  const char* name;
  int64_t value, least, most;
};

std::vector<Bound> bounds(const EngineSettings& s) {
  switch (s.engine) {
    case EngineKind::Vllm:
      return {{"max_num_batched_tokens", s.max_num_batched_tokens, 1, kMost},
              {"max_num_seqs", s.max_num_seqs, 1, kMost},
              {"max_model_len", s.max_model_len, 2, kMost},
              {"block_size", s.block_size, 1, kMostBlockSize},
              // A cache of the null block alone holds nothing.
              {"num_gpu_blocks", s.num_gpu_blocks, s.num_gpu_blocks == 0 ? 0 : 2, kMost},
              {"long_prefill_token_threshold", s.long_prefill_token_threshold, 0, kMost}};
    case EngineKind::Sglang:
      return {{"context_len", s.sglang.context_len, 2, kMost},
              {"page_size", s.sglang.page_size, 1, kMostBlockSize},
              {"max_total_tokens", s.sglang.max_total_tokens,
               s.sglang.max_total_tokens == 0 ? 0 : s.sglang.page_size, kMost},
              {"max_running_requests", s.sglang.max_running_requests, 1, kMost},
              {"max_prefill_tokens", s.sglang.max_prefill_tokens, 1, kMost},
              {"chunked_prefill_size", s.sglang.chunked_prefill_size,
               s.sglang.chunked_prefill_size == -1 ? -1 : 1, kMost},
              {"scheduler_recv_interval", s.sglang.scheduler_recv_interval, 1, kMost},
              {"max_mamba_cache_size", s.sglang.max_mamba_cache_size, 0, kMost}};
    case EngineKind::Trtllm:
      return {{"max_seq_len", s.trtllm.max_seq_len, 2, kMost},
              {"max_batch_size", s.trtllm.max_batch_size, 1, kMost},
              // A chunk of a prompt has whole blocks.
              {"max_num_tokens", s.trtllm.max_num_tokens,
               s.trtllm.enable_chunked_context ? s.trtllm.tokens_per_block : 1, kMost},
              {"max_tokens", s.trtllm.max_tokens, s.trtllm.max_tokens == 0 ? 0 : s.trtllm.tokens_per_block,
               kMost},
              {"tokens_per_block", s.trtllm.tokens_per_block, 1, kMostBlockSize},
              {"timeout_iters", s.trtllm.timeout_iters, 0, kMost},
              {"batching_wait_iters", s.trtllm.batching_wait_iters, 0, kMost},
              {"batch_wait_timeout_iters", s.trtllm.batch_wait_timeout_iters, 0, kMost}};
  }
  return {};
}

Problem number_problem(const char* name, double value, const char* accepted) {
  return {ProblemCode::EngineSettingInvalid, name, "the value is " + significant(value), accepted};
}

// SGLang, server_args.py: chunks have whole pages; MambaRadixCache without a buffer needs pages of one token.
std::optional<Problem> check_pages(const SglangSettings& s) {
  if (s.chunked_prefill_size > 0 && s.chunked_prefill_size % s.page_size != 0)
    return Problem(ProblemCode::EngineSettingInvalid, "chunked_prefill_size",
                   grouped(s.chunked_prefill_size) + " tokens in pages of " + grouped(s.page_size),
                   "a multiple of page_size");
  if (s.page_size > 1 && s.max_mamba_cache_size > 0 && !s.disable_radix_cache &&
      s.mamba_radix_cache_strategy == StateStrategy::NoBuffer)
    return Problem(ProblemCode::EngineSettingInvalid, "page_size",
                   "the value is " + grouped(s.page_size) + " with mamba_radix_cache_strategy no_buffer",
                   "1, or extra_buffer");
  return std::nullopt;
}

std::optional<Problem> check_speculation(const EngineSettings& settings) {
  const SpeculativeSettings& s = settings.speculation;
  if (s.method == SpeculativeMethod::None) return std::nullopt;
  const auto problem = [](const char* where, std::string what, std::string accepted) {
    return Problem(ProblemCode::EngineSettingInvalid, where, std::move(what), std::move(accepted));
  };
  const int64_t tokens = s.num_speculative_tokens;
  if (tokens < 1 || tokens > kMostSpeculativeTokens)
    return problem("num_speculative_tokens", "the value is " + grouped(tokens),
                   "1 to " + grouped(kMostSpeculativeTokens));
  const auto given = static_cast<int64_t>(s.acceptance.size());
  if (given != 1 && given != tokens)
    return problem("acceptance_per_position",
                   grouped(given) + " rates for " + grouped(tokens) + " speculative tokens",
                   "one rate, or one for each speculative token");
  double before = 1;
  for (const double rate : s.acceptance) {
    if (!(rate >= 0 && rate <= 1))
      return problem("acceptance_per_position", "the value is " + significant(rate), "shares from 0 to 1");
    if (rate > before)
      return problem("acceptance_per_position", significant(rate) + " follows " + significant(before),
                     "falling rates, because a token is accepted only after all before it");
    before = rate;
  }
  if (settings.engine == EngineKind::Sglang && settings.sglang.enable_mixed_chunk)
    return problem("enable_mixed_chunk", "SGLang mixes no chunks with speculative decoding", "false");
  if (settings.engine == EngineKind::Trtllm && settings.trtllm.max_num_tokens <= tokens)
    return problem("max_num_tokens", "a sequence with its draft needs " + grouped(tokens + 1) + " tokens",
                   "at least " + grouped(tokens + 1));
  return std::nullopt;
}

}  // namespace

int64_t draft_tokens(const SpeculativeSettings& settings) {
  return settings.method == SpeculativeMethod::None ? 0 : settings.num_speculative_tokens;
}

int64_t lookahead_tokens(const SpeculativeSettings& settings) {
  switch (settings.method) {
    case SpeculativeMethod::Mtp:
    case SpeculativeMethod::Eagle:
    case SpeculativeMethod::DraftModel: return settings.num_speculative_tokens;
    case SpeculativeMethod::None:
    case SpeculativeMethod::Ngram: break;
  }
  return 0;
}

std::vector<double> acceptance_rates(const SpeculativeSettings& settings) {
  const auto tokens = static_cast<size_t>(draft_tokens(settings));
  if (settings.acceptance.size() == tokens) return settings.acceptance;
  std::vector<double> out(tokens);
  double rate = 1;
  for (double& of : out) of = rate *= settings.acceptance.front();
  return out;
}

const char* engine_name(EngineKind kind) {
  switch (kind) {
    case EngineKind::Vllm: return "vLLM";
    case EngineKind::Sglang: return "SGLang";
    case EngineKind::Trtllm: return "TensorRT-LLM";
  }
  return "";
}

std::optional<Problem> check_settings(const EngineSettings& settings) {
  for (const Bound& bound : bounds(settings)) {
    if (bound.value < bound.least || bound.value > bound.most)
      return Problem(ProblemCode::EngineSettingInvalid, bound.name, "the value is " + grouped(bound.value),
                     grouped(bound.least) + " to " + grouped(bound.most));
  }
  switch (settings.engine) {
    case EngineKind::Vllm:
      if (!(settings.watermark >= 0 && settings.watermark < 1))
        return number_problem("watermark", settings.watermark, "a share of at least 0 and below 1");
      break;
    case EngineKind::Sglang:
      if (!(settings.sglang.schedule_conservativeness >= 0))
        return number_problem("schedule_conservativeness", settings.sglang.schedule_conservativeness,
                              "a factor of at least 0");
      if (auto problem = check_pages(settings.sglang)) return problem;
      break;
    case EngineKind::Trtllm:
      if (const double ratio = settings.trtllm.batch_wait_max_tokens_ratio; !(ratio >= 0 && ratio <= 1))
        return number_problem("batch_wait_max_tokens_ratio", ratio, "a share from 0 to 1");
      break;
  }
  return check_speculation(settings);
}

int64_t allocated_blocks(const EngineSettings& settings) {
  switch (settings.engine) {
    case EngineKind::Vllm: return settings.num_gpu_blocks;
    case EngineKind::Sglang: return settings.sglang.max_total_tokens / settings.sglang.page_size;
    case EngineKind::Trtllm: return settings.trtllm.max_tokens / settings.trtllm.tokens_per_block;
  }
  return 0;
}

int64_t cache_blocks(const EngineSettings& settings) {
  return std::max<int64_t>(0, allocated_blocks(settings) - (settings.engine == EngineKind::Vllm));
}

void set_cache_tokens(EngineSettings& settings, int64_t tokens) {
  switch (settings.engine) {
    case EngineKind::Vllm: settings.num_gpu_blocks = tokens / settings.block_size; break;
    case EngineKind::Sglang: settings.sglang.max_total_tokens = tokens; break;
    case EngineKind::Trtllm: settings.trtllm.max_tokens = tokens; break;
  }
}

int32_t cache_block_size(const EngineSettings& settings) {
  switch (settings.engine) {
    case EngineKind::Vllm: return settings.block_size;
    case EngineKind::Sglang: return settings.sglang.page_size;
    case EngineKind::Trtllm: return settings.trtllm.tokens_per_block;
  }
  return 1;
}

bool caches_prefixes(const EngineSettings& settings) {
  switch (settings.engine) {
    case EngineKind::Vllm: return settings.enable_prefix_caching && settings.layout.prefixes;
    case EngineKind::Sglang: return !settings.sglang.disable_radix_cache && settings.layout.prefixes;
    case EngineKind::Trtllm: return settings.trtllm.enable_block_reuse && settings.layout.prefixes;
  }
  return false;
}

int64_t longest_sequence(const EngineSettings& settings) {
  switch (settings.engine) {
    case EngineKind::Vllm: return settings.max_model_len;
    case EngineKind::Sglang: return settings.sglang.context_len;
    case EngineKind::Trtllm: return settings.trtllm.max_seq_len;
  }
  return 0;
}

int64_t most_sequences(const EngineSettings& settings) {
  switch (settings.engine) {
    case EngineKind::Vllm: return settings.max_num_seqs;
    case EngineKind::Sglang: return settings.sglang.max_running_requests;
    case EngineKind::Trtllm: return settings.trtllm.max_batch_size;
  }
  return 0;
}

int64_t most_step_tokens(const EngineSettings& settings) {
  switch (settings.engine) {
    case EngineKind::Vllm: return settings.max_num_batched_tokens;
    case EngineKind::Sglang:
      return settings.sglang.chunked_prefill_size > 0 ? settings.sglang.chunked_prefill_size
                                                      : settings.sglang.max_prefill_tokens;
    case EngineKind::Trtllm: return settings.trtllm.max_num_tokens;
  }
  return 0;
}

bool overlaps(const SglangSettings& settings) {
  const bool unbuffered = settings.max_mamba_cache_size > 0 && !settings.disable_radix_cache &&
                          settings.mamba_radix_cache_strategy == StateStrategy::NoBuffer;
  return !settings.disable_overlap_schedule && !unbuffered;
}

int64_t request_states(const SglangSettings& settings) {
  if (settings.disable_radix_cache) return 1;
  if (settings.mamba_radix_cache_strategy == StateStrategy::NoBuffer) return 3;
  return settings.disable_overlap_schedule ? 4 : 5;
}

bool schedules_ahead(const EngineSettings& settings) {
  switch (settings.engine) {
    case EngineKind::Vllm: return settings.async_scheduling;
    case EngineKind::Sglang: return overlaps(settings.sglang);
    case EngineKind::Trtllm: return !settings.trtllm.disable_overlap_scheduler;
  }
  return false;
}

int32_t steps_in_flight(const EngineSettings& settings) {
  if (settings.pipeline_stages > 1) return settings.pipeline_stages;
  return schedules_ahead(settings) ? 2 : 1;
}

}  // namespace shardscape
