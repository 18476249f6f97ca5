// The program version that the build defines.
#pragma once

namespace shardscape {

const char* program_version();  // "0.1.0"

}  // namespace shardscape
