// Prefill and decode as JSON, CSV and text: one step, and sweeps over batches and contexts.
#pragma once

#include <string>
#include <vector>

#include "serving/inference.h"

namespace shardscape {

// The points as rows below one of names, values as programs read them (seconds, bytes, tokens per second);
// nothing where there is none.
std::vector<std::vector<std::string>> sweep_table(const ServingSweep& sweep);
std::string sweep_csv(const ServingSweep& sweep);   // that table
std::string sweep_text(const ServingSweep& sweep);  // for people
std::string sweep_json(const ServingSweep& sweep);

// The JSON of a report, and the text of its time, with these figures; unchanged and empty for training.
std::string with_inference(const std::string& report_json, const Report& report,
                           const Simulation& simulation);
std::string inference_text(const Report& report, const Simulation& simulation);

}  // namespace shardscape
