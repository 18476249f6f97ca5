// Rows of tests that run the architecture of every preset with tiny sizes.
#pragma once

#include <initializer_list>

#include <QString>

#include "design/design.h"

namespace shardscape::test {

enum class PresetKind { All, Dense, Experts };

// A row for each architecture of presets (tiny_models.h) and each of the settings (execution_runs.h). Fails
// where docs/limits.md does not explain why a design is refused, and leaves out designs that it explains.
void add_preset_rows(PresetKind kind, std::initializer_list<const char*> settings);
// The design of the row.
Design fetched_preset();

}  // namespace shardscape::test
