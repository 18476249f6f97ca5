// Description of a command: name, flags and function. Help and parser read it.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace shardscape {

class Arguments;

enum class FlagKind {
  Switch,   // --json
  Boolean,  // --sequence-parallel, optionally followed by true or false
  Value     // --tp 2, --tp=2
};

// What the value of a flag names, if the command writes it. The path is checked before the command starts.
enum class Output {
  None,
  File,
  Folder,
  Bundle,  // a folder, an archive, or "-"
};

struct Flag {
  std::string name;  // "--kv-heads"
  char letter = 0;   // 'o' if -o is an alias
  FlagKind kind = FlagKind::Value;
  std::string operand;  // placeholder of the value in the help: "N"
  std::string help;
  std::string group;  // heading in the help
  Output output = Output::None;
};

// nullptr: no flag has this name.
const Flag* find_flag(std::span<const Flag> flags, std::string_view name);

inline constexpr int kAnyNumber = 1 << 20;  // of operands

struct Command {
  std::string name, summary;  // summary: one line in the overview
  std::string usage;          // follows the name: "[FLAGS] -o DIR"
  std::string about;          // description for new users
  std::vector<std::string> examples;
  std::vector<Flag> flags;
  int operands = 0;                        // maximum number of operands
  int (*run)(const Arguments&) = nullptr;  // returns an exit code
  // A former name, which find_command accepts and the help does not list; "": none.
  std::string alias{};
};

std::span<const Command> commands();
const Command* find_command(std::string_view name);

}  // namespace shardscape
