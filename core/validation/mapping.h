// From a recording to the design that describes the same run. Every field of the recording is accounted for:
// it sets a knob, it is known to change nothing that is counted, or it is listed as not mapped with the
// reason.
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
  Design design;            // as far as it could be mapped
  int stage = 0;            // the pipeline stage of the recorded rank
  int64_t layers_here = 0;  // layers on that stage
  int64_t full_layers = 0;  // layers of the whole model that the run was cut from; 0: not told
  std::vector<UnmappedField> unmapped;
  bool complete() const { return unmapped.empty(); }
};

// Recordings of the sync plan alone map to no design: their code base is told, and sync_audit.h does the
// rest.
Mapping map_recording(const Recording& recording);

}  // namespace shardscape
