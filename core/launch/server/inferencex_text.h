// Scripts of InferenceX (benchmarks/multi_node of SemiAnalysisAI/InferenceX) for disaggregated serving:
// variables of the environment state the workers.
#pragma once

#include <optional>
#include <string_view>

#include "launch/server/server_text.h"

namespace shardscape {

bool is_inferencex_script(std::string_view text);
// The decode workers, with the numbers of workers as fleet. nullopt: out has a problem.
std::optional<ServerText> read_inferencex_script(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
