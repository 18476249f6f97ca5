#include "design/document.h"
#include "design/embedded_document.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_write.h"
#include "base/data_dir.h"
#include "base/enum_count.h"
#include "base/json_text.h"
#include "base/number_text.h"
#include "design/knobs/knob_access.h"
#include "design/knobs/knobs.h"
#include "model/json_reader.h"
#include "model/library.h"
#include "model/variant_json.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

constexpr int64_t kFormat = 1;
constexpr std::string_view kVariants = "variants";  // an object, the only knob that is no plain value
constexpr KnobGroup kGroups[] = {KnobGroup::Model, KnobGroup::Parallelism, KnobGroup::Workload,
                                 KnobGroup::Cluster};
static_assert(std::size(kGroups) == enum_count<KnobGroup>(), "every group of knobs is written and read");

const char* section_key(KnobGroup group) {
  switch (group) {
    case KnobGroup::Model: return "model";
    case KnobGroup::Parallelism: return "parallelism";
    case KnobGroup::Workload: return "workload";
    case KnobGroup::Cluster: return "cluster";
  }
  return "";
}

json to_value(const Knob& knob, const Design& design) {
  if (knob.id == kVariants) return variants_json(design.model.variants);
  const KnobValue value = knob_access(knob).get(design);
  if (knob.type == KnobType::Decimal) return static_cast<double>(std::get<int64_t>(value)) / 1000;
  return std::visit([](const auto& v) { return json(v); }, value);
}

// Converts a JSON value of the knob's own type to the text that set_knob() reads. "8" in quotes is an error
// for a number.
std::string knob_text_of(const JsonFile& file, const Knob& knob, const json& value) {
  const auto wrong = [&](const char* what) {
    file.fail(ProblemCode::JsonMember, knob.id,
              "\"" + knob.id + "\" is " + std::string(what) + ", not " + value.dump(), accepted_values(knob));
  };
  switch (knob.type) {
    case KnobType::Integer:
      if (!value.is_number_integer()) wrong("a whole number");
      return value.dump();
    case KnobType::Decimal:
      if (!value.is_number()) wrong("a number");
      return value.dump();
    case KnobType::Boolean:
      if (!value.is_boolean()) wrong("true or false");
      return value.dump();
    case KnobType::Text:
      if (knob.id == kVariants) return variants_text(file, knob.id, value);
      [[fallthrough]];
    case KnobType::Choice:
      if (!value.is_string()) wrong("a string in quotes");
      return value.get<std::string>();
    case KnobType::ChoiceList: {
      if (!value.is_array()) wrong("a list of strings");
      std::string text;
      for (const json& entry : value) {
        if (!entry.is_string()) wrong("a list of strings");
        text += (text.empty() ? "" : ",") + entry.get<std::string>();
      }
      return text;
    }
    case KnobType::IntegerList: {
      if (!value.is_array()) wrong("a list of whole numbers");
      std::string text;
      for (const json& entry : value) {
        if (!entry.is_number_integer()) wrong("a list of whole numbers");
        text += (text.empty() ? "" : ",") + entry.dump();
      }
      return text;
    }
  }
  return "";
}

std::string quoted_keys(KnobGroup group) {
  std::vector<std::string> keys;
  if (group == KnobGroup::Model) keys = {"\"preset\"", "\"architecture\""};
  for (const Knob& knob : knobs()) {
    if (knob.group == group) keys.push_back("\"" + knob.id + "\"");
  }
  return "one of " + or_list(keys);
}

class DocumentReader {
 public:
  explicit DocumentReader(const JsonFile& file) : file_(file) {}

  Design read() {
    check_format();
    file_.only(file_.root(),
               {"shardscape", "name", "model", "parallelism", "workload", "cluster", "explore", "compare",
                "serving", "timeline", "requests"});  // explore/study.h reads the last five
    Design design;
    for (KnobGroup group : kGroups) {
      if (group != KnobGroup::Model && !file_.root().contains(section_key(group))) continue;
      const json& section = file_.object(file_.root(), section_key(group));
      if (group == KnobGroup::Model) read_model_ids(design, section);
      read_knobs(design, group, section);
    }
    design.name = file_.text_or(file_.root(), "name", design.name);  // the preset has set a name
    return design;
  }

 private:
  void check_format() {
    const auto it = file_.root().find("shardscape");
    const std::string accepted = "\"shardscape\": " + std::to_string(kFormat);
    if (it == file_.root().end() && file_.root().contains("model_type")) {
      file_.fail(ProblemCode::WrongKindOfFile, "model_type",
                 "this is the configuration of a Hugging Face model, not a saved design",
                 "a saved design; shardscape-cli import or File > Import config.json imports such files");
    }
    if (it == file_.root().end()) {
      file_.fail(ProblemCode::WrongKindOfFile, "", "this is not a saved design",
                 "a file that File > Save design has written");
    }
    if (!it->is_number_integer())
      file_.fail(ProblemCode::UnknownFormat, "shardscape", "the version of the format is " + it->dump(),
                 accepted);
    if (*it == kFormat) return;
    if (*it > kFormat) {
      file_.fail(ProblemCode::UnknownFormat, "shardscape",
                 "the design was saved by a newer version of the program, in format " + it->dump() +
                     "; this version reads format " + std::to_string(kFormat),
                 accepted);
    }
    file_.fail(ProblemCode::UnknownFormat, "shardscape", "there is no format " + it->dump(), accepted);
  }

  // A known preset supplies the values that the file omits.
  void read_model_ids(Design& design, const json& section) {
    const std::string preset = file_.text_or(section, "preset", "");
    if (!preset.empty() && !apply_preset(design, preset)) require_all(section, "preset", preset);
    if (preset.empty()) require_all(section, "", "");
    design.model.preset = preset;
    design.model.architecture = file_.text_or(section, "architecture", design.model.architecture);
  }

  // Without a known preset, the file must contain every number.
  void require_all(const json& section, const std::string& key, const std::string& preset) {
    std::vector<std::string> missing;
    if (!section.contains("architecture")) missing.push_back("architecture");
    for (const Knob& knob : knobs()) {
      if (knob.group == KnobGroup::Model && as_old_as_format(knob.id) && !section.contains(knob.id))
        missing.push_back(knob.id);
    }
    if (missing.empty()) return;
    std::vector<std::string> presets;
    for (const Preset& known : ModelLibrary::instance().presets()) presets.push_back("\"" + known.id + "\"");
    const std::string what = key.empty() ? "\"model\" names no preset"
                                         : "there is no preset \"" + preset + "\"";
    file_.fail(ProblemCode::ModelIncomplete, key.empty() ? "model" : key,
               what + " and lacks \"" + missing.front() + "\"",
               (presets.empty() ? "" : "a preset, one of " + or_list(presets) + ", or ") +
                   "the architecture and every number of the model");
  }

  // Keys of the first format, which every file contains. Later knobs are 0 if the file omits them.
  static bool as_old_as_format(const std::string& id) {
    static const std::set<std::string> ids{"layers", "hidden", "heads",     "kv_heads",       "head_dim",
                                           "ffn",    "vocab",  "positions", "tied_embeddings"};
    return ids.count(id) > 0;
  }

  void read_knobs(Design& design, KnobGroup group, const json& section) {
    for (const auto& [key, value] : section.items()) {
      if (group == KnobGroup::Model && (key == "preset" || key == "architecture")) continue;
      const Knob* knob = find_knob(key);
      if (!knob || knob->group != group) {
        const bool elsewhere = knob != nullptr;
        file_.fail(ProblemCode::JsonUnknownKey, key,
                   "\"" + key + "\" is not known in \"" + section_key(group) + "\"" +
                       (elsewhere ? std::string("; it belongs in \"") + section_key(knob->group) + "\"" : ""),
                   quoted_keys(group));
      }
      if (auto problem = set_knob(design, *knob, knob_text_of(file_, *knob, value))) {
        file_.fail(problem->code, key, "\"" + key + "\": " + problem->what, problem->accepted);
      }
    }
  }

  const JsonFile& file_;
};

}  // namespace

std::string to_json(const Design& design) {
  json root;
  root["shardscape"] = kFormat;
  root["name"] = design.name;
  for (KnobGroup group : kGroups) {
    json& section = root[section_key(group)];
    if (group == KnobGroup::Model) {
      section["preset"] = design.model.preset;
      section["architecture"] = design.model.architecture;
    }
    for (const Knob& knob : knobs()) {
      if (knob.group != group || (knob.outside_step && knob_text(design, knob) == knob_text({}, knob)))
        continue;
      section[knob.id] = to_value(knob, design);
    }
  }
  return json_document(root);
}

Result<Design> design_from_json(const std::string& text, const std::string& where) {
  try {
    const JsonFile file(text, where);
    return DocumentReader(file).read();
  } catch (const DataError& error) {
    return error.problem;
  } catch (const json::exception& error) {
    return Problem{ProblemCode::JsonValueUnreadable, where,
                   std::string("the file holds a value that cannot be read: ") + json_reason(error),
                   "a design in JSON"};
  }
}

Result<Design> load_design(const std::filesystem::path& path) {
  auto text = read_text(path);
  if (auto* problem = std::get_if<Problem>(&text)) return std::move(*problem);
  auto json = design_json_of(std::get<std::string>(std::move(text)), path.string());
  if (auto* problem = std::get_if<Problem>(&json)) return std::move(*problem);
  return design_from_json(std::get<std::string>(json), path.string());
}

std::optional<Problem> save_design(const Design& design, const std::filesystem::path& path) {
  return atomic_write(path, to_json(design));
}

}  // namespace shardscape
