// Reads a launch script: which commands would it run, with which words? Variables, arrays, branches, loops
// and functions are followed; no command is executed. What only a running machine knows stays empty and is
// noted.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/problem.h"

namespace shardscape {

struct ShellCommand {
  std::vector<std::string> words;  // without assignments in front of the command
  int line = 0;                    // in the script that contains it
};

struct ShellNote {
  int line = 0;
  std::string text;  // "`nvidia-smi -L` is not executed; it counts as empty"
};

struct ShellScript {
  std::vector<ShellCommand> commands;            // in the order of execution
  std::map<std::string, std::string> variables;  // plain variables at the end of the script
  std::map<std::string, std::string> files;      // texts that here-documents write, by path
  std::vector<ShellNote> notes;
};

struct ShellInput {
  std::vector<std::string> arguments = {};  // $1, $2, ...
  std::map<std::string, std::string> environment = {};
  // The text of a sourced file; nullopt: there is none. Null: no file is sourced.
  std::function<std::optional<std::string>(const std::string& path)> source = {};
};

// Errors: syntax (parse_shell), or a script that runs for more than about 100,000 commands or whose texts
// grow beyond ShellBudget.
std::variant<ShellScript, Problem> read_shell_script(std::string_view text, const ShellInput& input);

}  // namespace shardscape
