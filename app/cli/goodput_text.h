// A search by goodput as a text table for a terminal.
#pragma once

#include <string>

#include "explore/goodput_search.h"

namespace shardscape {

// Whether a design keeps the service level at any rate.
bool has_rate(const GoodputResult& result);
// At most `top` rows.
std::string goodput_text(const GoodputResult& result, const GoodputOptions& options, size_t top);

}  // namespace shardscape
