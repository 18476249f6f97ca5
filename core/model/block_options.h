// Options of blocks and architectures: a template with conditional lines becomes the template of one choice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "model/block.h"

namespace shardscape {

// A block or an architecture with the options that a call names: "attention; qk_norm, rope".
struct OptionCall {
  std::string id;
  std::vector<std::string> options;
};
OptionCall parse_option_call(std::string_view text);
// The same text for every order of the options: that of `known`. Without options: the id alone.
std::string option_call_text(const OptionCall& call, const BlockOptions& known);
// The option that the call names and the template lacks, as a Problem at the place; nullopt if there is none.
std::optional<Problem> unknown_option(const OptionCall& call, const BlockOptions& known,
                                      const SourcePlace& place);

// The problem of an input of a block with a condition on an option that the block lacks: "picked if shared".
std::optional<Problem> unknown_input_option(const std::string& input, const BlockOptions& known,
                                            const SourcePlace& place);

// The template with these options:
// - A line stays if all of its conditions hold, and so does a word of its spec: `[...; causal, window if
// slides]`.
// - The result of a line that goes stands for the line's first argument, unless another line makes the
// result.
// - An input stays if its conditions hold: "picked if shared_index". No line that goes makes it.
// - A parameter that no line reads goes.
// - An option in a call of another block stays if the outer template does not have an option of this name, or
//   if the option is chosen. The callee becomes the text of the call: "mlp; bias".
// The id of the result is `id`.
BlockTemplate with_options(const BlockTemplate& block, const std::vector<std::string>& chosen,
                           const std::string& id);
Architecture with_options(const Architecture& architecture, const std::vector<std::string>& chosen,
                          const std::string& id);
// A tower has no options of its own.
TowerTemplate without_options(const TowerTemplate& tower);

}  // namespace shardscape
