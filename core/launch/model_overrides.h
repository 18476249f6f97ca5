// Sizes of a model that a launch replaces by keys of a config.json.
#pragma once

#include <string>

#include "launch/launch_fields.h"

namespace shardscape {

// Takes the arguments that start with `prefix`: the rest of the name is a key, "num_hidden_layers" or
// "text_config.num_hidden_layers". Keys that no size of a design stands for have no counterpart, except those
// that do not change a model.
void override_model(LaunchFields& fields, const std::string& prefix);

}  // namespace shardscape
