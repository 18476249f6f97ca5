#include "bundle/rank_part.h"

#include <algorithm>
#include <charconv>

#include "base/units.h"

namespace shardscape {
namespace {

// Digits only.
bool read_number(std::string_view text, int64_t& out) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
  return !text.empty() && status == std::errc() && end == text.data() + text.size() && out >= 0;
}

bool read_range(std::string_view text, IndexRange& out) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return read_number(text, out.first) && read_number(text, out.last);
  return read_number(text.substr(0, dash), out.first) && read_number(text.substr(dash + 1), out.last) &&
         out.first <= out.last;
}

}  // namespace

Result<IndexRanges> parse_index_ranges(std::string_view text, const std::string& where,
                                       const std::string& what, int64_t count) {
  const std::string accepted = "numbers and ranges of " + what + " from 0 to " + grouped(count - 1) +
                               ", such as 0-" + std::to_string(std::min<int64_t>(3, count - 1)) + " or 0,1";
  IndexRanges ranges;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view word = text.substr(at, comma - at);
    IndexRange range;
    if (!read_range(word, range))
      return Problem{ProblemCode::FlagValueInvalid, where, "\"" + std::string(word) + "\" is not a range",
                     accepted};
    if (range.last >= count)
      return Problem{ProblemCode::FlagValueInvalid, where,
                     "\"" + std::string(word) + "\" is beyond the " + grouped(count) + " " + what, accepted};
    ranges.push_back(range);
    at = comma + 1;
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const IndexRange& a, const IndexRange& b) { return a.first < b.first; });
  IndexRanges out;
  for (const IndexRange& range : ranges) {
    if (!out.empty() && range.first <= out.back().last + 1)
      out.back().last = std::max(out.back().last, range.last);
    else
      out.push_back(range);
  }
  return out;
}

bool includes(const IndexRanges& ranges, int64_t number) {
  if (ranges.empty()) return true;
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), number,
                                      [](int64_t n, const IndexRange& r) { return n < r.first; });
  return after != ranges.begin() && number <= std::prev(after)->last;
}

std::string to_string(const IndexRanges& ranges) {
  std::string text;
  for (const IndexRange& range : ranges) {
    text += (text.empty() ? "" : ",") + std::to_string(range.first);
    if (range.last != range.first) text += "-" + std::to_string(range.last);
  }
  return text;
}

}  // namespace shardscape
