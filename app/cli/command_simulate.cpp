// shardscape-cli simulate
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
  const auto operand = bundle_operand(arguments, "simulate");
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
    std::cerr << "interrupted: the simulation is incomplete\n";
    return kInterrupted;
  }
  if (const auto* problem = std::get_if<Problem>(&result)) {
    print_problem(*problem);
    return kNegativeAnswer;
  }
  const SimulationReport& report = std::get<SimulationReport>(result);
  std::cout << (arguments.has("--json") ? simulation_json(report) : simulation_text(report));
  return report.finished ? kDone : kNegativeAnswer;
}

}  // namespace

Command simulate_command() {
  return {"simulate",
          "simulate an exported bundle as ASTRA-sim's analytical backend does",
          "BUNDLE [--json]",
          "Runs every node of every trace with the system and network files of the bundle and prints the "
          "cycles of the step. The rules are those of ASTRA-sim's congestion-unaware analytical backend. "
          "Each node takes the duration in its trace, or otherwise the time of a roofline. A rank runs at "
          "most one computation and one collective or send at a time. Collectives are simulated message by "
          "message. A cycle is a nanosecond. Exit code 1: a rank never finishes, or a file requires a "
          "mechanism that is not simulated.",
          {"shardscape-cli simulate out/llama8", "shardscape-cli simulate out/llama8 --json"},
          {json_flag()},
          1,
          run,
          "play"};
}

}  // namespace shardscape
