// Which preset and which formats of weights does the name of a checkpoint stand for?
#pragma once

#include <optional>
#include <string>

namespace shardscape {

std::string plain_name(const std::string& name);  // letters and digits in lower case

// The preset whose id equals the name except for case and punctuation ("Qwen3_30B_a3B"); empty if there is
// none.
std::string preset_named(const std::string& name);

// The preset of a checkpoint's name, with or without owner: "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8". Empty:
// there is none.
std::string serving_preset(const std::string& name);
// The same for what a launch names: also folders, and endings and versions that no measured row has.
std::string checkpoint_preset(const std::string& name);

// The precision that the name states, or that the publisher's only checkpoint has: "fp8", "fp8_block", "fp4",
// "int4", "bf16". Empty: as the preset.
std::string served_precision(const std::string& name);

struct ServedFormats {
  std::string text;        // of the setting weight_formats
  bool fp8_cache = false;  // NVIDIA's dense checkpoints state an FP8 cache
};
// The formats of published checkpoints (config.json and hf_quant_config.json). precision: as above, "nvfp4"
// or "mxfp4". experts: whether the model has some. nullopt: no checkpoint is known.
std::optional<ServedFormats> served_formats(const std::string& preset, bool experts,
                                            const std::string& precision);

}  // namespace shardscape
