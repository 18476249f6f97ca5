#include "explore/recovery.h"

#include <nlohmann/json.hpp>

#include "base/data_dir.h"
#include "base/json_text.h"
#include "design/document.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

constexpr int64_t kRecoveryFormat = 1;

json design_json(const Design& design) { return json::parse(to_json(design)); }

// Throws a Problem or a json::exception.
Design design_of(const json& value, const std::string& where) {
  auto design = design_from_json(value.dump(), where);
  if (auto* problem = std::get_if<Problem>(&design)) throw *problem;
  return std::get<Design>(std::move(design));
}

Recovery recovery_of(const json& root, const std::string& where) {
  Recovery recovery;
  if (integer_of(root.at("shardscape_recovery")) != kRecoveryFormat)
    throw Problem{ProblemCode::UnknownFormat, where, "another version of the program wrote the file",
                  "format " + std::to_string(kRecoveryFormat)};
  auto study = study_from_json(root.at("study").dump(1), where);
  if (auto* problem = std::get_if<Problem>(&study)) throw *problem;
  recovery.study = std::get<Study>(std::move(study));
  recovery.document = root.at("document").get<std::string>();
  recovery.view = root.at("view").get<std::string>();
  recovery.saved_at = integer_of(root.at("saved_at"));
  const json& history = root.at("history");
  recovery.history.first = design_of(history.at("first"), where);
  for (const json& step : history.at("steps"))
    recovery.history.steps.push_back(
        {step.at("text").get<std::string>(), design_of(step.at("after"), where)});
  recovery.history.done = static_cast<size_t>(integer_of(history.at("done")));
  if (recovery.history.done > recovery.history.steps.size())
    throw Problem{ProblemCode::DataValue, where, "the file has fewer undo steps than it states",
                  "a file that the program wrote"};
  return recovery;
}

}  // namespace

std::string to_json(const Recovery& recovery) {
  json root;
  root["shardscape_recovery"] = kRecoveryFormat;
  root["saved_at"] = recovery.saved_at;
  root["document"] = recovery.document;
  root["view"] = recovery.view;
  json& history = root["history"];
  history["first"] = design_json(recovery.history.first);
  history["steps"] = json::array();
  for (const UndoHistory::Step& step : recovery.history.steps)
    history["steps"].push_back({{"text", step.text}, {"after", design_json(step.after)}});
  history["done"] = recovery.history.done;
  root["study"] = json::parse(to_json(recovery.study));
  return json_document(root, 1);
}

Result<Recovery> recovery_from_json(const std::string& text, const std::string& where) {
  try {
    json root;
    if (auto problem = read_json(text, where, root)) return std::move(*problem);
    return recovery_of(root, where);
  } catch (const Problem& problem) {
    return problem;
  } catch (const json::exception& error) {
    return Problem{ProblemCode::JsonValueUnreadable, where,
                   std::string("the file holds a value that cannot be read: ") + json_reason(error),
                   "a file that the program wrote"};
  }
}

Result<Recovery> load_recovery(const std::filesystem::path& path) {
  auto text = read_text(path);
  if (auto* problem = std::get_if<Problem>(&text)) return std::move(*problem);
  return recovery_from_json(std::get<std::string>(text), path.string());
}

}  // namespace shardscape
