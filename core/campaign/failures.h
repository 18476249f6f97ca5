// The time of a run that fails at random and restarts from checkpoints. Times are in one unit, for example
// seconds. Failures are a Poisson process: the time to the next one is exponential with mean M, also while
// the run saves or restarts.
#pragma once

#include <cstdint>

namespace shardscape {

struct Interruptions {
  double mtti = 0;     // M: mean time to interruption; infinity without interruptions
  double save = 0;     // w: time of one checkpoint, during which no step runs
  double restart = 0;  // R: from an interruption to the first repeated step
};

// Expected time of the run / time of its steps, with a checkpoint after every `interval` of steps:
// M e^(R/M) (e^((interval + w)/M) - 1) / interval (J. T. Daly, FGCS 22 (2006),
// doi:10.1016/j.future.2004.11.016, equation 20). Infinity if a double cannot hold the result.
double stretch(const Interruptions& interruptions, double interval);

// The interval of steps with the smallest stretch. The derivative of the equation above is zero where
// (1 - x) e^x = e^(-w/M), x = interval/M, so x = 1 + W0(-e^(-1 - w/M)) with Lambert's W. The result is
// positive; infinity without interruptions.
double best_interval(const Interruptions& interruptions);

// Approximations of best_interval: sqrt(2 M w) (J. W. Young, CACM 17 (1974), doi:10.1145/361147.361115), and
// Daly's sqrt(2 M w) (1 + sqrt(w/(2M))/3 + w/(18M)) - w, or M for w >= 2M (equation 37).
double young_interval(const Interruptions& interruptions);
double daly_interval(const Interruptions& interruptions);

// The expected time of a run whose steps take `work`, with a checkpoint after every `interval` of them.
// Infinity if the run makes no progress. quantile: of the number of interruptions, each at its mean cost; 0:
// the expected time.
double run_seconds(const Interruptions& interruptions, double work, double interval, double quantile = 0);

// The smallest n whose cumulative Poisson probability reaches `probability`, between 0 and 1. Above a mean of
// 10,000 by the normal approximation.
int64_t poisson_quantile(double mean, double probability);

}  // namespace shardscape
