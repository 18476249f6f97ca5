// shardscape-cli export
#include <algorithm>
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/bundle_output.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/export_text.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "base/number_text.h"
#include "design/knobs/knobs.h"

namespace shardscape {
namespace {

// The options of the design's own export: durations, steps and a part of the ranks.
Result<ExportOptions> export_options(const Arguments& arguments, const std::string& target,
                                     const Report& report) {
  auto read = bundle_options(arguments, target);
  auto* options = std::get_if<ExportOptions>(&read);
  if (!options) return read;
  options->json = arguments.has("--json-traces");
  options->launches = arguments.has("--host-launches");
  options->durations = options->launches || arguments.has("--durations");
  options->compact = arguments.has("--compact");
  options->resume = arguments.has("--resume");
  options->keep_partial = true;
  if (const std::string* text = arguments.value("--steps")) {
    const NumberText steps = parse_number(*text, false);
    if (steps.fault != NumberFault::None || steps.value < 1)
      return Problem{ProblemCode::FlagValueInvalid, "--steps", "\"" + *text + "\" is no number of steps",
                     "1 or more"};
    options->steps = steps.value;
  }
  const auto stages = static_cast<int64_t>(report.stages.size());
  const std::tuple<const char*, const char*, int64_t, IndexRanges*> parts[] = {
      {"--ranks", "ranks", report.ranks, &options->part.ranks},
      {"--stage", "stages", stages, &options->part.stages}};
  for (const auto& [flag, what, count, ranges] : parts) {
    const std::string* text = arguments.value(flag);
    if (!text) continue;
    auto parsed = parse_index_ranges(*text, flag, what, count);
    if (auto* problem = std::get_if<Problem>(&parsed)) return std::move(*problem);
    *ranges = std::move(std::get<IndexRanges>(parsed));
  }
  return read;
}

int run_export(const Arguments& arguments) {
  const std::string* target = arguments.value("--output");
  if (!target || target->empty()) {
    print_problem({ProblemCode::OperandMissing, "--output", "the output folder is missing",
                   "-o DIR, a new or empty folder; -o NAME.tar; -o -"});
    return kWrongUsage;
  }
  Interrupt interrupt;
  const auto made = report_of(arguments);
  if (const int* exit_code = std::get_if<int>(&made)) return *exit_code;
  const Report& report = *std::get<0>(made);
  print_design_problems(report.problems, arguments);
  if (report.ranks == 1)
    print_problem(
        Problem::note(ProblemCode::OneRank, "dp",
                      "the design has one rank; ASTRA-sim needs at least two and will not run this bundle",
                      "two ranks or more", {{"set dp to 2", {{"dp", "2"}}}}));
  const auto read = export_options(arguments, *target, report);
  if (const auto* problem = std::get_if<Problem>(&read)) return export_failed(*problem, interrupt);
  const auto& options = std::get<ExportOptions>(read);
  const auto result = with_progress([&](const ExportProgressFn& progress) {
    return export_bundle(report, options, progress, interrupt.token());
  });
  if (const auto* problem = std::get_if<Problem>(&result)) return export_failed(*problem, interrupt);
  const auto& summary = std::get<ExportSummary>(result);
  print_substitutions(summary);
  print_summary(summary, options.target, options.name, arguments.has("--json"));
  const bool whole = !options.compact && options.part.whole() && options.steps == 1;
  std::error_code ignored;
  if (whole && !arguments.has("--json") && std::filesystem::is_directory(options.target, ignored))
    std::cout << simulator_text(report, options, summary, interrupt.token());
  return kDone;
}

}  // namespace

Command export_command() {
  std::vector<Flag> flags{
      {"--output", 'o', FlagKind::Value, "TARGET",
       "The folder to write; without --replace, it must be empty or not exist. Or one archive: NAME.tar, "
       "NAME.tar.zst, or - for a tar on standard output. Devices and pipes take a tar.",
       "", Output::Bundle},
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
      {"--compact", 0, FlagKind::Switch, "",
       "Write one trace per rank class and a table of what each rank has of its own. The size does not grow "
       "with "
       "the number of replicas. The command expand makes the bundle from it.",
       ""},
      resume_flag(),
      {"--steps", 0, FlagKind::Value, "N",
       "Steps in each trace, one after the other. A rank begins a step when it has ended the one before. "
       "Default: 1.",
       ""},
      {"--ranks", 0, FlagKind::Value, "RANGES",
       "Write the traces of these ranks only, such as 0-1023 or 0,8,16. The bundle says that it is a part.",
       ""},
      {"--stage", 0, FlagKind::Value, "RANGES",
       "Write the traces of the ranks of these pipeline stages only, such as 3 or 0-1.", ""},
      json_flag()};
  for (Flag& flag : bundle_flags()) flags.push_back(std::move(flag));
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {
      "export",
      "write the execution traces of all ranks for a simulator",
      "-o TARGET [FLAGS]",
      std::string(
          "Writes a folder with one Chakra execution trace per rank, communicator groups, and "
          "configuration files for ASTRA-sim. The folder appears only when it is complete. An "
          "interrupted or failed export leaves no files, except on a full disk: then --resume goes on. ") +
          kDesignFlagsHelp,
      {"shardscape-cli export --model llama3-8b --dp 2 --tp 2 --pp 2 --seq 4096 --batch 16 --microbatch 1 -o "
       "out/llama8",
       "shardscape-cli export --design my.shardscape.json --tensors --replace -o out/mine",
       "shardscape-cli export --example llama3-70b-64 --granularity layer --steps 2 -o - | tar x -C out"},
      std::move(flags),
      0,
      run_export};
}

}  // namespace shardscape
