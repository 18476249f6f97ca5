// The flags of shardscape-cli that give a design, from the knob table.
#pragma once

#include <string>
#include <vector>

#include "design/design.h"

namespace shardscape {

// "--model=llama3-8b", "--tp=2": every value that differs from the start of the command line, one word each.
// app/cli/design_flags.h reads the flags back to an equal design; its name is that of the model and the GPUs.
// A model that is no preset is written as values that differ from Llama 3 8B.
std::vector<std::string> command_flags(const Design& design);

// A word as a POSIX shell reads it: in quotes if it contains characters that a shell interprets.
std::string shell_word(const std::string& word);

// "shardscape-cli report --model=llama3-8b --tp=2": a line for a shell.
std::string command_line(const Design& design, const std::string& command = "report");

}  // namespace shardscape
