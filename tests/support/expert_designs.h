// Small designs with a mixture of experts.
#pragma once

#include "support/designs.h"

namespace shardscape::test {

// tiny_design() of an architecture with experts: four experts, of which a token picks two.
Design experts_design(const char* architecture);

}  // namespace shardscape::test
