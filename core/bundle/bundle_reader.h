// Reads all files of a bundle, reduces traces to shapes, and checks each file on its own.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>

#include "astra_sim/bundle_traces.h"
#include "chakra/findings.h"

namespace shardscape {

struct BundleContents {
  BundleConfig config;
  BundleTraces traces;  // no ranks if the folder has no traces
  int64_t files = 0;    // number of trace files found
  // Ranks of the job without a file, if the manifest says that the bundle is a part of the job.
  int64_t absent = 0;
};

// folded: analyses hold communication only (ShapeAnalysis). progress: share of the reading, up to 1.
// Incomplete if stopped.
BundleContents read_bundle(const std::filesystem::path& bundle, bool folded, Findings& findings,
                           const std::function<void(double)>& progress, const std::stop_token& stop);

}  // namespace shardscape
