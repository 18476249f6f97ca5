// Where a bundle goes: a folder or an archive, whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "bundle/bundle.h"
#include "bundle/sink.h"

namespace shardscape {

struct TargetOptions {
  std::filesystem::path target;
  bool replace = false;
  int64_t bytes_needed = 0;
  std::string settings{};  // FolderOptions
  bool resume = false;     // folders only
  bool keep_partial = false;
};

// Writes all files of the bundle.
using SinkWriter = std::function<Result<ExportSummary>(ByteSink&)>;
// Opens the target, calls `write`, and commits. Sets what the summary says of the target.
Result<ExportSummary> write_target(const TargetOptions& options, const SinkWriter& write);

}  // namespace shardscape
