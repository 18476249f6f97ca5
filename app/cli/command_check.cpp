// shardscape-cli check
#include <iostream>

#include "app/cli/bundle_operand.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/progress_line.h"
#include "bundle/checker.h"

namespace shardscape {
namespace {

int run(const Arguments& arguments) {
  const auto operand = bundle_operand(arguments, "check");
  if (const int* exit_code = std::get_if<int>(&operand)) return *exit_code;
  Interrupt interrupt;
  const CheckReport report = [&] {
    ProgressLine line;
    return check_bundle(
        std::get<0>(operand),
        [&](double part) { line.show("checked " + std::to_string(static_cast<int>(100 * part)) + " %"); },
        interrupt.token());
  }();
  if (interrupt.requested()) {
    std::cerr << "interrupted: the check did not end\n";
    return kInterrupted;
  }
  std::cout << (arguments.has("--json") ? check_json(report) : check_text(report));
  return report.ok() ? kDone : kAnswerIsNo;
}

}  // namespace

Command check_command() {
  return {"check",
          "prove that an exported bundle runs to its end",
          "BUNDLE [--json]",
          "Reads every trace of the bundle, applies the rules of its consumers, and plays it through under "
          "the resource "
          "rules of a simulator (per rank one computation, and one of collective or send at a time), so that "
          "every "
          "rank is known to finish. Exit code 0: no error was found; 1: at least one.",
          {"shardscape-cli check out/llama8", "shardscape-cli check out/llama8 --json"},
          {json_flag()},
          1,
          run};
}

}  // namespace shardscape
