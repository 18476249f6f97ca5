// Times at which requests arrive.
#pragma once

#include <cstdint>
#include <vector>

#include "base/problem.h"

namespace shardscape {

enum class ArrivalKind : uint8_t {
  AllAtOnce,  // at 0 seconds
  Constant,   // equal gaps
  Poisson,    // exponential gaps
  // Gaps of a gamma distribution with shape `burstiness`, as `vllm bench serve --burstiness`: below 1 bursts,
  // 1 Poisson, above 1 more even. The variation of the gaps is 1 / sqrt(burstiness).
  Gamma,
};

// A part of the run in which the rate goes linearly from `first` to `last`.
struct RatePiece {
  double seconds = 0;          // the last piece goes on with its last rate
  double first = 0, last = 0;  // requests per second
};

struct Arrivals {
  ArrivalKind kind = ArrivalKind::Poisson;
  std::vector<RatePiece> rate;  // one piece: a ramp or a constant rate; several: steps and ramps
  double burstiness = 1;
  uint64_t seed = 0;
  bool repeats = false;  // the first piece follows the last one
};
// Points of time (seconds, ascending) and rate, one after the other: {time, rate, time, rate, ...}. The rate
// is linear between two points, and jumps at points of equal time. Before the first point and after the last
// one it has their rates. period: seconds after which the rates repeat; 0: never. The last rate then goes on
// up to the period. A Problem about `where` if the numbers are no points.
Result<std::vector<RatePiece>> rate_pieces(const std::vector<double>& points, double period,
                                           const char* where);
Arrivals steady_arrivals(ArrivalKind kind, double rate, uint64_t seed = 0, double burstiness = 1);

// The first `count` arrivals, ascending. A process of rate 1 gives the integral of the rate at every arrival
// (time change theorem; Cinlar, Introduction to Stochastic Processes, 1975, section 4.7). So every kind
// follows the rate exactly, and a larger count only appends. A Problem without a positive rate at the end, or
// anywhere if the rate repeats.
Result<std::vector<double>> arrival_times(const Arrivals& arrivals, int64_t count);

}  // namespace shardscape
