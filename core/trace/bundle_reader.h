// All files of a bundle, read and boiled down, with what is wrong in each by itself.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>

#include "trace/bundle_traces.h"
#include "trace/findings.h"

namespace shardscape {

struct BundleContents {
  BundleConfig config;
  BundleTraces traces;        // no ranks where the folder holds no traces
  int64_t files = 0;          // traces that are there
};

// folded: analyses hold communication only. progress: shares of the reading, up to 1. Incomplete when stopped.
BundleContents read_bundle(const std::filesystem::path& bundle, bool folded, Findings& findings,
                           const std::function<void(double)>& progress, const std::stop_token& stop);

}  // namespace shardscape
