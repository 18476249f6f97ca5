// Checks the layer pattern and the layer variants, and the sizes of each variant as if all layers had them.
#include <algorithm>

#include "base/number_text.h"
#include "base/units.h"
#include "design/knobs/knobs.h"
#include "design/layer_sizes.h"
#include "design/validate/checks.h"
#include "mesh/mesh_axes.h"
#include "mesh/pipeline_layout.h"
#include "model/library.h"
#include "model/model_sizes.h"

namespace shardscape {
namespace {

std::string in_quotes(const std::string& name) { return "\"" + name + "\""; }

bool has_variant(const ModelSpec& model, const std::string& name) {
  return std::any_of(model.variants.begin(), model.variants.end(),
                     [&](const LayerVariant& variant) { return variant.name == name; });
}

std::string names_of_kinds(const Architecture& architecture, const ModelSpec* with_variants) {
  std::vector<std::string> names;
  for (const SectionTemplate& kind : architecture.kinds) names.push_back(kind.name);
  if (with_variants)
    for (const LayerVariant& variant : with_variants->variants)
      if (!has_kind(architecture, variant.name)) names.push_back(variant.name);
  return "one of " + or_list(names);
}

// A pattern without a part that repeats has the layers of the model; any other pattern has no more.
void check_length(Checks& checks, const LayerPattern& pattern) {
  if (!checks.in_range({"layers"})) return;
  const int64_t layers = checks.design.model.layers, named = pattern.fewest_layers();
  if (pattern.fixed() ? layers == named : layers >= named) return;
  checks.error(ProblemCode::LayerPatternLength, "layers",
               "the layer pattern has " + std::string(pattern.fixed() ? "" : "at least ") + grouped(named) +
                   " layers, but the model has " + grouped(layers),
               (pattern.fixed() ? "" : "at least ") + grouped(named), {set_to("layers", named)});
}

void check_pattern(Checks& checks, const Architecture& architecture) {
  const ModelSpec& model = checks.design.model;
  if (model.layer_pattern.empty()) return;
  const auto read = parse_layer_pattern(model.layer_pattern);
  if (const auto* problem = std::get_if<Problem>(&read))
    return checks.error(problem->code, problem->where, problem->what, problem->accepted,
                        {set_to("layer_pattern", std::string())});
  const NamedPattern& pattern = std::get<NamedPattern>(read);
  for (size_t i = 0; i < pattern.names.size(); ++i)
    if (!has_kind(architecture, pattern.names[i]) && !has_variant(model, pattern.names[i]))
      checks.error(ProblemCode::UnknownLayerKind, "layer_pattern",
                   "column " + std::to_string(pattern.columns[i]) + ": the " + architecture.id +
                       " architecture has no kind of layer " + in_quotes(pattern.names[i]) +
                       ", and no variant has this name",
                   names_of_kinds(architecture, &model), {set_to("layer_pattern", std::string())});
  check_length(checks, pattern.layers);
}

void check_variants(Checks& checks, const Architecture& architecture) {
  const ModelSpec& model = checks.design.model;
  const std::vector<LayerVariant> used = layers_of(model, architecture).kinds;
  for (const LayerVariant& variant : model.variants) {
    if (!has_kind(architecture, variant.kind))
      checks.error(ProblemCode::UnknownLayerKind, "variants",
                   "variant " + in_quotes(variant.name) + ": the " + architecture.id +
                       " architecture has no kind of layer " + in_quotes(variant.kind),
                   names_of_kinds(architecture, nullptr), {set_to("variants", std::string())});
    else if (std::find(used.begin(), used.end(), variant) == used.end())
      checks.note(ProblemCode::UnusedLayerVariant, "variants",
                  "no layer uses the variant " + in_quotes(variant.name),
                  "a layer pattern that names " + in_quotes(variant.name));
  }
  const std::vector<int64_t> splits = own_kv_splits(checks.design);
  if (splits.size() >= kKvSplits.size())
    checks.error(ProblemCode::TooManyKvSplits, "variants",
                 "layers have " + grouped(static_cast<int64_t>(splits.size())) +
                     " different numbers of KV heads below tp = " + grouped(checks.design.parallel.tp),
                 "at most " + grouped(static_cast<int64_t>(kKvSplits.size()) - 1));
}

// Whether a correction for layers of one kind also suits all other layers.
bool suits_all(const Checks& checks, const Fix& fix) {
  return std::all_of(fix.settings.begin(), fix.settings.end(), [&](const auto& setting) {
    const Knob* knob = find_knob(setting.first);
    if (!knob || knob->group == KnobGroup::Model) return false;
    return setting.first != "tp" || tp_is_valid(checks.design, std::stoll(setting.second));
  });
}

// The knob to change for a problem of one kind of layers.
std::string place(const std::string& where) {
  const Knob* knob = find_knob(where);
  return knob && knob->group == KnobGroup::Model ? "variants" : where;
}

// The sizes of one kind, which must suit each other and the degrees.
void check_sizes(Checks& checks, const LayerVariant& kind) {
  Design design = checks.design;
  design.model = layer_model(checks.design.model, kind);
  design.model.variants.clear();
  design.model.layer_pattern.clear();
  Checks own{design, {}, checks.out_of_range, checks.first_only};
  own.wanted = checks.wanted;
  for (const auto& [row, value] : kind.sizes) {
    const ModelSize& size = kModelSizes[static_cast<size_t>(row)];
    std::erase(own.out_of_range, size.id);
    const int64_t least = least_value(design, *find_knob(size.id));
    if (value >= least) continue;
    own.out_of_range.push_back(size.id);
    own.error(ProblemCode::ValueTooSmall, size.id,
              std::string(size.id) + " = " + grouped(value) + " is too small", "at least " + grouped(least));
  }
  for (const auto check : {check_model, check_mixers, check_linear_heads, check_compressed, check_tensor,
                           check_context, check_experts, check_precision, check_inference})
    check(own);
  if (checks.first_only) {
    if (!own.first.empty()) checks.record_first(place(own.first));
    return;
  }
  for (Problem& problem : own.problems) {
    const auto same = [&](const Problem& p) {
      return p.code == problem.code && p.where == problem.where && p.what == problem.what;
    };
    if (problem.severity != Severity::Error ||
        std::any_of(checks.problems.begin(), checks.problems.end(), same))
      continue;
    std::erase_if(problem.fixes, [&](const Fix& fix) { return !suits_all(checks, fix); });
    checks.error(problem.code, place(problem.where), "layers " + in_quotes(kind.name) + ": " + problem.what,
                 problem.accepted, problem.fixes);
  }
}

// A stage has one list of vectors per token: that of its first layer.
void check_residual_blocks(Checks& checks) {
  const Design& d = checks.design;
  const Architecture* architecture = ModelLibrary::instance().architecture(d.model.architecture);
  if (!architecture || architecture->block_start.empty() ||
      !checks.in_range({"layers", "residual_block_layers", "pp", "tp", "virtual_stages"}))
    return;
  if (const int64_t blocks = final_vectors(d.model) - 1; blocks > kMaxResidualBlocks)
    checks.error(
        ProblemCode::ResidualBlocksTooMany, "residual_block_layers",
        grouped(d.model.layers) + " layers in blocks of " + grouped(d.model.block_layers) + " make " +
            grouped(blocks) + " residual blocks",
        "at most " + grouped(kMaxResidualBlocks) + " blocks",
        {set_to("residual_block_layers", (d.model.layers + kMaxResidualBlocks - 1) / kMaxResidualBlocks)});
  const auto refuse = [&](const char* knob, const std::string& what, const std::string& accepted, Fix fix) {
    checks.error(ProblemCode::ResidualBlocksLayout, knob, what, accepted, {std::move(fix)});
  };
  if (pipeline_layout(d.parallel).chunks > 1)
    refuse("virtual_stages",
           "a stage would hold layers from several places of the model, with different numbers of residual "
           "blocks",
           "one virtual stage per stage, and a schedule that supports it",
           both(set_to("virtual_stages", 1), set_to("schedule", std::string("1f1b"))));
  if (d.parallel.scatter_gather_pipeline && d.parallel.pp > 1 && d.parallel.tp > 1 &&
      !d.parallel.sequence_parallel)
    refuse("scatter_gather_pipeline", "messages with residual blocks cannot be split over tp", "off",
           set_to("scatter_gather_pipeline", std::string("false")));
  if (d.workload.distribute_saved_activations && d.workload.recompute == Recompute::Full)
    refuse("distribute_saved_activations", "checkpoints with residual blocks cannot be split over tp", "off",
           set_to("distribute_saved_activations", std::string("false")));
}

// Layers with a sliding window whose width is 0 attend to the whole sequence. A kind with a width of its own,
// 0 included, is meant so, and a ring supports no window.
void check_windows(Checks& checks) {
  constexpr int64_t kUsual = 4096;  // Mistral 7B, Gemma 2
  const ModelSpec& model = checks.design.model;
  if (checks.first_only || model.window != 0 ||
      !checks.in_range({"window", "cp", "tp", "heads", "kv_heads", "ulysses_degree"}) ||
      ring_ranks(checks.design) > 1)
    return;
  const Architecture* architecture = ModelLibrary::instance().architecture(model.architecture);
  if (!architecture) return;
  std::string names;
  for (const LayerVariant& kind : layers_of(model, *architecture).kinds) {
    const SectionTemplate* section = section_of(*architecture, kind.kind);
    if (section && !kind.sizes.contains(size_row(&ModelSpec::window)) && has_window(*section))
      names += (names.empty() ? "" : ", ") + in_quotes(kind.name);
  }
  if (names.empty()) return;
  checks.note(ProblemCode::WindowWidthMissing, "window",
              "layers " + names +
                  " have sliding-window attention, but the window has no width: they attend to the whole "
                  "sequence",
              "a width of at least 1 token, usually " + grouped(kUsual), {set_to("window", kUsual)});
}

}  // namespace

void check_layer_kinds(Checks& checks) {
  check_residual_blocks(checks);
  check_windows(checks);
  if (!has_own_layers(checks.design.model) || !checks.in_range({"tp"})) return;
  const Architecture* architecture = ModelLibrary::instance().architecture(checks.design.model.architecture);
  if (!architecture) return;
  check_pattern(checks, *architecture);
  check_variants(checks, *architecture);
  for (const LayerVariant& kind : layers_of(checks.design.model, *architecture).kinds)
    if (!kind.sizes.empty() || !kind.formats.empty()) check_sizes(checks, kind);
}

}  // namespace shardscape
