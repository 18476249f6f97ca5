// Text and JSON of traces: an overview, found nodes, and the nodes around a node.
#pragma once

#include <optional>
#include <string>

#include "bundle/checker.h"
#include "trace/trace_query.h"
#include "trace/trace_summary.h"

namespace shardscape {

// What the command says about a path.
struct TraceOverview {
  std::string path;
  FolderSummary summary{};
  // Ranks of the groups by name; empty without a group file.
  std::map<std::string, size_t> group_sizes{};
  std::optional<CheckReport> check{};  // of a folder with configuration files
};

std::string overview_text(const TraceOverview& overview);
std::string overview_json(const TraceOverview& overview);
std::string found_text(const FoundNodes& found, const std::string& wanted);
std::string found_json(const FoundNodes& found);
std::string neighbourhood_text(const Neighbourhood& around);
std::string neighbourhood_json(const Neighbourhood& around);

// Control characters of names, other than line ends, become "?": a terminal would obey them.
std::string terminal_text(std::string text);
std::string duration_text(Wide microseconds);  // "1.20 ms"; "-" for 0
// Ranks of the groups by name, from the group file; empty without one.
std::map<std::string, size_t> trace_group_sizes(const BundlePaths& paths);
// "0-3, 8": runs of ranks.
std::string ranks_text(const std::vector<int64_t>& ranks);

}  // namespace shardscape
