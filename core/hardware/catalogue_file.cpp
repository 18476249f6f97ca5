#include "hardware/catalogue_file.h"

#include "base/data_dir.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

void guarded(const std::string& name, std::vector<Problem>& problems, const std::function<void()>& read) {
  try {
    read();
  } catch (const DataError& error) {
    problems.push_back(error.problem);
  } catch (const json::exception& error) {
    problems.push_back({ProblemCode::JsonValueUnreadable, name,
                        std::string("a value cannot be read: ") + json_reason(error), "a catalogue in JSON"});
  }
}

}  // namespace

Sources read_sources(const JsonFile& file, const json& entry, const std::string& id,
                     std::initializer_list<const char*> values) {
  Sources out;
  if (entry.contains("source")) out["*"] = file.text(entry, "source");
  if (entry.contains("sources")) {
    for (const auto& [key, text] : file.object(entry, "sources").items()) {
      const bool known = key == "*" || std::find(values.begin(), values.end(), key) != values.end();
      if (!known || (key != "*" && !entry.contains(key)))
        file.fail(ProblemCode::SourceMissing, id,
                  "\"sources\" of \"" + id + "\" names \"" + key + "\", which the entry lacks",
                  "keys of its values, or \"*\" for all others");
      if (!text.is_string())
        file.fail(ProblemCode::DataValue, id,
                  "the source of \"" + key + "\" of \"" + id + "\" is not a string", "a string in quotes");
      out[key] = text.get<std::string>();
    }
  }
  for (const char* key : values) {
    if (!entry.contains(key) || !source_of(out, key).empty()) continue;
    file.fail(
        ProblemCode::SourceMissing, id, "\"" + std::string(key) + "\" of \"" + id + "\" has no source",
        "\"sources\": {\"" + std::string(key) + "\": the source of the value}, or \"*\" for all values");
  }
  return out;
}

void read_catalogue_files(const std::string& file_name, const std::string& list, const CatalogueEntry& entry,
                          std::vector<Problem>& problems) {
  for (const auto& path : data_files("resources/catalogue")) {
    if (path.filename() != file_name) continue;
    auto text = read_text(path);
    if (auto* problem = std::get_if<Problem>(&text))
      problems.push_back(std::move(*problem));
    else
      read_catalogue_text(std::get<std::string>(text), path.string(), list, entry, problems);
  }
}

void read_catalogue_text(const std::string& text, const std::string& name, const std::string& list,
                         const CatalogueEntry& entry, std::vector<Problem>& problems) {
  guarded(name, problems, [&] {
    const JsonFile file(text, name);
    for (const json& item : file.array(file.root(), list))
      guarded(name, problems, [&] { entry(file, item); });
  });
}

}  // namespace shardscape
