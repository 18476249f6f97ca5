#include "plan/architecture_check.h"

#include <algorithm>

#include "design/layer_edits.h"
#include "design/layer_sizes.h"
#include "graph/build.h"
#include "model/layer_parts.h"
#include "model/layer_variant.h"

namespace shardscape {
namespace {

// A problem of the whole file has no line.
bool is_in(const Problem& problem, const std::string& name) {
  const auto place = parse_place(problem.where);
  return place ? place->file == name : problem.where == name;
}

bool calls(const ModelLibrary& library, const std::vector<OpLine>& lines, const std::string& block,
           int depth = 0) {
  if (depth > 8) return false;
  return std::any_of(lines.begin(), lines.end(), [&](const OpLine& line) {
    const std::string id = line.callee.substr(0, line.callee.find(';'));
    const BlockTemplate* called = library.block(line.callee);
    return id == block || (called && calls(library, called->ops, block, depth + 1));
  });
}

bool calls(const ModelLibrary& library, const Architecture& architecture, const std::string& block) {
  for (const SectionTemplate* section : {&architecture.embedding, &architecture.head, &architecture.mtp})
    if (calls(library, section->lines, block)) return true;
  return std::any_of(architecture.kinds.begin(), architecture.kinds.end(),
                     [&](const SectionTemplate& kind) { return calls(library, kind.lines, block); });
}

// An architecture that calls the block: that of the design, another one, or one whose layers get the block as
// mixer or feed-forward part. Empty: there is none.
std::string architecture_with(const ModelLibrary& library, const std::string& block, const Design& base) {
  const Architecture* present = library.architecture(base.model.architecture);
  if (present && calls(library, *present, block)) return base.model.architecture;
  for (const Architecture& other : library.architectures())
    if (calls(library, other, block)) return other.id;
  const BlockTemplate* own = library.block(block);
  const BlockUse use = own ? use_of(*own) : BlockUse::Other;
  if (use == BlockUse::Other) return "";
  const std::string part = std::string(use == BlockUse::Mixer ? "mixer" : "feed_forward") + " = " + block;
  for (const std::string& id : {base.model.architecture, std::string("llama")})
    if (const Architecture* host = library.architecture(id); host && id.find(';') == std::string::npos)
      for (const SectionTemplate& kind : host->kinds) {
        const std::string text = id + "; " + kind.name + " = " + kind.name + "(" + part + ")";
        if (library.architecture(text)) return text;
      }
  return "";
}

// The design's model with this architecture, on one rank.
Design design_with(const std::string& id, const Architecture& architecture, const Design& base,
                   const ModelLibrary& library, std::vector<std::string>& completed) {
  ModelSpec model = base.model;
  model.architecture = id;
  const bool known = std::all_of(model.variants.begin(), model.variants.end(),
                                 [&](const LayerVariant& kind) { return has_kind(architecture, kind.kind); });
  if (!known || layers_of(model, architecture).kinds.empty()) model.variants.clear();
  if (const auto pattern = parse_layer_pattern(model.layer_pattern);
      !model.layer_pattern.empty() && std::holds_alternative<NamedPattern>(pattern))
    for (const std::string& name : std::get<NamedPattern>(pattern).names) {
      const bool variant = std::any_of(model.variants.begin(), model.variants.end(),
                                       [&](const LayerVariant& kind) { return kind.name == name; });
      if (!variant && !has_kind(architecture, name)) model.layer_pattern.clear();
    }
  if (architecture.mtp.lines.empty()) model.mtp_layers = 0;
  if (architecture.lead < 0) model.dense_layers = 0;
  completed = complete_sizes(model, architecture, library);
  Design design;
  design.workload.seq = base.workload.seq;
  design.workload.profile = base.workload.profile;
  apply_model(design, model, base.name);
  return design;
}

Wide value_of(const Expr& expr, const Binding& binding) {
  const auto value = evaluate(expr, binding);
  return std::holds_alternative<Wide>(value) ? std::get<Wide>(value) : Wide{0};
}

}  // namespace

std::shared_ptr<const ArchitectureCheck> check_architecture_text(const std::string& text,
                                                                 const std::string& name, const Design& base,
                                                                 std::stop_token stop) {
  auto out = std::make_shared<ArchitectureCheck>();
  out->kind = kind_of_text(text);
  const std::string folder = out->kind.folder.empty() ? "architectures" : out->kind.folder;
  out->library = std::make_shared<const ModelLibrary>(ModelLibrary::instance().with({folder, name, text}));
  for (const Problem& problem : out->library->problems())
    if (is_in(problem, name)) out->mistakes.push_back(problem);
  if (!out->mistakes.empty() || stop.stop_requested()) return out;
  const ModelLibrary::Scope scope(*out->library);
  const std::string id = folder == "blocks" ? architecture_with(*out->library, out->kind.id, base)
                                            : out->kind.id;
  const Architecture* architecture = out->library->architecture(id);
  if (!architecture) return out;
  const Design design = design_with(id, *architecture, base, *out->library, out->completed);
  const auto report = make_report(design, stop);
  if (!report) return nullptr;
  const auto add_mistake = [&](const Problem& problem) {
    if (std::none_of(out->mistakes.begin(), out->mistakes.end(),
                     [&](const Problem& known) { return known.where == problem.where; }))
      out->mistakes.push_back(problem);
  };
  for (const Problem& problem : report->problems)
    if (problem.severity == Severity::Error && is_in(problem, name))
      add_mistake(problem);
    else if (problem.severity == Severity::Error)
      out->size_problems.push_back(problem);
  if (!out->mistakes.empty())  // the report names the first one
    for (const Problem& problem : graph_problems(structure_of(design), *out->library))
      if (is_in(problem, name)) add_mistake(problem);
  out->report = report;
  if (report->valid()) out->kinds = kind_numbers(*report);
  return out;
}

std::vector<KindNumbers> kind_numbers(const Report& report) {
  std::vector<KindNumbers> out;
  const Graph& graph = report.graph();
  const Binding& binding = report.stages.front().binding;
  const ModelLibrary& library = ModelLibrary::instance();
  const Architecture* architecture = library.architecture(report.design.model.architecture);
  if (!architecture) return out;
  const std::vector<LayerVariant> kinds = layers_of(report.design).kinds;
  // Ranks of tp and cp share the tokens of a microbatch.
  const auto ranks = static_cast<double>(report.design.parallel.tp * report.design.parallel.cp);
  const auto tokens = static_cast<double>(report.design.workload.microbatch * report.design.workload.seq);
  for (int kind = 0; kind < graph.kinds(); ++kind) {
    const Segment& segment = graph.segments[static_cast<size_t>(kind) + 1];
    KindNumbers& numbers = out.emplace_back();
    numbers.name = numbers.kind = segment.name;
    for (const LayerVariant& variant : kinds)
      if (variant.name == numbers.name) numbers.kind = variant.kind;
    for (const SectionTemplate& section : architecture->kinds)
      if (section.name == numbers.kind) {
        const Sublayers parts = parts_of(section, library);
        numbers.mixer = parts.mixer.call;
        numbers.feed_forward = parts.feed_forward.call;
      }
    for (int64_t layer = 0; layer < report.design.model.layers; ++layer)
      numbers.layers += graph.layer_kind(layer, report.design.model) == kind;
    for (const Param& param : segment.params) {
      Expr elements(1);
      for (const Expr& size : segment.tensor(param.tensor).sizes) elements = elements * size;
      numbers.parameters += value_of(elements, binding);
    }
    for (const Op& op : segment.ops)
      numbers.flops_per_token += static_cast<double>(value_of(op.flops, binding)) * ranks / tokens;
  }
  return out;
}

double flops_per_token(const Report& report) {
  return report.step_flops / static_cast<double>(report.tokens_per_step);
}

}  // namespace shardscape
