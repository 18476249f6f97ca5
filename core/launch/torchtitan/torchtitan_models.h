// The models of torchtitan v0.2.2: torchtitan/models/<name>/__init__.py.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace shardscape {

struct TorchtitanModel {
  const char* name;    // model.name
  const char* flavor;  // model.flavor
  const char* preset;
  std::vector<std::pair<const char*, const char*>> sizes;  // knobs other than those of the preset
  const char* difference = "";                             // what a design does not say of the flavor
};

const std::vector<TorchtitanModel>& torchtitan_models();

// nullptr: no such flavor. Flavors with the ending _flex, _flex_attn or _varlen have the sizes of the flavor
// without it.
const TorchtitanModel* torchtitan_model(const std::string& name, const std::string& flavor);
bool sees_documents(const TorchtitanModel& model, const std::string& flavor);

}  // namespace shardscape
