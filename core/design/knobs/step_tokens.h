// The global batch in tokens: people say "4M tokens per step", and a design has a number of sequences.
#pragma once

#include <optional>
#include <string_view>

#include "design/knobs/knobs.h"

namespace shardscape {

// Tokens of a step: of all sequences in training and prefill, one per sequence in decode. The design need not
// be valid.
int64_t step_tokens(const Design& design);

// The tokens that a text states: "4M tokens", "4,194,304 tok". k stands for 1,024 and M for 1,048,576, as
// lengths of sequences are written. nullopt for other texts.
std::optional<int64_t> parse_step_tokens(std::string_view text);

// The sequences of a step with about this many tokens: rounded, at least 1.
int64_t sequences_of_tokens(const Design& design, int64_t tokens);

// A note if the text sets the global batch in tokens that are no whole number of sequences.
std::optional<Problem> rounding_note(const Design& design, const Knob& knob, std::string_view text);

}  // namespace shardscape
