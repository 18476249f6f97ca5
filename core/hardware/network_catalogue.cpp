#include "hardware/network_catalogue.h"

#include <algorithm>

#include "hardware/catalogue_file.h"
#include "hardware/catalogue_text.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

double number(const JsonFile& file, const json& entry, const std::string& key, const std::string& near,
              double low, double high, double fallback) {
  const auto it = entry.find(key);
  if (it == entry.end()) return fallback;
  const double value = it->is_number() ? it->get<double>() : -1;
  if (!(value >= low && value <= high))
    file.fail(ProblemCode::DataValue, near, "\"" + key + "\" of \"" + near + "\" is out of range",
              "a number from " + json(low).dump() + " to " + json(high).dump());
  return value;
}

int64_t count(const JsonFile& file, const json& entry, const std::string& key, const std::string& near,
              int64_t fallback) {
  const int64_t value = file.integer_or(entry, key, fallback);
  if (value < 0 || value > 131072)
    file.fail(ProblemCode::DataValue, near, "\"" + key + "\" of \"" + near + "\" is out of range",
              "a whole number from 0 to 131,072");
  return value;
}

ScaleupLinks links(const JsonFile& file, const json& entry, const std::string& near) {
  const std::string text = file.text_or(entry, "scaleup_links", "switch");
  if (text == "switch") return ScaleupLinks::Switch;
  if (text == "mesh") return ScaleupLinks::Mesh;
  if (text == "torus-2d") return ScaleupLinks::Torus2;
  if (text == "torus-3d") return ScaleupLinks::Torus3;
  file.fail(ProblemCode::DataValue, near, "\"scaleup_links\" of \"" + near + "\" is \"" + text + "\"",
            "switch, mesh, torus-2d or torus-3d");
}

NetworkEntry network(const JsonFile& file, const json& entry) {
  if (!entry.is_object())
    file.fail(ProblemCode::DataValue, "networks", entry.dump() + " is not a network", "an object in braces");
  file.only(entry, {"id",
                    "name",
                    "accelerators",
                    "gpus_per_node",
                    "domain",
                    "segment",
                    "scaleup_gbps",
                    "nic_gbps",
                    "scaleup_efficiency",
                    "nic_efficiency",
                    "scaleup_latency_us",
                    "nic_latency_us",
                    "spine_latency_us",
                    "launch_us",
                    "rails",
                    "leaf",
                    "pod",
                    "oversubscription",
                    "scaleup_links",
                    "torus_wrap",
                    "nvls",
                    "sharp",
                    "source",
                    "sources",
                    "note"});
  NetworkEntry item;
  item.id = file.text(entry, "id");
  item.name = file.text(entry, "name");
  if (item.id.empty() || item.id == "auto")
    file.fail(ProblemCode::DataValue, "id", "\"" + item.id + "\" cannot name a network", "any other id");
  item.sources = read_sources(
      file, entry, item.id,
      {"gpus_per_node", "domain", "segment", "scaleup_gbps", "nic_gbps", "scaleup_efficiency",
       "nic_efficiency", "scaleup_latency_us", "nic_latency_us", "spine_latency_us", "launch_us", "rails",
       "leaf", "pod", "oversubscription", "scaleup_links", "torus_wrap", "nvls", "sharp"});
  for (const json& id : file.array(entry, "accelerators")) {
    if (!id.is_string())
      file.fail(ProblemCode::DataValue, item.id, id.dump() + " is not an accelerator's id",
                "a string in quotes");
    item.accelerators.push_back(id.get<std::string>());
  }
  item.gpus_per_node = std::max<int64_t>(1, count(file, entry, "gpus_per_node", item.id, 8));
  item.domain = count(file, entry, "domain", item.id, 0);
  item.segment = count(file, entry, "segment", item.id, 0);
  if (item.segment > item.domain)
    file.fail(ProblemCode::DataValue, item.id, "\"segment\" of \"" + item.id + "\" is larger than its domain",
              "at most the size of the domain");
  item.scaleup_gbps = number(file, entry, "scaleup_gbps", item.id, 0, 1e6, 0);
  item.nic_gbps = number(file, entry, "nic_gbps", item.id, 0, 1e6, 0);
  item.scaleup_efficiency = number(file, entry, "scaleup_efficiency", item.id, 0, 1, 0);
  item.nic_efficiency = number(file, entry, "nic_efficiency", item.id, 0, 1, 0);
  item.scaleup_latency_us = number(file, entry, "scaleup_latency_us", item.id, 0, 1e6, 0);
  item.nic_latency_us = number(file, entry, "nic_latency_us", item.id, 0, 1e6, 0);
  item.spine_latency_us = number(file, entry, "spine_latency_us", item.id, 0, 1e6, 0);
  item.launch_us = number(file, entry, "launch_us", item.id, 0, 1e6, 0);
  item.leaf = count(file, entry, "leaf", item.id, 0);
  if (item.leaf % item.gpus_per_node != 0)
    file.fail(ProblemCode::DataValue, item.id,
              "\"leaf\" of \"" + item.id + "\" is not a multiple of the GPUs per node",
              "a multiple of " + std::to_string(item.gpus_per_node));
  item.rails = count(file, entry, "rails", item.id, 0);
  item.pod = count(file, entry, "pod", item.id, 0);
  item.oversubscription = number(file, entry, "oversubscription", item.id, 1, 1e3, 1);
  item.links = links(file, entry, item.id);
  item.torus_wrap = count(file, entry, "torus_wrap", item.id, 0);
  item.nvls = file.boolean_or(entry, "nvls", false);
  item.sharp = file.boolean_or(entry, "sharp", false);
  return item;
}

const Catalogue<NetworkEntry>& network_catalogue() {
  static const Catalogue<NetworkEntry> instance = read_catalogue("clusters.json", "networks", network);
  return instance;
}

}  // namespace

const std::vector<NetworkEntry>& networks() { return network_catalogue().items; }

const std::vector<Problem>& network_problems() { return network_catalogue().problems; }

std::vector<Problem> network_text_problems(const std::string& text, const std::string& name) {
  std::vector<Problem> problems;
  read_catalogue_text(text, name, "networks", network, problems);
  return problems;
}

const NetworkEntry* find_network(const std::string& id) { return network_catalogue().find(id); }

const NetworkEntry* default_network(const std::string& accelerator) {
  for (const NetworkEntry& item : networks())
    if (std::find(item.accelerators.begin(), item.accelerators.end(), accelerator) != item.accelerators.end())
      return &item;
  return nullptr;
}

}  // namespace shardscape
