// What an inference engine adds to the kernels of a step, by engine and architecture family: work of the
// host, and the sizes to which recorded graphs pad a step. resources/engines/engines.json, and the file of
// the same name in the user's data folder, have the values and their sources. Format:
//   {"note": text,
//    "engines": [
//      {"engine": "vllm", "family": "hopper",  of the accelerator (resources/catalogue/accelerators.json)
//       "version": text,                       of the measured engines
//       "step_ms", "sequence_us", "launch_us", "request_ms", "prompt_us": numbers; default 0
//       "sync_sequence_us": number; default sequence_us
//       "source": text}],
//    "kv_connectors": [                         may be missing
//      {"connector": "nixl", "version": text,
//       "transfer_us", "descriptor_us": numbers; default 0
//       "source": text}]}
// A later entry replaces an earlier one of the same engine and family, or of the same connector.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "serving/engine/draft.h"

namespace shardscape {

struct EngineProfile {
  std::string engine, family, version;  // "vllm", "hopper", "0.12 to 0.18"
  std::string source;                   // of the seconds
  // Seconds of the host that the accelerator waits for in every step, and for every sequence of a step:
  // scheduling, input preparation, sampling.
  double step_seconds = 0, sequence_seconds = 0;
  // Likewise for every sequence, if the engine schedules a step after the previous one has ended. Else a part
  // of this work overlaps with the kernels of the previous step.
  double sync_sequence_seconds = 0;
  // Seconds of the host to launch one kernel of a step with prompts. Such a step replays no recorded graph,
  // or only pieces of one, and takes at least as long as the host needs to launch its kernels.
  double launch_seconds = 0;
  // Seconds of a request outside of steps: client, server, tokenizer. They are part of a measured time to
  // first token.
  double request_seconds = 0;
  double prompt_seconds = 0;  // likewise, for every token of the prompt: text is sent and becomes tokens
  // Steps without chunks of prompts replay a graph that was recorded for the next larger of these numbers of
  // tokens; larger steps are not padded. Ascending.
  std::vector<int64_t> captured;
  // Speculative decoding: tokens that a draft proposes for each sequence of a step, and what computes them,
  // one pass for each token.
  int64_t draft_tokens = 0;
  Draft draft;
  int64_t padded(int64_t tokens) const;
};

// What a connector adds to the network when it sends a KV cache from a prefill to a decode replica.
struct KvConnector {
  std::string connector, version;  // "nixl"
  std::string source;              // of the seconds
  double transfer_seconds = 0;     // of every transfer
  // Of every descriptor. A rank posts one for each block of each layer, one after another, before it waits
  // for the bytes (NIXL's telemetry: xferDuration is postDuration and the rest of the transfer).
  double descriptor_seconds = 0;
};

// The entries of a file.
struct EngineEntries {
  std::vector<EngineProfile> engines;
  std::vector<KvConnector> connectors;
};

// The profile of an engine on an accelerator of this family. Seconds are 0 where the files have no entry.
EngineProfile engine_profile(std::string_view engine, std::string_view family);
// The connector of this name. Seconds are 0 where the files have no entry.
KvConnector kv_connector(std::string_view connector);
// Entries of one text. name: the name of the file in messages. Entries with a mistake are left out.
EngineEntries read_engine_entries(const std::string& text, const std::string& name,
                                  std::vector<Problem>& problems);
const std::vector<EngineProfile>& engine_profiles();
// Mistakes in the files.
const std::vector<Problem>& engine_profile_problems();

// The sizes that vLLM records up to `most` tokens: 1, 2, 4, multiples of 8 below 256, multiples of 16 from
// there on (vllm/config, _set_cudagraph_sizes). With speculative decoding they are rounded up to multiples of
// the tokens of a sequence (adjust_cudagraph_sizes_for_spec_decode).
std::vector<int64_t> vllm_captured_sizes(int64_t most, int64_t sequence_tokens = 1);

}  // namespace shardscape
