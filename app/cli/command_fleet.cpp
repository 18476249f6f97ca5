// shardscape-cli fleet
#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "app/cli/service_answer.h"
#include "app/cli/space_flags.h"
#include "explore/fleet_candidates.h"
#include "explore/values.h"
#include "model/parallel_loop.h"
#include "report/fleet_report.h"
#include "serving/engine/engine_profile.h"

namespace shardscape {
namespace {

constexpr int64_t kMostEngines = 100'000, kMostCandidates = 10'000;
constexpr CountFlag kMostReplicas{"--most-engines", 1024, 1, kMostEngines,
                                  "The largest fleet that is tried; default: 1,024."};
constexpr CountFlag kSimulated{
    "--simulated", 48, 1, kMostCandidates,
    "Kinds of engines that are simulated, by their estimated cost; default: 48. With --disaggregate, also so "
    "many pairs."};
constexpr CountFlag kFinalists{
    "--finalists", 6, 1, kMostCandidates,
    "Kinds of engines that are simulated with all requests, if these are 800 or more; default: 6."};

// The search finds the numbers of replicas, so these settings of a service have no flag here.
const std::set<std::string> kFound{"replicas",
                                   "prefill_replicas",
                                   "decode_replicas",
                                   "least_prefill_replicas",
                                   "requests_per_prefill_replica",
                                   "prefill_start_seconds",
                                   "prefill_cool_down_seconds"};

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) out.push_back(word);
  return out;
}

// The kinds of engines, or an exit code.
std::variant<FleetSpace, int> space_flags_of(const Arguments& arguments) {
  FleetSpace space;
  space.disaggregate = arguments.has("--disaggregate");
  for (const auto& [flag, list] : {std::pair{"--accelerators", &space.accelerators},
                                   std::pair{"--prefill-accelerators", &space.prefill_accelerators}})
    if (const std::string* text = arguments.value(flag)) *list = words_of(*text);
  for (const auto& [flag, list] : {std::pair{"--engine-gpus", &space.engine_gpus},
                                   std::pair{"--prefill-engine-gpus", &space.prefill_gpus}})
    if (const std::string* text = arguments.value(flag)) {
      const auto sizes = sweep_values(*find_knob("tp"), *text);
      if (const auto* problem = std::get_if<Problem>(&sizes))
        return service_failure({problem->code, flag, problem->what, problem->accepted}, kWrongUsage);
      *list = std::get<0>(sizes);
    }
  for (const std::string& text : arguments.values("--try")) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      return service_failure({ProblemCode::FlagValueInvalid, "--try", "\"" + text + "\" has no =",
                              "a setting and its values, such as max_num_seqs=64,128"},
                             kWrongUsage);
    space.settings.emplace_back(text.substr(0, equals), words_of(text.substr(equals + 1)));
  }
  return space;
}

std::variant<FleetOptions, int> fleet_options(const Arguments& arguments) {
  FleetOptions options;
  int64_t simulated = 0, finalists = 0;
  if (const auto exit_code = read_counts(
          arguments,
          {{kMostReplicas, &options.most_replicas}, {kSimulated, &simulated}, {kFinalists, &finalists}}))
    return *exit_code;
  options.simulated = static_cast<size_t>(simulated);
  options.finalists = static_cast<size_t>(finalists);
  return options;
}

// Prints the problem with the flag that has the mistake.
int wrong_candidates(Problem problem) {
  const std::pair<const char*, const char*> flags[] = {{"accelerator", "--accelerators"},
                                                       {"engine_gpus", "--engine-gpus"},
                                                       {"prefill_accelerators", "--prefill-accelerators"},
                                                       {"prefill_engine_gpus", "--prefill-engine-gpus"},
                                                       {"prefill_design", "--prefill-design"}};
  const auto* of = std::find_if(std::begin(flags), std::end(flags),
                                [&](const auto& row) { return problem.where == row.first; });
  problem.where = of != std::end(flags) ? of->second : "--try " + problem.where;
  print_problem(problem);
  return kWrongUsage;
}

int run_fleet(const Arguments& arguments) {
  const auto design = design_of(arguments);
  if (const int* exit_code = std::get_if<int>(&design)) return *exit_code;
  print_problems(engine_profile_problems());
  auto spec = service_of(arguments, kFound);
  if (const int* exit_code = std::get_if<int>(&spec)) return *exit_code;
  auto space = space_flags_of(arguments);
  if (const int* exit_code = std::get_if<int>(&space)) return *exit_code;
  auto options = fleet_options(arguments);
  if (const int* exit_code = std::get_if<int>(&options)) return *exit_code;
  Interrupt interrupt;
  ServiceSpec& service = std::get<ServiceSpec>(spec);
  // The search reads the file once, for all fleets.
  std::get<FleetSpace>(space).prefill_design = std::exchange(service.fleet.prefill_design, {});
  auto candidates = fleet_candidates(std::get<Design>(design), service, std::get<FleetSpace>(space),
                                     interrupt.token());
  if (const auto* problem = std::get_if<Problem>(&candidates)) return wrong_candidates(*problem);
  if (interrupt.token().stop_requested()) return kInterrupted;
  std::get<FleetOptions>(options).prefill = std::move(std::get<0>(candidates).prefill);
  Question<FleetSearch> question{
      {}, fleet_csv, fleet_json, fleet_text, [](const FleetSearch& found) { return found.sized > 0; }};
  question.compute = [&](std::stop_token stop, const auto& progress) {
    return search_fleet(std::move(std::get<0>(candidates).list), service, std::get<FleetOptions>(options),
                        std::move(stop), {}, progress);
  };
  return ask(arguments, question, interrupt);
}

}  // namespace

Command fleet_command() {
  std::vector<Flag> flags{
      json_flag(),
      {"--csv", 0, FlagKind::Value, "FILE", "Write a table of all kinds of engines.", "", Output::File},
      {"--accelerators", 0, FlagKind::Value, "ID,ID,...",
       "Accelerators to compare; default: that of the design. \"shardscape-cli machines\" lists them.", ""},
      {"--engine-gpus", 0, FlagKind::Value, "N,N,...",
       "GPUs of an engine. Accepts numbers and ranges such as 1..16*2; default: 1, 2, 4 and so on up to two "
       "nodes, or a node if its scale-up domain ends there.",
       ""},
      {"--disaggregate", 0, FlagKind::Switch, "",
       "Also try prefill and decode engines, of equal or different layouts and accelerators. The search "
       "finds the numbers of both that cost least.",
       ""},
      {"--prefill-accelerators", 0, FlagKind::Value, "ID,ID,...",
       "With --disaggregate: accelerators of prefill engines; default: those of --accelerators.", ""},
      {"--prefill-engine-gpus", 0, FlagKind::Value, "N,N,...",
       "With --disaggregate: GPUs of a prefill engine; default: as --engine-gpus. --prefill-design gives one "
       "prefill engine instead.",
       ""},
      {"--try", 0, FlagKind::Value, "SETTING=V,V,...",
       "Also vary a setting of the engine, or router; may be repeated. All combinations are tried.", ""},
      kMostReplicas.flag(),
      kSimulated.flag(),
      kFinalists.flag()};
  for (Flag& flag : service_flags(kFound)) flags.push_back(std::move(flag));
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {
      "fleet",
      "find how many GPUs of which kind keep a service level",
      "[FLAGS]",
      std::string(
          "Sizes a fleet of engines for drawn requests or a trace. For each accelerator and each layout "
          "of an engine, it finds the least number of replicas that keeps the limits (--slo), by "
          "simulation. Prints GPUs, dollars per hour and per million output tokens, energy and "
          "latencies, the cheapest fleet first, and why other kinds of engines are not in the table. "
          "The layout of the design competes with the others. With --disaggregate, prefill and decode "
          "engines compete with engines that do both, and the ratio of the cheapest fleet is printed. ") +
          kDesignFlagsHelp,
      {"shardscape-cli fleet --model llama3-70b --rate 20 --slo 'p99 ttft<2s, p99 tpot<50ms' "
       "--accelerators h100-sxm-80gb,h200-sxm-141gb",
       "shardscape-cli fleet --model llama3-8b --trace requests.csv --slo 'p90 e2e<20s' --engine-gpus 1,2 "
       "--try max_num_seqs=64,256 --json",
       "shardscape-cli fleet --model llama3-70b --rate 20 --slo 'p99 ttft<1s, p99 tpot<30ms' --disaggregate "
       "--prefill-accelerators h100-sxm-80gb --accelerators h200-sxm-141gb"},
      std::move(flags),
      0,
      run_fleet};
}

}  // namespace shardscape
