#include "validation/server_command.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

namespace shardscape {
namespace {

struct Alias {
  const char *engine, *flag, *name;
};
constexpr Alias kAliases[] = {
    {"vllm", "tensor_parallel_size", "tp"},
    {"vllm", "pipeline_parallel_size", "pp"},
    {"vllm", "data_parallel_size", "dp"},
    {"vllm", "enable_expert_parallel", "expert_parallel"},
    {"sglang", "tp_size", "tp"},
    {"sglang", "tensor_parallel_size", "tp"},
    {"sglang", "pp_size", "pp"},
    {"sglang", "dp_size", "dp"},
    {"sglang", "data_parallel_size", "dp"},
    {"sglang", "ep_size", "ep"},
    {"sglang", "expert_parallel_size", "ep"},
    {"sglang", "enable_dp_attention", "dp_attention"},
    {"sglang", "context_length", "context_len"},
    {"trtllm", "tp_size", "tp"},
    {"trtllm", "pp_size", "pp"},
    {"trtllm", "ep_size", "ep"},
    {"trtllm", "enable_chunked_prefill", "enable_chunked_context"},
    {"trtllm", "kv_cache_free_gpu_memory_fraction", "free_gpu_memory_fraction"},
};

// Flags without effect on the time of a request.
constexpr const char* kWithoutEffect[] = {
    "m",
    "model",
    "model_path",
    "host",
    "port",
    "served_model_name",
    "chat_template",
    "reasoning_parser",
    "tool_call_parser",
    "tokenizer_mode",
    "trust_remote_code",
    "enable_auto_tool_choice",
};

// The words of the command, without comments, line continuations and quotes.
std::vector<std::string> words(const std::string& command) {
  std::vector<std::string> out;
  std::istringstream lines(command);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::erase_if(line, [](char c) { return c == '\\' || c == '"' || c == '\''; });
    std::istringstream text(line);
    out.insert(out.end(), std::istream_iterator<std::string>(text), std::istream_iterator<std::string>());
  }
  return out;
}

// "--max-num-seqs" becomes max_num_seqs, "-tp" becomes tp.
std::string flag_name(const std::string& engine, std::string flag) {
  flag.erase(0, flag.find_first_not_of('-'));
  std::replace(flag.begin(), flag.end(), '-', '_');
  for (const Alias& alias : kAliases)
    if (engine == alias.engine && flag == alias.flag) return alias.name;
  return flag;
}

bool is_flag(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

}  // namespace

ServerSettings server_settings(const std::string& engine, const std::string& command) {
  ServerSettings out;
  const std::vector<std::string> all = words(command);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == "export" && i + 1 < all.size()) {
      const size_t equals = all[i + 1].find('=');
      out[all[i + 1].substr(0, equals)] = equals == std::string::npos ? "" : all[i + 1].substr(equals + 1);
    }
    if (!is_flag(all[i])) continue;
    const size_t equals = all[i].find('=');
    std::string name = flag_name(engine, all[i].substr(0, equals)), value = "true";
    if (equals != std::string::npos)
      value = all[i].substr(equals + 1);
    else if (i + 1 < all.size() && !is_flag(all[i + 1]) && all[i + 1] != "export")
      value = all[++i];
    if (engine == "vllm" && name.starts_with("no_enable_")) {
      name.erase(0, std::string_view("no_").size());
      value = "false";
    }
    if (std::find(std::begin(kWithoutEffect), std::end(kWithoutEffect), name) == std::end(kWithoutEffect))
      out[name] = value;
  }
  return out;
}

}  // namespace shardscape
