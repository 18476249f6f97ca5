// shardscape-cli export
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/bundle_output.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/export_text.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "design/knobs/knobs.h"

namespace shardscape {
namespace {

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
  std::cout << summary_text(s, options.target);
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
  ExportOptions options = bundle_options(arguments, *target);
  options.json = arguments.has("--json-traces");
  options.launches = arguments.has("--host-launches");
  options.durations = options.launches || arguments.has("--durations");
  const auto result = with_progress([&](const ExportProgressFn& progress) {
    return export_bundle(report, options, progress, interrupt.token());
  });
  if (const auto* problem = std::get_if<Problem>(&result)) return export_failed(*problem, interrupt);
  const auto& summary = std::get<ExportSummary>(result);
  print_substitutions(summary);
  print_summary(summary, options, arguments.has("--json"));
  if (!arguments.has("--json")) std::cout << simulator_text(report, options, summary, interrupt.token());
  return kDone;
}

}  // namespace

Command export_command() {
  std::vector<Flag> flags{
      {"--output", 'o', FlagKind::Value, "DIR",
       "The folder to write. Without --replace, the folder must be empty or not exist.", ""},
      {"--durations", 0, FlagKind::Switch, "",
       "Write the estimated seconds of every compute node. ASTRA-sim then replays them instead of its own "
       "roofline.",
       ""},
      {"--json-traces", 0, FlagKind::Switch, "",
       "Write every trace also as JSON, NAME.<rank>.json: one message of the Chakra schema per line.", ""},
      {"--host-launches", 0, FlagKind::Switch, "",
       "As --durations, and include the waits for the host where it launches kernels more slowly than they "
       "run.",
       ""},
      json_flag()};
  for (Flag& flag : bundle_flags()) flags.push_back(std::move(flag));
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
