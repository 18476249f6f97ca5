// Which formats of weights does the name of a checkpoint stand for?
#pragma once

#include <optional>
#include <string>

namespace shardscape {

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
