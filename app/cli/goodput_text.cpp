#include "app/cli/goodput_text.h"

#include <algorithm>

#include "app/cli/text.h"
#include "base/units.h"

namespace shardscape {
namespace {

// Degrees, and axes whose values differ between the entries.
std::vector<size_t> shown_axes(const Space& space, const std::vector<GoodputEntry>& entries) {
  std::vector<size_t> out;
  for (size_t a = 0; a < space.axes().size(); ++a) {
    const std::string& id = space.axes()[a].id;
    const auto value = [&](const GoodputEntry& entry) { return space.values_at(entry.point.index)[a]; };
    if (id == "tp" || id == "pp" || id == "dp" ||
        std::any_of(entries.begin(), entries.end(),
                    [&](const GoodputEntry& entry) { return value(entry) != value(entries.front()); }))
      out.push_back(a);
  }
  return out;
}

}  // namespace

bool has_rate(const GoodputResult& result) {
  return !result.entries.empty() && result.entries.front().per_gpu() > 0;
}

std::string goodput_text(const GoodputResult& result, const GoodputOptions& options, size_t top) {
  std::vector<GoodputEntry> entries;
  for (const GoodputEntry& entry : result.entries)
    if (entry.simulated && entries.size() < top) entries.push_back(entry);
  const auto simulated = std::count_if(result.entries.begin(), result.entries.end(),
                                       [](const GoodputEntry& entry) { return entry.simulated; });
  std::string out = grouped(result.search.counts.timed) + " designs fit and were timed, " +
                    grouped(static_cast<Wide>(result.engines)) + " different engines, " +
                    grouped(static_cast<Wide>(simulated)) + " simulated\n";
  if (entries.empty()) {
    for (const GoodputEntry& entry : result.entries)
      if (!entry.reason.empty()) return out + "no engine can run: " + entry.reason + "\n";
    return out + "no design fits\n";
  }
  const Space& space = *result.search.space;
  const std::vector<size_t> axes = shown_axes(space, entries);
  std::vector<std::vector<std::string>> rows{
      {"  ", "requests/s/GPU", "requests/s", "GPUs", "p99 TTFT", "p99 TPOT", "$/Mtoken"}};
  std::vector<Align> aligns(rows[0].size(), Align::Right);
  for (const size_t a : axes) {
    rows[0].push_back(space.axes()[a].id);
    aligns.push_back(space.axes()[a].numeric() ? Align::Right : Align::Left);
  }
  for (const GoodputEntry& entry : entries) {
    const LargestRate& found = entry.found;
    std::vector<std::string> row{std::to_string(rows.size()),
                                 found.rate > 0 ? significant(entry.per_gpu()) : "none",
                                 significant(found.rate),
                                 grouped(found.accelerators),
                                 format_seconds(found.results.ttft.p99),
                                 format_seconds(found.results.tpot.p99),
                                 found.cost.dollars ? significant(*found.cost.dollars) : "-"};
    const std::vector<int> values = space.values_at(entry.point.index);
    for (const size_t a : axes) row.push_back(space.axes()[a].values[static_cast<size_t>(values[a])]);
    rows.push_back(std::move(row));
  }
  return out + "\nbest by goodput within " + level_text(promised_level(options.spec)) + ":\n" +
         text_table(rows, aligns);
}

}  // namespace shardscape
