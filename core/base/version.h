// The version of this program, from the build.
#pragma once

namespace shardscape {

const char* program_version();  // "0.1.0"

}  // namespace shardscape
