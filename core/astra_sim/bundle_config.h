// The configuration files of a bundle, read and checked: groups, system, network, memory.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "chakra/chakra.h"
#include "chakra/findings.h"

namespace shardscape {

// One dimension of network.yml. The first dimension connects neighbouring ranks.
struct NetworkDimension {
  std::string topology;  // Ring, FullyConnected, Switch
  int64_t ranks = 0;
  double gigabytes = 0;  // 2^30 bytes per second
  double latency = 0;    // ns per hop
};

// The collectives that the simulator runs have an implementation each, in this order: all-reduce, all-gather,
// reduce-scatter, all-to-all. nullopt: the simulator does not run the collective.
inline constexpr size_t kImplementationCount = 4;
std::optional<size_t> implementation_index(chakra::CollectiveType type);
inline constexpr const char* kImplementationKeys[kImplementationCount] = {
    "all-reduce-implementation", "all-gather-implementation", "reduce-scatter-implementation",
    "all-to-all-implementation"};

struct BundleConfig {
  std::unordered_map<int64_t, std::vector<int64_t>> groups;  // ranks by group id, ascending
  int64_t ranks = 0;                                         // product of npus_count; 0: unknown
  int64_t dataset_splits = 1;
  bool roofline = true, track_local_mem = false, memory_expansion = false;
  // ns. The default is the simulator's own value, used if system.json does not set the delay.
  double endpoint_delay = 10;
  std::vector<NetworkDimension> dimensions;
  // By implementation_index, then per network dimension.
  std::array<std::vector<std::string>, kImplementationCount> implementations;
  // localBWAware: all-reduces scatter, reduce and gather dimension by dimension.
  bool level_by_level = false;
  int64_t active_chunks = 1;
  // own_memory: every rank has its own link to remote memory.
  bool replay_only = false, own_memory = false;
  double memory_latency = 0, memory_gbps = 0;          // remote memory: ns, 10^9 bytes per second
  double peak_flops = 0, memory_bytes_per_second = 0;  // 0: unknown
  bool is_member(int64_t group, int64_t rank) const;
};

// The files of a simulation. Paths that are empty stand for the file of that name in the folder.
struct BundlePaths {
  std::filesystem::path folder = {};   // of the traces
  std::filesystem::path groups = {};   // comm_groups.json
  std::filesystem::path system = {};   // system.json
  std::filesystem::path network = {};  // network.yml
  std::filesystem::path memory = {};   // memory.json
};

// Reads the configuration files. Findings report every defect; values that can be read are set. A folder
// without comm_groups.json has no groups; without memory.json, it has no remote memory.
BundleConfig read_bundle_config(const BundlePaths& paths, Findings& findings);
// Checks that need the number of ranks and the number of traces.
void check_config_ranks(const BundleConfig& config, int64_t ranks, int64_t traces, Findings& findings);

}  // namespace shardscape
