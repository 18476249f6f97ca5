// shardscape-cli explore
#include <algorithm>
#include <chrono>
#include <iostream>
#include <set>
#include <thread>
#include <tuple>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/explore_text.h"
#include "app/cli/goodput_text.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "app/cli/progress_line.h"
#include "app/cli/service_flags.h"
#include "app/cli/slurm_flags.h"
#include "app/cli/space_flags.h"
#include "base/atomic_write.h"
#include "base/number_text.h"
#include "explore/goodput_file.h"

namespace shardscape {
namespace {

constexpr int64_t kMostStored = 1'000'000;
constexpr CountFlag kTop{"--top", 10, 1, kMostStored, "Designs to show; default: 10."};
constexpr CountFlag kSample{"--sample", 0, 0, kMostStored,
                            "Also store a uniform sample of N timed designs; default: none."};
constexpr CountFlag kThreads{
    "--threads", 0, 1, 4096,
    "Number of threads, at most one per processor; default: all. The result does not depend on the number."};
constexpr CountFlag kCheckpoint{
    "--checkpoint", 0, 1, 1'000'000,
    "Write the result so far to the file of -o every N seconds, for --resume after a crash; default: only at "
    "the end, or when the search is interrupted."};
constexpr CountFlag kBudget{"--budget", 20'000, 1, int64_t{1} << 40,
                            "With --guided: the maximum number of timed designs; default: 20,000."};
constexpr CountFlag kSeed{
    "--seed", 1, 0, INT64_MAX,
    "With --guided: the seed of the random choices; default: 1. With --objective goodput: the seed of the "
    "requests; default: 0."};
constexpr CountFlag kEvaluate{
    "--evaluate", 32, 1, 100'000,
    "With --objective goodput: engines that are simulated, those with the best estimates; default: 32."};

std::optional<int> read_objective(const std::string& where, std::string_view id, int& objective) {
  const int found = find_objective(trimmed(id));
  if (found < 0)
    return wrong_usage({ProblemCode::UnknownObjective, where,
                        "there is no objective \"" + std::string(id) + "\"", objective_ids()});
  objective = found;
  return std::nullopt;
}

// Goodput is no figure of a step: a second stage computes it (explore/goodput_search.h).
bool by_goodput(const Arguments& arguments) {
  const std::string* id = arguments.value("--objective");
  return id && trimmed(*id) == "goodput";
}

// The seed of the search is that of the requests, too.
const std::set<std::string> kSharedSettings{"seed"};

// The options of the second stage, or an exit code.
std::variant<GoodputOptions, int> goodput_of(const Arguments& arguments) {
  GoodputOptions out;
  const auto spec = service_of(arguments, kSharedSettings);
  if (const int* exit_code = std::get_if<int>(&spec)) return *exit_code;
  out.spec = std::get<ServiceSpec>(spec);
  CountFlag seed = kSeed;
  seed.fallback = out.spec.source.seed;
  int64_t evaluated = 0;
  if (const auto exit_code = read_counts(arguments, {{seed, &out.spec.source.seed}, {kEvaluate, &evaluated}}))
    return *exit_code;
  out.evaluated = static_cast<size_t>(evaluated);
  out.considered = std::max(out.considered, out.evaluated);
  return out;
}

// The file of --resume, or an exit code; nothing without the flag.
std::variant<std::optional<GoodputFile>, int> resumed(const Arguments& arguments,
                                                      const GoodputOptions& options) {
  const std::string* path = arguments.value("--resume");
  if (!path) return std::optional<GoodputFile>();
  auto read = load_goodput(*path);
  if (const auto* problem = std::get_if<Problem>(&read)) return print_refusal(*problem);
  auto& file = std::get<0>(read);
  if (!file || !(file->options == options))
    return wrong_usage({ProblemCode::ResultOfOtherSearch, *path,
                        file ? "the file has another service, or other numbers of engines"
                             : "the file is not of a search by goodput",
                        "the same flags as the interrupted search"});
  return std::move(file);
}

// Writes what `json` makes to the file of -o. Says a problem once, and again after a checkpoint that was
// written. The search goes on: the next one may succeed.
template <typename Json>
void write_checkpoint(const Arguments& arguments, const Json& json, bool& failing) {
  const auto problem = atomic_write(*arguments.value("--output"), json());
  if (problem && !failing) print_problem(*problem);
  failing = problem.has_value();
}

int search_by_goodput(const Arguments& arguments, const std::shared_ptr<const Space>& space,
                      SearchOptions& options, int64_t checkpoint_seconds, const Interrupt& interrupt) {
  const auto read = goodput_of(arguments);
  if (const int* exit_code = std::get_if<int>(&read)) return *exit_code;
  const GoodputOptions& goodput = std::get<GoodputOptions>(read);
  const auto file = resumed(arguments, goodput);
  if (const int* exit_code = std::get_if<int>(&file)) return *exit_code;
  const GoodputResult* before = std::get<0>(file) ? &std::get<0>(file)->result : nullptr;
  if (before) options.resume = &before->search;
  const auto found = [&] {
    ProgressLine line;
    SearchCallbacks callbacks;
    bool failing = false;
    if (line.wanted())
      callbacks.progress = [&](const SearchProgress& p) { line.show(explore_progress(p, options.result)); };
    std::function<void(const GoodputResult&)> checkpoint;
    if (checkpoint_seconds > 0) {
      callbacks.checkpoint_seconds = static_cast<double>(checkpoint_seconds);
      checkpoint = [&](const GoodputResult& result) {
        write_checkpoint(
            arguments, [&] { return goodput_file_json(result, goodput); }, failing);
      };
    }
    return search_goodput(space, options, goodput, callbacks, interrupt.token(), before, checkpoint);
  }();
  if (const auto* problem = std::get_if<Problem>(&found)) return service_failure(*problem, kWrongUsage);
  const GoodputResult& result = std::get<GoodputResult>(found);
  const auto failure = write_result(arguments, result.search,
                                    [&] { return goodput_file_json(result, goodput); });
  if (interrupt.requested()) return kInterrupted;
  std::cout << (arguments.has("--json") ? goodput_json(result, goodput)
                                        : goodput_text(result, goodput, options.result.top));
  if (failure) return *failure;
  return options.shards > 1 || has_rate(result) ? kDone : kNegativeAnswer;
}

// A flag of a service without the objective that reads it.
std::optional<int> service_without_goodput(const Arguments& arguments) {
  std::vector<Flag> flags = service_flags(kSharedSettings);
  flags.push_back(kEvaluate.flag());
  for (const Flag& flag : flags)
    if (arguments.has(flag.name))
      return wrong_usage({ProblemCode::ConflictingFlags, flag.name, "only a search by goodput has a service",
                          "--objective goodput"});
  return std::nullopt;
}

// The options, or an exit code.
std::variant<SearchOptions, int> search_options(const Arguments& arguments) {
  SearchOptions options;
  int64_t top = 0, sample = 0, threads = 0, seed = 0, budget = 0;
  if (const auto exit_code = read_counts(
          arguments,
          {{kTop, &top}, {kSample, &sample}, {kThreads, &threads}, {kSeed, &seed}, {kBudget, &budget}}))
    return *exit_code;
  options.result.top = static_cast<size_t>(top);
  options.result.sample = static_cast<size_t>(sample);
  options.threads = usable_threads(threads);
  if (arguments.has("--guided")) options.guided = Guided{static_cast<uint64_t>(seed), budget};
  if (const std::string* id = arguments.value("--objective"); id && !by_goodput(arguments)) {
    if (const auto exit_code = read_objective("--objective", *id, options.result.objective))
      return *exit_code;
    if (options.result.objective != options.result.front_y) options.result.front_x = options.result.objective;
  }
  if (const std::string* pair = arguments.value("--pareto")) {
    const size_t comma = pair->find(',');
    if (comma == std::string::npos)
      return wrong_usage({ProblemCode::FlagValueInvalid, "--pareto",
                          "\"" + *pair + "\" is only one objective",
                          "two objectives separated by a comma: " + objective_ids()});
    if (const auto exit_code = read_objective("--pareto", pair->substr(0, comma), options.result.front_x))
      return *exit_code;
    if (const auto exit_code = read_objective("--pareto", pair->substr(comma + 1), options.result.front_y))
      return *exit_code;
  }
  if (const std::string* price = arguments.value("--price")) {
    const auto thousandths = parse_thousandths(*price);
    if (!thousandths || *thousandths < 1)
      return wrong_usage({ProblemCode::FlagValueInvalid, "--price", "\"" + *price + "\" is not a price",
                          "dollars per GPU hour, such as 2.49"});
    options.result.price_per_hour = static_cast<double>(*thousandths) / 1000;
  }
  if (const std::string* shard = arguments.value("--shard")) {
    const auto read = parse_shard(*shard);
    if (const auto* problem = std::get_if<Problem>(&read)) return wrong_usage(*problem);
    std::tie(options.shard, options.shards) = std::get<0>(read);
  }
  return options;
}

// The seconds of --checkpoint, 0 without it, or an exit code.
std::variant<int64_t, int> checkpoint_of(const Arguments& arguments) {
  if (arguments.has("--checkpoint")) {
    if (arguments.has("--guided"))
      return wrong_usage({ProblemCode::ConflictingFlags, "--checkpoint", "a guided search cannot be resumed",
                          "either --guided or --checkpoint"});
    if (!arguments.has("--output") && !arguments.has("--slurm"))
      return wrong_usage({ProblemCode::FlagValueMissing, "--output", "checkpoints need a file", "-o FILE"});
  }
  return count_flag(arguments, kCheckpoint);
}

int count(const Space& space, bool json, const Interrupt& interrupt) {
  ProgressLine line;
  const auto counted = count_valid(
      space, [&](const ValidCount& c) { line.show(c.text()); }, interrupt.token());
  if (!counted) return kInterrupted;
  if (json)
    std::cout << "{\"size\": " << to_string(counted->size)
              << ", \"valid\": " << to_string(static_cast<Wide>(counted->valid))
              << ", \"exact\": " << (counted->exact ? "true" : "false") << "}\n";
  else
    std::cout << counted->text() << "\n";
  return kDone;
}

std::vector<Flag> explore_flags() {
  std::string objectives_help = "Objective that ranks the designs: ";
  for (const Objective& objective : objectives())
    objectives_help += std::string(objective.id) + " (" + objective.help + "), ";
  std::vector<Flag> flags{
      json_flag(),
      kTop.flag(),
      {"--objective", 0, FlagKind::Value, "ID",
       objectives_help + "goodput (requests/s per GPU within --slo, for designs in decode or prefill), "
                         "default: tokens_per_gpu.",
       ""},
      {"--pareto", 0, FlagKind::Value, "ID,ID",
       "Objectives of the Pareto front; default: the objective and headroom.", ""},
      {"--price", 0, FlagKind::Value, "DOLLARS",
       "Price per GPU hour; default: the catalogue's price, if it has one.", ""},
      {"--output", 'o', FlagKind::Value, "FILE",
       "Write the result, which merge and --resume read. The result does not depend on threads or machine.",
       "", Output::File},
      {"--csv", 0, FlagKind::Value, "FILE",
       "Write a table of all stored designs: the best, the front, the best design for each value of each "
       "setting, and the sample.",
       "", Output::File},
      kSample.flag(),
      {"--shard", 0, FlagKind::Value, "I/N",
       "Search only part I of N, so that N jobs share the space. I counts from 0 or from 1. \"shardscape-cli "
       "merge\" joins the parts.",
       ""},
      {"--resume", 0, FlagKind::Value, "FILE", "Continue the interrupted search that wrote this file.", ""},
      kEvaluate.flag(),
      {"--guided", 0, FlagKind::Switch, "",
       "Do not visit all designs: take a sample, then search from its best designs. For spaces that are too "
       "large for a full search.",
       ""},
      kBudget.flag(),
      kSeed.flag(),
      kThreads.flag(),
      kCheckpoint.flag(),
      {"--count", 0, FlagKind::Switch, "", "Only count the designs and the valid designs.", ""}};
  for (Flag& flag : service_flags(kSharedSettings)) flags.push_back(std::move(flag));
  for (Flag& flag : slurm_flags()) flags.push_back(std::move(flag));
  for (Flag& flag : space_flags()) flags.push_back(std::move(flag));
  return flags;
}

int run_explore(const Arguments& arguments) {
  Interrupt interrupt;
  auto parsed = search_options(arguments);
  if (const int* exit_code = std::get_if<int>(&parsed)) return *exit_code;
  SearchOptions& options = std::get<SearchOptions>(parsed);
  if (const auto exit_code = check_slurm_flags(arguments)) return *exit_code;
  const auto checkpoint = checkpoint_of(arguments);
  if (const int* exit_code = std::get_if<int>(&checkpoint)) return *exit_code;
  const int64_t checkpoint_seconds = std::get<int64_t>(checkpoint);
  const auto space = interrupt.end_at_once_during([&] { return space_of(arguments); });
  if (const int* exit_code = std::get_if<int>(&space)) return *exit_code;
  const bool json = arguments.has("--json"), goodput = by_goodput(arguments);
  if (!goodput)
    if (const auto exit_code = service_without_goodput(arguments)) return *exit_code;
  if (arguments.has("--count")) return count(*std::get<0>(space), json, interrupt);
  if (arguments.has("--slurm")) {
    if (goodput) {
      const auto service = goodput_of(arguments);
      if (const int* exit_code = std::get_if<int>(&service)) return *exit_code;
    }
    return write_slurm_scripts(arguments, explore_flags());
  }
  if (goodput)
    return search_by_goodput(arguments, std::get<0>(space), options, checkpoint_seconds, interrupt);
  std::optional<SearchResult> before;
  if (const std::string* path = arguments.value("--resume")) {
    auto read = load_result(*path);
    if (const auto* problem = std::get_if<Problem>(&read)) return print_refusal(*problem);
    before = std::get<SearchResult>(std::move(read));
    options.resume = &*before;
  }
  const auto begin = std::chrono::steady_clock::now();
  auto found = [&] {
    ProgressLine line;
    SearchCallbacks callbacks;
    bool failing = false;
    if (line.wanted())
      callbacks.progress = [&](const SearchProgress& p) { line.show(explore_progress(p, options.result)); };
    if (checkpoint_seconds > 0) {
      callbacks.checkpoint_seconds = static_cast<double>(checkpoint_seconds);
      callbacks.checkpoint = [&](const SearchResult& result) {
        write_checkpoint(
            arguments, [&] { return result_json(result); }, failing);
      };
    }
    return search(std::get<0>(space), options, callbacks, interrupt.token());
  }();
  if (auto* problem = std::get_if<Problem>(&found)) {
    if (problem->code == ProblemCode::ResultOfOtherSearch) problem->where = *arguments.value("--resume");
    return wrong_usage(*problem);
  }
  const SearchResult& result = std::get<SearchResult>(found);
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  const RunFigures figures{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
                           options.threads > 0 ? options.threads : processors};
  const auto failure = write_result(arguments, result);
  std::cout << (json ? result_json(result, &figures) : explore_text(result, &figures));
  if (interrupt.requested()) return kInterrupted;
  if (failure) return *failure;
  return result.best.empty() && options.shards == 1 ? kNegativeAnswer : kDone;
}

}  // namespace

Command explore_command() {
  return {
      "explore",
      "search a space of designs for the best ones",
      "[FLAGS]",
      std::string(
          "Visits all designs of a space and simulates the step of each design that is valid and fits. "
          "Prints the best designs, the Pareto front, and the reasons why other designs are infeasible. ") +
          kSpaceFlagsHelp,
      {"shardscape-cli explore --model gpt3-175b --gpus 4096 --accelerator a100-80gb --batch 4096 --json",
       "shardscape-cli explore --model llama3-70b --gpus 256 --tp 1..8*2 --pp all --recompute all "
       "--where 'tokens>=2M' --top 5",
       "shardscape-cli explore --model llama3-70b --gpus 8 --mode decode --batch 64 --tp all --pp all "
       "--objective goodput --slo 'p99 ttft<2s, p99 tpot<50ms' --requests 300",
       "shardscape-cli explore --space big.json --shard 3/16 -o part3.json",
       "shardscape-cli explore --space big.json --slurm jobs --slurm-shards 64 --slurm-time 2:00:00"},
      explore_flags(),
      0,
      run_explore};
}

}  // namespace shardscape
