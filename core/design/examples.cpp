#include "design/examples.h"

#include "base/data_dir.h"
#include "base/number_text.h"
#include "base/suggest.h"
#include "model/json_reader.h"

namespace shardscape {

Result<std::vector<Example>> examples() {
  const std::filesystem::path folder = data_dir() / "resources" / "examples";
  const std::string index = (folder / "examples.json").string();
  auto text = read_text(index);
  if (auto* problem = std::get_if<Problem>(&text)) return std::move(*problem);
  try {
    const JsonFile file(std::get<std::string>(std::move(text)), index);
    file.only(file.root(), {"examples"});
    std::vector<Example> list;
    for (const auto& entry : file.array(file.root(), "examples")) {
      file.only(entry, {"id", "title", "summary", "source"});
      const std::string id = file.text(entry, "id");
      list.push_back({id, file.text(entry, "title"), file.text(entry, "summary"), file.text(entry, "source"),
                      folder / (id + ".json")});
    }
    return list;
  } catch (const DataError& error) {
    return error.problem;
  }
}

Result<Example> find_example(const std::string& id) {
  auto list = examples();
  if (auto* problem = std::get_if<Problem>(&list)) return std::move(*problem);
  std::vector<std::string> ids;
  for (const Example& example : std::get<0>(list)) {
    if (lower_case(example.id) == lower_case(id)) return example;
    ids.push_back(example.id);
  }
  const auto near = closest(id, ids);
  return Problem{ProblemCode::FlagValueInvalid, "--example",
                 "there is no example \"" + id + "\"" + (near ? "; did you mean " + *near + "?" : ""),
                 "one of " + or_list(ids)};
}

}  // namespace shardscape
