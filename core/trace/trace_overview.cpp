#include "trace/trace_overview.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "bundle/bundle_files.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;
constexpr size_t kShownRuns = 6;

std::string group_ranks(const TraceOverview& overview, const CommKey& key) {
  if (key.what.ends_with("_NODE")) return "-";
  if (key.group.empty()) return "all";
  const auto it = overview.group_sizes.find(key.group);
  return it == overview.group_sizes.end() ? "?" : std::to_string(it->second);
}

}  // namespace

std::map<std::string, size_t> trace_group_sizes(const BundlePaths& paths) {
  Findings ignored;
  std::map<std::string, size_t> sizes;
  for (const auto& [id, ranks] : read_bundle_config(paths, ignored).groups)
    sizes[std::to_string(id)] = ranks.size();
  return sizes;
}

KindTotals TraceOverview::totals() const { return sum_of(summary.kinds); }

bool has_configuration(const BundlePaths& paths) {
  std::error_code error;
  return fs::is_directory(paths.folder, error) &&
         (!paths.network.empty() || fs::exists(paths.folder / kNetworkName, error)) &&
         (!paths.system.empty() || fs::exists(paths.folder / kSystemName, error));
}

Result<TraceOverview> read_trace_overview(const std::string& path, const BundlePaths& paths,
                                          const std::map<int64_t, fs::path>& traces, bool check,
                                          const std::function<void(double)>& progress, std::stop_token stop) {
  TraceOverview out{.path = path};
  auto summary = summarize_folder(traces, progress, stop);
  if (auto* problem = std::get_if<Problem>(&summary)) return std::move(*problem);
  out.summary = std::move(std::get<FolderSummary>(summary));
  out.group_sizes = trace_group_sizes(paths);
  if (check && has_configuration(paths)) out.check = check_bundle(paths, {}, std::move(stop));
  return out;
}

std::vector<CommRow> comm_rows(const TraceOverview& overview) {
  std::map<std::tuple<std::string, std::string, int64_t>, std::pair<std::set<std::string>, CommTotals>> sums;
  for (const auto& [key, totals] : overview.summary.comm) {
    auto& [groups, sum] = sums[{key.what, group_ranks(overview, key), key.bytes}];
    groups.insert(key.group);
    sum.calls += totals.calls;
    sum.microseconds += totals.microseconds;
  }
  std::vector<CommRow> out;
  for (auto& [key, sum] : sums) {
    auto& [what, ranks, bytes] = key;
    out.push_back(
        {what, ranks, bytes, ranks == "-" ? 0 : static_cast<int64_t>(sum.first.size()), sum.second});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const CommRow& a, const CommRow& b) { return a.all_bytes() > b.all_bytes(); });
  return out;
}

std::string ranks_text(const std::vector<int64_t>& ranks) {
  std::string text;
  size_t runs = 0;
  for (size_t i = 0; i < ranks.size(); ++runs) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (runs == kShownRuns) return text + ", ...";
    if (!text.empty()) text += ", ";
    text += std::to_string(ranks[i]);
    if (last > i) text += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace shardscape
