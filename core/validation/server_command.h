// The start command of a serving engine, as pages of measurements print it.
#pragma once

#include <map>
#include <string>

namespace shardscape {

// Settings of a command, under common names:
//   tp, pp, dp, ep           degrees
//   expert_parallel          vLLM: experts over all GPUs ("true")
//   dp_attention             SGLang: dp replicas of attention share the tp GPUs ("true")
//   kv_cache_dtype           "auto", "fp8", "fp8_e4m3"
// Other flags have their own name with underscores, and context_len for SGLang's --context-length. A flag
// without a value is "true"; vLLM's --no-X sets X to "false". A variable of the environment is a setting,
// too. Left out are flags that do not change the time of a request: addresses, parsers, templates, the model.
using ServerSettings = std::map<std::string, std::string>;

// engine: "vllm", "sglang" or "trtllm". The text may have several lines and comments (#). Words before the
// first flag are the program.
ServerSettings server_settings(const std::string& engine, const std::string& command);

}  // namespace shardscape
