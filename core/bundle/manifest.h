// manifest.json: the content of a bundle, its design, and digests that detect damage.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "astra_sim/packet_network.h"
#include "astra_sim/sim_cluster.h"
#include "bundle/trace_export.h"

namespace shardscape {

// window: the traces have its steps; null: one step of the report.
std::string manifest_json(const Report& report, const ExportOptions& options, const SimCluster& cluster,
                          const std::vector<PacketNetwork>& packets, const TraceTotals& totals,
                          const StepWindow* window = nullptr);

// The manifest of a part of the ranks, from that of another part of the same job (ExportOptions::part).
// manifest: a text of manifest_json(); it must be valid.
std::string manifest_of_part(const std::string& manifest, const TraceTotals& totals);

// The parts of a manifest that the checker uses.
struct ManifestClass {
  std::vector<int64_t> ranks;
  std::string digest;
};
struct Manifest {
  int64_t ranks = 0;  // of the job
  bool part = false;  // the bundle has the ranks of the classes only
  std::vector<ManifestClass> classes;
};
// Returns nothing if the folder has no manifest, or the manifest of another program, or a damaged one. Of
// ranks that are not below `traces`, a class has the first only.
std::optional<Manifest> read_manifest(const std::filesystem::path& bundle, int64_t traces);

}  // namespace shardscape
