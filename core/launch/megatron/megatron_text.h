// The arguments of a launch in a text: of a command, or of the dump in a log.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "launch/megatron/megatron_arguments.h"
#include "launch/shell/shell_script.h"

namespace shardscape {

struct MegatronText {
  LaunchArguments arguments;
  std::map<std::string, int> lines;             // of arguments
  std::map<std::string, std::string> launcher;  // "--nproc_per_node", "--nnodes"; "world_size" of a dump
};

// Flags before the program (a word that ends in .py, or "-m module") belong to torchrun or srun. Without a
// program, all flags but those of torchrun are arguments.
MegatronText megatron_command(const ShellCommand& command);

bool has_megatron_dump(std::string_view text);
// The last dump of a log counts: values that Megatron-LM derived replace those of the command line.
MegatronText megatron_dump(std::string_view text);

}  // namespace shardscape
