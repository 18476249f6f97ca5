// Maps a recording to the design of the same run. Every field of the recording sets a knob, or is known to
// change no counted quantity, or is listed as unmapped with a reason.
#pragma once

#include <string>
#include <vector>

#include "design/design.h"
#include "validation/code_base.h"
#include "validation/recording.h"

namespace shardscape {

struct UnmappedField {
  std::string field;   // "config.moe_dispatcher"
  std::string value;   // "alltoall"
  std::string reason;  // "there is no knob \"experts\""
};

struct Mapping {
  CodeBase code = CodeBase::Unknown;
  Design design;            // contains all fields that could be mapped
  int stage = 0;            // pipeline stage of the recorded rank
  int64_t layers_here = 0;  // layers on that stage
  int64_t full_layers = 0;  // layers of the model before the run was shortened; 0: unknown
  std::vector<UnmappedField> unmapped;
  bool complete() const { return unmapped.empty(); }
};

// Sync-only recordings (is_sync_only) map to no design: only the code base is set, and sync_audit.h compares
// them.
Mapping map_recording(const Recording& recording);

}  // namespace shardscape
