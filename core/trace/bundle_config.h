// The configuration files of a bundle, read and checked: groups, system, network, memory.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/findings.h"

namespace shardscape {

// One dimension of network.yml; the first lies along neighbouring ranks.
struct NetworkDimension {
  std::string topology;          // Ring, FullyConnected, Switch
  int64_t ranks = 0;
  double gigabytes = 0;          // 2^30 bytes per second
  double latency = 0;            // ns per hop
};

struct BundleConfig {
  std::unordered_map<int64_t, std::vector<int64_t>> groups;  // members ascending
  int64_t ranks = 0;             // product of npus_count; 0: not known
  int64_t dataset_splits = 1;
  bool roofline = true, track_local_mem = false, memory_expansion = false;
  double endpoint_delay = 10;    // ns; the simulator's own where system.json says none
  std::vector<NetworkDimension> dimensions;
  // Per dimension: of all-reduces, all-gathers, reduce-scatters, all-to-alls.
  std::array<std::vector<std::string>, 4> implementations;
  bool level_by_level = false;   // localBWAware: all-reduces scatter, reduce and gather along the dimensions
  int64_t active_chunks = 1;
  bool replay_only = false, own_memory = false;      // own_memory: every rank has a link of its own to remote memory
  double memory_latency = 0, memory_gbps = 0;        // of remote memory: ns, 10^9 bytes per second
  double peak_flops = 0, memory_bytes_per_second = 0;  // 0: not known
  bool is_member(int64_t group, int64_t rank) const;
};

// Findings name what is wrong; what could be read is set all the same.
BundleConfig read_bundle_config(const std::filesystem::path& bundle, Findings& findings);
// Rules that need the number of ranks and of the traces found.
void check_config_ranks(const BundleConfig& config, int64_t ranks, int64_t traces, Findings& findings);

}  // namespace shardscape
