// How a serving engine divides its GPUs.
#pragma once

#include <cstdint>
#include <string>

#include "launch/launch_fields.h"
#include "launch/launch_parts.h"
#include "serving/requests/engine_settings.h"

namespace shardscape {

// Degrees in the words of a design: tp is that of attention.
struct ServerLayout {
  int64_t tp = 1, pp = 1, dp = 1, cp = 1, dcp = 1;
  int64_t ep = 1, etp = 1;      // of experts; without effect if the model has none
  std::string dispatcher;       // choice of the knob
  std::string expert_argument;  // the setting that decides on ep and etp
  std::string problem;          // why the degrees are impossible; empty: they are not
  int64_t ranks() const { return capped_product({tp, pp, dp, cp}); }
};

// arguments: by common name (server_flags.h); those that are no whole number count as 1.
//
// vLLM (vllm/config/parallel.py): ranks = tp pp dp. Experts are split over tp dp, whole with
// --enable-expert-parallel. SGLang (python/sglang/srt/server_args.py): tp counts all ranks of a stage; with
// --enable-dp-attention, attention has tp / dp, and experts ep times tp / ep. DeepEP and its relatives set ep
// = tp (_handle_a2a_moe); dp alone is replicas. TensorRT-LLM (tensorrt_llm/llmapi/llm_args.py): with
// enable_attention_dp, attention has dp = tp.
ServerLayout server_layout(EngineKind engine, const LaunchArguments& arguments);

}  // namespace shardscape
