// The preset that a name in a launch file, a log or a measured set stands for.
#pragma once

#include <string>
#include <string_view>

#include "model/library.h"

namespace shardscape {

std::string plain_name(std::string_view name);  // letters and digits in lower case

// The id of the preset whose id or name, or another common name, has the same letters and digits
// ("Qwen3_30B_a3B"). Empty: there is none.
std::string preset_named(std::string_view name);

// The preset with the sizes of a model: a preset, a name of the Hugging Face hub or a folder of a checkpoint.
// Owners, tunings ("-Instruct"), formats of weights ("-FP8"), dates and versions with the same sizes do not
// count. Null: the library has no such model.
const Preset* preset_of_name(std::string_view name);
std::string preset_id_of_name(std::string_view name);  // empty: none

}  // namespace shardscape
