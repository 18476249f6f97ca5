// The model of a recording: the preset of its name, else an architecture with the same parameters; then its
// own numbers. Private to core/audit.
#pragma once

#include "validation/field_ledger.h"

namespace shardscape {

void map_model(const Recording& recording, Mapping& mapping, FieldLedger& ledger);

}  // namespace shardscape
