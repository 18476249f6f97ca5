// Reads one JSON file into a block, an architecture or a vision tower. Private to core's .cpp files, because
// this header includes the JSON library.
#pragma once

#include "model/block.h"
#include "model/json_reader.h"

namespace shardscape {

// Each throws a DataError at the place of the first mistake.
BlockTemplate read_block(const JsonFile& file);
Architecture read_architecture(const JsonFile& file);
TowerTemplate read_tower(const JsonFile& file);

}  // namespace shardscape
