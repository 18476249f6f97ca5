// Errors of predictions for measured runs: resources/accuracy/bands.json, and files in the same folder of the
// user's data. A set of a later file replaces the set of the same name.
//
// Format: {"note": "...", "samples": [{"set": "megatron_a100", "metric": "time", "accelerator": "a100-80gb",
// "precision": "16", "kind": "dense", "scale": "node", "log_ratios": [0.0123, ...]}, ...],
// "pairs": [{"set": ..., "scale": "node", "settings": "pp tp", "workloads": [[0.0123, ...], ...],
// "ids": [3, ...]}, ...]}.
// "pairs" may be missing. Logarithms are rounded to four decimals. `shardscape-cli validate --bands` writes
// the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accuracy/error_case.h"
#include "base/problem.h"

namespace shardscape {

// Time: of a training step. Memory: peak of the fullest rank. Tpot, Ttft: time per output token and to the
// first token of a service.
enum class BandMetric : uint8_t { Time, Memory, Tpot, Ttft };
inline constexpr int kBandMetricCount = 4;
std::string_view band_metric_name(BandMetric metric);  // "time", as the metrics of validation
std::optional<BandMetric> find_band_metric(std::string_view name);

// The errors of one set in one case, in the order of its rows: ln(measured / predicted).
struct ErrorSample {
  std::string set;
  BandMetric metric = BandMetric::Time;
  ErrorCase of;
  std::vector<double> log_ratios;
};

// The errors of ratios of two runs of one workload: |ln(measured ratio / predicted ratio)| of the pairs of
// one set in one case that differ in the same settings.
struct PairSample {
  std::string set;
  BandMetric metric = BandMetric::Time;
  ErrorCase of;
  std::string settings;  // ids of knobs, or of settings of servers, in alphabetical order
  std::vector<std::vector<double>> workloads;  // a list per workload, which has at least one pair
  std::vector<int64_t> ids;                    // of these workloads within the set and the metric, from 0
};

struct MeasuredErrors {
  std::vector<ErrorSample> samples;
  std::vector<PairSample> pairs;
};

// The errors of the data files.
const std::vector<ErrorSample>& error_samples();
const std::vector<PairSample>& pair_samples();
// Mistakes in the data files. A file with a mistake is left out.
const std::vector<Problem>& error_samples_problems();

// name: the name of the file in messages. A Problem names the place of a mistake.
Result<MeasuredErrors> read_measured_errors(const std::string& text, const std::string& name);
// The text of a data file: a line per sample. read_measured_errors() reads it.
std::string measured_errors_json(const MeasuredErrors& errors);

}  // namespace shardscape
