// The page about a comparison of designs, for people.
#pragma once

#include "explore/comparison.h"
#include "report/page_report.h"

namespace shardscape {

// names: one per design, distinct. designs: valid; the first is the baseline. The page opens again as the
// last design, with the others pinned.
PageReport comparison_page(const std::vector<std::string>& names, const std::vector<ComparedDesign>& designs);

}  // namespace shardscape
