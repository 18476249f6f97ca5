// Reads one JSON file into a preset. Private to core's .cpp files, because this header includes the JSON
// library.
#pragma once

#include "model/json_reader.h"
#include "model/library.h"

namespace shardscape {

// Throws a DataError at the place of the first mistake.
Preset read_preset(const JsonFile& file);

}  // namespace shardscape
