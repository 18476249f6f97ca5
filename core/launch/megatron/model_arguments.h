// Models that a launch names without sizes: presets of the library, as arguments of Megatron-LM.
#pragma once

#include <cstdint>
#include <string>

#include "launch/megatron/megatron_settings.h"

namespace shardscape {

// Derives the arguments of sizes that the settings do not set. named: the name in the file; the request's
// model replaces it. False: a Problem says that the model is not known.
bool use_model_arguments(const LaunchRequest& request, MegatronSettings& settings, const std::string& named,
                         LaunchImport& out);

// Entries of a tokenizer by its name or path; 0: not known.
int64_t tokenizer_entries(const std::string& name);

}  // namespace shardscape
