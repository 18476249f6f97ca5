// Designs that several tests share.
#pragma once

#include "design/design.h"

namespace shardscape::test {

// A preset spread over ranks; sequence parallelism on where asked.
Design preset_design(const char* preset, int64_t tp, int64_t pp, int64_t dp, bool sequence_parallel = false);
// Two layers, a few dozen wide: small enough to execute with real numbers.
Design tiny_design(const char* architecture = "llama");

}  // namespace shardscape::test
