#include "design/layer_edits.h"

#include <algorithm>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "model/layer_variant.h"
#include "model/made_kinds.h"
#include "model/model_sizes.h"

namespace shardscape {
namespace {

// The kinds of layers that the model has, those without layers included.
std::vector<LayerVariant> kinds_of(const ModelSpec& model, const ModelLibrary& library) {
  const Architecture* architecture = library.architecture(model.architecture);
  if (!architecture) return {};
  std::vector<LayerVariant> out = layers_of(model, *architecture).kinds;
  for (const SectionTemplate& kind : architecture->kinds)
    if (std::none_of(out.begin(), out.end(), [&](const LayerVariant& k) { return k.name == kind.name; }))
      out.push_back({kind.name, kind.name, {}, {}});
  return out;
}

// The kind of the architecture that layers of this name are.
std::string kind_of(const ModelSpec& model, const std::string& name, const ModelLibrary& library) {
  for (const LayerVariant& kind : kinds_of(model, library))
    if (kind.name == name) return kind.kind;
  return name;
}

LayerVariant* variant_of(ModelSpec& model, const std::string& name) {
  for (LayerVariant& variant : model.variants)
    if (variant.name == name) return &variant;
  return nullptr;
}

// The made kind of layers `name`. Layers that are a variant of another kind become a made kind of their own.
MadeKind& made_kind(ArchitectureCall& call, ModelSpec& model, const std::string& name,
                    const ModelLibrary& library) {
  const std::string kind = kind_of(model, name, library);
  for (MadeKind& made : call.kinds)
    if (made.name == name && kind == name) return made;
  MadeKind made{name, kind, "", ""};
  for (const MadeKind& other : call.kinds)
    if (other.name == kind) {
      made = other;
      made.name = name;
    }
  if (LayerVariant* variant = variant_of(model, name)) variant->kind = name;
  call.kinds.push_back(made);
  return call.kinds.back();
}

// The call of the part in layers of a kind of the architecture.
std::string part_call(const Architecture& architecture, const std::string& kind, BlockUse use,
                      const ModelLibrary& library) {
  for (const SectionTemplate& section : architecture.kinds)
    if (section.name == kind) {
      const Sublayers parts = parts_of(section, library);
      return use == BlockUse::Mixer ? parts.mixer.call : parts.feed_forward.call;
    }
  return "";
}

std::string runs_text(const std::vector<int>& layers, const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < layers.size();) {
    size_t end = i;
    while (end < layers.size() && layers[end] == layers[i]) ++end;
    out += (out.empty() ? "" : ", ") + names[static_cast<size_t>(layers[i])];
    if (end - i > 1) out += "*" + std::to_string(end - i);
    i = end;
  }
  return out;
}

std::vector<Problem> errors_of(const ModelSpec& model) {
  Design design;
  apply_model(design, model, "");
  std::vector<Problem> out = validate(design);
  std::erase_if(out, [](const Problem& problem) { return problem.severity != Severity::Error; });
  return out;
}

// Sizes that are 0 although the architecture needs them.
std::vector<const ModelSize*> missing_sizes(const ModelSpec& model, const Architecture& architecture) {
  const std::vector<Problem> errors = errors_of(model);
  std::vector<const ModelSize*> out;
  for (const ModelSize& size : kModelSizes) {
    const bool wrong = std::any_of(errors.begin(), errors.end(),
                                   [&](const Problem& problem) { return problem.where == size.id; });
    if (model.*size.member < 1 && size.part.axis && architecture.uses(*size.part.axis) &&
        (size.part.needed || wrong))
      out.push_back(&size);
  }
  return out;
}

// Applies fixes that change only sizes of the model: KV heads of latent attention.
void repair_sizes(ModelSpec& model) {
  constexpr int kTries = 4;
  for (int i = 0; i < kTries; ++i) {
    Design design;
    apply_model(design, model, "");
    bool changed = false;
    for (const Problem& problem : errors_of(model))
      if (find_model_size(problem.where) && !problem.fixes.empty() && !changed)
        for (const auto& [id, text] : problem.fixes.front().settings)
          if (const Knob* knob = find_knob(id); knob && find_model_size(id))
            changed = !set_knob(design, *knob, text) || changed;
    if (!changed) return;
    model = design.model;
  }
}

// Sizes of kinds of mixers that the architecture lacks become 0.
void drop_unused_sizes(ModelSpec& model, const Architecture& architecture) {
  for (const ModelSize& size : kModelSizes)
    if (size.part.axis && size.part.needed && size.min == 0 && !architecture.uses(*size.part.axis) &&
        size.section != ModelSection::Attention && size.section != ModelSection::Mlp)
      model.*size.member = 0;
}

}  // namespace

Result<ModelSpec> with_part(const ModelSpec& model, const std::string& name, BlockUse use,
                            const std::string& call, const ModelLibrary& library) {
  auto parsed = parse_architecture_call(model.architecture);
  if (auto* problem = std::get_if<Problem>(&parsed)) return *problem;
  ArchitectureCall& to = std::get<0>(parsed);
  ModelSpec out = model;
  MadeKind& made = made_kind(to, out, name, library);
  const Architecture* base = library.architecture(to.id);
  const bool usual = base && part_call(*base, made.from, use, library) == call;
  (use == BlockUse::Mixer ? made.mixer : made.feed_forward) = usual ? "" : call;
  std::erase_if(to.kinds, [](const MadeKind& kind) {
    return kind.name == kind.from && kind.mixer.empty() && kind.feed_forward.empty();
  });
  out.architecture = architecture_call_text(to);
  if (const auto problem = library.architecture_problem(out.architecture)) return *problem;
  if (const Architecture* architecture = library.architecture(out.architecture)) {
    drop_unused_sizes(out, *architecture);
    complete_sizes(out, *architecture, library);
    repair_sizes(out);
  }
  return out;
}

ModelSpec with_size(const ModelSpec& model, const std::string& name, int row, std::optional<int64_t> size) {
  ModelSpec out = model;
  LayerVariant* variant = variant_of(out, name);
  if (!variant) {
    if (!size) return out;
    out.variants.push_back({name, name, {}, {}});
    variant = &out.variants.back();
  }
  if (size)
    variant->sizes[row] = *size;
  else
    variant->sizes.erase(row);
  std::erase_if(out.variants, [](const LayerVariant& v) {
    return v.name == v.kind && v.sizes.empty() && v.formats.empty();
  });
  return out;
}

ModelSpec with_new_kind(const ModelSpec& model, const std::string& from, const std::string& pattern,
                        const ModelLibrary& library, std::string& made) {
  const std::vector<LayerVariant> kinds = kinds_of(model, library);
  const auto taken = [&](const std::string& name) {
    return std::any_of(kinds.begin(), kinds.end(), [&](const LayerVariant& k) { return k.name == name; });
  };
  int number = 2;
  while (taken(from + "_" + std::to_string(number))) ++number;
  made = from + "_" + std::to_string(number);
  ModelSpec out = model;
  LayerVariant variant{made, kind_of(model, from, library), {}, {}};
  if (const LayerVariant* known = variant_of(out, from))
    variant = {made, known->kind, known->sizes, known->formats};
  out.variants.push_back(variant);
  out.layer_pattern = pattern + ", " + made;
  return out;
}

std::vector<std::string> complete_sizes(ModelSpec& model, const Architecture& architecture,
                                        const ModelLibrary& library) {
  const std::vector<const ModelSize*> missing = missing_sizes(model, architecture);
  if (missing.empty()) return {};
  const auto lacks = [&](const Preset& preset) {
    return std::count_if(missing.begin(), missing.end(),
                         [&](const ModelSize* size) { return preset.model.*size->member < 1; });
  };
  const auto& presets = library.presets();
  const auto best = std::min_element(presets.begin(), presets.end(),
                                     [&](const Preset& a, const Preset& b) { return lacks(a) < lacks(b); });
  std::vector<std::string> out;
  if (best == presets.end()) return out;
  for (const ModelSize* size : missing) {
    model.*size->member = best->model.*size->member;
    out.emplace_back(size->id);
  }
  return out;
}

std::string pattern_of(const ModelSpec& model, const ModelLibrary& library) {
  const Architecture* architecture = library.architecture(model.architecture);
  if (!model.layer_pattern.empty() || !architecture) return model.layer_pattern;
  std::vector<std::string> names;
  for (const SectionTemplate& kind : architecture->kinds) names.push_back(kind.name);
  const auto dense = static_cast<size_t>(
      std::max<int64_t>(0, architecture->lead < 0 ? 0 : model.dense_layers));
  const std::vector<int> prefix(dense, architecture->lead);
  return pattern_text({runs_text(prefix, names), runs_text(architecture->pattern, names), ""});
}

Result<PatternParts> pattern_parts(const std::string& pattern) {
  auto read = parse_layer_pattern(pattern);
  if (auto* problem = std::get_if<Problem>(&read)) return *problem;
  const auto& [names, columns, layers] = std::get<0>(read);
  return PatternParts{runs_text(layers.prefix, names), runs_text(layers.repeat, names),
                      runs_text(layers.suffix, names)};
}

std::string pattern_text(const PatternParts& parts) {
  std::string out = parts.prefix;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
  if (!parts.repeat.empty())
    add(is_layer_name(parts.repeat) ? parts.repeat + "*" : "(" + parts.repeat + ")*");
  if (!parts.suffix.empty()) add(parts.suffix);
  return out;
}

}  // namespace shardscape
