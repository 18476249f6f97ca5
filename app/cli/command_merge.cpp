// shardscape-cli merge
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/explore_text.h"
#include "app/cli/goodput_text.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "app/cli/service_flags.h"
#include "app/cli/space_flags.h"
#include "explore/goodput_file.h"

namespace shardscape {
namespace {

void note_missing(const SearchResult& result) {
  if (!result.complete())
    print_problem(Problem::note(ProblemCode::ShardsMissing, "merge",
                                "some designs were not visited: shards are missing or were interrupted",
                                "all shards, each complete"));
}

int merge_by_goodput(const Arguments& arguments, const std::vector<GoodputFile>& files) {
  const GoodputOptions& options = files.front().options;
  std::vector<GoodputResult> parts;
  for (const GoodputFile& file : files) {
    parts.push_back(file.result);
    if (file.options == options) continue;
    print_problem({ProblemCode::ResultOfOtherSearch, "merge",
                   "the parts have different services, or different numbers of engines",
                   "shards of one search"});
    return kWrongUsage;
  }
  Interrupt interrupt;
  const auto merged = merge_goodput(parts, options, interrupt.token());
  if (const auto* problem = std::get_if<Problem>(&merged)) return service_failure(*problem, kWrongUsage);
  if (interrupt.requested()) return kInterrupted;
  const GoodputResult& result = std::get<GoodputResult>(merged);
  note_missing(result.search);
  const auto failure = write_result(arguments, result.search,
                                    [&] { return goodput_file_json(result, options); });
  std::cout << (arguments.has("--json") ? goodput_json(result, options)
                                        : goodput_text(result, options, result.search.options.top));
  if (failure) return *failure;
  return has_rate(result) ? kDone : kNegativeAnswer;
}

int run_merge(const Arguments& arguments) {
  if (arguments.operands().empty()) {
    print_problem({ProblemCode::OperandMissing, "PART", "the parts to merge are missing",
                   "results of \"shardscape-cli explore --shard i/n -o PART.json\""});
    return kWrongUsage;
  }
  std::vector<SearchResult> parts;
  std::vector<GoodputFile> by_goodput;
  for (const std::string& path : arguments.operands()) {
    auto goodput = load_goodput(path);
    if (const auto* problem = std::get_if<Problem>(&goodput)) return print_refusal(*problem);
    if (auto& file = std::get<0>(goodput)) {
      by_goodput.push_back(*std::move(file));
      continue;
    }
    auto part = load_result(path);
    if (const auto* problem = std::get_if<Problem>(&part)) return print_refusal(*problem);
    parts.push_back(std::get<SearchResult>(std::move(part)));
  }
  if (!by_goodput.empty() && !parts.empty()) {
    print_problem({ProblemCode::ResultOfOtherSearch, "merge",
                   "only some of the parts are searches by goodput", "shards of one search"});
    return kWrongUsage;
  }
  if (!by_goodput.empty()) return merge_by_goodput(arguments, by_goodput);
  const auto merged = merge_results(parts);
  if (const auto* problem = std::get_if<Problem>(&merged)) {
    print_problem(*problem);
    return kWrongUsage;
  }
  const SearchResult& result = std::get<SearchResult>(merged);
  note_missing(result);
  const auto failure = write_result(arguments, result);
  std::cout << (arguments.has("--json") ? result_json(result) : explore_text(result));
  if (failure) return *failure;
  return result.best.empty() && result.complete() ? kNegativeAnswer : kDone;
}

}  // namespace

Command merge_command() {
  return {"merge",
          "merge the shards of a search",
          "PART... [-o FILE] [--json]",
          "Merges the results of \"shardscape-cli explore --shard\", in any order. The output equals the "
          "result of one run of the whole search, byte for byte. Of searches by goodput, the best engines of "
          "all parts that no part has simulated are simulated first.",
          {"shardscape-cli merge part0.json part1.json part2.json -o all.json",
           "shardscape-cli merge part*.json --json"},
          {{"--output", 'o', FlagKind::Value, "FILE", "Write the result.", "", Output::File},
           {"--csv", 0, FlagKind::Value, "FILE", "Write a table of all stored designs.", "", Output::File},
           json_flag()},
          kAnyNumber,
          run_merge};
}

}  // namespace shardscape
