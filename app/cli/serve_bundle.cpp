#include "app/cli/serve_bundle.h"

#include <iostream>

#include "app/cli/bundle_output.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "base/number_text.h"
#include "base/units.h"
#include "bundle/step_bundle.h"

namespace shardscape {
namespace {

Result<StepRange> range_of(const Arguments& arguments, const ServiceRun& run) {
  const std::string *replica = arguments.value("--replica"), *window = arguments.value("--steps");
  int64_t number = 0;
  if (replica) {
    const NumberText read = parse_number(*replica, false);
    if (read.fault != NumberFault::None)
      return Problem{ProblemCode::FlagValueInvalid, "--replica", "\"" + *replica + "\" is not a number",
                     "0 to " + grouped(run.spec.replicas - 1)};
    number = read.value;
  }
  auto out = read_step_range(run, number, window ? *window : ":");
  if (auto* problem = std::get_if<Problem>(&out)) problem->where = "--" + problem->where;
  return out;
}

}  // namespace

std::vector<Flag> window_flags() {
  std::vector<Flag> flags{
      {"--bundle", 0, FlagKind::Value, "DIR",
       "Write engine steps as a bundle of Chakra traces: one trace per rank of an engine, with the steps one "
       "after the other, the seconds of their kernels and those of the host between them.",
       "", Output::Bundle},
      {"--steps", 0, FlagKind::Value, "FROM:TO",
       "The steps of the bundle: numbers, 10:12 for the steps 10, 11 and 12 of the replica, or times, "
       "1.5s:2s "
       "for the steps that begin in this time. Without FROM or TO to the end of the run. Default: all steps.",
       ""},
      {"--replica", 0, FlagKind::Value, "N", "The replica whose steps the bundle has. Default: 0.", ""}};
  for (Flag& flag : bundle_flags()) flags.push_back(std::move(flag));
  return flags;
}

std::optional<Problem> check_window_flags(const Arguments& arguments) {
  if (arguments.has("--bundle")) return std::nullopt;
  for (const Flag& flag : window_flags())
    if (arguments.has(flag.name))
      return Problem{ProblemCode::ConflictingFlags, flag.name, "there is no bundle", "--bundle DIR with it"};
  return std::nullopt;
}

int write_window(const Arguments& arguments, const ServiceRun& run, const Interrupt& interrupt) {
  const auto range = range_of(arguments, run);
  if (const auto* problem = std::get_if<Problem>(&range)) {
    print_problem(*problem);
    return kWrongUsage;
  }
  const auto made = step_window(run, std::get<StepRange>(range), interrupt.token());
  if (const auto* problem = std::get_if<Problem>(&made)) {
    print_problem(*problem);
    return interrupt.requested() ? kInterrupted : kNegativeAnswer;
  }
  const StepWindow& window = *std::get<0>(made);
  const auto read = bundle_options(arguments, *arguments.value("--bundle"));
  if (const auto* problem = std::get_if<Problem>(&read)) return export_failed(*problem, interrupt);
  const auto& options = std::get<ExportOptions>(read);
  const int64_t bytes = estimate_bundle_bytes(window, options, interrupt.token());
  if (interrupt.requested()) return kInterrupted;
  std::cerr << "the bundle has " << grouped(static_cast<Wide>(window.steps().size())) << " steps of "
            << grouped(window.reference().report().ranks) << " ranks"
            << (bytes > 0 ? " and takes " + format_bytes(bytes) : "") << "\n";
  const auto result = with_progress([&](const ExportProgressFn& progress) {
    return export_bundle(window, options, progress, interrupt.token());
  });
  if (const auto* problem = std::get_if<Problem>(&result)) return export_failed(*problem, interrupt);
  const auto& summary = std::get<ExportSummary>(result);
  print_substitutions(summary);
  print_summary(summary, options.target, options.name, false, arguments.has("--json"));
  return kDone;
}

}  // namespace shardscape
