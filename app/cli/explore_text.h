// The result of a search as text tables for a terminal.
#pragma once

#include <string>

#include "explore/search.h"

namespace shardscape {

std::string explore_text(const SearchResult& result, const RunFigures* figures = nullptr);
std::string explore_progress(const SearchProgress& progress, const ResultOptions& options);

}  // namespace shardscape
