#include "bundle/astra_command.h"

#include <functional>
#include <utility>

#include "bundle/bundle_files.h"
#include "design/knobs/command_flags.h"

namespace shardscape {
namespace {

// program: a word of the shell. word: the path of a file of the bundle as a word of the shell.
std::string command_of(const std::string& program, const std::string& name,
                       const std::function<std::string(const std::string& file)>& word) {
  const std::pair<const char*, std::string> options[] = {{"workload", name},
                                                         {"comm-group", kGroupsName},
                                                         {"system", kSystemName},
                                                         {"network", kNetworkName},
                                                         {"remote-memory", kMemoryName}};
  std::string command = program;
  for (const auto& [option, file] : options)
    command += std::string(" \\\n  --") + option + "-configuration=" + word(file);
  return command + "\n";
}

}  // namespace

std::string astra_sim_command(const std::filesystem::path& bundle, const std::string& name) {
  return command_of(kAstraSimProgram, name,
                    [&](const std::string& file) { return shell_word((bundle / file).string()); });
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
         command_of("\"$astra_sim\"", name,
                    [](const std::string& file) { return "\"$bundle\"/" + shell_word(file); });
}

}  // namespace shardscape
