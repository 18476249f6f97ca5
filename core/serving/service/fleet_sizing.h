// The size of one candidate of a fleet search: the cheapest numbers of engines that keep the service level.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <stop_token>
#include <utility>

#include "serving/service/fleet_search.h"

namespace shardscape {

inline constexpr double kUnknownPrice = std::numeric_limits<double>::infinity();

// Orders costs: dollars where the price is known, then accelerators.
struct FleetPrice {
  double dollars = kUnknownPrice, accelerators = kUnknownPrice;
  friend auto operator<=>(const FleetPrice&, const FleetPrice&) = default;
};
// Per hour; infinite where the catalogue has no price.
double dollars_per_hour(const Design& design, double accelerators);

// Numbers of engines. prefill: of those that compute prompts only; 0 if all engines do both.
struct FleetSize {
  int64_t prefill = 0, engines = 1;
  friend auto operator<=>(const FleetSize&, const FleetSize&) = default;
};

// A candidate in the search.
struct FleetRunner {
  FleetEntry entry;
  std::unique_ptr<StepClock> clock, prefill_clock;
  FleetSize size;    // of the last sizing, or estimated
  FleetPrice price;  // of the last sizing, or estimated per request
};

// One simulation for each size that is asked for. A larger fleet is assumed to keep a level that a smaller
// one keeps. Then the least number of equal engines follows from doubling and bisection.
//
// Prefill and decode engines, p and d: the sizes that keep the level have a border, on which each p has its
// least d. Both numbers double until the level is kept; bisections of d, then of p, lead to a size on the
// border. From there the search follows the border to both sides. With one engine fewer of the first kind, it
// simulates the most engines of the second kind that cost less than the best size; if they keep the level, a
// bisection finds the least number. A side ends when even the cost of the best size, spent on the second
// kind, does not keep the level with so few engines of the first kind.
class FleetSizing {
 public:
  // All references outlive the object.
  FleetSizing(FleetRunner& runner, const Workload& workload, int64_t most_replicas, std::stop_token stop,
              std::shared_ptr<PlanCache> cache, std::atomic<int64_t>& simulations);
  // check_next: also simulates one more engine of each kind than needed.
  void run(bool check_next);

 private:
  using Axis = int64_t FleetSize::*;
  const FleetCandidate& candidate() const { return runner_.entry.candidate; }
  bool kept(const ServiceRun& run) const;
  bool keeps(const FleetSize& size);
  FleetSize least(FleetSize size, Axis axis, int64_t low);
  FleetSize cheapest(const FleetSize& corner);
  double unit_cost(Axis axis) const;
  double cost(const FleetSize& size) const;
  int64_t most_below(double cost, Axis axis) const;
  bool is_monotone(const FleetSize& size, bool check_next);
  void fail();
  void exceed(const FleetSize& size);
  void accept(const FleetSize& size);

  FleetRunner& runner_;
  const Workload& workload_;
  ServiceLevel level_;
  FleetSize most_;
  std::stop_token stop_;
  std::shared_ptr<PlanCache> cache_;
  std::atomic<int64_t>& simulations_;
  std::map<FleetSize, std::unique_ptr<ServiceRun>> runs_;  // figures only
};

}  // namespace shardscape
