#include "launch/server/inferencex_text.h"

#include <algorithm>
#include <charconv>

#include "launch/launch_parts.h"
#include "launch/shell/shell_script.h"

namespace shardscape {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

class Workers {
 public:
  Workers(const std::map<std::string, std::string>& variables, EngineKind engine) : variables_(variables) {
    out_.engine = engine;
    out_.program = "InferenceX";
    out_.line = 1;
  }

  std::string variable(const std::string& name) const {
    const auto it = variables_.find(name);
    return it == variables_.end() ? "" : it->second;
  }
  int64_t number(const std::string& name) const {
    const std::string text = variable(name);
    int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return std::clamp<int64_t>(value, 0, kMost);
  }

  ServerText read() {
    for (const char* name : {"SERVED_MODEL_NAME", "MODEL_NAME", "MODEL", "MODEL_PATH"})
      if (!variable(name).empty() && !out_.arguments.contains("model")) put("model", variable(name), name);
    const int64_t all = number("DECODE_TP");
    const bool attention = variable("DECODE_DP_ATTN") == "true";
    take("tp", "DECODE_TP");
    if (out_.engine == EngineKind::Vllm) {
      if (attention) {
        put("tp", "1", "DECODE_TP");
        put("dp", std::to_string(all), "DECODE_DP_ATTN");
      }
      if (number("DECODE_EP") > 1) put("expert_parallel", "true", "DECODE_EP");
    } else {
      take("ep", "DECODE_EP");
      if (attention) put("dp_attention", "true", "DECODE_DP_ATTN");
      if (attention && out_.engine == EngineKind::Sglang) put("dp", std::to_string(all), "DECODE_TP");
    }
    if (out_.engine == EngineKind::Trtllm) {
      take("max_batch_size", "DECODE_MAX_BATCH_SIZE");
      take("max_num_tokens", "DECODE_MAX_NUM_TOKENS");
      take("free_gpu_memory_fraction", "DECODE_GPU_MEM_FRACTION");
    }
    fleet(attention ? all : 1);
    return std::move(out_);
  }

 private:
  static constexpr int64_t kMost = 1 << 20;

  void put(const std::string& name, const std::string& value, const std::string& written) {
    out_.arguments[name] = value;
    out_.written[name] = written;
  }
  void take(const std::string& name, const std::string& from) {
    if (!variable(from).empty()) put(name, variable(from), from);
  }

  // A worker with data-parallel attention has a replica for each of its ranks.
  void fleet(int64_t replicas) {
    const int64_t prefill = number("PREFILL_NUM_WORKERS"), decode = number("DECODE_NUM_WORKERS");
    if (prefill < 1 || decode < 1) return;
    const int64_t of_prefill = variable("PREFILL_DP_ATTN") == "true"
                                   ? std::max<int64_t>(1, number("PREFILL_TP"))
                                   : 1;
    out_.fleet["prefill_replicas"] = std::to_string(prefill * of_prefill);
    out_.fleet["decode_replicas"] = std::to_string(decode * replicas);
  }

  const std::map<std::string, std::string>& variables_;
  ServerText out_;
};

}  // namespace

bool is_inferencex_script(std::string_view text) {
  return has(text, "check_env_vars") && has(text, "PREFILL_N");
}

std::optional<ServerText> read_inferencex_script(const LaunchRequest& request, LaunchImport& out) {
  const std::optional<ShellScript> script = read_script(request, out);
  if (!script) return std::nullopt;
  std::map<std::string, std::string> variables = request.shell.environment;
  for (const auto& [name, value] : script->variables)
    if (!value.empty()) variables[name] = value;
  const std::string named = request.where.substr(request.where.rfind('/') + 1) + " " + variables["FRAMEWORK"];
  const auto says = [&](std::string_view part) { return has(named, part); };
  const auto engine = says("sglang")                               ? std::optional(EngineKind::Sglang)
                      : says("trt") || has(request.text, "trtllm") ? std::optional(EngineKind::Trtllm)
                      : says("vllm")                               ? std::optional(EngineKind::Vllm)
                                                                   : std::nullopt;
  if (!engine) {
    out.problems.emplace_back(
        ProblemCode::LaunchFormat, request.where, "the script does not say which known engine it starts",
        "the variable FRAMEWORK=vllm, sglang or trtllm (command line: --variable FRAMEWORK=vllm)");
    return std::nullopt;
  }
  Workers workers(variables, *engine);
  if (workers.number("DECODE_TP") < 1) {
    out.problems.emplace_back(
        ProblemCode::LaunchFormat, request.where,
        "the environment of an InferenceX script states its workers, and DECODE_TP is not set",
        "the variables DECODE_TP=8, DECODE_EP, DECODE_DP_ATTN, MODEL_NAME and the numbers of workers "
        "(command line: --variable DECODE_TP=8)");
    return std::nullopt;
  }
  return workers.read();
}

}  // namespace shardscape
