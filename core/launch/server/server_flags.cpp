#include "launch/server/server_flags.h"

#include <algorithm>

namespace shardscape {
namespace {

// The first row of a name has the spelling of the engine's documentation. vllm/engine/arg_utils.py,
// python/sglang/srt/server_args.py, tensorrt_llm/llmapi/llm_args.py and tensorrt_llm/commands/serve.py.
struct Alias {
  EngineKind engine;
  std::string_view flag;
  const char* name;
};
constexpr EngineKind kVllm = EngineKind::Vllm, kSglang = EngineKind::Sglang, kTrtllm = EngineKind::Trtllm;
constexpr Alias kAliases[] = {
    {kVllm, "tensor_parallel_size", "tp"},
    {kVllm, "pipeline_parallel_size", "pp"},
    {kVllm, "data_parallel_size", "dp"},
    {kVllm, "enable_expert_parallel", "expert_parallel"},
    {kVllm, "decode_context_parallel_size", "dcp"},
    {kVllm, "prefill_context_parallel_size", "cp"},
    {kVllm, "dcp", "dcp"},
    {kVllm, "pcp", "cp"},
    {kVllm, "model", "model"},
    {kVllm, "model_tag", "model"},
    {kVllm, "max_model_len", "max_model_len"},
    {kVllm, "max_seq_len", "max_model_len"},
    {kVllm, "num_gpu_blocks_override", "num_gpu_blocks"},
    {kVllm, "cc", "compilation_config"},
    {kVllm, "sc", "speculative_config"},
    {kSglang, "tp_size", "tp"},
    {kSglang, "tensor_parallel_size", "tp"},
    {kSglang, "pp_size", "pp"},
    {kSglang, "pipeline_parallel_size", "pp"},
    {kSglang, "dp_size", "dp"},
    {kSglang, "data_parallel_size", "dp"},
    {kSglang, "ep_size", "ep"},
    {kSglang, "expert_parallel_size", "ep"},
    {kSglang, "attn_cp_size", "cp"},
    {kSglang, "dcp_size", "dcp"},
    {kSglang, "enable_dp_attention", "dp_attention"},
    {kSglang, "context_length", "context_len"},
    {kSglang, "model_path", "model"},
    {kTrtllm, "tensor_parallel_size", "tp"},
    {kTrtllm, "tp_size", "tp"},
    {kTrtllm, "pipeline_parallel_size", "pp"},
    {kTrtllm, "pp_size", "pp"},
    {kTrtllm, "context_parallel_size", "cp"},
    {kTrtllm, "cp_size", "cp"},
    {kTrtllm, "moe_expert_parallel_size", "ep"},
    {kTrtllm, "ep_size", "ep"},
    {kTrtllm, "moe_tensor_parallel_size", "etp"},
    {kTrtllm, "enable_attention_dp", "dp_attention"},
    {kTrtllm, "kv_cache_config.dtype", "kv_cache_dtype"},
    {kTrtllm, "enable_chunked_prefill", "enable_chunked_context"},
    {kTrtllm, "kv_cache_config.free_gpu_memory_fraction", "free_gpu_memory_fraction"},
    {kTrtllm, "kv_cache_free_gpu_memory_fraction", "free_gpu_memory_fraction"},
    {kTrtllm, "kv_cache_config.enable_block_reuse", "enable_block_reuse"},
    {kTrtllm, "kv_cache_config.tokens_per_block", "tokens_per_block"},
    {kTrtllm, "kv_cache_config.max_tokens", "max_tokens"},
    {kTrtllm, "scheduler_config.capacity_scheduler_policy", "capacity_scheduler_policy"},
    {kTrtllm, "scheduler_config.context_chunking_policy", "context_chunking_policy"},
    {kTrtllm, "attention_dp_config.enable_balance", "enable_balance"},
    {kTrtllm, "attention_dp_config.timeout_iters", "timeout_iters"},
    {kTrtllm, "attention_dp_config.batching_wait_iters", "batching_wait_iters"},
    {kTrtllm, "extra_llm_api_options", "config"},
};

const Alias* alias(EngineKind engine, std::string_view flag) {
  const auto found = std::find_if(std::begin(kAliases), std::end(kAliases),
                                  [&](const Alias& one) { return one.engine == engine && one.flag == flag; });
  return found == std::end(kAliases) ? nullptr : found;
}

}  // namespace

bool is_server_flag(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

std::string server_setting_name(EngineKind engine, std::string_view flag) {
  flag.remove_prefix(std::min(flag.find_first_not_of('-'), flag.size()));
  std::string name(flag);
  std::replace(name.begin(), name.end(), '-', '_');
  if (const Alias* found = alias(engine, name)) return found->name;
  // "cc.pass_config.x" is part of compilation_config.
  const size_t dot = name.find('.');
  if (dot == std::string::npos) return name;
  const Alias* start = alias(engine, std::string_view(name).substr(0, dot));
  return start ? start->name + name.substr(dot) : name;
}

std::string server_flag(EngineKind engine, const std::string& name) {
  std::string flag = name;
  for (const Alias& one : kAliases)
    if (one.engine == engine && one.name == name) {
      flag = one.flag;
      break;
    }
  if (engine == kTrtllm) return flag;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return "--" + flag;
}

std::vector<ServerFlag> server_flags(EngineKind engine, std::span<const std::string> words) {
  std::vector<ServerFlag> out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!is_server_flag(words[i])) continue;
    const size_t equals = words[i].find('=');
    ServerFlag flag{server_setting_name(engine, std::string_view(words[i]).substr(0, equals)), "true",
                    words[i].substr(0, equals)};
    if (equals != std::string::npos) {
      flag.value = words[i].substr(equals + 1);
    } else {
      std::string value;
      for (; i + 1 < words.size() && !is_server_flag(words[i + 1]) && words[i + 1] != "export"; ++i)
        value += (value.empty() ? "" : " ") + words[i + 1];
      if (!value.empty()) flag.value = value;
    }
    constexpr std::string_view kNo = "no_";
    if (engine == kVllm && flag.name.starts_with(kNo)) {
      flag.name = server_setting_name(engine, std::string_view(flag.name).substr(kNo.size()));
      flag.value = flag.value == "false" ? "true" : "false";
    }
    out.push_back(std::move(flag));
  }
  return out;
}

}  // namespace shardscape
