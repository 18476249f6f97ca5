// shardscape-cli report
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "report/inference_report.h"
#include "report/memory_report.h"
#include "report/report_json.h"
#include "report/time_report.h"
#include "serving/inference.h"
#include "timing/pass_times.h"

namespace shardscape {
namespace {

std::string warning(const std::optional<std::string>& text) { return text ? "warning: " + *text + "\n" : ""; }

int run(const Arguments& arguments) {
  const bool json = arguments.has("--json");
  // The JSON of an invalid design contains its problems.
  const auto invalid = [](const Report& report) { std::cout << report_json(report); };
  const auto report = report_of(arguments, json ? +invalid : nullptr);
  if (const int* exit_code = std::get_if<int>(&report)) return *exit_code;
  const Report& of = *std::get<0>(report);
  const auto simulation = simulate(of);
  StepOps ops(std::get<0>(report), simulation);
  std::optional<std::vector<MemoryAdvice>> advice;
  if (arguments.has("--advice"))
    advice = memory_advice(of, *of.memory,
                           [](const Report& r) { return std::optional<double>(simulate(r)->step_seconds); });
  const auto segments = fragmentation(of);
  std::cout << (json ? with_inference(with_time(estimate_json(of, advice, segments, &ops), of, *simulation),
                                      of, *simulation)
                     : report_text(of) + memory_text(*of.memory, &ops) + fragmentation_text(*segments) +
                           warning(segments_warning(*of.memory, *segments)) +
                           (advice ? advice_text(*advice) : "") + time_text(*simulation) +
                           inference_text(of, *simulation));
  if (const auto note = pass_times_note(of, *simulation)) print_problem(*note);
  return kDone;
}

}  // namespace

Command report_command() {
  std::vector<Flag> flags{json_flag(),
                          {"--advice", 0, FlagKind::Switch, "",
                           "Say what would save memory: the same design with one knob changed, or several "
                           "where it takes them to fit, computed again.",
                           ""}};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {
      "report",
      "what every rank stores, computes and communicates, and how long a step takes",
      "[FLAGS]",
      std::string(
          "Per pipeline stage: parameters, memory by category, FLOPs by kind of op and phase, and every "
          "collective with its group and size, each number beside its formula; then whether the step fits, "
          "and what fills memory at its fullest moment. ") +
          kDesignFlagsHelp,
      {"shardscape-cli report --model llama3-8b --dp 2 --tp 2 --pp 2 --seq 4096 --batch 16 --microbatch 1",
       "shardscape-cli report --model llama3.1-405b --tp 8 --pp 16 --dp 64 --sequence-parallel --json",
       "shardscape-cli report --design my.shardscape.json --tp 4 --advice"},
      std::move(flags),
      0,
      run};
}

}  // namespace shardscape
