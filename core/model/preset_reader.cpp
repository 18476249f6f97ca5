#include "model/preset_reader.h"

#include <algorithm>

#include "model/model_sizes.h"
#include "model/variant_json.h"

namespace shardscape {

using json = nlohmann::ordered_json;

namespace {

// "2025-04" or "2025".
bool is_month(const std::string& text) {
  constexpr std::string_view kForm = "dddd-dd";
  return (text.size() == 4 || text.size() == kForm.size()) &&
         std::equal(text.begin(), text.end(), kForm.begin(),
                    [](char c, char form) { return form == 'd' ? c >= '0' && c <= '9' : c == form; });
}

PublishedLayout layout(const JsonFile& file) {
  const json& value = file.object(file.root(), "layout");
  file.only(value, {"source", "knobs"});
  PublishedLayout out{file.text(value, "source"), {}};
  for (const auto& [id, setting] : file.object(value, "knobs").items())
    out.knobs.emplace_back(id, setting.is_string() ? setting.get<std::string>() : setting.dump());
  return out;
}

std::vector<LayerVariant> variants(const JsonFile& file, const json& value) {
  auto read = parse_layer_variants(variants_text(file, "variants", value));
  if (auto* problem = std::get_if<Problem>(&read))
    JsonFile::fail(problem->code, file.place(value), problem->what, problem->accepted);
  return std::get<0>(std::move(read));
}

// The sizes of a preset's model.
ModelSpec model(const JsonFile& file) {
  const json& root = file.root();
  ModelSpec m;
  m.architecture = file.text(root, "architecture");
  for (const ModelSize& size : kModelSizes) {
    // Every model has a size whose default is out of range; without grouping, heads have their own keys and
    // values.
    const int64_t usual = size.member == &ModelSpec::kv_heads ? m.heads : m.*size.member;
    m.*size.member = usual < size.min ? file.integer(root, size.id) : file.integer_or(root, size.id, usual);
  }
  m.tied_embeddings = file.boolean_or(root, "tied_embeddings", false);
  m.layer_pattern = file.text_or(root, "layer_pattern", "");
  if (root.contains("variants")) m.variants = variants(file, root["variants"]);
  auto formats = parse_weight_formats(file.text_or(root, "weight_formats", ""));
  if (auto* problem = std::get_if<Problem>(&formats))
    JsonFile::fail(problem->code, file.place(root["weight_formats"]), problem->what, problem->accepted);
  m.weight_formats = without_plain(std::get<0>(std::move(formats)));
  return m;
}

}  // namespace

Preset read_preset(const JsonFile& file) {
  const json& root = file.root();
  std::vector<const char*> keys{"preset",   "name",   "maker",  "family",
                                "released", "source", "layout", "architecture"};
  for (const ModelSize& size : kModelSizes) keys.push_back(size.id);
  keys.insert(keys.end(),
              {"tied_embeddings", "layer_pattern", "variants", "weight_formats", "published_parameters",
               "published_active_parameters", "published_exact", "default_seq"});
  file.only(root, keys);
  Preset out;
  out.id = file.text(root, "preset");
  out.place = file.place(root["preset"]);
  out.name = file.text(root, "name");
  out.maker = file.text_or(root, "maker", file.text_or(root, "family", ""));  // files of before say family
  out.released = file.text_or(root, "released", "");
  if (!out.released.empty() && !is_month(out.released))
    JsonFile::fail(ProblemCode::DataValue, file.place(root["released"]),
                   "\"" + out.released + "\" is not a month",
                   "a year and a month, such as 2025-04, or a year");
  if (root.contains("layout")) out.layout = layout(file);
  out.source = file.text_or(root, "source", "");
  out.published_parameters = file.integer_or(root, "published_parameters", 0);
  out.published_active_parameters = file.integer_or(root, "published_active_parameters", 0);
  out.published_exact = file.boolean_or(root, "published_exact", true);
  out.default_seq = file.integer_or(root, "default_seq", 4096);
  out.model = model(file);
  out.model.preset = out.id;
  return out;
}

}  // namespace shardscape
