// manifest.json: what a bundle holds, from which design, and digests to tell whether it is still whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trace/sim_cluster.h"
#include "trace/trace_export.h"

namespace shardscape {

inline constexpr const char* kManifestName = "manifest.json";

std::string manifest_json(const Report& report, const ExportOptions& options, const SimCluster& cluster,
                          const TraceTotals& totals);

// The parts that a check of a bundle uses.
struct ManifestClass {
  std::vector<int64_t> ranks;
  std::string digest;
};
struct Manifest {
  int64_t ranks = 0;
  std::vector<ManifestClass> classes;
};
// Nothing where the folder has no manifest, or one that another program wrote.
std::optional<Manifest> read_manifest(const std::filesystem::path& bundle);

}  // namespace shardscape
