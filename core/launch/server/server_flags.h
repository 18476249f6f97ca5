// Flags of the programs that start a serving engine: vLLM, SGLang and TensorRT-LLM.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serving/requests/engine_settings.h"

namespace shardscape {

// One name for what several engines or versions spell differently:
//   model                    a folder, or the id of a model at Hugging Face
//   tp, pp, dp, ep           degrees
//   expert_parallel          vLLM: experts over all GPUs ("true")
//   dp_attention             SGLang, TensorRT-LLM: replicas of attention share the tp GPUs ("true")
//   kv_cache_dtype           "auto", "fp8", "fp8_e4m3"
//   context_len              SGLang's --context-length
// Other flags have their own name with underscores; settings of a service have the id of their row
// (serving/service/service_spec.h).
std::string server_setting_name(EngineKind engine, std::string_view flag);
// How the engine spells the setting: "--tensor-parallel-size"; TensorRT-LLM: the key of its options.
std::string server_flag(EngineKind engine, const std::string& name);

struct ServerFlag {
  std::string name;     // common
  std::string value;    // words up to the next flag, joined by spaces; a switch has "true"
  std::string written;  // "-tp"
};
// vLLM's --no-x is x with the value "false". Words before the first flag are left out.
std::vector<ServerFlag> server_flags(EngineKind engine, std::span<const std::string> words);
// Whether a word is a flag; "-1" is a value.
bool is_server_flag(std::string_view word);

}  // namespace shardscape
