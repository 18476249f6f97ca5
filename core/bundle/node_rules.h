// Checks the rules of a single trace file and makes its shape.
#pragma once

#include <stop_token>
#include <string_view>

#include "astra_sim/bundle_config.h"
#include "chakra/findings.h"
#include "chakra/trace_shape.h"

namespace shardscape {

struct FileContext {
  const BundleConfig& config;
  int64_t rank = 0, ranks = 0;
  std::stop_token stop = {};
};

// Fills shape and trace. trace.readable stays false if nothing could be read, or if stopped.
void read_trace(std::string_view file, const FileContext& context, TraceShape& shape, RankTrace& trace,
                Findings& findings);

}  // namespace shardscape
