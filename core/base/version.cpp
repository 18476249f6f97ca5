#include "base/version.h"

namespace shardscape {

const char* program_version() { return SHARDSCAPE_VERSION; }

}  // namespace shardscape
