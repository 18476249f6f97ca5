// Fleet sizing: how many engines of which kind keep a service level, and what they cost. Engines compute
// prompts and answers, or there are prefill and decode engines, in the ratio that costs least.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "serving/service/engine_figures.h"

namespace shardscape {

// One kind of engine. explore/fleet_candidates.h makes candidates of accelerators, layouts and settings.
struct FleetCandidate {
  Design design;         // of one engine: engine_design(design) == design
  ServiceSpec spec;      // its replicas have no effect
  std::string layout;    // for people: "tp 4, pp 2"
  std::string settings;  // for people: "max_num_seqs 128"; empty: no setting varies
  // One engine that computes prompts only; `design` then generates answers only. Empty: `design` does both.
  std::optional<Design> prefill = {};
  std::string prefill_layout = {};
};

// What a search does with a candidate.
enum class FleetEnd : uint8_t {
  Sized,       // simulated with all requests; has the least number of replicas
  Unfit,       // no engine of this kind can run, or no number of replicas keeps the level
  Dominated,   // another candidate is at least as good in every figure (engine_figures.h)
  NotTried,    // the estimated cost is too high
  OutOfPlace,  // too expensive for the first requests
};

struct FleetEntry {
  FleetCandidate candidate;
  FleetEnd end = FleetEnd::NotTried;
  std::string reason;  // for people, of an entry that is not sized
  EngineFigures figures, prefill_figures;
  // Of sized entries.
  int64_t replicas = 0, accelerators = 0;                  // all
  int64_t prefill_replicas = 0, prefill_accelerators = 0;  // of these: those that compute prompts only
  ServiceResults results;
  std::optional<double> dollars_per_hour;  // of all accelerators; nothing: the price is not known
  RunningCost cost;                        // of a million output tokens
  bool monotone = true;  // false: a larger number of replicas that was simulated exceeds the level
  int64_t decode_replicas() const { return replicas - prefill_replicas; }
};

struct FleetOptions {
  int64_t most_replicas = 1024;
  size_t simulated = 48;  // candidates that are simulated at all
  size_t finalists = 6;   // candidates that are simulated with all requests, if these are 800 or more
  // Engines that can compute prompts only. Each of them with each candidate, which then generates the
  // answers, is a candidate, too. Pairs and other candidates have `simulated` and `finalists` places each.
  std::vector<FleetCandidate> prefill = {};
};

struct FleetSearch {
  ServiceSpec spec;                 // requests and level
  std::vector<FleetEntry> entries;  // sized ones first, the cheapest first; then the others, by their end
  size_t sized = 0;
  int64_t requests = 0, simulations = 0;
  int64_t pairs = 0;  // of prefill and decode engines; those that are not simulated have no entry
};

// Finds, for each candidate that is promising, the least number of replicas that answers all requests within
// the promised level of the spec: doubling, then bisection, one simulation per number. The bisection holds
// if a larger fleet never exceeds a level that a smaller one keeps; the next larger number is simulated as
// well (FleetEntry::monotone).
//
// Rule of the search:
// 1. Candidates whose cache has no room are unfit. Of two candidates with the same accelerator, number of
//    accelerators and settings, one that is at least as good in all EngineFigures dominates the other. Pairs
//    have equal settings and no dominated engine.
// 2. The `simulated` candidates with the lowest estimated cost of a request go on.
// 3. Of 3,200 requests or more, the first 1/16 sizes all; the cheaper half goes on, but at least `finalists`.
// Of
//    800 requests or more, the first quarter sizes all; the `finalists` cheapest go on.
// 4. What is left is sized with all requests.
// The best candidate of each accelerator, and the best pair of each two, always goes on. Costs are dollars
// per hour, then accelerators where a price is not known; candidates with a price come first.
//
// Candidates run in parallel; the result does not depend on threads. A stopped search has no sized entries.
// A Problem if nothing is promised, if there are no candidates, or if the requests cannot be read.
// progress: called from any thread, see ProgressCount; `of` may change.
Result<std::shared_ptr<const FleetSearch>> search_fleet(
    std::vector<FleetCandidate> candidates, const ServiceSpec& spec, const FleetOptions& options = {},
    std::stop_token stop = {}, std::shared_ptr<PlanCache> cache = {},
    const std::function<void(size_t done, size_t of)>& progress = {});

}  // namespace shardscape
