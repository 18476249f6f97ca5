// shardscape-cli timeline
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "base/units.h"
#include "design/atomic_write.h"
#include "simulate/time_report.h"

namespace shardscape {
namespace {

int run(const Arguments& arguments) {
  const std::string* target = arguments.value("--output");
  if (!target || target->empty()) {
    print_problem({Severity::Error, "--output", "the file to write to is missing", "-o FILE.json", {}});
    return kWrongUsage;
  }
  Interrupt interrupt;
  const auto made = report_of(arguments);
  if (const int* exit_code = std::get_if<int>(&made)) return *exit_code;
  const Report& report = *std::get<0>(made);
  print_problems(report.problems);
  const auto simulation = simulate(report, interrupt.token());
  if (!simulation) return kInterrupted;
  if (const auto problem = atomic_write(*target, timeline_json(*simulation, report.design.name))) {
    print_problem(*problem);
    return kFileError;
  }
  size_t spans = 0;
  for (const StageTimes& stage : simulation->stages) spans += stage.spans.size();
  std::cout << "wrote " << grouped(static_cast<Wide>(spans)) << " spans of " << grouped(static_cast<Wide>(simulation->stages.size())) << " stages to " << *target
            << "\nopen it in ui.perfetto.dev\n" << time_text(*simulation);
  return kDone;
}

}  // namespace

Command timeline_command() {
  std::vector<Flag> flags{{"--output", 'o', FlagKind::Value, "FILE", "The file to write; one that is there is replaced.", ""}};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {"timeline", "a step in time, as a file that ui.perfetto.dev opens", "-o FILE.json [FLAGS]",
          std::string("Plays the schedule on the streams of one rank per pipeline stage and writes what runs when as Trace Event "
                      "JSON: a process per stage, a thread per stream, arrows for messages; spans on the longest path are marked. ") +
              kDesignFlagsHelp,
          {"shardscape-cli timeline --model llama3-8b --dp 2 --tp 2 --pp 2 --seq 4096 --batch 16 --microbatch 1 -o step.json"},
          std::move(flags), 0, run};
}

}  // namespace shardscape
