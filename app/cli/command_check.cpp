// shardscape-cli check
#include <iostream>

#include "app/cli/bundle_operand.h"
#include "app/cli/bundle_paths.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/progress_line.h"
#include "app/cli/trace_output.h"
#include "bundle/checker.h"

namespace shardscape {
namespace {

int run_check(const Arguments& arguments) {
  const auto operand = bundle_operand(arguments, "check");
  if (const int* exit_code = std::get_if<int>(&operand)) return *exit_code;
  Interrupt interrupt;
  const CheckReport report = [&] {
    ProgressLine line;
    return check_bundle(
        bundle_paths(arguments, std::get<0>(operand)),
        [&](double part) { line.show("checked " + std::to_string(static_cast<int>(100 * part)) + " %"); },
        interrupt.token());
  }();
  if (interrupt.requested()) {
    std::cerr << "interrupted: the check is incomplete\n";
    return kInterrupted;
  }
  std::cout << (arguments.has("--json") ? check_json(report) : terminal_text(check_text(report)));
  return report.ok() ? kDone : kNegativeAnswer;
}

}  // namespace

Command check_command() {
  std::vector<Flag> flags = bundle_path_flags();
  flags.push_back(json_flag());
  return {
      "check",
      "check that every rank of an exported bundle finishes",
      "BUNDLE [--groups FILE] [--system FILE] [--network FILE] [--memory FILE] [--json]",
      "Reads every trace of the bundle and checks the rules of the programs that read bundles. Bundles "
      "of other programs may have their files elsewhere. Traces compressed with gzip are read as well, "
      "with a warning, because simulators read plain files only. The command then replays all traces to "
      "prove that every rank finishes. The replay has the resource rules of a simulator: a rank runs at "
      "most one computation and one collective or send at a time. Exit code 0: no errors; 1: at least one "
      "error.",
      {"shardscape-cli check out/llama8",
       "shardscape-cli check out/stage --groups out/stage/workload.json --system system.json --network "
       "network.yml"},
      flags,
      1,
      run_check};
}

}  // namespace shardscape
