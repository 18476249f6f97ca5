// The command that runs a bundle in ASTRA-sim's congestion-unaware analytical backend.
#pragma once

#include <filesystem>
#include <string>

namespace shardscape {

// For a POSIX shell, one option per line. name: of the traces (ExportOptions).
std::string astra_sim_command(const std::filesystem::path& bundle, const std::string& name);

}  // namespace shardscape
