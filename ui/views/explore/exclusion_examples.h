// For each reason why designs of a space are invalid, what one of them is told.
#pragma once

#include <map>
#include <stop_token>
#include <string>

#include "explore/result.h"

namespace shardscape::ui {

// By the knob of SearchCounts::invalid. Looks at designs drawn from all of the space; reasons that are rare
// may have no example.
std::map<std::string, std::string> exclusionExamples(const Space& space, const SearchCounts& counts,
                                                     std::stop_token stop = {});

}  // namespace shardscape::ui
