// What an inference engine adds to the kernels of a step, by engine and version: work of the host, and the
// sizes to which recorded graphs pad a step. resources/engines/engines.json has the values and their sources.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"

namespace shardscape {

struct EngineProfile {
  std::string engine, version;  // "vllm", "0.19.0"
  // Seconds of the host that the accelerator waits for in every step, and for every sequence of a step:
  // scheduling, input preparation, sampling.
  double step_seconds = 0, sequence_seconds = 0;
  // Steps without chunks of prompts replay a graph that was recorded for the next larger of these numbers of
  // tokens; larger steps are not padded. Ascending.
  std::vector<int64_t> captured;
  int64_t padded(int64_t tokens) const;
};

// The sizes that vLLM records up to `most` tokens: 1, 2, 4, multiples of 8 below 256, multiples of 16 from
// there on (vllm/config, _set_cudagraph_sizes).
std::vector<int64_t> vllm_captured_sizes(int64_t most);

}  // namespace shardscape
