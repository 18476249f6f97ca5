// shardscape-cli expand
#include "app/cli/bundle_operand.h"
#include "app/cli/bundle_output.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "bundle/compact_bundle.h"

namespace shardscape {
namespace {

int run_expand(const Arguments& arguments) {
  const auto operand = bundle_operand(arguments, "expand");
  if (const int* exit_code = std::get_if<int>(&operand)) return *exit_code;
  ExpandOptions options;
  const std::string* target = arguments.value("--output");
  if (!target || target->empty()) {
    print_problem({ProblemCode::OperandMissing, "--output", "the output folder is missing",
                   "-o DIR, a new or empty folder; -o NAME.tar; -o -"});
    return kWrongUsage;
  }
  options.target = *target;
  options.replace = arguments.has("--replace");
  options.resume = arguments.has("--resume");
  options.keep_partial = true;
  if (const std::string* ranks = arguments.value("--ranks")) options.ranks = *ranks;
  Interrupt interrupt;
  const auto result = with_progress([&](const ExportProgressFn& progress) {
    return expand_bundle(std::get<0>(operand), options, progress, interrupt.token());
  });
  if (const auto* problem = std::get_if<Problem>(&result)) return export_failed(*problem, interrupt);
  print_summary(std::get<ExportSummary>(result), options.target, "", arguments.has("--json"));
  return kDone;
}

}  // namespace

Command expand_command() {
  return {
      "expand",
      "write the traces that a compact bundle stands for",
      "COMPACT -o TARGET [--ranks RANGES] [FLAGS]",
      "Reads a folder that export --compact wrote, and writes the bundle that a direct export of the same "
      "design writes, with the same bytes. It needs neither the design nor the model library. With --ranks, "
      "it writes the traces of some ranks only, and the bundle says that it is a part.",
      {"shardscape-cli expand out/compact -o out/bundle",
       "shardscape-cli expand out/compact --ranks 0-1023 -o out/part"},
      {{"--output", 'o', FlagKind::Value, "TARGET",
        "The folder to write; without --replace, it must be empty or not exist. Or one archive: NAME.tar, "
        "NAME.tar.zst, or - for a tar on standard output.",
        "", Output::Bundle},
       {"--ranks", 0, FlagKind::Value, "RANGES",
        "Write the traces of these ranks only, such as 0-1023 or "
        "0,8,16.",
        ""},
       {"--replace", 0, FlagKind::Switch, "",
        "Replace an existing bundle or archive of a bundle. Other folders and files are never replaced.", ""},
       resume_flag(),
       json_flag()},
      1,
      run_expand};
}

}  // namespace shardscape
