// Prefill and decode as JSON, CSV and text: one step, and sweeps over batches and contexts.
#pragma once

#include <string>
#include <vector>

#include "serving/inference.h"

namespace shardscape {

// A heading row, then one row per point. Values are in base units: seconds, bytes, tokens per second. A cell
// is empty if its value does not exist.
std::vector<std::vector<std::string>> sweep_table(const ServingSweep& sweep);
std::string sweep_csv(const ServingSweep& sweep);   // sweep_table() as CSV
std::string sweep_text(const ServingSweep& sweep);  // for a terminal
std::string sweep_json(const ServingSweep& sweep);

// Inference figures added to the JSON of a report, and as text. For training the JSON is unchanged and the
// text empty.
std::string with_inference(const std::string& report_json, const Report& report,
                           const Simulation& simulation);
std::string inference_text(const Report& report, const Simulation& simulation);

}  // namespace shardscape
