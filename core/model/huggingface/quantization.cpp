#include "model/huggingface/quantization.h"

#include <algorithm>
#include <array>

namespace shardscape::hf {
namespace {

using json = nlohmann::ordered_json;

const json* member(const json& object, const char* key) {
  const auto it = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && it != object.end() && !it->is_null() ? &*it : nullptr;
}
std::string text(const json& object, const char* key) {
  const json* found = member(object, key);
  return found && found->is_string() ? found->get<std::string>() : "";
}
int64_t number(const json& object, const char* key) {
  const json* found = member(object, key);
  return found && found->is_number_integer() ? found->get<int64_t>() : 0;
}

std::string upper(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::toupper(c); });
  return word;
}

// The names of quantization algorithms of NVIDIA Model Optimizer.
std::optional<WeightFormat> of_algorithm(const std::string& name) {
  static const std::map<std::string, WeightFormat> known{{"FP8", WeightFormat::FP8},
                                                         {"FP8_PER_CHANNEL_PER_TOKEN", WeightFormat::FP8},
                                                         {"FP8_PB_WO", WeightFormat::FP8Block},
                                                         {"MXFP8", WeightFormat::MXFP8},
                                                         {"MXFP4", WeightFormat::MXFP4},
                                                         {"W4A8_MXFP4_FP8", WeightFormat::MXFP4A8},
                                                         {"NVFP4", WeightFormat::NVFP4},
                                                         {"W4A16_NVFP4", WeightFormat::NVFP4A16},
                                                         {"W4A16_AWQ", WeightFormat::Int4G128}};
  const auto it = known.find(upper(name));
  return it == known.end() ? std::nullopt : std::optional(it->second);
}

class Reader {
 public:
  explicit Reader(const json& object) : object_(object) {}

  QuantizationRules read(const std::string& expert_dtype) {
    const std::string method = text(object_, "quant_method"), algorithm = upper(text(object_, "quant_algo"));
    rules_.method = method + (method.empty() || algorithm.empty() ? "" : " ") + algorithm;
    for (const char* key : {"modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules"})
      exclude(key);
    cache();
    if (method == "fp8") {
      rules_.linear = fp8();
      const bool fp4 = expert_dtype == "fp4";
      if (fp4) rules_.experts = WeightFormat::MXFP4A8;
    } else if (method == "mxfp4") {
      rules_.linear = WeightFormat::MXFP4;
    } else if (method == "compressed-tensors") {
      groups();
    }
    if (!algorithm.empty()) algorithms(algorithm, method == "fp8");
    const bool found = rules_.linear != WeightFormat::Plain || !rules_.named.empty() ||
                       !rules_.listed.empty();
    if (!found && rules_.problems.empty())
      rules_.notes.push_back("the format of " + (rules_.method.empty() ? "this file" : rules_.method) +
                             " is not known: weights in the data type");
    return std::move(rules_);
  }

 private:
  // Model Optimizer: one algorithm for all linear layers, or one for each module.
  void algorithms(const std::string& algorithm, bool fp8_otherwise) {
    if (algorithm != "MIXED_PRECISION") {
      if (const auto format = of_algorithm(algorithm)) rules_.linear = *format;
      return;
    }
    if (!fp8_otherwise) rules_.linear = WeightFormat::Plain;
    // The exclusions concern the listed algorithms; the other layers keep the first format.
    if (fp8_otherwise) rules_.plain = {};
    if (const json* layers = member(object_, "quantized_layers"))
      for (const auto& [name, entry] : layers->items()) layer(name, text(entry, "quant_algo"));
    if (rules_.named.empty()) groups();
  }

  void layer(const std::string& name, const std::string& algorithm) {
    const auto format = of_algorithm(algorithm);
    if (!format)
      return note("the algorithm \"" + algorithm + "\" is not known: these weights in the data type");
    const std::string first = count_expert(std::string(in_language_model(name)));
    const auto [it, added] = rules_.named.emplace(first, *format);
    if (!added && it->second != *format)
      note("the experts of a layer differ; the format of the first expert applies to all");
  }

  // Experts of one layer share an entry.
  std::string count_expert(std::string name) {
    constexpr std::string_view kExperts = "experts.";
    const size_t at = name.find(kExperts);
    if (at == std::string::npos) return name;
    const size_t begin = at + kExperts.size();
    const size_t end = std::min(name.find_first_not_of("0123456789", begin), name.size());
    if (end == begin) return name;
    name.replace(begin, end - begin, "0");
    ++rules_.listed_experts[name];
    return name;
  }

  void exclude(const char* key) {
    const json* list = member(object_, key);
    if (!list) return;
    for (const json& entry : list->is_array() ? *list : json::array()) {
      if (!entry.is_string()) continue;
      std::string name = entry.get<std::string>();
      if (name.find_first_of("*?:") == std::string::npos) name = count_expert(std::move(name));
      if (const std::string wrong = rules_.plain.add(name); !wrong.empty())
        problem("\"" + name + "\" in \"" + key + "\" " + wrong);
    }
  }

  WeightFormat fp8() {
    const json* block = member(object_, "weight_block_size");
    if (!block) return WeightFormat::FP8;
    if (*block != json::array({128, 128}))
      note("blocks of " + block->dump() + " have no format, so they count as blocks of 128 x 128");
    return text(object_, "scale_fmt") == "ue8m0" ? WeightFormat::FP8BlockE8M0 : WeightFormat::FP8Block;
  }

  // Groups of compressed-tensors: a scheme and the modules that it holds for.
  void groups() {
    const json* groups = member(object_, "config_groups");
    if (!groups || !groups->is_object()) return;
    constexpr size_t kMostGroups = 64;
    if (groups->size() > kMostGroups)
      return problem("\"config_groups\" has more than " + std::to_string(kMostGroups) + " groups");
    for (const auto& [name, group] : groups->items()) {
      const std::optional<WeightFormat> format = scheme(group);
      if (!format) {
        note("the scheme of \"" + name + "\" is not known: these weights in the data type");
        continue;
      }
      const json* targets = member(group, "targets");
      ModulePatterns patterns;
      for (const json& target : targets && targets->is_array() ? *targets : json::array()) {
        if (!target.is_string()) continue;
        if (target == "Linear")
          rules_.linear = *format;
        else if (const std::string wrong = patterns.add(target.get<std::string>()); !wrong.empty())
          problem("the target " + target.dump() + " " + wrong);
      }
      if (patterns.size() > 0) rules_.listed.emplace_back(std::move(patterns), *format);
    }
  }

  static std::optional<WeightFormat> scheme(const json& group) {
    const json* weights = member(group, "weights");
    if (!weights) return std::nullopt;
    const int64_t bits = number(*weights, "num_bits"), size = number(*weights, "group_size");
    const bool quantizes_inputs = member(group, "input_activations") != nullptr;
    const std::string type = text(*weights, "type");
    if (type == "int" && bits == 4) {
      if (size == 32) return WeightFormat::Int4G32;
      if (size == 128) return WeightFormat::Int4G128;
      return std::nullopt;
    }
    if (type != "float") return std::nullopt;
    if (bits == 8 && text(*weights, "strategy") == "block") return WeightFormat::FP8Block;
    if (bits == 8 && size == 32) return WeightFormat::MXFP8;
    if (bits == 8) return quantizes_inputs ? WeightFormat::FP8 : WeightFormat::FP8A16;
    if (bits == 4 && size == 32) return quantizes_inputs ? WeightFormat::MXFP4A8 : WeightFormat::MXFP4;
    if (bits == 4 && size == 16) return quantizes_inputs ? WeightFormat::NVFP4 : WeightFormat::NVFP4A16;
    return std::nullopt;
  }

  void cache() {
    const json* scheme = member(object_, "kv_cache_scheme");
    rules_.fp8_cache = upper(text(object_, "kv_cache_quant_algo")) == "FP8" ||
                       (scheme && number(*scheme, "num_bits") == 8);
  }

  // A person reads the first ones.
  static constexpr size_t kMostTexts = 20;
  void problem(const std::string& words) {
    if (rules_.problems.size() < kMostTexts) rules_.problems.push_back(words);
  }
  void note(const std::string& words) {
    if (rules_.notes.size() >= kMostTexts) return;
    if (std::find(rules_.notes.begin(), rules_.notes.end(), words) == rules_.notes.end())
      rules_.notes.push_back(words);
  }

  const json& object_;
  QuantizationRules rules_;
};

}  // namespace

QuantizationRules read_quantization(const json& object, const std::string& expert_dtype) {
  return Reader(object).read(expert_dtype);
}

WeightFormat format_of(const QuantizationRules& rules, const std::string& model_type, WeightRole role,
                       int64_t layer) {
  const std::string in_layer = module_name(model_type, role);
  if (in_layer.empty()) return WeightFormat::Plain;
  const std::string module = layer < 0 ? in_layer : "layers." + std::to_string(layer) + "." + in_layer;
  if (rules.plain.fits(module)) return WeightFormat::Plain;
  for (size_t end = module.size(); end != std::string::npos && end > 0; end = module.rfind('.', end - 1))
    if (const auto it = rules.named.find(module.substr(0, end)); it != rules.named.end()) return it->second;
  for (const auto& [patterns, format] : rules.listed)
    if (patterns.fits(module)) return format;
  if (!is_linear_role(role)) return WeightFormat::Plain;
  const bool expert = role == WeightRole::ExpertGate || role == WeightRole::ExpertUp ||
                      role == WeightRole::ExpertDown;
  return expert && rules.experts != WeightFormat::Plain ? rules.experts : rules.linear;
}

}  // namespace shardscape::hf
