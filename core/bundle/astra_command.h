// The commands that run a bundle in ASTRA-sim: in its congestion-unaware analytical backend and in its
// packet-level backends.
#pragma once

#include <filesystem>
#include <string>

#include "astra_sim/packet_network.h"

namespace shardscape {

inline constexpr const char* kAstraSimProgram = "AstraSim_Analytical_Congestion_Unaware";

// For a POSIX shell, one option per line. bundle: the folder; empty: the current folder. name: of the traces
// (ExportOptions).
std::string astra_sim_command(const std::filesystem::path& bundle, const std::string& name);

// The same for a packet-level backend, in the folder of the bundle: the files name each other without
// folders.
std::string packet_command(PacketBackend backend, const std::string& name);

// run-astra-sim.sh: the same command for the folder of the script. The program is the first argument, or
// $ASTRA_SIM, or kAstraSimProgram in $PATH.
std::string astra_sim_script(const std::string& name);

}  // namespace shardscape
