// What a trace, or a folder of traces, holds: the summary, the sizes of its groups and the checker's
// findings.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bundle/checker.h"
#include "trace/trace_summary.h"

namespace shardscape {

struct TraceOverview {
  std::string path;
  FolderSummary summary{};
  // Ranks of the groups by name; empty without a group file.
  std::map<std::string, size_t> group_sizes{};
  std::optional<CheckReport> check{};  // of a folder with configuration files
  KindTotals totals() const;           // of all ranks
};

// paths: of the configuration files. check: also check a folder that has them. progress: 0 to 1.
// Problems: as summarize_folder.
Result<TraceOverview> read_trace_overview(const std::string& path, const BundlePaths& paths,
                                          const std::map<int64_t, std::filesystem::path>& traces, bool check,
                                          const std::function<void(double)>& progress, std::stop_token stop);
// Ranks of the groups by name, from the group file; empty without one.
std::map<std::string, size_t> trace_group_sizes(const BundlePaths& paths);
// Whether the traces can be checked and simulated: their network and system are known.
bool has_configuration(const BundlePaths& paths);

// Communication of one type, size of group and size of message, over all groups of this size.
struct CommRow {
  std::string what;         // "ALL_REDUCE"
  std::string group_ranks;  // "8", "all", "?" where no file says it, "-" for sends and receives
  int64_t bytes = 0;        // comm_size
  int64_t groups = 0;       // 0 for sends and receives
  CommTotals totals{};
  Wide all_bytes() const { return static_cast<Wide>(bytes) * totals.calls; }
};
// The rows with the most bytes first.
std::vector<CommRow> comm_rows(const TraceOverview& overview);

// "0-3, 8": runs of ascending ranks; "..." after the first six.
std::string ranks_text(const std::vector<int64_t>& ranks);

}  // namespace shardscape
