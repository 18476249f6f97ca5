// Errors of predictions for measured runs: resources/accuracy/bands.json, and files in the same folder of the
// user's data. A set of a later file replaces the set of the same name.
//
// Format: {"note": "...", "samples": [{"set": "megatron_a100", "metric": "time", "accelerator": "a100-80gb",
// "precision": "16", "kind": "dense", "scale": "node", "log_ratios": [0.0123, ...]}, ...]}. A log ratio is
// ln(measured / predicted) of a row, rounded to four decimals. `shardscape-cli validate --bands` writes it.
#pragma once

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

// The errors of one set in one case, in the order of its rows.
struct ErrorSample {
  std::string set;
  BandMetric metric = BandMetric::Time;
  ErrorCase of;
  std::vector<double> log_ratios;
};

// The samples of the data files.
const std::vector<ErrorSample>& error_samples();
// Mistakes in the data files. A file with a mistake is left out.
const std::vector<Problem>& error_samples_problems();

// name: the name of the file in messages. A Problem names the place of a mistake.
Result<std::vector<ErrorSample>> read_error_samples(const std::string& text, const std::string& name);
// The text of a data file: a line per sample. read_error_samples() reads it.
std::string error_samples_json(const std::vector<ErrorSample>& samples);

}  // namespace shardscape
