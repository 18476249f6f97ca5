// What the launch recipes of Megatron-Bridge's releases set beyond what its tables of measured runs print:
// resources/recipes/megatron_bridge.json.
//
//   "format": 1
//   "source":  where the recipes are from
//   "tags":    release -> the tag at which its recipes were read
//   "nvlink":  {"source", "gpus": {system: GPUs of a job that NVLink connects}}; of systems that are not
//   there NVLink ends at the node "recipes": [{"model": id of a preset, "system": lower case without DGX-,
//   "precision": as the tables have it, "releases": [...],
//                "recipe": its name at the tags of these releases, "knobs": {knob: value}}]
//
// Knobs that a recipe leaves as they are by default are not listed. tp_comm_overlap is of runs with tp,
// stage_layers of as many stages as it lists.
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
  std::vector<std::pair<std::string, std::string>> knobs;  // in the order in which they are set
};

class BridgeRecipes {
 public:
  // text: the file; name: what problems call it.
  static std::variant<BridgeRecipes, Problem> read(const std::string& text, const std::string& name);
  // Of the data folder.
  static std::variant<BridgeRecipes, Problem> read();

  // Of this release; else of the latest earlier one that has the design; else of the earliest later one.
  // nullptr: no release has a recipe of this model on this system in this precision.
  const BridgeRecipe* find(const std::string& model, const std::string& system, const std::string& precision,
                           const std::string& release) const;
  // Of racks; nothing: NVLink ends at the node.
  std::optional<int64_t> nvlink_gpus(const std::string& system) const;
  const std::vector<BridgeRecipe>& all() const { return recipes_; }
  const std::map<std::string, std::string>& tags() const { return tags_; }

 private:
  std::vector<BridgeRecipe> recipes_;
  std::map<std::string, std::string> tags_;
  std::map<std::string, int64_t> nvlink_;
};

}  // namespace shardscape
