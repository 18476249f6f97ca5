// Scheduler, cache and speculative decoding of a serving engine.
#include <algorithm>

#include "launch/server/server_fields.h"
#include "model/preset_names.h"

namespace shardscape {
namespace {

void read_role(ServerFields& f) {
  const auto role = [&](const char* argument, bool prompts) {
    f.set("mode", prompts ? "prefill" : "decode", argument);
  };
  if (const auto mode = f.text("disaggregation_mode")) {
    if (*mode == "prefill" || *mode == "decode") return role("disaggregation_mode", *mode == "prefill");
    if (*mode != "true") f.misread("disaggregation_mode", "SGLang has prefill and decode");
  }
  for (const char* argument : {"is_prefill_worker", "is_decode_worker"})
    if (f.on(argument)) return role(argument, std::string(argument) == "is_prefill_worker");
  if (const auto connector = f.text("kv_transfer_config.kv_connector")) {
    if (connector->starts_with("Nixl") || connector->starts_with("Mooncake"))
      f.serve("kv_connector", connector->starts_with("Nixl") ? "nixl" : "mooncake",
              "kv_transfer_config.kv_connector");
    else
      f.unmapped("kv_transfer_config.kv_connector", "the times of this connector are not known");
  }
  const std::string kv = f.text("kv_transfer_config.kv_role").value_or("");
  if (kv == "kv_producer" || kv == "kv_consumer")
    return role("kv_transfer_config.kv_role", kv == "kv_producer");
  f.follow("mode", "decode", "mode",
           "an engine without a role computes prompts, too: shardscape-cli inference shows both", "");
}

void read_types(ServerFields& f) {
  const std::string dtype = f.text("dtype").value_or("auto");
  if (dtype != "auto" && dtype != "true")
    f.set("dtype",
          dtype == "bfloat16"                      ? "bf16"
          : dtype == "half" || dtype == "float16"  ? "fp16"
          : dtype == "float" || dtype == "float32" ? "fp32"
                                                   : dtype,
          "dtype");
  const std::string cache = f.text("kv_cache_dtype").value_or("auto");
  if (cache != "auto" && cache != "true")
    f.set("kv_cache_dtype",
          cache.starts_with("fp8") ? "fp8"
          : cache == "bfloat16"    ? "bf16"
                                   : cache,
          "kv_cache_dtype");
}

// vllm/config/speculative.py; python/sglang/srt/server_args.py; tensorrt_llm/llmapi/llm_args.py.
std::string speculative_method(std::string given, bool own_module) {
  std::transform(given.begin(), given.end(), given.begin(), [](unsigned char c) { return std::tolower(c); });
  std::replace(given.begin(), given.end(), '-', '_');
  if (given.ends_with("mtp") || given == "nextn") return "mtp";
  if (given.starts_with("eagle")) return own_module ? "mtp" : "eagle";
  if (given.starts_with("ngram")) return "ngram";
  if (given == "draft_model" || given == "standalone" || given.starts_with("drafttarget") ||
      given.starts_with("draft_target"))
    return "draft-model";
  return given;
}

struct SpeculativeNames {
  const char* method;
  const char* tokens;
  const char* draft;
};
SpeculativeNames speculative_names(const ServerFields& f) {
  switch (f.engine()) {
    case EngineKind::Vllm:
      return {"speculative_config.method", "speculative_config.num_speculative_tokens",
              "speculative_config.model"};
    case EngineKind::Sglang:
      return {"speculative_algorithm", "speculative_num_steps", "speculative_draft_model_path"};
    case EngineKind::Trtllm: break;
  }
  const bool mtp = f.has("speculative_config.num_nextn_predict_layers");
  return {"speculative_config.decoding_type",
          mtp ? "speculative_config.num_nextn_predict_layers" : "speculative_config.max_draft_len",
          f.has("speculative_config.speculative_model") ? "speculative_config.speculative_model"
                                                        : "speculative_config.speculative_model_dir"};
}

}  // namespace

// Arguments with the id of a setting of the service become that setting.
void read_server_engine(ServerFields& f) {
  read_role(f);
  read_types(f);
  // The length of designs: the longest sequence of the engine.
  const char* longest = f.engine() == EngineKind::Vllm     ? "max_model_len"
                        : f.engine() == EngineKind::Sglang ? "context_len"
                                                           : "max_seq_len";
  if (const auto length = f.text(longest); length && !length->starts_with('-') && *length != "auto") {
    const bool prompts = f.design().workload.mode == Mode::Prefill;
    f.set(prompts ? "seq" : "context_length", *length, longest);
  }
  for (const ServiceSetting& setting : service_settings()) {
    const bool of_engine = setting.group == SettingGroup::Engine && setting.engine == f.engine();
    if (!of_engine || !f.has(setting.id)) continue;
    const std::string value = *f.text(setting.id);
    if (f.engine() == EngineKind::Sglang && std::string(setting.id) == "disable_radix_cache" &&
        value == "false")
      continue;
    if (std::string(setting.id) == longest && (value.starts_with('-') || value == "auto")) continue;
    f.serve(setting.id, value, setting.id);
  }
  // EngineArgs of an API server on GPUs with 70 GiB or more (arg_utils.py, get_batch_defaults).
  if (f.engine() == EngineKind::Vllm) {
    f.assume("max_num_seqs", "1024", "vllm/engine/arg_utils.py, get_batch_defaults: 70 GiB and more");
    // Without chunks a step takes the longest prompt.
    constexpr int64_t kTokens = 8192;
    const EngineSettings& engine = f.spec().engine;
    const int64_t tokens = engine.enable_chunked_prefill ? kTokens : std::max(kTokens, engine.max_model_len);
    f.assume("max_num_batched_tokens", std::to_string(tokens),
             "vllm/engine/arg_utils.py, get_batch_defaults: 70 GiB and more");
    f.assume("gpu_memory_utilization", "0.92", "vllm/config/cache.py");
  }
}

void read_speculation(ServerFields& f) {
  const SpeculativeNames names = speculative_names(f);
  const auto given = f.text(names.method);
  if (!given) return;
  const bool own_module = f.engine() == EngineKind::Sglang && !f.has(names.draft) &&
                          has_draft_module(f.design());
  const std::string method = speculative_method(*given, own_module);
  f.serve("speculative_method", method, names.method);
  if (f.spec().engine.speculation.method == SpeculativeMethod::None) return;
  if (f.has(names.tokens)) f.serve("num_speculative_tokens", *f.text(names.tokens), names.tokens);
  if (f.has("speculative_config.draft_tensor_parallel_size"))
    f.serve("draft_tensor_parallel_size", *f.text("speculative_config.draft_tensor_parallel_size"),
            "speculative_config.draft_tensor_parallel_size");
  if (f.has(names.draft)) {
    const std::string draft = *f.text(names.draft), preset = preset_id_of_name(draft);
    if (preset.empty())
      f.unmapped(names.draft,
                 "no preset is this draft model; serve --draft-model FILE takes its config.json");
    else
      f.serve("draft_model", preset, names.draft);
  }
  if (f.engine() != EngineKind::Sglang) return;
  if (const auto top = f.text("speculative_eagle_topk"); top && *top != "1")
    f.unmapped("speculative_eagle_topk", "a step verifies one chain of drafts, not a tree");
  (void)f.text("speculative_num_draft_tokens");
}

}  // namespace shardscape
