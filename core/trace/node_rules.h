// The rules that a trace file must keep by itself, and its shape.
#pragma once

#include <string_view>

#include "trace/bundle_config.h"
#include "trace/findings.h"
#include "trace/trace_shape.h"

namespace shardscape {

struct FileContext {
  const BundleConfig& config;
  int64_t rank = 0, ranks = 0;
};

// Fills shape and trace; trace.readable stays false where nothing could be read.
void read_trace(std::string_view file, const FileContext& context, TraceShape& shape, RankTrace& trace,
                Findings& findings);

}  // namespace shardscape
