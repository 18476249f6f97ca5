#include <algorithm>

#include "base/data_dir.h"
#include "base/json_text.h"
#include "design/document.h"
#include "explore/space.h"
#include "model/json_reader.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

constexpr int64_t kFormat = 1;

bool holds_lists(const std::string& id) {
  const Knob* knob = find_knob(id);
  return knob && (knob->type == KnobType::IntegerList || knob->type == KnobType::ChoiceList ||
                  knob->type == KnobType::Text);
}

// The values in the syntax of parse_values().
std::string values_text(const JsonFile& file, const std::string& id, const json& value) {
  const auto one = [&](const json& v) -> std::string {
    if (v.is_string()) return v.get<std::string>();
    if (v.is_number() || v.is_boolean()) return v.dump();
    file.fail(ProblemCode::DataValue, id, "\"" + id + "\" has " + v.dump() + " in its values",
              "numbers, true, false, or strings such as \"1..64*2\" and \"all\"");
  };
  if (!value.is_array()) return one(value);
  if (value.empty())
    file.fail(ProblemCode::DataValue, id, "\"" + id + "\" has no values", "at least one value");
  std::string text;
  for (size_t i = 0; i < value.size(); ++i)
    text += (i == 0 ? "" : holds_lists(id) ? "|" : ",") + one(value[i]);
  return text;
}

// The text of the object at a key of the root. As many newlines precede the text as in the file, so that
// problems have the line numbers of the file.
std::string object_text(const std::string& text, const std::string& key) {
  const size_t at = text.find("\"" + key + "\""), begin = at == std::string::npos ? at : text.find('{', at);
  if (begin == std::string::npos) return "";
  int depth = 0;
  bool quoted = false;
  for (size_t i = begin; i < text.size(); ++i) {
    if (quoted && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && text[i] == '{')
      ++depth;
    else if (!quoted && text[i] == '}' && --depth == 0)
      return std::string(static_cast<size_t>(std::count(
                             text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n')),
                         '\n') +
             text.substr(begin, i + 1 - begin);
  }
  return "";
}

Design base_of(const JsonFile& file, const std::string& text, const std::string& where) {
  const json& inner = file.object(file.root(), "design");
  std::string own = object_text(text, "design");
  // if another key of this name comes first, the text belongs to that key
  json parsed;
  if (parse_json(own, parsed) || parsed != inner) own = inner.dump();
  auto design = design_from_json(own, where);
  if (auto* problem = std::get_if<Problem>(&design)) throw DataError{*problem};
  return std::get<Design>(std::move(design));
}

SpaceSpec read(const JsonFile& file, const std::string& text, const std::string& where) {
  file.only(file.root(), {"shardscape_space", "name", "design", "gpus", "nodes", "dimensions", "constraints",
                          "memory_margin"});
  if (!file.root().contains("shardscape_space"))
    file.fail(ProblemCode::WrongKindOfFile, "", "this is not a space of designs",
              "a file with \"shardscape_space\": " + std::to_string(kFormat));
  if (file.integer(file.root(), "shardscape_space") != kFormat)
    file.fail(ProblemCode::UnknownFormat, "shardscape_space",
              "the version of the format is " + file.root()["shardscape_space"].dump(),
              "\"shardscape_space\": " + std::to_string(kFormat));
  SpaceSpec spec;
  spec.name = file.text_or(file.root(), "name", "");
  spec.base = base_of(file, text, where);
  if (const auto it = file.root().find("gpus"); it != file.root().end())
    spec.gpus = values_text(file, "gpus", *it);
  if (const auto it = file.root().find("nodes"); it != file.root().end())
    spec.nodes = values_text(file, "nodes", *it);
  if (file.root().contains("dimensions"))
    for (const auto& [id, value] : file.object(file.root(), "dimensions").items())
      spec.dimensions.emplace_back(id, values_text(file, id, value));
  if (file.root().contains("constraints"))
    for (const json& constraint : file.array(file.root(), "constraints")) {
      if (!constraint.is_string())
        file.fail(ProblemCode::DataValue, "constraints", constraint.dump() + " is not a constraint",
                  "a string such as \"tp*cp<=node\"");
      spec.constraints.push_back(constraint.get<std::string>());
    }
  if (const auto it = file.root().find("memory_margin"); it != file.root().end()) {
    if (!it->is_number())
      file.fail(ProblemCode::DataValue, "memory_margin", "\"memory_margin\" is not a number",
                "a share from 0 to below 1, such as 0.05");
    spec.memory_margin = it->get<double>();
  }
  const auto made = Space::make(spec);
  if (const auto* problem = std::get_if<Problem>(&made)) {
    // The file contains the constraint, or the name of a dimension, verbatim.
    const auto broken = std::find_if(
        spec.constraints.begin(), spec.constraints.end(),
        [](const std::string& c) { return std::holds_alternative<Problem>(Constraint::parse(c)); });
    const bool constraint = problem->code == ProblemCode::ConstraintSyntax &&
                            broken != spec.constraints.end();
    file.fail(problem->code, constraint ? *broken : problem->where,
              (constraint ? "constraint " : "\"" + problem->where + "\": ") + problem->what,
              problem->accepted);
  }
  return std::get<0>(made)->spec();  // with knob ids in canonical form
}

}  // namespace

std::string to_json(const SpaceSpec& spec) {
  json root{{"shardscape_space", kFormat}};
  if (!spec.name.empty()) root["name"] = spec.name;
  root["design"] = json::parse(to_json(spec.base));
  if (!spec.gpus.empty()) root["gpus"] = spec.gpus;
  if (!spec.nodes.empty()) root["nodes"] = spec.nodes;
  json& dimensions = root["dimensions"] = json::object();
  for (const auto& [id, values] : spec.dimensions) dimensions[id] = values;
  if (!spec.constraints.empty()) root["constraints"] = spec.constraints;
  if (spec.memory_margin != 0) root["memory_margin"] = spec.memory_margin;
  return json_document(root);
}

Result<SpaceSpec> space_from_json(const std::string& text, const std::string& where) {
  try {
    const JsonFile file(text, where);
    return read(file, text, where);
  } catch (const DataError& error) {
    return error.problem;
  } catch (const json::exception& error) {
    return Problem{ProblemCode::JsonValueUnreadable, where,
                   std::string("the file holds a value that cannot be read: ") + json_reason(error),
                   "a space of designs in JSON"};
  }
}

Result<SpaceSpec> load_space(const std::filesystem::path& path) {
  auto text = read_text(path);
  if (auto* problem = std::get_if<Problem>(&text)) return std::move(*problem);
  return space_from_json(std::get<std::string>(text), path.string());
}

}  // namespace shardscape
