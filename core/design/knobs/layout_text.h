// The layout of a design in a few words: "tp 2", "pp 2", "microbatch 4".
#pragma once

#include <string>
#include <vector>

#include "design/design.h"

namespace shardscape {

// tp, cp, pp, dp, ep and the microbatch. Values of one are left out.
std::vector<std::string> layout_texts(const Design& design);

}  // namespace shardscape
