#include "bundle/astra_command.h"

#include <functional>
#include <utility>

#include "bundle/bundle_files.h"
#include "design/knobs/command_flags.h"

namespace shardscape {
namespace {

// program: a word of the shell. word: the path of a file of the bundle as a word of the shell.
// network: the file of --network-configuration.
std::string command_of(const std::string& program, const std::string& name, const std::string& network,
                       const std::function<std::string(const std::string& file)>& word) {
  const std::pair<const char*, std::string> options[] = {{"workload", name},
                                                         {"comm-group", kGroupsName},
                                                         {"system", kSystemName},
                                                         {"network", network},
                                                         {"remote-memory", kMemoryName}};
  std::string command = program;
  for (const auto& [option, file] : options)
    command += std::string(" \\\n  --") + option + "-configuration=" + word(file);
  return command + "\n";
}

}  // namespace

std::string astra_sim_command(const std::filesystem::path& bundle, const std::string& name) {
  return command_of(kAstraSimProgram, name, kNetworkName,
                    [&](const std::string& file) { return shell_word((bundle / file).string()); });
}

std::string packet_command(PacketBackend backend, const std::string& name) {
  const auto command = [&](const char* program, const char* network, const std::string& more) {
    std::string text = command_of(program, name, network, shell_word);
    text.pop_back();  // end of line
    return text + " \\\n  " + more + "\n";
  };
  switch (backend) {
    case PacketBackend::Ns3:
      return command("/path/to/ns3.42-AstraSimNetwork-default", kNs3ConfigName,
                     std::string("--logical-topology-configuration=") + kNs3LogicalName);
    case PacketBackend::Htsim:
      return command("/path/to/AstraSim_HTSim", kNetworkName,
                     std::string("--htsim_opts -topo ") + kHtsimName);
  }
  return {};
}

std::string astra_sim_script(const std::string& name) {
  const std::string program = kAstraSimProgram;
  return "#!/usr/bin/env bash\n"
         "# Runs this bundle in ASTRA-sim:\n"
         "#   ./" +
         std::string(kScriptName) + " /path/to/" + program +
         "\n"
         "# Without an argument, the variable ASTRA_SIM names the program.\n"
         "set -euo pipefail\n"
         "astra_sim=${1:-${ASTRA_SIM:-" +
         program +
         "}}\n"
         "if ! command -v -- \"$astra_sim\" >/dev/null; then\n"
         "  echo \"$0: \\\"$astra_sim\\\" is not a program. Give the path of " +
         program +
         " as the argument, or in the variable ASTRA_SIM.\" >&2\n"
         "  exit 127\n"
         "fi\n"
         "bundle=$(dirname -- \"${BASH_SOURCE[0]}\")\n"
         "exec " +
         command_of("\"$astra_sim\"", name, kNetworkName,
                    [](const std::string& file) { return "\"$bundle\"/" + shell_word(file); });
}

}  // namespace shardscape
