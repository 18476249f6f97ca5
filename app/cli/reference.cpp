#include "app/cli/reference.h"

#include "app/cli/command.h"
#include "app/cli/flag_values.h"
#include "base/problem.h"
#include "design/knobs/knobs.h"

namespace shardscape {
namespace {

constexpr const char* kMadeBy =
    "`shardscape-cli reference` prints this page, and a test compares both. Do not edit the page by "
    "hand.\n\n";

// Text for the cell of a table.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string code(const std::string& text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

// Flags of knobs are on the page of knobs.
std::string flag_rows(const Command& command) {
  std::string out, group = "-";
  for (const Flag& flag : command.flags) {
    if (is_setting(flag)) continue;
    if (flag.group != group)
      out += "\n| " + (flag.group.empty() ? std::string("flag") : cell(flag.group)) + " | |\n| --- | --- |\n";
    group = flag.group;
    const std::string letter = flag.letter ? std::string("-") + flag.letter + ", " : "";
    out += "| " + code(letter + flag.name + (flag.operand.empty() ? "" : " " + flag.operand)) + " | " +
           cell(flag.help) + " |\n";
  }
  return out;
}

std::string section(const Command& command) {
  std::string out = "## " + command.name + "\n\n" + command.summary + ".\n\n    shardscape-cli " +
                    command.name + " " + command.usage + "\n\n" + command.about + "\n";
  if (!command.examples.empty()) {
    out += "\nExamples:\n\n";
    for (const std::string& example : command.examples) out += "    " + example + "\n";
  }
  return out + flag_rows(command) + "\n";
}

}  // namespace

std::string command_line_reference() {
  std::string
      out = std::string("# Command line\n\n") + kMadeBy +
            "`shardscape-cli COMMAND --help` prints the same texts. Commands that start from a design have a "
            "flag for every setting: see [Settings](json.md). Results go to standard output, messages to "
            "standard error. Exit codes: 0 done; 1 negative answer, for example an invalid design or a "
            "file with wrong content; 2 wrong usage; 3 a file or folder cannot be read or written; 130 "
            "interrupted.\n\n";
  out += "| command | |\n| --- | --- |\n";
  for (const Command& command : commands())
    out += "| [" + command.name + "](#" + command.name + ") | " + cell(command.summary) + " |\n";
  out += "\n";
  for (const Command& command : commands()) out += section(command);
  out.pop_back();
  return out;
}

std::string json_reference() {
  std::string
      out = std::string("# Settings and the JSON of a design\n\n") + kMadeBy +
            "A design is a JSON document with one object per group: `model`, `parallelism`, `workload`, "
            "`cluster`. Each setting is a key in its group, a flag of the command line, and a field of the "
            "form. [Results](json-results.md) describes the output of the commands with `--json`.\n";
  std::string section;
  const KnobGroup* group = nullptr;
  for (const Knob& knob : knobs()) {
    if (!group || *group != knob.group) {
      out += "\n## " + std::string(group_label(knob.group)) + "\n";
      section = "-";
    }
    group = &knob.group;
    if (knob.section != section)
      out += "\n" + (knob.section.empty() ? "" : "### " + knob.section + "\n\n") +
             "| key | flag | symbol | accepted | meaning |\n| --- | --- | --- | --- | --- |\n";
    section = knob.section;
    out += "| " + code(knob.id) + " | " + code(knob.flag()) + " | " + cell(knob.symbol) + " | " +
           cell(accepted_values(knob)) + (knob.unit.empty() ? "" : ", " + cell(knob.unit)) + " | " +
           cell(knob.label) + ". " + cell(knob.help) + " |\n";
  }
  return out;
}

std::string problem_reference() {
  std::string out = std::string("# Problems\n\n") + kMadeBy +
                    "A problem is a mistake in a person's input, or a note. The code identifies the "
                    "condition and never changes; the wording of the message may change. JSON results have "
                    "the code in the key `code`. The window shows the code in the tooltip of the "
                    "problem.\n\n| code | what is wrong |\n| --- | --- |\n";
  for (const ProblemKind& kind : problem_kinds())
    out += "| " + code(std::string(kind.text)) + " | " + cell(std::string(kind.meaning)) + " |\n";
  return out;
}

}  // namespace shardscape
