// shardscape-cli timeline
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "base/atomic_write.h"
#include "base/units.h"
#include "report/time_report.h"
#include "report/timeline_json.h"

namespace shardscape {
namespace {

std::optional<TimelineOps> ops_of(const Arguments& arguments) {
  const std::string* word = arguments.value("--ops");
  if (!word || *word == "some") return TimelineOps::Some;
  if (*word == "all") return TimelineOps::All;
  if (*word == "none") return TimelineOps::None;
  print_problem(
      {ProblemCode::FlagValueInvalid, "--ops", "--ops has no choice \"" + *word + "\"", "some, all or none"});
  return std::nullopt;
}

int run_timeline(const Arguments& arguments) {
  const std::string* target = arguments.value("--output");
  if (!target || target->empty()) {
    print_problem(
        {ProblemCode::OperandMissing, "--output", "the file to write to is missing", "-o FILE.json"});
    return kWrongUsage;
  }
  const std::optional<TimelineOps> ops = ops_of(arguments);
  if (!ops) return kWrongUsage;
  Interrupt interrupt;
  const auto made = interrupt.end_at_once_during([&] { return report_of(arguments); });
  if (const int* exit_code = std::get_if<int>(&made)) return *exit_code;
  const std::shared_ptr<const Report> report = std::get<0>(made);
  print_design_problems(report->problems, arguments);
  const auto simulation = simulate(*report, interrupt.token());
  if (!simulation) return kInterrupted;
  const TimelineFile file = interrupt.end_at_once_during(
      [&] { return timeline_file(report, simulation, report->design.name, *ops); });
  if (const auto problem = atomic_write(*target, file.json)) {
    print_problem(*problem);
    return kFileError;
  }
  if (interrupt.requested()) return kInterrupted;
  if (*ops == TimelineOps::Some && !file.left_out.empty())
    print_problem(Problem::note(ProblemCode::OpsLeftOut, "--ops",
                                "the file would be large, so it omits " + file.left_out,
                                "all, which writes every op"));
  const auto count = [](size_t n) { return grouped(static_cast<Wide>(n)); };
  std::cout << "wrote " << count(file.spans) << " spans, " << count(file.layers) << " layers and "
            << count(file.ops) << " ops of " << count(simulation->stages.size())
            << (simulation->stages.size() == 1 ? " stage to " : " stages to ") << *target
            << "\nopen it in ui.perfetto.dev\n"
            << time_text(*simulation);
  return kDone;
}

}  // namespace

Command timeline_command() {
  std::vector<Flag> flags{
      {"--output", 'o', FlagKind::Value, "FILE", "The file to write. An existing file is replaced.", "",
       Output::File},
      {"--ops", 0, FlagKind::Value, "WORD",
       "Ops to write inside the layers: all, none, or some. some means all ops of a step with up to 100,000 "
       "ops, else the ops of the first and the last microbatch. Default: some.",
       ""}};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {"timeline",
          "write the timeline of a step for ui.perfetto.dev",
          "-o FILE.json [FLAGS]",
          std::string(
              "Simulates a step on the streams of one rank per pipeline stage and writes Trace Event JSON. A "
              "process is a stage, a thread is a stream. Passes contain layers, and layers contain ops and "
              "collectives. Arrows are messages. Spans on the critical path are marked. ") +
              kDesignFlagsHelp,
          {"shardscape-cli timeline --model llama3-8b --dp 2 --tp 2 --pp 2 --seq 4096 --batch 16 "
           "--microbatch 1 -o step.json"},
          std::move(flags),
          0,
          run_timeline};
}

}  // namespace shardscape
