// For each reason why designs of a space are invalid: the problem text of one such design.
#pragma once

#include <map>
#include <stop_token>
#include <string>

#include "explore/result.h"

namespace shardscape::ui {

// Keys are the knobs of SearchCounts::invalid. Draws random designs of the space; a rare reason may have no
// example.
std::map<std::string, std::string> exclusionExamples(const Space& space, const SearchCounts& counts,
                                                     std::stop_token stop = {});

}  // namespace shardscape::ui
