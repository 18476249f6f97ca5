// Maps the model of a recording: the preset with its name, else an architecture with the same parameters. The
// numbers of the recording then override the preset. Private to core/validation.
#pragma once

#include "validation/field_ledger.h"

namespace shardscape {

void map_model(const Recording& recording, Mapping& mapping, FieldLedger& ledger);

}  // namespace shardscape
