// The names of the files of a bundle, apart from the traces.
#pragma once

namespace shardscape {

inline constexpr const char* kGroupsName = "comm_groups.json";
inline constexpr const char* kSystemName = "system.json";
inline constexpr const char* kNetworkName = "network.yml";
inline constexpr const char* kMemoryName = "memory.json";
inline constexpr const char* kManifestName = "manifest.json";
inline constexpr const char* kReadmeName = "README.md";
inline constexpr const char* kScriptName = "run-astra-sim.sh";  // executable
inline constexpr const char* kCompactName = "compact.json";     // of a compact bundle (compact_bundle.h)

// In a temporary folder only: the settings of the export (export_settings.h).
inline constexpr const char* kSettingsName = ".export-settings.json";

struct BundleFile {
  const char* name;
  const char* content;  // for people
};
inline constexpr BundleFile kBundleFiles[] = {
    {kGroupsName, "the ranks of each communicator group"},
    {kSystemName, "peak rate, memory bandwidth, collective algorithms"},
    {kNetworkName, "dimensions of the network"},
    {kMemoryName, "memory of the host, used by offload only"},
    {kManifestName, "content, digests, the design, and properties that the simulator cannot express"},
    {kReadmeName, "this page"},
    {kScriptName, "runs the bundle in ASTRA-sim"},
};

}  // namespace shardscape
