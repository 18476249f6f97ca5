#include "model/layer_variant.h"

#include <algorithm>
#include <cctype>

#include "base/number_text.h"
#include "base/units.h"
#include "model/model_sizes.h"

namespace shardscape {
namespace {

constexpr const char* kVariantsAccepted =
    "variants separated by semicolons, each with a name, a kind of layer and sizes, such as full: global "
    "head_dim=512 kv_heads=2";

// A part of a text, and where it begins.
struct Piece {
  std::string_view text;
  size_t column;  // 1-based
};

std::vector<Piece> pieces(const Piece& of, const char* separators) {
  std::vector<Piece> out;
  size_t begin = 0;
  while (begin <= of.text.size()) {
    const size_t end = std::min(of.text.find_first_of(separators, begin), of.text.size());
    const std::string_view all = of.text.substr(begin, end - begin);
    const std::string_view word = trimmed(all);
    if (!word.empty())
      out.push_back({word, of.column + begin + static_cast<size_t>(word.data() - all.data())});
    begin = end + 1;
  }
  return out;
}

Problem wrong(const Piece& at, const std::string& what) {
  return {ProblemCode::LayerVariantSyntax, "variants", "column " + std::to_string(at.column) + ": " + what,
          kVariantsAccepted};
}

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string varying_sizes() {
  std::vector<std::string> ids;
  for (const ModelSize& size : kModelSizes)
    if (size.varies) ids.push_back(size.id);
  return or_list(ids);
}

constexpr std::string_view kFormatSuffix = "_weights";

// Reads "experts_weights=nvfp4".
std::optional<Problem> read_formats(const Piece& piece, size_t equals, LayerVariant& to) {
  const std::string name(piece.text.substr(0, equals - kFormatSuffix.size()));
  const auto read = parse_weight_formats(name + std::string(piece.text.substr(equals)));
  if (const auto* problem = std::get_if<Problem>(&read))
    return wrong(piece,
                 problem->what.substr(problem->what.find(": ") + 2) + "; accepted: " + problem->accepted);
  for (const auto& [role, format] : std::get<0>(read)) to.formats[role] = format;
  return std::nullopt;
}

// Reads "head_dim=512".
std::optional<Problem> read_size(const Piece& piece, LayerVariant& to) {
  const size_t equals = piece.text.find('=');
  const std::string_view id = piece.text.substr(0, equals);
  if (equals == std::string_view::npos) return wrong(piece, in_quotes(id) + " has no value");
  if (id.ends_with(kFormatSuffix)) return read_formats(piece, equals, to);
  const ModelSize* size = find_model_size(id);
  if (!size || !size->varies)
    return wrong(piece, in_quotes(id) + (size ? " is the same in all layers" : " is not a size") +
                            "; the sizes of a variant are " + varying_sizes() +
                            "; formats are those of roles of weights, such as experts" +
                            std::string(kFormatSuffix) + "=nvfp4");
  const Piece value{piece.text.substr(equals + 1), piece.column + equals + 1};
  const NumberText read = parse_number(value.text, std::string_view(size->unit) == "tokens");
  if (read.fault != NumberFault::None || read.value < size->min || read.value > size->max)
    return wrong(value, in_quotes(value.text) + " is not a whole number from " + grouped(size->min) + " to " +
                            grouped(size->max));
  if (!to.sizes.emplace(static_cast<int>(size - kModelSizes.data()), read.value).second)
    return wrong(piece, in_quotes(id) + " already has a value");
  return std::nullopt;
}

Result<LayerVariant> read_variant(const Piece& piece) {
  const size_t colon = piece.text.find(':');
  const std::string_view name = trimmed(piece.text.substr(0, colon));
  if (!is_layer_name(name) || colon == std::string_view::npos)
    return wrong(piece, in_quotes(name) + " is not a name of letters, digits and _ before a colon");
  const std::vector<Piece> words = pieces({piece.text.substr(colon + 1), piece.column + colon + 1}, " \t\n");
  if (words.empty() || !is_layer_name(words.front().text))
    return wrong(words.empty() ? Piece{"", piece.column + colon + 1} : words.front(),
                 "the kind of layer of " + in_quotes(name) + " is missing");
  LayerVariant out{std::string(name), std::string(words.front().text), {}};
  for (size_t i = 1; i < words.size(); ++i)
    if (auto problem = read_size(words[i], out)) return *problem;
  return out;
}

// The variant with the name of the kind, otherwise the kind itself.
LayerVariant kind_or_variant(const ModelSpec& model, const std::string& name) {
  const auto variant = std::find_if(model.variants.begin(), model.variants.end(),
                                    [&](const LayerVariant& v) { return v.name == name; });
  return variant != model.variants.end() ? *variant : LayerVariant{name, name, {}};
}

// The kinds that the pattern names; empty if the pattern names an unknown kind.
std::vector<LayerVariant> named_kinds(const ModelSpec& model, const Architecture& architecture,
                                      const NamedPattern& pattern) {
  const auto named = [&](const std::string& name) {
    return std::find(pattern.names.begin(), pattern.names.end(), name) != pattern.names.end();
  };
  std::vector<LayerVariant> out;
  for (const SectionTemplate& kind : architecture.kinds)
    if (named(kind.name)) out.push_back(kind_or_variant(model, kind.name));
  for (const LayerVariant& variant : model.variants)
    if (named(variant.name) && !has_kind(architecture, variant.name)) out.push_back(variant);
  const bool known = out.size() == pattern.names.size() &&
                     std::all_of(out.begin(), out.end(),
                                 [&](const LayerVariant& v) { return has_kind(architecture, v.kind); });
  return known ? out : std::vector<LayerVariant>();
}

}  // namespace

const SectionTemplate* section_of(const Architecture& architecture, const std::string& kind) {
  const auto it = std::find_if(architecture.kinds.begin(), architecture.kinds.end(),
                               [&](const SectionTemplate& section) { return section.name == kind; });
  return it == architecture.kinds.end() ? nullptr : &*it;
}

bool has_kind(const Architecture& architecture, const std::string& name) {
  return section_of(architecture, name) != nullptr;
}

bool reads(const SectionTemplate& section, const CarriedTensor& tensor) {
  return std::any_of(section.lines.begin(), section.lines.end(), [&](const OpLine& line) {
    return std::find(line.args.begin(), line.args.end(), tensor.name) != line.args.end();
  });
}

bool makes(const SectionTemplate& section, const CarriedTensor& tensor) {
  return !reads(section, tensor) &&
         std::any_of(section.lines.begin(), section.lines.end(),
                     [&](const OpLine& line) { return line.output == tensor.line; });
}

Result<std::vector<LayerVariant>> parse_layer_variants(std::string_view text) {
  std::vector<LayerVariant> out;
  for (const Piece& piece : pieces({text, 1}, ";")) {
    auto read = read_variant(piece);
    if (auto* problem = std::get_if<Problem>(&read)) return std::move(*problem);
    LayerVariant& variant = std::get<LayerVariant>(read);
    if (out.size() >= kMostVariants)
      return wrong(piece, "there are more than " + std::to_string(kMostVariants) + " variants");
    if (std::any_of(out.begin(), out.end(), [&](const LayerVariant& v) { return v.name == variant.name; }))
      return wrong(piece, "the variant " + in_quotes(variant.name) + " already exists");
    out.push_back(std::move(variant));
  }
  return out;
}

std::string layer_variants_text(const std::vector<LayerVariant>& variants) {
  std::string out;
  for (const LayerVariant& variant : variants) {
    out += (out.empty() ? "" : "; ") + variant.name + ": " + variant.kind;
    for (const auto& [row, value] : variant.sizes)
      out += std::string(" ") + kModelSizes[static_cast<size_t>(row)].id + "=" + std::to_string(value);
    for (const auto& [name, format] : named_formats(variant.formats))
      out += " " + std::string(name) + std::string(kFormatSuffix) + "=" +
             std::string(weight_format_name(format));
  }
  return out;
}

ModelLayers layers_of(const ModelSpec& model, const Architecture& architecture) {
  if (!model.layer_pattern.empty()) {
    const auto read = parse_layer_pattern(model.layer_pattern);
    if (const auto* pattern = std::get_if<NamedPattern>(&read)) {
      ModelLayers out{named_kinds(model, architecture, *pattern), pattern->layers, -1};
      const auto index = [&](int name) {
        const auto it = std::find_if(out.kinds.begin(), out.kinds.end(), [&](const LayerVariant& v) {
          return v.name == pattern->names[static_cast<size_t>(name)];
        });
        return static_cast<int>(it - out.kinds.begin());
      };
      for (std::vector<int>* part : {&out.pattern.prefix, &out.pattern.repeat, &out.pattern.suffix})
        std::transform(part->begin(), part->end(), part->begin(), index);
      if (!out.kinds.empty()) return out;
    }
  }
  ModelLayers out{{}, {{}, architecture.pattern, {}}, architecture.lead};
  for (const SectionTemplate& kind : architecture.kinds) {
    out.kinds.push_back(kind_or_variant(model, kind.name));
    if (!has_kind(architecture, out.kinds.back().kind)) out.kinds.back() = {kind.name, kind.name, {}};
  }
  return out;
}

ModelSpec layer_model(const ModelSpec& model, const LayerVariant& kind) {
  ModelSpec out = model;
  for (const auto& [row, value] : kind.sizes) out.*kModelSizes[static_cast<size_t>(row)].member = value;
  for (const auto& [role, format] : kind.formats) out.weight_formats[role] = format;
  out.weight_formats = without_plain(std::move(out.weight_formats));
  return out;
}

}  // namespace shardscape
