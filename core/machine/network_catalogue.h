// The catalogue of networks (resources/catalogue/clusters.json and files of that name in a person's own folder, whose entries
// replace built-in ones by id), each with its source. Format: the note at the head of the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.h"
#include "machine/network.h"
#include "machine/sources.h"

namespace shardscape {

// 0: as the accelerator, or as Network's usual value.
struct NetworkEntry {
  std::string id, name;
  Sources sources;                        // of the values below
  std::vector<std::string> accelerators;  // ids of those that are sold with it
  int64_t gpus_per_node = 8;
  int64_t domain = 0;                     // ranks of a rack-scale domain; 0: a node
  int64_t segment = 0;                    // of its ranks, those that a job of several domains is given; 0: all
  double scaleup_gbps = 0, nic_gbps = 0;
  double scaleup_efficiency = 0, nic_efficiency = 0;
  double scaleup_latency_us = 0, nic_latency_us = 0, spine_latency_us = 0, launch_us = 0;
  int64_t rails = 0, leaf = 0, pod = 0;
  double oversubscription = 1;
  ScaleupLinks links = ScaleupLinks::Switch;
  int64_t torus_wrap = 0;                 // what closes a dimension of a torus: torus_edges() in network.h
  bool nvls = false, sharp = false;       // what the switches can do
};

const std::vector<NetworkEntry>& networks();
const NetworkEntry* find_network(const std::string& id);
// The one that an accelerator usually comes with; nullptr: none is known.
const NetworkEntry* usual_network(const std::string& accelerator);
// Mistakes found in the catalogue; the entries or files in question were left out.
const std::vector<Problem>& network_problems();

}  // namespace shardscape
