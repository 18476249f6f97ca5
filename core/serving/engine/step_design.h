// The designs that stand for steps of one engine: one microbatch of prompts, or of generated tokens, on every
// replica.
#pragma once

#include <cstdint>

#include "design/design.h"

namespace shardscape {

// Ranks split prompts of a multiple of so many tokens evenly: with sequence parallelism, with context
// parallelism, and where each tp rank sends its part of the tokens to experts.
int64_t prompt_unit(const Design& engine);
// Context parallelism of decode (cp, dcp) splits contexts of a multiple of so many tokens evenly.
int64_t context_unit(const Design& engine);

// Decode: `sequences` of `context` tokens each, the new token included; the number of sequences is rounded up
// to one that the layout can split. `context` counts what attention sees.
Design decode_design(const Design& engine, int64_t sequences, int64_t context);
// `prompts` of `tokens` each, after `cached` tokens of each. cached: a multiple of context_unit; 0 where
// no_cached_tokens() says why (core/design/design.h).
Design prompt_design(const Design& engine, int64_t prompts, int64_t tokens, int64_t cached = 0);

}  // namespace shardscape
