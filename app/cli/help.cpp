#include "app/cli/help.h"

#include <cctype>

#include "app/cli/text.h"
#include "base/version.h"

namespace shardscape {
namespace {

constexpr size_t kFlagColumn = 28;

std::string flag_entry(const Flag& flag) {
  std::string left = "  " + (flag.letter ? std::string("-") + flag.letter + ", " : "") + flag.name;
  if (!flag.operand.empty()) left += " " + flag.operand;
  // A long flag has its own line.
  std::string out = text_width(left) + 2 > kFlagColumn ? left + "\n" + std::string(kFlagColumn, ' ')
                                                       : padded(left, kFlagColumn);
  return out + wrapped(flag.help, kFlagColumn) + "\n";
}

std::string heading(const std::string& text) { return "\n" + text + ":\n"; }

}  // namespace

std::string overview_help() {
  std::string out = std::string("shardscape-cli ") + program_version() + "\n" +
                    wrapped(
                        "The command line of Shardscape. It shows what every rank of a distributed LLM step "
                        "computes, stores and communicates. No GPU is needed.",
                        0) +
                    "\n";
  out += heading("Usage") + "  shardscape-cli COMMAND [FLAGS]\n  shardscape-cli COMMAND --help\n";
  out += heading("Commands");
  std::vector<std::vector<std::string>> rows;
  for (const Command& command : commands()) rows.push_back({"  " + command.name, command.summary});
  out += text_table(rows, {Align::Left, Align::Left});
  out += heading("Flags") +
         "  -h, --help   this text, or the text of a command\n  --version    the version of the program\n";
  out += heading("Start with");
  for (const Command& command : commands()) {
    if (!command.examples.empty()) out += "  " + command.examples.front() + "\n";
  }
  out += heading("Exit codes") +
         "  0    done\n"
         "  1    negative answer: the design is invalid, a bundle or a file has errors\n"
         "  2    wrong usage: an unknown flag or value\n"
         "  3    a file or folder that cannot be read or written\n"
         "  130  interrupted\n";
  return out;
}

std::string command_help(const Command& command) {
  std::string out = "shardscape-cli " + command.name + ": " + command.summary + "\n\n" +
                    wrapped(command.about, 0) + "\n";
  out += heading("Usage") + "  shardscape-cli " + command.name + " " + command.usage + "\n";
  out += heading("Examples");
  for (const std::string& example : command.examples) out += "  " + example + "\n";
  std::string group = "-";
  for (const Flag& flag : command.flags) {
    if (flag.group != group) out += heading(flag.group.empty() ? "Flags" : flag.group);
    group = flag.group;
    out += flag_entry(flag);
  }
  return out;
}

}  // namespace shardscape
