// A training run over its budget of tokens: days, dollars, energy, interruptions and checkpoints, with bands.
//
// Steps take the simulated time. The run saves checkpoints at a fixed interval and restarts after each
// interruption (failures.h). Training waits while the slowest rank writes: bytes (checkpoint.h) / bandwidth.
// Mean time to interruption: 8,000 accelerator-days / (rate · accelerators), with the rate for 1,000 days of
// 8 accelerators, as in published logs. Accelerator-hours, dollars and energy count the whole time of the run
// at full power.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "campaign/checkpoint.h"
#include "campaign/failures.h"
#include "campaign/running_cost.h"
#include "timing/simulation.h"

namespace shardscape {

// An expected value and a band that contains the value of at least 90 % of runs, if the band's assumptions
// hold. The low end combines: steps faster by kStepError, the lowest published rate and restart time (or the
// given ones), and the 5th percentile of interruptions. The high end: steps slower by kStepError, the highest
// published rate and restart time, the 95th percentile of interruptions, and kOtherLosses.
struct Band {
  double low = 0, mean = 0, high = 0;
};
// Mean error of simulated steps over published runs (docs/accuracy.md).
inline constexpr double kStepError = 0.1;
// Time without interruptions that does no step either: evaluation, roll-backs, slow accelerators. 8 to 9 % of
// the runs of Llama 3.1 405B and BLOOM that interruptions do not explain: 67.1 days of steps in 78.4 (model
// card and arXiv 2407.21783), 106.0 in 118.2 (bigscience chronicles of tr11-176B-ml).
inline constexpr double kOtherLosses = 0.1;
// Below this number of accelerators, published jobs fail more often than their nodes do: 24 against 6.5 in
// 1,000 node-days for jobs of 1,024 (arXiv 2410.21680).
inline constexpr int64_t kFewAccelerators = 1024;

// Shares of the expected time of a run; they add up to 1.
struct TimeShares {
  double steps = 0;     // goodput: steps that count
  double saves = 0;     // checkpoints
  double repeated = 0;  // steps that an interruption lost
  double restarts = 0;
};

// The steps of a batch ramp (WorkloadSpec::ramp). Without one, all values are 0.
struct RampSteps {
  double steps = 0, samples = 0, seconds = 0;
};

struct Campaign {
  // Inputs:
  int64_t tokens = 0, tokens_per_step = 0, accelerators = 0;
  double step_seconds = 0;
  Operation operation;
  // The run:
  double steps = 0;  // those of the ramp included
  RampSteps ramp;
  double step_days = 0;  // if nothing fails and nothing is saved
  CheckpointBytes checkpoint;
  double save_seconds = 0;      // of one checkpoint
  double interval_seconds = 0;  // of steps between checkpoints, whole steps
  double interval_steps = 0;
  bool interval_given = false;
  double best_interval_seconds = 0, young_seconds = 0, daly_seconds = 0;  // not rounded to steps
  double checkpoints = 0;                                                 // saved in the run
  double mtti_hours = 0;                                                  // mean time to interruption
  TimeShares shares;
  Band days, interruptions, accelerator_hours;
  std::optional<Band> dollars, mwh;  // nothing: price or power is not known
  RunningCost running;               // of a million tokens, without interruptions
  // The run makes no progress: interruptions come faster than restarts and saves. Times are infinite.
  bool hopeless = false;
};

// Sizes of a ramp, each with its number of steps, until the run has `samples` sequences. As Megatron: the
// increases divide ramp.samples evenly, and a step has start + n · increment sequences if the sequences of
// all earlier steps fill n parts (megatron/core/num_microbatches_calculator.py,
// RampupBatchsizeNumMicroBatchesCalculator).
struct RampSize {
  int64_t batch = 0, steps = 0;
};
std::vector<RampSize> ramp_sizes(const BatchRamp& ramp, int64_t batch, int64_t samples);

// Of a valid training report with a budget of tokens (WorkloadSpec::tokens > 0).
Campaign campaign(const Report& report, const Simulation& simulation);
Campaign campaign(const Report& report, double step_seconds, double tokens_per_second);

}  // namespace shardscape
