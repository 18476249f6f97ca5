#include "validation/bridge_recipes.h"

#include "base/data_dir.h"
#include "model/json_reader.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

constexpr const char* kFile = "resources/recipes/megatron_bridge.json";

// Whether release `one` is preferred to `other`, if neither is the wanted one: earlier releases precede later
// ones.
bool nearer(const std::string& one, const std::string& other, const std::string& wanted) {
  const bool before = one <= wanted;
  if (before != (other <= wanted)) return before;
  return before ? one > other : one < other;
}

}  // namespace

Result<BridgeRecipes> BridgeRecipes::read(const std::string& text, const std::string& name) {
  try {
    const JsonFile file(text, name);
    const json& root = file.root();
    file.only(root, {"format", "source", "tags", "nvlink", "recipes"});
    if (file.integer(root, "format") != 1)
      file.fail(ProblemCode::UnknownFormat, "format", "format " + root["format"].dump() + " is not known",
                "1");
    BridgeRecipes out;
    const json& tags = file.object(root, "tags");
    for (const auto& [release, tag] : tags.items()) out.tags_[release] = tag.get<std::string>();
    const json& gpus = file.object(file.object(root, "nvlink"), "gpus");
    for (const auto& [system, count] : gpus.items()) out.nvlink_[system] = count.get<int64_t>();
    for (const json& entry : file.array(root, "recipes")) {
      file.only(entry, {"model", "system", "precision", "releases", "recipe", "knobs"});
      BridgeRecipe recipe{file.text(entry, "model"),
                          file.text(entry, "system"),
                          file.text(entry, "precision"),
                          file.text(entry, "recipe"),
                          {},
                          {}};
      for (const json& release : file.array(entry, "releases")) {
        recipe.releases.push_back(release.get<std::string>());
        if (!out.tags_.contains(recipe.releases.back()))
          file.fail(ProblemCode::DataValue, recipe.name, "release " + recipe.releases.back() + " has no tag",
                    "a release of \"tags\"");
      }
      for (const auto& [knob, value] : file.object(entry, "knobs").items())
        recipe.knobs.emplace_back(knob, value.get<std::string>());
      out.recipes_.push_back(std::move(recipe));
    }
    return out;
  } catch (const DataError& error) {
    return error.problem;
  } catch (const json::exception& error) {
    return Problem{ProblemCode::JsonValueUnreadable, name,
                   std::string("a value cannot be read: ") + json_reason(error), "recipes in JSON"};
  }
}

Result<BridgeRecipes> BridgeRecipes::read() {
  const std::filesystem::path path = data_dir() / kFile;
  auto text = read_text(path);
  if (auto* problem = std::get_if<Problem>(&text)) return *problem;
  return read(std::get<std::string>(text), path.string());
}

const BridgeRecipe* BridgeRecipes::find(const std::string& model, const std::string& system,
                                        const std::string& precision, const std::string& release) const {
  const BridgeRecipe* found = nullptr;
  const std::string* chosen_release = nullptr;
  for (const BridgeRecipe& recipe : recipes_) {
    if (recipe.model != model || recipe.system != system || recipe.precision != precision) continue;
    for (const std::string& one : recipe.releases)
      if (!chosen_release || nearer(one, *chosen_release, release)) {
        found = &recipe;
        chosen_release = &one;
      }
  }
  return found;
}

std::optional<int64_t> BridgeRecipes::nvlink_gpus(const std::string& system) const {
  const auto it = nvlink_.find(system);
  return it == nvlink_.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace shardscape
