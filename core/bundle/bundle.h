// Exports a bundle: a folder with one Chakra trace per rank, communicator groups, simulator configurations,
// a README, a script that runs ASTRA-sim, and a manifest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "astra_sim/packet_network.h"
#include "base/problem.h"
#include "bundle/rank_part.h"
#include "chakra/granularity.h"
#include "chakra/step_window.h"
#include "plan/report.h"

namespace shardscape {

// The help of the option in the window and on the command line.
inline constexpr const char* kFlatNetworkHelp =
    "Describe the network in one dimension at the rate of its slowest links. ASTRA-sim's "
    "congestion-aware backend requires one dimension.";
inline constexpr const char* kNetworksHelp =
    "Also describe the network for packet-level backends of ASTRA-sim: ns3 (links between ranks and "
    "switches), htsim (tiers of a fat tree), or ns3,htsim. The README of the bundle has the commands.";

struct ExportOptions {
  // Target folder: new or empty, unless `replace`. Or an archive (archive.h): "-", NAME.tar, NAME.tar.zst.
  std::filesystem::path target{};
  std::string name = "trace";  // <name>.<rank>.et
  bool tensors = false;        // names and bytes of inputs and outputs; more than doubles a trace
  // Compute nodes carry seconds on the machine of the design, which the simulator then replays.
  bool durations = false;     // steps of an engine always have them
  bool launches = false;      // durations include waits for launches by the host; needs `durations`
  bool json = false;          // every trace also as JSON, <name>.<rank>.json (chakra/trace_json.h)
  bool flat_network = false;  // kFlatNetworkHelp
  std::vector<PacketBackend> networks{};  // kNetworksHelp
  // Replace the target if it is a bundle (a folder with a Shardscape manifest.json).
  bool replace = false;
  // What a compute node covers. Coarser nodes and several steps have no tensors.
  Granularity granularity = Granularity::Op;
  int64_t steps = 1;     // in each trace; a window of engine steps has its own
  RankPart part{};       // the ranks with a trace; all other files are those of the whole job
  bool compact = false;  // one trace per rank class, and a table of what each rank has of its own
  // Go on with what a killed export of the same settings left next to the target. Folders only.
  bool resume = false;
  bool keep_partial = false;  // a full disk leaves the temporary folder, for `resume`
  friend bool operator==(const ExportOptions&, const ExportOptions&) = default;
};

struct ExportProgress {
  int64_t ranks_done = 0, ranks = 0, bytes = 0;
  double seconds = 0;
};

struct ExportSummary {
  std::filesystem::path target;
  // Of the traces, also those that a compact bundle stands for.
  int64_t ranks = 0, nodes = 0, bytes = 0;
  int64_t stored_bytes = 0;  // of the files of a compact bundle; 0: others
  double seconds = 0;
  // Properties of the cluster that the simulator's files cannot express, each with the description written
  // instead.
  std::vector<std::string> substitutions;
  // The same for the files of packet-level backends.
  struct PacketSubstitution {
    std::string file, text;
  };
  std::vector<PacketSubstitution> packet_substitutions{};
  // A line about each temporary file or folder of a killed export that this export removed.
  std::vector<std::string> removed{};
  bool resumed = false;  // went on with the files of a killed export
};

// Why the traces cannot have this name; nothing if they can.
std::optional<Problem> check_trace_name(const std::string& name);

// Called from worker threads, one at a time.
using ExportProgressFn = std::function<void(const ExportProgress&)>;

// Writes to a temporary folder next to the target and renames it when it is complete. A failed or stopped
// export removes the temporary folder. Problems: the options, the target, the disk, or a number that does not
// fit into a trace.
Result<ExportSummary> export_bundle(const Report& report, const ExportOptions& options,
                                    const ExportProgressFn& progress = {}, std::stop_token stop = {});

// The same with consecutive steps of a serving engine.
Result<ExportSummary> export_bundle(const StepWindow& window, const ExportOptions& options,
                                    const ExportProgressFn& progress = {}, std::stop_token stop = {});

// Bytes of all traces, exact except for the width of rank and group numbers; less if stopped. 0 if the report
// is invalid, if a number does not fit into a trace, or if the computer has too little memory. Takes seconds
// for many stages, microbatches and steps. The target, the name and what happens to files there have no
// effect.
int64_t estimate_bundle_bytes(const Report& report, const ExportOptions& options,
                              const std::stop_token& stop = {});
int64_t estimate_bundle_bytes(const StepWindow& window, const ExportOptions& options,
                              const std::stop_token& stop = {});

}  // namespace shardscape
