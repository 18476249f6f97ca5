// The network catalogue, with a source for each value. Data: resources/catalogue/clusters.json, and files of
// the same name in the user's folder, whose entries replace built-in entries with equal ids. The head of the
// built-in file describes the format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.h"
#include "hardware/network.h"
#include "hardware/sources.h"

namespace shardscape {

// A network. 0 means the value of the accelerator, or the default value in struct Network.
struct NetworkEntry {
  std::string id, name;
  Sources sources;                        // of the values below
  std::vector<std::string> accelerators;  // ids of the accelerators that are sold with this network
  int64_t gpus_per_node = 8;
  int64_t domain = 0;  // ranks of a rack-scale domain; 0: a node
  // Ranks that a job gets from each domain if it needs several domains; 0: all.
  int64_t segment = 0;
  double scaleup_gbps = 0, nic_gbps = 0;
  double scaleup_efficiency = 0, nic_efficiency = 0;
  double scaleup_latency_us = 0, nic_latency_us = 0, spine_latency_us = 0, launch_us = 0;
  int64_t rails = 0, leaf = 0, pod = 0;
  double oversubscription = 1;
  ScaleupLinks links = ScaleupLinks::Switch;
  int64_t torus_wrap = 0;            // the parameter `wrap` of torus_edges() in network.h
  bool nvls = false, sharp = false;  // whether switches can reduce: NVLink SHARP, SHARP
};

const std::vector<NetworkEntry>& networks();
const NetworkEntry* find_network(const std::string& id);
// The usual network of an accelerator; nullptr if none is known.
const NetworkEntry* default_network(const std::string& accelerator);
// Mistakes in the catalogue. Entries or files with a mistake are left out.
const std::vector<Problem>& network_problems();

}  // namespace shardscape
