// shardscape-cli merge
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/explore_text.h"
#include "app/cli/messages.h"
#include "app/cli/space_flags.h"

namespace shardscape {
namespace {

int run(const Arguments& arguments) {
  if (arguments.operands().empty()) {
    print_problem({ProblemCode::OperandMissing, "PART", "the parts to merge are missing",
                   "results of \"shardscape-cli explore --shard i/n -o PART.json\""});
    return kWrongUsage;
  }
  std::vector<SearchResult> parts;
  for (const std::string& path : arguments.operands()) {
    auto part = load_result(path);
    if (const auto* problem = std::get_if<Problem>(&part)) {
      print_problem(*problem);
      return kFileError;
    }
    parts.push_back(std::get<SearchResult>(std::move(part)));
  }
  const auto merged = merge_results(parts);
  if (const auto* problem = std::get_if<Problem>(&merged)) {
    print_problem(*problem);
    return kWrongUsage;
  }
  const SearchResult& result = std::get<SearchResult>(merged);
  if (!result.complete())
    print_problem(Problem::note(ProblemCode::ShardsMissing, "merge",
                                "some designs were not visited: shards are missing or were interrupted",
                                "all shards, each complete"));
  if (const auto exit_code = write_result(arguments, result)) return *exit_code;
  std::cout << (arguments.has("--json") ? result_json(result) : explore_text(result));
  return kDone;
}

}  // namespace

Command merge_command() {
  return {"merge",
          "merge the shards of a search",
          "PART... [-o FILE] [--json]",
          "Merges the results of \"shardscape-cli explore --shard\", in any order. The output equals the "
          "result of one run of the whole search, byte for byte.",
          {"shardscape-cli merge part0.json part1.json part2.json -o all.json",
           "shardscape-cli merge part*.json --json"},
          {{"--output", 'o', FlagKind::Value, "FILE", "Write the result.", ""},
           {"--csv", 0, FlagKind::Value, "FILE", "Write a table of all stored designs.", ""},
           json_flag()},
          kAnyNumber,
          run};
}

}  // namespace shardscape
