// Checks the destination of an export before the export starts.
#pragma once

#include <QString>
#include <cstdint>
#include <optional>

namespace shardscape::ui {

struct TargetState {
  QString problem;              // empty: an export can start
  bool bundle_there = false;    // a bundle that replacing would overwrite
  std::optional<int64_t> free;  // bytes on the disk
  QString volume;               // its mount point
};

// Reads only. The export checks again and reports errors that appear only when writing.
TargetState examineTarget(const QString& folder, bool replace);

}  // namespace shardscape::ui
