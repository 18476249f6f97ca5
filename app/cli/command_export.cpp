// shardscape-cli export
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "app/cli/progress_line.h"
#include "base/units.h"
#include "bundle/bundle.h"
#include "design/knobs/knobs.h"

namespace shardscape {
namespace {

std::string progress_text(const ExportProgress& p) {
  std::string text = "rank " + grouped(p.ranks_done) + " of " + grouped(p.ranks) + ", " +
                     format_bytes(p.bytes);
  if (p.seconds <= 0) return text;
  const double rate = static_cast<double>(p.bytes) / p.seconds;
  return text + ", " + format_bytes(static_cast<Wide>(rate), UnitSystem::Decimal) + "/s";
}

// An impossible trace is a problem of the design; all other problems are of the folder or the disk.
int exit_code_of(const Problem& problem) {
  if (problem.code == ProblemCode::TraceNameInvalid) return kWrongUsage;
  const bool of_design = problem.code == ProblemCode::DesignNotComputed ||
                         problem.code == ProblemCode::TraceOverflow ||
                         problem.code == ProblemCode::UnknownAccelerator;
  return of_design ? kNegativeAnswer : kFileError;
}

void print_summary(const ExportSummary& s, const ExportOptions& options, bool json) {
  if (json) {
    std::cout << nlohmann::ordered_json{{"target", s.target.string()},
                                        {"name", options.name},
                                        {"ranks", s.ranks},
                                        {"nodes", s.nodes},
                                        {"bytes", s.bytes},
                                        {"seconds", s.seconds},
                                        {"nearest", s.substitutions}}
                     .dump(2)
              << "\n";
    return;
  }
  std::cout << "wrote the traces of " << grouped(s.ranks) << " ranks, " << grouped(s.nodes) << " nodes, "
            << format_bytes(s.bytes) << ", in " << format_seconds(s.seconds) << " to " << s.target.string()
            << "\n"
            << "check it with: shardscape-cli check " << options.target.string() << "\n";
}

int run(const Arguments& arguments) {
  const std::string* target = arguments.value("--output");
  if (!target || target->empty()) {
    print_problem({ProblemCode::OperandMissing, "--output", "the output folder is missing",
                   "-o DIR, a new or empty folder"});
    return kWrongUsage;
  }
  Interrupt interrupt;
  const auto made = report_of(arguments);
  if (const int* exit_code = std::get_if<int>(&made)) return *exit_code;
  const Report& report = *std::get<0>(made);
  print_problems(report.problems);
  if (report.ranks == 1)
    print_problem(
        Problem::note(ProblemCode::OneRank, "dp",
                      "the design has one rank; ASTRA-sim needs at least two and will not run this bundle",
                      "two ranks or more", {{"set dp to 2", {{"dp", "2"}}}}));
  ExportOptions options;
  options.target = *target;
  if (const std::string* name = arguments.value("--name")) options.name = *name;
  options.tensors = arguments.has("--tensors");
  options.durations = arguments.has("--durations");
  options.flat_network = arguments.has("--flat-network");
  options.replace = arguments.has("--replace");
  const auto result = [&] {
    ProgressLine line;
    return export_bundle(
        report, options, [&](const ExportProgress& p) { line.show(progress_text(p)); }, interrupt.token());
  }();
  if (const auto* problem = std::get_if<Problem>(&result)) {
    print_problem(*problem);
    return interrupt.requested() ? static_cast<int>(kInterrupted) : exit_code_of(*problem);
  }
  const auto& summary = std::get<ExportSummary>(result);
  for (const std::string& text : summary.substitutions)
    print_problem(Problem::note(ProblemCode::NetworkApproximated, "network.yml", text));
  print_summary(summary, options, arguments.has("--json"));
  return kDone;
}

}  // namespace

Command export_command() {
  std::vector<Flag> flags{
      {"--output", 'o', FlagKind::Value, "DIR",
       "The folder to write. Without --replace, the folder must be empty or not exist.", ""},
      {"--name", 0, FlagKind::Value, "NAME", "Traces are called NAME.<rank>.et; default: trace.", ""},
      {"--tensors", 0, FlagKind::Switch, "",
       "Write names and sizes of input and output tensors; more than doubles the size.", ""},
      {"--durations", 0, FlagKind::Switch, "",
       "Write the estimated seconds of every compute node. ASTRA-sim then replays them instead of its own "
       "roofline.",
       ""},
      {"--flat-network", 0, FlagKind::Switch, "", kFlatNetworkHelp, ""},
      {"--replace", 0, FlagKind::Switch, "",
       "Replace an existing bundle. A folder that is not a bundle is never replaced.", ""},
      json_flag()};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {
      "export",
      "write the execution traces of all ranks for a simulator",
      "-o DIR [FLAGS]",
      std::string("Writes a folder with one Chakra execution trace per rank, communicator groups, and "
                  "configuration files for ASTRA-sim. The folder appears only when it is complete. An "
                  "interrupted or failed export leaves no files. ") +
          kDesignFlagsHelp,
      {"shardscape-cli export --model llama3-8b --dp 2 --tp 2 --pp 2 --seq 4096 --batch 16 --microbatch 1 -o "
       "out/llama8",
       "shardscape-cli export --design my.shardscape.json --tensors --replace -o out/mine"},
      std::move(flags),
      0,
      run};
}

}  // namespace shardscape
