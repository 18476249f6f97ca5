// shardscape-cli play
#include <iostream>

#include "app/cli/bundle_operand.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "app/cli/progress_line.h"
#include "bundle/bundle_simulation.h"

namespace shardscape {
namespace {

int run(const Arguments& arguments) {
  const auto operand = bundle_operand(arguments, "play");
  if (const int* exit_code = std::get_if<int>(&operand)) return *exit_code;
  Interrupt interrupt;
  const auto result = [&] {
    ProgressLine line;
    return simulate_bundle(
        std::get<0>(operand),
        [&](double part) { line.show("read " + std::to_string(static_cast<int>(100 * part)) + " %"); },
        interrupt.token());
  }();
  if (interrupt.requested()) {
    std::cerr << "interrupted: the play did not end\n";
    return kInterrupted;
  }
  if (const auto* problem = std::get_if<Problem>(&result)) {
    print_problem(*problem);
    return kAnswerIsNo;
  }
  const SimulationReport& report = std::get<SimulationReport>(result);
  std::cout << (arguments.has("--json") ? simulation_json(report) : simulation_text(report));
  return report.finished ? kDone : kAnswerIsNo;
}

}  // namespace

Command play_command() {
  return {"play",
          "how long the step of an exported bundle takes in a simulator",
          "BUNDLE [--json]",
          "Plays every node of every trace under the bundle's own system and network files, as ASTRA-sim's "
          "congestion-unaware "
          "analytical backend counts: roofline or written durations, one computation and one of collective "
          "or send per rank at a "
          "time, collectives message by message. Cycles are nanoseconds. Exit code 1: a rank never finishes, "
          "or the files ask for "
          "something that is not played.",
          {"shardscape-cli play out/llama8", "shardscape-cli play out/llama8 --json"},
          {json_flag()},
          1,
          run};
}

}  // namespace shardscape
