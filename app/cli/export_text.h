// What `export` prints about a simulator that runs the bundle.
#pragma once

#include <stop_token>
#include <string>

#include "bundle/bundle.h"

namespace shardscape {

// Simulates a small bundle and compares its step with the program's own step. With tensors: the memory peak
// that a simulator sees. Then the facts about ASTRA-sim that a user of the bundle needs.
std::string simulator_text(const Report& report, const ExportOptions& options, const ExportSummary& summary,
                           std::stop_token stop);

}  // namespace shardscape
