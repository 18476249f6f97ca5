// Presets of Primus: values of primus/configs that differ from Megatron-LM. Facts and their source:
// resources/launch/primus_presets.json.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace shardscape {

using PrimusValues = std::map<std::string, std::string>;  // "num_layers" -> "80"; "null": not set

struct PrimusPresets {
  PrimusValues trainer;         // modules/megatron/pre_trainer.yaml and what it extends
  PrimusValues language_model;  // models/megatron/language_model.yaml
  std::map<std::string, PrimusValues> models;
};

// Empty without the file.
const PrimusPresets& primus_presets();

}  // namespace shardscape
