// An unsaved study with its undo history, as the window keeps it for the case of a crash.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explore/study.h"

namespace shardscape {

// Undo steps: first, then the design after every step. `done` steps are not undone.
struct UndoHistory {
  struct Step {
    std::string text;  // "set tensor parallel"
    Design after;
    friend bool operator==(const Step&, const Step&) = default;
  };
  Design first;
  std::vector<Step> steps;
  size_t done = 0;
  friend bool operator==(const UndoHistory&, const UndoHistory&) = default;
};

struct Recovery {
  Study study;  // the present design is that after `done` steps of the history
  UndoHistory history;
  std::string document;  // path of the file that the study was opened from or saved to; empty: none
  std::string view;      // the name of the shown view
  int64_t saved_at = 0;  // seconds since 1970
};

std::string to_json(const Recovery& recovery);
// A Problem if anything but the search or a compared design is unreadable (Study::lost).
Result<Recovery> recovery_from_json(const std::string& text, const std::string& where);
Result<Recovery> load_recovery(const std::filesystem::path& path);

}  // namespace shardscape
