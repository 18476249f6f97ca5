// shardscape-cli report
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/page_files.h"
#include "design/document.h"
#include "explore/sensitivity.h"
#include "report/band_report.h"
#include "report/campaign_report.h"
#include "report/inference_report.h"
#include "report/memory_report.h"
#include "report/page_report.h"
#include "report/report_json.h"
#include "report/time_report.h"
#include "serving/inference.h"
#include "timing/pass_times.h"

namespace shardscape {
namespace {

std::string warning(const std::optional<std::string>& text) { return text ? "warning: " + *text + "\n" : ""; }

// The design as JSON, and the page with the sensitivity of the design.
int write_files(const Arguments& arguments, const Report& report, const Simulation& simulation) {
  if (const std::string* path = arguments.value("--save-design")) {
    if (const auto problem = save_design(report.design, *path)) {
      print_problem(*problem);
      return kFileError;
    }
    std::cout << *path << "\n";
  }
  if (!wants_page(arguments)) return kDone;
  const auto effects = sensitivity(report.design);
  return write_pages(arguments, page_report(report, simulation, effects ? &*effects : nullptr));
}

int run_report(const Arguments& arguments) {
  const bool json = arguments.has("--json");
  // The JSON of an invalid design contains its problems.
  const auto invalid = [](const Report& report) { std::cout << report_json(report); };
  const auto made = report_of(arguments, json ? +invalid : nullptr);
  if (const int* exit_code = std::get_if<int>(&made)) return *exit_code;
  const Report& report = *std::get<0>(made);
  const auto simulation = simulate(report);
  if (wants_page(arguments) || arguments.has("--save-design"))
    return write_files(arguments, report, *simulation);
  StepOps ops(std::get<0>(made), simulation);
  std::optional<std::vector<MemoryAdvice>> advice;
  if (arguments.has("--advice"))
    advice = memory_advice(report, *report.memory,
                           [](const Report& r) { return std::optional<double>(simulate(r)->step_seconds); });
  const auto segments = fragmentation(report);
  const DesignBands bands = design_bands(report.design);
  std::cout << (json
                    ? with_bands(with_inference(with_time(estimate_json(report, advice, segments, &ops),
                                                          report, *simulation),
                                                report, *simulation),
                                 report, *simulation, bands)
                    : report_text(report) + memory_text(*report.memory, &ops) + fragmentation_text(segments) +
                          warning(segments_warning(*report.memory, segments)) +
                          (advice ? advice_text(*advice) : "") + time_text(*simulation) +
                          bands_text(report, *simulation, bands) + row_times_text(report, *simulation) +
                          running_cost_text(running_cost(report.design.cluster, report.ranks,
                                                         simulation->tokens_per_second)) +
                          missing_costs_text({report.design.cluster}) + inference_text(report, *simulation));
  if (const auto note = pass_times_note(report, *simulation)) print_problem(*note);
  return kDone;
}

}  // namespace

Command report_command() {
  std::vector<Flag> flags{
      json_flag(),
      {"--advice", 0, FlagKind::Switch, "",
       "List changes that save memory. Each entry changes one setting, or several if one "
       "is not enough to fit.",
       ""},
      {"--save-design", 0, FlagKind::Value, "FILE",
       "Save the design as JSON in FILE, which --design and the window open.", "", Output::File}};
  const std::vector<Flag> pages = page_flags();
  flags.insert(flags.end() - 1, pages.begin(), pages.end());
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {
      "report",
      "report memory, FLOPs, collectives and step time of a design",
      "[FLAGS]",
      std::string(
          "Prints for every pipeline stage: parameters, memory by category, FLOPs by kind of op and phase, "
          "and every collective with its group and size. Each number stands next to its formula. The verdict "
          "(does the step fit), the memory peak with its contributors, and the step time follow, with the 80 "
          "% bands of "
          "time and memory from the errors for measured runs. ") +
          kDesignFlagsHelp,
      {"shardscape-cli report --model llama3-8b --dp 2 --tp 2 --pp 2 --seq 4096 --batch 16 --microbatch 1",
       "shardscape-cli report --model llama3.1-405b --tp 8 --pp 16 --dp 64 --sequence-parallel --json",
       "shardscape-cli report --design my.shardscape.json --tp 4 --advice",
       "shardscape-cli report --example llama3-70b-64 --html report.html"},
      std::move(flags),
      0,
      run_report};
}

}  // namespace shardscape
