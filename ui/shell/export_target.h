// What can be said of an export's destination before it starts.
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

// Looks, never writes. The export itself checks again and says what only trying can tell.
TargetState examineTarget(const QString& folder, bool replace);

}  // namespace shardscape::ui
