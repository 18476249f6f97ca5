#include "app/cli/man_page.h"

#include "app/cli/command.h"
#include "app/cli/design_flags.h"
#include "app/cli/flag_values.h"
#include "app/window_flags.h"
#include "base/version.h"

namespace shardscape {
namespace {

// Text as roff reads it back: no escapes, no requests.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() || out.back() == '\n') {
      if (c == '.' || c == '\'') out += "\\&";
    }
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string head(const std::string& name, const std::string& summary) {
  std::string title;
  for (const char c : name) title += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return ".TH " + roff(title) + " 1 \"\" \"Shardscape " + program_version() + "\" \"Shardscape\"\n" +
         ".SH NAME\n" + roff(name) + " \\- " + roff(summary) + "\n";
}

std::string man_flag_entry(const Flag& flag) {
  std::string out = ".TP\n";
  if (flag.letter) out += std::string("\\fB\\-") + flag.letter + "\\fR, ";
  out += "\\fB" + roff(flag.name) + "\\fR";
  if (!flag.operand.empty()) out += " \\fI" + roff(flag.operand) + "\\fR";
  return out + "\n" + roff(flag.help) + "\n";
}

std::string command_section(const Command& command) {
  std::string out = ".SS " + roff(command.name) + "\n" + roff(command.summary) +
                    ".\n.PP\n\\fBshardscape\\-cli " + roff(command.name) + "\\fR " + roff(command.usage) +
                    "\n.PP\n" + roff(command.about) + "\n";
  if (!command.examples.empty()) {
    out += ".PP\nExamples:\n.PP\n.EX\n";
    for (const std::string& example : command.examples) out += roff(example) + "\n";
    out += ".EE\n";
  }
  bool settings = false;
  for (const Flag& flag : command.flags) {
    settings |= is_setting(flag);
    if (!is_setting(flag)) out += man_flag_entry(flag);
  }
  if (settings) out += ".PP\nEvery setting of a design is a flag, too: see SETTINGS.\n";
  return out;
}

std::string settings_section() {
  std::string out = ".SH SETTINGS\nSettings of a design. The commands that take them say so.\n", group;
  for (const Flag& flag : design_flags()) {
    if (!is_setting(flag)) continue;
    if (flag.group != group) out += ".SS " + roff(flag.group) + "\n";
    group = flag.group;
    out += man_flag_entry(flag);
  }
  return out;
}

constexpr const char* kPlaces =
    ".SH ENVIRONMENT\n.TP\n\\fBSHARDSCAPE_DATA\\fR\nThe folder with models/ and resources/ of the program.\n"
    ".TP\n\\fBXDG_DATA_HOME\\fR\nThe folder of shardscape/ with a person's own models and machines; default: "
    "~/.local/share.\n.SH FILES\n.TP\n\\fI~/.local/share/shardscape/\\fR\nOwn presets, architectures, "
    "blocks, "
    "kernel profiles, accelerators, networks and calibration, and unsaved studies.\n";

}  // namespace

std::string command_line_man_page() {
  std::string
      out = head("shardscape-cli", "command line of Shardscape") +
            ".SH SYNOPSIS\n\\fBshardscape\\-cli\\fR \\fICOMMAND\\fR [\\fIFLAGS\\fR]\n.PP\n"
            "\\fBshardscape\\-cli\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR\n.SH DESCRIPTION\n" +
            roff(kWindowSummary) +
            " The program shows what every rank of a step computes, stores and communicates. No GPU is "
            "needed.\n.PP\nResults go to standard output, messages to standard error.\n.SH COMMANDS\n";
  for (const Command& command : commands()) out += command_section(command);
  return out + settings_section() +
         ".SH EXIT STATUS\n.TP\n0\nDone.\n.TP\n1\nNegative answer: the design is invalid, the bundle has "
         "errors.\n.TP\n2\nWrong usage: an unknown flag or value.\n.TP\n3\nA file or folder cannot be read "
         "or "
         "written.\n.TP\n130\nInterrupted.\n" +
         kPlaces + ".SH SEE ALSO\n\\fBshardscape\\fR(1), \\fBshardscape\\-cli reference\\fR\n";
}

std::string window_man_page() {
  std::string out = head("shardscape", "design-space explorer for distributed LLM workloads") +
                    ".SH SYNOPSIS\n\\fBshardscape\\fR [\\fIFLAGS\\fR] [\\fIFILE\\fR]\n.SH DESCRIPTION\n" +
                    roff(kWindowSummary) +
                    " Model and parallelism are edited in forms. The window shows at once what every rank "
                    "computes, stores and communicates.\n.PP\n\\fIFILE\\fR is a saved design or study.\n.SH "
                    "OPTIONS\n";
  for (const WindowFlag& flag : kWindowFlags)
    out += man_flag_entry({flag.name, 0, FlagKind::Value, flag.operand, flag.help, ""});
  return out + kPlaces + ".SH SEE ALSO\n\\fBshardscape\\-cli\\fR(1)\n";
}

}  // namespace shardscape
