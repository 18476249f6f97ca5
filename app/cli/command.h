// What a command of the line is called, takes and does. Help and parsing both come from it.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace shardscape {

class Arguments;

enum class FlagKind {
  Switch,   // --json
  Boolean,  // --sequence-parallel, or with true or false behind it
  Value     // --tp 2, --tp=2
};

struct Flag {
  std::string name;  // "--kv-heads"
  char letter = 0;   // 'o' where -o is the same
  FlagKind kind = FlagKind::Value;
  std::string operand;  // what the help calls the value: "N"
  std::string help;
  std::string group;  // heading in the help
};

inline constexpr int kAnyNumber = 1 << 20;  // of operands

struct Command {
  std::string name, summary;  // summary: a line of the overview
  std::string usage;          // what follows the name: "[FLAGS] -o DIR"
  std::string about;          // what it does, for somebody who has not seen it
  std::vector<std::string> examples;
  std::vector<Flag> flags;
  int operands = 0;                        // how many words without a flag it takes
  int (*run)(const Arguments&) = nullptr;  // an exit code
};

std::span<const Command> commands();
const Command* find_command(std::string_view name);

}  // namespace shardscape
