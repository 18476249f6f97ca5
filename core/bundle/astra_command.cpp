#include "bundle/astra_command.h"

#include <utility>

#include "design/knobs/command_flags.h"

namespace shardscape {

std::string astra_sim_command(const std::filesystem::path& bundle, const std::string& name) {
  const std::pair<const char*, std::string> options[] = {{"workload", name},
                                                         {"comm-group", "comm_groups.json"},
                                                         {"system", "system.json"},
                                                         {"network", "network.yml"},
                                                         {"remote-memory", "memory.json"}};
  std::string command = "AstraSim_Analytical_Congestion_Unaware";
  for (const auto& [option, file] : options)
    command += std::string(" \\\n  --") + option + "-configuration=" + shell_word((bundle / file).string());
  return command + "\n";
}

}  // namespace shardscape
