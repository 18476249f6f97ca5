#include "machine/catalogue_file.h"

#include "base/data_dir.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

void guarded(const std::filesystem::path& path, std::vector<Problem>& problems, const std::function<void()>& read) {
  try {
    read();
  } catch (const DataError& error) {
    problems.push_back(error.problem);
  } catch (const json::exception& error) {
    problems.push_back({Severity::Error, path.string(), std::string("a value cannot be read: ") + error.what(), "a catalogue in JSON", {}});
  }
}

}  // namespace

void read_catalogue_files(const std::string& file_name, const std::string& list,
                          const std::function<void(const JsonFile&, const json&)>& entry, std::vector<Problem>& problems) {
  for (const auto& path : data_files("resources/catalogue")) {
    if (path.filename() != file_name) continue;
    guarded(path, problems, [&] {
      auto text = read_text(path);
      if (auto* problem = std::get_if<Problem>(&text)) throw DataError{*problem};
      const JsonFile file(std::get<std::string>(text), path.string());
      for (const json& item : file.array(file.root(), list)) guarded(path, problems, [&] { entry(file, item); });
    });
  }
}

}  // namespace shardscape
