// shardscape-cli campaign
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "report/campaign_report.h"

namespace shardscape {
namespace {

// What the design lacks for a training run.
std::optional<Problem> unsuited(const Design& design) {
  if (!trains(design))
    return Problem{ProblemCode::CampaignOfInference, "mode", "an inference design has no training run",
                   "--mode train; shardscape-cli report prints the cost per million tokens of inference"};
  if (design.workload.tokens == 0)
    return Problem{ProblemCode::TokensMissing, "tokens", "the number of training tokens is missing",
                   "a number of tokens, such as --tokens 15T"};
  return std::nullopt;
}

int run_campaign(const Arguments& arguments) {
  const bool json = arguments.has("--json");
  const auto made = report_of(arguments);
  if (const int* exit_code = std::get_if<int>(&made)) return *exit_code;
  const Report& report = *std::get<0>(made);
  if (const auto problem = unsuited(report.design)) {
    print_problem(*problem);
    return kWrongUsage;
  }
  const Campaign result = campaign(report, *simulate(report));
  std::cout << (json ? campaign_json(report, result) : campaign_text(report, result));
  return kDone;
}

}  // namespace

Command campaign_command() {
  std::vector<Flag> flags{json_flag()};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {
      "campaign",
      "plan a training run: days, dollars, energy, interruptions",
      "--tokens N [FLAGS]",
      std::string("Computes the steps of a training run, its checkpoints and interruptions, and the days, "
                  "accelerator-hours, dollars and energy that it takes. Each result has an expected value "
                  "and a range. The best interval between checkpoints follows from the time of a save and "
                  "the mean time to interruption. ") +
          kDesignFlagsHelp,
      {"shardscape-cli campaign --model llama3.1-405b --tp 8 --pp 16 --dp 128 --sequence-parallel --batch "
       "2048 --tokens 15.6T",
       "shardscape-cli campaign --design my.shardscape.json --tokens 2T --price-per-hour 2.1 --json"},
      std::move(flags),
      0,
      run_campaign};
}

}  // namespace shardscape
