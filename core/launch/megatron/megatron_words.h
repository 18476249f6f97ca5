// A design as arguments of Megatron-LM's pretrain_gpt.py: what megatron_arguments.h reads, written.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "design/design.h"
#include "launch/launch_gaps.h"

namespace shardscape {

struct MegatronWord {
  std::string name;   // "--num-layers"
  std::string value;  // empty: a switch
};

struct MegatronWords {
  // In the order of the groups model, parallelism, batch, precision, memory, kernels.
  std::vector<std::pair<const char*, std::vector<MegatronWord>>> groups;  // heading, arguments
};

// Sizes and architecture alone. A Problem (LaunchSetting): no arguments describe the architecture.
std::variant<std::vector<MegatronWord>, Problem> megatron_model_words(const Design& design);

// Requires a valid design. A Problem: the design is no training step, or its architecture has no arguments.
// framework: its name in the message.
std::variant<MegatronWords, Problem> megatron_words(const Design& design, const std::string& framework);
// Why Megatron-LM, or a framework on top of Megatron-core, does not say a setting.
GapReasons megatron_gap_reasons(const Design& design, const std::string& framework);

int64_t launch_gpus(const Design& design);   // ranks of a training step
int64_t launch_gpus_per_node(int64_t gpus);  // the largest number up to 8 that divides them
// In double quotes, where a shell would read signs of the text.
std::string shell_quoted(const std::string& text);

}  // namespace shardscape
