// How a checkpoint is quantized, as "quantization_config" of a config.json or "quantization" of a
// hf_quant_config.json says. Private to core's .cpp files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/huggingface/hf_reader.h"
#include "model/huggingface/module_patterns.h"
#include "model/model_spec.h"

namespace shardscape::hf {

struct QuantizationRules {
  std::string method;                          // "fp8", "modelopt NVFP4"; empty: no quantization
  WeightFormat linear = WeightFormat::Plain;   // of linear layers that no other rule names
  WeightFormat experts = WeightFormat::Plain;  // of routed experts, where it differs
  ModulePatterns plain;                        // modules in the data type
  std::map<std::string, WeightFormat> named;   // modules with a format of their own
  std::vector<std::pair<ModulePatterns, WeightFormat>> listed;  // patterns with a format of their own
  // Experts that "named" and the names of "plain" list, by the module of the first expert of a layer.
  std::map<std::string, int64_t> listed_experts;
  std::vector<std::string> notes;     // what the rules leave open, in plain words
  std::vector<std::string> problems;  // texts that cannot be read
  bool fp8_cache = false;             // keys and values are cached in FP8
};
// expert_dtype: of the root of a config.json, or empty.
QuantizationRules read_quantization(const nlohmann::ordered_json& object, const std::string& expert_dtype);

// The module of a role inside a layer of a checkpoint of this model type: "mlp.experts.0.up_proj". Embedding
// and head have a module of the model. Empty: the checkpoint has no such module.
std::string module_name(const std::string& model_type, WeightRole role);
// The format of a matrix. layer: -1 for embedding and head.
WeightFormat format_of(const QuantizationRules& rules, const std::string& model_type, WeightRole role,
                       int64_t layer);

// Gives the model the formats: those of most layers to the model, others to variants of layers, which a
// layer pattern then places. Returns what it did, in words; nothing if the layers need more than
// kMostVariants variants.
std::optional<std::string> store_formats(const QuantizationRules& rules, const std::string& model_type,
                                         ModelSpec& model);

// Reads the object under a key of the reader's object, gives the model its formats, and lists the key and
// what it means. Without problems before, the model is complete.
void import_quantization(HfReader& in, const char* key, const std::string& expert_dtype,
                         ImportResult& result);

}  // namespace shardscape::hf
