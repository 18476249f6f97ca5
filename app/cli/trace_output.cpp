#include "app/cli/trace_output.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_set>

#include "app/cli/text.h"
#include "base/json_text.h"
#include "base/units.h"

namespace shardscape {
namespace {

using nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

constexpr double kSecondsPerMicrosecond = 1e-6;
constexpr size_t kShownSizes = 30, kShownClasses = 20, kShownPerCode = 3;

std::string dash(Wide value, const std::string& text) { return value == 0 ? "-" : text; }

std::string kinds_text(const TraceOverview& o) {
  Rows rows{{"kind", "nodes", "FLOPs", "tensor_size", "durations"}};
  const auto add = [&](const std::string& name, const KindTotals& k) {
    rows.push_back({name, grouped(k.nodes), dash(k.flops, format_flops(k.flops)),
                    dash(k.tensor_bytes, format_bytes(k.tensor_bytes)), duration_text(k.microseconds)});
  };
  for (const auto& [kind, totals] : o.summary.kinds) add(kind, totals);
  using enum Align;
  return text_table(rows, {Left, Right, Right, Right, Right});
}

std::string comm_text(const TraceOverview& o) {
  const std::vector<CommRow> rows = comm_rows(o);
  if (rows.empty()) return "no communication\n";
  Rows table{
      {"communication", "ranks in group", "groups", "comm_size", "calls", "sum of comm_size", "durations"}};
  for (size_t k = 0; k < std::min(rows.size(), kShownSizes); ++k) {
    const CommRow& row = rows[k];
    table.push_back({row.what, row.group_ranks, row.groups > 0 ? grouped(row.groups) : "-",
                     format_bytes(row.bytes), grouped(row.totals.calls), format_bytes(row.all_bytes()),
                     duration_text(row.totals.microseconds)});
  }
  using enum Align;
  std::string text = text_table(table, {Left, Right, Right, Right, Right, Right, Right});
  if (rows.size() > kShownSizes)
    text += "and " + grouped(static_cast<Wide>(rows.size() - kShownSizes)) +
            " more rows with fewer bytes; --json has all\n";
  return text;
}

std::string chain_text(const TraceSummary& s) {
  if (s.stuck > 0) {
    constexpr size_t kShownIds = 8;
    std::string text = grouped(s.stuck) + (s.stuck == 1 ? " node" : " nodes") +
                       " can never run because of cycles; a cycle is: ";
    for (size_t k = 0; k < std::min(s.cycle.size(), kShownIds); ++k)
      text += std::to_string(s.cycle[k]) + " depends on ";
    if (s.cycle.size() > kShownIds) text += "... depends on ";
    return text + std::to_string(s.cycle.front()) + "\n";
  }
  std::string text = "the longest chain of dependencies has " + grouped(s.chain_length) + " nodes";
  if (s.chain_microseconds == 0) return text + "; the trace has no durations\n";
  text += " and takes " + duration_text(static_cast<Wide>(s.chain_microseconds)) +
          " by durations; its longest nodes:\n";
  Rows rows{{"node", "duration", "name"}};
  for (const ChainNode& n : s.chain)
    rows.push_back({std::to_string(n.id), duration_text(static_cast<Wide>(n.microseconds)), n.name});
  using enum Align;
  return text + text_table(rows, {Right, Right, Left});
}

std::string single_text(const TraceSummary& s) {
  std::string text = "ids " + std::to_string(s.first_id) + " to " + std::to_string(s.last_id) +
                     (s.dense_ids ? "" : " with gaps") + "; " + grouped(s.dependencies) + " dependencies, " +
                     grouped(s.roots) + " nodes without any\n";
  if (s.missing_dependencies > 0)
    text += grouped(s.missing_dependencies) + " dependencies name an id that no node has\n";
  if (s.duplicate_ids > 0) text += grouped(s.duplicate_ids) + " nodes repeat the id of another node\n";
  if (s.begin != s.end)
    text += "from the first start to the last end: " + duration_text(static_cast<Wide>(s.end - s.begin)) +
            "\n";
  return text + chain_text(s);
}

std::string classes_text(const TraceOverview& o) {
  Rows rows{{"ranks", "count", "nodes", "FLOPs", "longest chain", "durations"}};
  for (size_t k = 0; k < std::min(o.summary.classes.size(), kShownClasses); ++k) {
    const RankClass& c = o.summary.classes[k];
    const KindTotals t = c.summary.totals();
    const std::string chain = c.summary.stuck > 0 ? "cycle"
                              : c.summary.chain_microseconds > 0
                                  ? duration_text(static_cast<Wide>(c.summary.chain_microseconds))
                                  : grouped(c.summary.chain_length) + " nodes";
    rows.push_back({ranks_text(c.ranks), grouped(static_cast<Wide>(c.ranks.size())), grouped(c.summary.nodes),
                    dash(t.flops, format_flops(t.flops)), chain, duration_text(t.microseconds)});
  }
  using enum Align;
  std::string
      text = "ranks whose traces are equal apart from the names of groups and peers; values per rank:\n" +
             text_table(rows, {Left, Right, Right, Right, Right, Right});
  if (o.summary.classes.size() > kShownClasses)
    text += "and " + grouped(static_cast<Wide>(o.summary.classes.size() - kShownClasses)) +
            " more kinds of ranks; --json has all\n";
  return text;
}

std::string findings_text(const CheckReport& check) {
  std::string text = "check: " + grouped(finding_count(check.findings, true)) + " errors, " +
                     grouped(finding_count(check.findings, false)) + " warnings; " +
                     (check.finished ? "every rank finishes\n" : "not every rank finishes\n");
  std::map<std::pair<bool, std::string>, std::pair<size_t, int64_t>>
      shown;  // entries shown, findings left out
  for (const Finding& f : check.findings) {
    auto& [entries, left_out] = shown[{!f.error, f.code}];
    if (f.count > 1 || entries == kShownPerCode) {
      left_out += f.count;
      continue;
    }
    ++entries;
    text += std::string("  ") + (f.error ? "error " : "warning ") + f.code + finding_place(f) + ": " +
            f.message + "\n";
  }
  for (const auto& [key, counts] : shown)
    if (counts.second > 0)
      text += "  and " + grouped(counts.second) + " more " + key.second +
              "; shardscape-cli check shows more\n";
  return text;
}

ordered_json wide_json(Wide value) {
  constexpr Wide kMost = INT64_MAX;
  return value <= kMost ? ordered_json(static_cast<int64_t>(value)) : ordered_json(to_double(value));
}

ordered_json comm_json(const std::map<CommKey, CommTotals>& comm,
                       const std::map<std::string, size_t>& group_sizes) {
  ordered_json list = ordered_json::array();
  for (const auto& [key, totals] : comm) {
    ordered_json row{{"type", key.what}, {"group", key.group}};
    if (const auto it = group_sizes.find(key.group); it != group_sizes.end()) row["group_ranks"] = it->second;
    row["comm_size"] = key.bytes;
    row["calls"] = totals.calls;
    row["microseconds"] = wide_json(totals.microseconds);
    list.push_back(std::move(row));
  }
  return list;
}

ordered_json kinds_json(const std::map<std::string, KindTotals>& kinds) {
  ordered_json out = ordered_json::object();
  for (const auto& [kind, k] : kinds)
    append_member<ordered_json>(out, kind,
                                {{"nodes", k.nodes},
                                 {"flops", wide_json(k.flops)},
                                 {"tensor_bytes", wide_json(k.tensor_bytes)},
                                 {"microseconds", wide_json(k.microseconds)}});
  return out;
}

ordered_json node_json(const FoundNode& n) {
  return {
      {"id", n.id}, {"name", n.name}, {"type", n.kind}, {"work", n.work}, {"microseconds", n.microseconds}};
}

std::string dump(const ordered_json& j) { return json_document(j); }

std::vector<std::string> node_row(const FoundNode& n) {
  return {std::to_string(n.id), n.kind, duration_text(static_cast<Wide>(n.microseconds)), n.work, n.name};
}

}  // namespace

std::string duration_text(Wide microseconds) {
  return microseconds == 0 ? "-" : format_seconds(to_double(microseconds) * kSecondsPerMicrosecond);
}

std::string terminal_text(std::string text) {
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f) c = '?';
  return text;
}

std::string overview_text(const TraceOverview& o) {
  const TraceHeader& header = o.summary.classes.front().summary.header;
  std::string text = o.path + ": " +
                     (o.summary.ranks == 1 ? "1 trace" : "traces of " + grouped(o.summary.ranks) + " ranks") +
                     ", " + grouped(o.totals().nodes) + " nodes, " + format_bytes(o.summary.file_bytes) +
                     "\n" + "format: " + header.form +
                     (header.version.empty() ? "" : ", which states the version " + header.version) +
                     (header.simulated ? "" : "; ASTRA-sim reads binary Chakra 0.0.4 and 1.0 only") + "\n\n";
  text += kinds_text(o) + "\n" + comm_text(o) + "\n";
  text += o.summary.ranks == 1 ? single_text(o.summary.classes.front().summary) : classes_text(o);
  if (o.check) text += "\n" + findings_text(*o.check);
  return text;
}

std::string overview_json(const TraceOverview& o) {
  ordered_json j;
  j["path"] = o.path;
  const TraceHeader& header = o.summary.classes.front().summary.header;
  j["format"] = header.form;
  j["version"] = header.version;
  j["ranks"] = o.summary.ranks;
  j["bytes"] = o.summary.file_bytes;
  j["kinds"] = kinds_json(o.summary.kinds);
  j["communication"] = comm_json(o.summary.comm, o.group_sizes);
  j["classes"] = ordered_json::array();
  for (const RankClass& c : o.summary.classes) {
    const TraceSummary& s = c.summary;
    ordered_json entry{{"ranks", c.ranks},
                       {"nodes", s.nodes},
                       {"first_id", s.first_id},
                       {"last_id", s.last_id},
                       {"dependencies", s.dependencies},
                       {"roots", s.roots},
                       {"missing_dependencies", s.missing_dependencies},
                       {"duplicate_ids", s.duplicate_ids},
                       {"stuck", s.stuck},
                       {"cycle", s.cycle},
                       {"chain_nodes", s.chain_length},
                       {"chain_microseconds", s.chain_microseconds},
                       {"kinds", kinds_json(s.kinds)},
                       {"communication", comm_json(s.comm, o.group_sizes)}};
    entry["chain"] = ordered_json::array();
    for (const ChainNode& n : s.chain)
      entry["chain"].push_back({{"id", n.id}, {"name", n.name}, {"microseconds", n.microseconds}});
    j["classes"].push_back(std::move(entry));
  }
  if (o.check) j["check"] = ordered_json::parse(check_json(*o.check));
  return dump(j);
}

std::string found_text(const FoundNodes& found, const std::string& wanted) {
  std::string text = grouped(found.count) + (found.count == 1 ? " node has" : " nodes have") + " \"" +
                     wanted + "\" in the name\n";
  if (found.nodes.empty()) return text;
  Rows rows{{"node", "kind", "duration", "work", "name"}};
  for (const FoundNode& n : found.nodes) rows.push_back(node_row(n));
  using enum Align;
  text += text_table(rows, {Right, Left, Right, Left, Left});
  if (found.count > static_cast<int64_t>(found.nodes.size()))
    text += "and " + grouped(found.count - static_cast<int64_t>(found.nodes.size())) + " more\n";
  return text;
}

std::string found_json(const FoundNodes& found) {
  ordered_json j{{"count", found.count}, {"nodes", ordered_json::array()}};
  for (const FoundNode& n : found.nodes) j["nodes"].push_back(node_json(n));
  return dump(j);
}

std::string neighbourhood_text(const Neighbourhood& around) {
  const FoundNode& centre = around.centre.node;
  std::string text = "node " + std::to_string(centre.id) + ", " + centre.kind + " \"" + centre.name + "\"";
  if (!centre.work.empty()) text += ": " + centre.work;
  if (centre.microseconds > 0) text += ", " + duration_text(static_cast<Wide>(centre.microseconds));
  text += "\n";
  for (const auto& [name, value] : around.attributes) text += "  " + name + " = " + value + "\n";
  for (const uint64_t id : around.missing)
    text += "  depends on " + std::to_string(id) + ", which no node has\n";
  const auto side = [&](bool before, const char* heading, const char* none) {
    Rows rows{{"steps", "node", "kind", "duration", "work", "name", "depends on"}};
    for (const NeighbourNode& n : around.others) {
      if ((n.distance < 0) != before) continue;
      constexpr size_t kShownIds = 6;
      std::string deps;
      for (size_t k = 0; k < n.depends_on.size() && k <= kShownIds; ++k)
        deps += (k == 0 ? "" : ", ") + (k == kShownIds ? "..." : std::to_string(n.depends_on[k]));
      std::vector<std::string> row = node_row(n.node);
      row.insert(row.begin(), std::to_string(std::abs(n.distance)));
      row.push_back(deps);
      rows.push_back(std::move(row));
    }
    using enum Align;
    text += rows.size() == 1 ? std::string(none)
                             : heading + text_table(rows, {Right, Right, Left, Right, Left, Left, Left});
  };
  side(true, "\nnodes that it depends on:\n", "\nit depends on no node\n");
  side(false, "\nnodes that depend on it:\n", "\nno node depends on it\n");
  if (around.left_out > 0) text += "more nodes are left out; a smaller --depth shows all\n";
  return text;
}

std::string neighbourhood_json(const Neighbourhood& around) {
  ordered_json j = node_json(around.centre.node);
  j["depends_on"] = around.centre.depends_on;
  j["missing"] = around.missing;
  ordered_json attributes = ordered_json::object();
  std::unordered_set<std::string_view> names;  // a damaged node has one twice
  for (const auto& [name, value] : around.attributes)
    if (names.insert(name).second) append_member<ordered_json>(attributes, name, value);
  j["attributes"] = std::move(attributes);
  j["around"] = ordered_json::array();
  for (const NeighbourNode& n : around.others) {
    ordered_json entry = node_json(n.node);
    entry["distance"] = n.distance;
    entry["depends_on"] = n.depends_on;
    j["around"].push_back(std::move(entry));
  }
  j["left_out"] = around.left_out;
  return dump(j);
}

}  // namespace shardscape
