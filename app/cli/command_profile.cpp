// shardscape-cli profile
#include <algorithm>
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/profile_output.h"
#include "base/number_text.h"

namespace shardscape {
namespace {

constexpr int64_t kMostSteps = 1'000'000;

// The value of a flag; `missing` without the flag; or an exit code.
std::variant<int64_t, int> number_of(const Arguments& arguments, const char* flag, int64_t missing,
                                     int64_t least, int64_t most) {
  const std::string* word = arguments.value(flag);
  if (!word) return missing;
  const NumberText number = parse_number(*word, false);
  if (number.fault == NumberFault::None && number.value >= least && number.value <= most) return number.value;
  return failed({ProblemCode::FlagValueInvalid, flag, "\"" + *word + "\" is out of range",
                 std::to_string(least) + " to " + std::to_string(most)},
                kWrongUsage);
}

// The profile of the rank; negative: of the rank that computes longest.
std::variant<size_t, int> shown_rank(const std::vector<RankProfile>& ranks, int64_t rank) {
  if (rank < 0) return longest_computing(ranks);
  const auto at = std::find_if(ranks.begin(), ranks.end(),
                               [&](const RankProfile& profile) { return profile.rank == rank; });
  if (at != ranks.end()) return static_cast<size_t>(at - ranks.begin());
  std::string found;
  for (const RankProfile& profile : ranks)
    if (profile.rank) found += (found.empty() ? "" : ", ") + std::to_string(*profile.rank);
  return failed({ProblemCode::FlagValueInvalid, "--rank", "no profile is of rank " + std::to_string(rank),
                 found.empty() ? "profiles that record their ranks" : found},
                kWrongUsage);
}

int run_profile(const Arguments& arguments) {
  if (arguments.operands().empty())
    return failed({ProblemCode::OperandMissing, "FILE", "the profile is missing",
                   "shardscape-cli profile rank0.pt.trace.json.gz"},
                  kWrongUsage);
  const auto steps = number_of(arguments, "--steps", 0, 1, kMostSteps);
  if (const int* code = std::get_if<int>(&steps)) return *code;
  const auto rank = number_of(arguments, "--rank", -1, 0, INT32_MAX);
  if (const int* code = std::get_if<int>(&rank)) return *code;
  auto read = profiled_ranks(arguments.operands(), std::get<int64_t>(steps));
  if (const auto* problem = std::get_if<Problem>(&read)) return print_refusal(*problem);
  ProfileAnswer answer;
  answer.ranks = std::get<0>(std::move(read));
  const auto shown = shown_rank(answer.ranks, std::get<int64_t>(rank));
  if (const int* code = std::get_if<int>(&shown)) return *code;
  answer.shown = std::get<size_t>(shown);
  if (describes_design(arguments)) {
    const auto made = report_of(arguments);
    if (const int* code = std::get_if<int>(&made)) return *code;
    const Report& report = *std::get<0>(made);
    const auto simulation = simulate(report);
    const RankProfile& profile = answer.ranks[answer.shown];
    answer.design = report.design.name;
    answer.accelerator = simulation->machine.accelerator->name;
    answer.comparison = compare_profile(profile, report, *simulation);
  }
  std::cout << (arguments.has("--json") ? profile_json(answer) : profile_text(answer));
  return kDone;
}

}  // namespace

Command profile_command() {
  std::vector<Flag> flags{
      json_flag(),
      {"--rank", 0, FlagKind::Value, "N",
       "Show the profile of this rank. Default: the rank that computes longest.", ""},
      {"--steps", 0, FlagKind::Value, "N",
       "The number of steps in each profile. Default: the number of annotations ProfilerStep#N, which "
       "profiler.step() writes, and one step in a profile without them.",
       ""}};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {"profile",
          "show where the time of a profiled run goes, next to a design",
          "FILE.. [--design DESIGN] [FLAGS]",
          "Reads traces of the PyTorch profiler (torch.profiler, export_chrome_trace), compressed with "
          "gzip or not, of NVIDIA or AMD GPUs: one file per rank, or a folder of files. Every moment of "
          "a step counts once: for a kernel that computes, otherwise for a copy, otherwise for exposed "
          "communication, otherwise for idle time. In a launch gap nothing runs because the host has not "
          "launched the next kernel yet. With flags that describe a design, the measured step stands "
          "next to the simulated one, the largest difference first; also by collective, and by layer "
          "where the profile has modules (with_modules or with_stack) or annotations with numbered "
          "layers. Without flags that describe a design, only the measured step is shown.",
          {"shardscape-cli profile rank0.pt.trace.json.gz",
           "shardscape-cli profile traces/ --design my.shardscape.json",
           "shardscape-cli profile rank0.json --model llama3-8b --tp 8 --batch 8 --microbatch 1 --json"},
          std::move(flags),
          kAnyNumber,
          run_profile};
}

}  // namespace shardscape
