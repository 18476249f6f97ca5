// Formats of a checkpoint become formats of a model and of variants of its layers.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/huggingface/quantization.h"
#include "model/layer_variant.h"
#include "model/library.h"

namespace shardscape::hf {
namespace {

using Roles = std::set<WeightRole>;

void add_roles(const ModelLibrary& library, const std::vector<OpLine>& lines, Roles& to, int depth = 0) {
  for (const OpLine& line : lines) {
    const BlockTemplate* block = library.block(line.callee);
    if (!block || depth > 8) continue;
    for (const BlockParam& param : block->params)
      if (param.role) to.insert(*param.role);
    add_roles(library, block->ops, to, depth + 1);
  }
}

class Storing {
 public:
  Storing(const QuantizationRules& rules, const std::string& model_type, ModelSpec& model,
          const Architecture& architecture)
      : rules_(rules),
        type_(model_type),
        model_(model),
        architecture_(architecture),
        layers_(layers_of(model, architecture)) {
    for (const LayerVariant& kind : layers_.kinds)
      for (const SectionTemplate& section : architecture.kinds)
        if (section.name == kind.kind)
          add_roles(ModelLibrary::instance(), section.lines, roles_.emplace_back());
  }

  void run() {
    for (int64_t layer = 0; layer < model_.layers; ++layer)
      for (const WeightRole role : roles_of(layer)) ++votes_[role][format_of(rules_, type_, role, layer)];
    for (const auto& [role, formats] : votes_)
      usual_[role] = std::max_element(formats.begin(), formats.end(), [](const auto& a, const auto& b) {
                       return a.second < b.second;
                     })->first;
    for (const WeightRole role : {WeightRole::Embed, WeightRole::Head})
      usual_[role] = format_of(rules_, type_, role, -1);
    model_.weight_formats = without_plain(with_groups(usual_));
    place_variants();
  }

  // Layers have more formats than a model has variants.
  bool too_many() const { return too_many_; }

 private:
  int kind_of(int64_t layer) const {
    return layers_.lead >= 0 && layer < model_.dense_layers ? layers_.lead
                                                            : layers_.pattern.at(layer, model_.layers);
  }
  const Roles& roles_of(int64_t layer) const { return roles_.at(static_cast<size_t>(kind_of(layer))); }

  // Where all roles of a group that the model has agree, the whole group has the format.
  static WeightFormats with_groups(WeightFormats formats) {
    for (const WeightGroup& group : weight_groups()) {
      std::set<WeightFormat> used;
      for (const WeightRole role : group.roles)
        if (const auto it = formats.find(role); it != formats.end()) used.insert(it->second);
      for (const WeightRole role : group.roles)
        if (used.size() == 1) formats[role] = *used.begin();
    }
    return formats;
  }

  std::string new_name(const std::string& kind) const {
    for (int i = 1;; ++i) {
      const std::string name = kind + "_w" + std::to_string(i);
      const bool taken = has_kind(architecture_, name) ||
                         std::any_of(model_.variants.begin(), model_.variants.end(),
                                     [&](const LayerVariant& v) { return v.name == name; });
      if (!taken) return name;
    }
  }

  // The name of the kind of a layer: a new variant if its formats differ from the usual ones.
  std::string name_of(int64_t layer) {
    const LayerVariant& kind = layers_.kinds[static_cast<size_t>(kind_of(layer))];
    WeightFormats own;
    for (const WeightRole role : roles_of(layer))
      if (const WeightFormat format = format_of(rules_, type_, role, layer); format != usual_.at(role))
        own[role] = format;
    if (own.empty()) return kind.name;
    if (model_.variants.size() >= kMostVariants && !variants_.contains({kind.name, own})) {
      too_many_ = true;
      return kind.name;
    }
    std::string& name = variants_[{kind.name, own}];
    if (!name.empty()) return name;
    name = new_name(kind.name);
    LayerVariant variant = kind;
    variant.name = name;
    for (const auto& [role, format] : own) variant.formats[role] = format;
    model_.variants.push_back(std::move(variant));
    return name;
  }

  void place_variants() {
    std::vector<std::pair<std::string, int64_t>> runs;  // kinds of consecutive layers
    for (int64_t layer = 0; layer < model_.layers; ++layer) {
      std::string name = name_of(layer);
      if (runs.empty() || runs.back().first != name) runs.emplace_back(std::move(name), 0);
      ++runs.back().second;
    }
    if (variants_.empty()) return;
    model_.layer_pattern.clear();
    for (const auto& [name, count] : runs)
      model_.layer_pattern += (model_.layer_pattern.empty() ? "" : ", ") + name +
                              (count > 1 ? "*" + std::to_string(count) : "");
  }

  const QuantizationRules& rules_;
  const std::string& type_;
  ModelSpec& model_;
  const Architecture& architecture_;
  const ModelLayers layers_;  // before variants are added
  std::vector<Roles> roles_;  // by kind
  std::map<WeightRole, std::map<WeightFormat, int64_t>> votes_;
  WeightFormats usual_;
  bool too_many_ = false;
  std::map<std::pair<std::string, WeightFormats>, std::string> variants_;  // by kind and formats of its own
};

}  // namespace

std::optional<std::string> store_formats(const QuantizationRules& rules, const std::string& model_type,
                                         ModelSpec& model) {
  const Architecture* architecture = ModelLibrary::instance().architecture(model.architecture);
  if (!architecture) return "";
  const size_t before = model.variants.size();
  Storing storing(rules, model_type, model, *architecture);
  storing.run();
  if (storing.too_many()) return std::nullopt;
  std::string out = model.weight_formats.empty() ? "all weights in the data type"
                                                 : "weights: " + weight_formats_text(model.weight_formats);
  for (size_t i = before; i < model.variants.size(); ++i)
    out += "; variant " + layer_variants_text({model.variants[i]});
  if (rules.plain.size() > 0)
    out += "; " + std::to_string(rules.plain.size()) +
           (rules.plain.size() == 1 ? " name keeps" : " names keep") + " modules in the data type";
  for (const auto& [module, count] : rules.listed_experts)
    if (model.experts > 0 && count != model.experts) {
      out += "; the file names " + std::to_string(count) + " of " + std::to_string(model.experts) +
             " experts of " + module + "; all experts get this format";
      break;
    }
  return out;
}

void import_quantization(HfReader& in, const char* key, const std::string& expert_dtype,
                         ImportResult& result) {
  const nlohmann::ordered_json* object = in.value(key);
  if (!object || !object->is_object()) return;
  const QuantizationRules rules = read_quantization(*object, expert_dtype);
  for (const std::string& what : rules.problems)
    in.problem(ProblemCode::HfQuantizationUnreadable, key, what,
               "names of modules, globs such as *.mlp.gate, or regular expressions after re:");
  if (!rules.problems.empty() || !result.ok()) return;
  const std::optional<std::string> stored = store_formats(rules, result.model_type, result.model);
  if (!stored) {
    in.problem(ProblemCode::HfQuantizationUnreadable, key,
               "the layers have more than " + std::to_string(kMostVariants) + " sets of formats",
               "a model in which at most " + std::to_string(kMostVariants) +
                   " sets of formats differ from that of most layers");
    return;
  }
  std::string becomes = *stored;
  for (const std::string& note : rules.notes) becomes += "; " + note;
  if (rules.fp8_cache) becomes += "; keys and values are cached in FP8: set the KV cache type to fp8";
  if (rules.linear == WeightFormat::Plain && result.model.weight_formats.empty()) {
    in.assume(key, rules.method, becomes);
  } else {
    in.recognise(key, becomes);
    result.recognised.back().value = rules.method;
  }
}

}  // namespace shardscape::hf
