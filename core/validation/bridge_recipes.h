// Launch recipes of Megatron-Bridge releases (resources/recipes/megatron_bridge.json). They set knobs that
// Megatron-Bridge's tables of measured runs omit.
//
//   "format": 1
//   "source":  origin of the recipes
//   "tags":    release -> the tag of the release whose recipes were read
//   "nvlink":  {"source", "gpus": {system: GPUs per NVLink domain}}; default: NVLink ends at the node
//   "recipes": [{"model": id of a preset, "system": lower case without DGX-,
//                "precision": as in the tables, "releases": [...],
//                "recipe": its name at the tags of these releases, "knobs": {knob: value}}]
//
// Recipes list only knobs that differ from the default. tp_comm_overlap applies to runs with tp > 1.
// stage_layers applies to runs with as many stages as it has entries.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/problem.h"

namespace shardscape {

struct BridgeRecipe {
  std::string model, system, precision, name;
  std::vector<std::string> releases;
  std::vector<std::pair<std::string, std::string>> knobs;  // in the order of setting
};

class BridgeRecipes {
 public:
  // text: content of the file; name: its name in problems.
  static Result<BridgeRecipes> read(const std::string& text, const std::string& name);
  // Reads the file of the data folder.
  static Result<BridgeRecipes> read();

  // The recipe of this release; else of the latest earlier release that has one; else of the earliest later
  // release. Null: no release has a recipe of this model, system and precision.
  const BridgeRecipe* find(const std::string& model, const std::string& system, const std::string& precision,
                           const std::string& release) const;
  // GPUs per NVLink domain of a rack-scale system; empty: NVLink ends at the node.
  std::optional<int64_t> nvlink_gpus(const std::string& system) const;
  const std::vector<BridgeRecipe>& all() const { return recipes_; }
  const std::map<std::string, std::string>& tags() const { return tags_; }

 private:
  std::vector<BridgeRecipe> recipes_;
  std::map<std::string, std::string> tags_;
  std::map<std::string, int64_t> nvlink_;
};

}  // namespace shardscape
