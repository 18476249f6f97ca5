// shardscape-cli simulate
#include <iostream>

#include "app/cli/bundle_operand.h"
#include "app/cli/bundle_paths.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "app/cli/progress_line.h"
#include "app/cli/trace_output.h"
#include "base/atomic_write.h"
#include "bundle/bundle_simulation.h"
#include "trace/timeline_events.h"
#include "trace/trace_file.h"

namespace shardscape {
namespace {

// False: stopped before anything was written.
Result<bool> write_timeline(const std::string& path, const std::filesystem::path& bundle,
                            std::vector<SimulatedSpan> spans, const std::stop_token& stop) {
  const auto traces = find_traces(bundle);
  if (const auto* problem = std::get_if<Problem>(&traces)) return *problem;
  const auto events = timeline_events(std::get<0>(traces), std::move(spans), stop);
  if (const auto* problem = std::get_if<Problem>(&events)) return *problem;
  if (stop.stop_requested()) return false;
  if (auto problem = atomic_write(path, std::get<std::string>(events))) return *std::move(problem);
  return true;
}

int run_simulate(const Arguments& arguments) {
  const auto operand = bundle_operand(arguments, "simulate");
  if (const int* exit_code = std::get_if<int>(&operand)) return *exit_code;
  const std::string* timeline = arguments.value("--timeline");
  std::vector<SimulatedSpan> spans;
  SpanVisit record;
  if (timeline) record = [&](const SimulatedSpan& span) { spans.push_back(span); };
  Interrupt interrupt;
  const auto result = [&] {
    ProgressLine line;
    return simulate_bundle(
        bundle_paths(arguments, std::get<0>(operand)),
        [&](double part) { line.show("read " + std::to_string(static_cast<int>(100 * part)) + " %"); },
        interrupt.token(), record);
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
  // The file is written before the text: a reader that closes the pipe ends the program.
  Result<bool> written = false;
  if (timeline)
    written = write_timeline(*timeline, std::get<0>(operand), std::move(spans), interrupt.token());
  std::cout << (arguments.has("--json") ? simulation_json(report) : terminal_text(simulation_text(report)));
  if (const auto* problem = std::get_if<Problem>(&written)) {
    print_problem(*problem);
    return kFileError;
  }
  if (timeline && !std::get<bool>(written)) {
    std::cerr << "interrupted: the timeline is not written\n";
    return kInterrupted;
  }
  if (timeline) std::cerr << "wrote the timeline to " << *timeline << "; ui.perfetto.dev opens it\n";
  return report.ok() ? kDone : kNegativeAnswer;
}

}  // namespace

Command simulate_command() {
  std::vector<Flag> flags = bundle_path_flags();
  flags.push_back({"--timeline", 0, FlagKind::Value, "FILE",
                   "Write when each node of each rank runs, as trace events for ui.perfetto.dev.", "",
                   Output::File});
  flags.push_back(json_flag());
  return {
      "simulate",
      "simulate an exported bundle as ASTRA-sim's analytical backend does",
      "BUNDLE [--groups FILE] [--system FILE] [--network FILE] [--memory FILE] [--timeline FILE] [--json]",
      "Runs every node of every trace with the system and network files of the bundle and prints the "
      "cycles of the step. The rules are those of ASTRA-sim's congestion-unaware analytical backend. "
      "Each node takes the duration in its trace, or otherwise the time of a roofline. A rank runs at "
      "most one computation and one collective or send at a time. Collectives are simulated message by "
      "message. A cycle is a nanosecond. Exit code 1: a rank never finishes, the simulator aborts "
      "because of an error that check reports, or a file requires a mechanism that is not simulated.",
      {"shardscape-cli simulate out/llama8", "shardscape-cli simulate out/llama8 --timeline step.json"},
      flags,
      1,
      run_simulate,
      "play"};
}

}  // namespace shardscape
