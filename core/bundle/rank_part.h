// A part of the ranks of a job: "0-1023,2048", or the ranks of some pipeline stages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"

namespace shardscape {

struct IndexRange {
  int64_t first = 0, last = 0;  // both included
  friend bool operator==(const IndexRange&, const IndexRange&) = default;
};
using IndexRanges = std::vector<IndexRange>;  // ascending, without overlap; empty: everything

// Reads numbers and ranges with commas between them. where: of the problem, such as "--ranks". what: "ranks".
// Every number is below `count`.
Result<IndexRanges> parse_index_ranges(std::string_view text, const std::string& where,
                                       const std::string& what, int64_t count);
// Whether a number is in the ranges, or the ranges are empty.
bool includes(const IndexRanges& ranges, int64_t number);
std::string to_string(const IndexRanges& ranges);  // "0-1023,2048"

struct RankPart {
  IndexRanges ranks{}, stages{};
  bool whole() const { return ranks.empty() && stages.empty(); }
  bool has(int64_t rank, int64_t stage) const { return includes(ranks, rank) && includes(stages, stage); }
  friend bool operator==(const RankPart&, const RankPart&) = default;
};

}  // namespace shardscape
