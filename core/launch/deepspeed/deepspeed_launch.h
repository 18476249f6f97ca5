// A DeepSpeed JSON alone. The model and the command line are elsewhere: the request names the model, and
// "auto" stands for the defaults of transformers' TrainingArguments.
#pragma once

#include <string_view>

#include "launch/launch_import.h"

namespace shardscape {

bool is_deepspeed_json(std::string_view text);
void read_deepspeed_json(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
