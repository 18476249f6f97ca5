#include "app/cli/trace_compare.h"

#include <stdlib.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "app/cli/text.h"
#include "app/cli/trace_output.h"
#include "base/json_text.h"
#include "base/units.h"
#include "bundle/bundle.h"
#include "bundle/trace_name.h"
#include "explore/study.h"
#include "trace/trace_comparison.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
constexpr size_t kNodes = 40;

bool is_trace(const std::string& operand) {
  std::error_code error;
  if (fs::is_directory(operand, error)) return true;
  const std::string file = fs::path(operand).filename().string();
  const std::string_view name = without_gz(file);
  return name.ends_with(".et") || split_trace_name(name, ".json");
}

// A folder that is removed at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "shardscape-XXXXXX").string();
    if (!error && ::mkdtemp(name.data())) path = name;
  }
  ~ScratchFolder() {
    std::error_code error;
    if (!path.empty()) fs::remove_all(path, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  fs::path path;  // empty if there is none
};

Result<fs::path> exported(const std::string& design, const ScratchFolder& scratch, const std::string& name,
                          const std::stop_token& stop) {
  const auto study = load_study(design);
  if (const auto* problem = std::get_if<Problem>(&study)) return *problem;
  const auto report = make_report(std::get<Study>(study).design, stop);
  if (!report->valid()) return report->problems.front();
  const fs::path target = scratch.path / name;
  const auto summary = export_bundle(*report, {.target = target}, {}, stop);
  if (const auto* problem = std::get_if<Problem>(&summary)) return *problem;
  return target;
}

Result<TraceSide> side_of(const std::string& operand, const ScratchFolder& scratch, const std::string& name,
                          const std::stop_token& stop) {
  fs::path path = operand;
  if (!is_trace(operand)) {
    auto folder = exported(operand, scratch, name, stop);
    if (const auto* problem = std::get_if<Problem>(&folder)) return *problem;
    path = std::get<fs::path>(folder);
  }
  auto traces = find_traces(path);
  if (const auto* problem = std::get_if<Problem>(&traces)) return *problem;
  std::error_code error;
  return TraceSide{operand, std::get<0>(traces),
                   trace_group_sizes({.folder = fs::is_directory(path, error) ? path : path.parent_path()})};
}

std::string change_text(Wide a, Wide b) {
  return a == b ? "=" : (b > a ? "+" : "-") + grouped(b > a ? b - a : a - b);
}

std::string compared_kinds(const TraceComparison& c) {
  std::vector<std::vector<std::string>> rows{
      {"kind", "nodes A", "nodes B", "change", "FLOPs A", "FLOPs B", "durations A", "durations B"}};
  for (const auto& [kind, k] : c.kinds)
    rows.push_back({kind, grouped(k.a.nodes), grouped(k.b.nodes), change_text(k.a.nodes, k.b.nodes),
                    format_flops(k.a.flops), format_flops(k.b.flops), duration_text(k.a.microseconds),
                    duration_text(k.b.microseconds)});
  using enum Align;
  return text_table(rows, {Left, Right, Right, Right, Right, Right, Right, Right});
}

std::string ranks_of(const CommShape& shape) {
  return shape.what.ends_with("_NODE") ? "-"
         : shape.ranks == 0            ? "all"
         : shape.ranks < 0             ? "?"
                                       : std::to_string(shape.ranks);
}

std::string compared_comm(const TraceComparison& c) {
  std::vector<std::vector<std::string>> rows{
      {"communication", "ranks in group", "comm_size", "calls A", "calls B", "change"}};
  int64_t equal = 0;
  for (const auto& [shape, calls] : c.comm) {
    if (!calls.differ()) {
      ++equal;
      continue;
    }
    rows.push_back({shape.what, ranks_of(shape), format_bytes(shape.bytes), grouped(calls.a.calls),
                    grouped(calls.b.calls), change_text(calls.a.calls, calls.b.calls)});
  }
  using enum Align;
  std::string text = rows.size() > 1 ? text_table(rows, {Left, Right, Right, Right, Right, Right}) : "";
  return text + grouped(equal) + " of " + grouped(static_cast<Wide>(c.comm.size())) +
         " rows of communication (type, size of the group, comm_size) are equal\n";
}

std::string nodes_text(const TraceComparison& c) {
  if (c.different_ranks.empty()) return "the nodes of all ranks that both have are equal\n";
  std::string text = "the nodes of " + grouped(static_cast<Wide>(c.different_ranks.size())) +
                     (c.different_ranks.size() == 1 ? " rank differ: " : " ranks differ: ") +
                     ranks_text(c.different_ranks) + "\n" + grouped(c.difference_count) +
                     " differences on rank " + std::to_string(c.compared_rank) +
                     "; nodes with equal names are pairs:\n";
  for (const NodeDifference& d : c.differences) {
    using Kind = NodeDifference::Kind;
    text += d.kind == Kind::OnlyA ? "  only A, node " + std::to_string(d.id_a) + " "
            : d.kind == Kind::OnlyB
                ? "  only B, node " + std::to_string(d.id_b) + " "
                : "  node " + std::to_string(d.id_a) + " and " + std::to_string(d.id_b) + " ";
    text += d.name + ": " + d.a + (d.kind == Kind::Changed ? " -> " : "") + d.b + "\n";
  }
  if (c.difference_count > static_cast<int64_t>(c.differences.size()))
    text += "  and " + grouped(c.difference_count - static_cast<int64_t>(c.differences.size())) + " more\n";
  return text;
}

std::string comparison_text(const TraceComparison& c) {
  const auto side = [](const char* letter, const std::string& name, int64_t ranks, int64_t nodes) {
    return std::string(letter) + ": " + name + ", " + grouped(ranks) + (ranks == 1 ? " rank, " : " ranks, ") +
           grouped(nodes) + " nodes\n";
  };
  return side("A", c.names.a, c.ranks.a, c.nodes.a) + side("B", c.names.b, c.ranks.b, c.nodes.b) + "\n" +
         compared_kinds(c) + "\n" + compared_comm(c) + "\n" + nodes_text(c) +
         (c.equal() ? "the traces are equal\n" : "the traces differ\n");
}

std::string traces_json(const TraceComparison& c) {
  ordered_json j;
  j["traces"] = {c.names.a, c.names.b};
  j["equal"] = c.equal();
  j["ranks"] = {c.ranks.a, c.ranks.b};
  j["nodes"] = {c.nodes.a, c.nodes.b};
  ordered_json kinds = ordered_json::object();
  for (const auto& [kind, k] : c.kinds)
    append_member<ordered_json>(
        kinds, kind,
        {{"nodes", {k.a.nodes, k.b.nodes}},
         {"flops", {to_double(k.a.flops), to_double(k.b.flops)}},
         {"tensor_bytes", {to_double(k.a.tensor_bytes), to_double(k.b.tensor_bytes)}},
         {"microseconds", {to_double(k.a.microseconds), to_double(k.b.microseconds)}}});
  j["kinds"] = std::move(kinds);
  j["communication"] = ordered_json::array();
  for (const auto& [shape, calls] : c.comm)
    j["communication"].push_back({{"type", shape.what},
                                  {"group_ranks", ranks_of(shape)},
                                  {"comm_size", shape.bytes},
                                  {"calls", {calls.a.calls, calls.b.calls}}});
  j["different_ranks"] = c.different_ranks;
  j["compared_rank"] = c.compared_rank;
  j["difference_count"] = c.difference_count;
  j["differences"] = ordered_json::array();
  for (const NodeDifference& d : c.differences) {
    ordered_json entry{{"name", d.name}};
    if (d.kind != NodeDifference::Kind::OnlyB) entry["a"] = {{"id", d.id_a}, {"content", d.a}};
    if (d.kind != NodeDifference::Kind::OnlyA) entry["b"] = {{"id", d.id_b}, {"content", d.b}};
    j["differences"].push_back(std::move(entry));
  }
  return json_document(j);
}

}  // namespace

bool names_traces(const Arguments& arguments) {
  return std::any_of(arguments.operands().begin(), arguments.operands().end(), is_trace);
}

int compare_trace_operands(const Arguments& arguments) {
  if (arguments.operands().size() != 2 || arguments.has("--csv")) {
    print_problem({ProblemCode::OperandMissing, "TRACE", "traces are compared two at a time, as text or JSON",
                   "shardscape-cli compare A B [--json]; each a bundle, a trace or a design"});
    return kWrongUsage;
  }
  Interrupt interrupt;
  const ScratchFolder scratch;
  const auto a = side_of(arguments.operands()[0], scratch, "a", interrupt.token()),
             b = side_of(arguments.operands()[1], scratch, "b", interrupt.token());
  for (const auto* side : {&a, &b})
    if (const auto* problem = std::get_if<Problem>(side)) {
      const int exit_code = print_refusal(*problem);
      return interrupt.requested() ? static_cast<int>(kInterrupted) : exit_code;
    }
  const auto compared = compare_traces(std::get<TraceSide>(a), std::get<TraceSide>(b), kNodes,
                                       interrupt.token());
  if (const auto* problem = std::get_if<Problem>(&compared)) return print_refusal(*problem);
  if (interrupt.requested()) {
    std::cerr << "interrupted: the comparison is incomplete\n";
    return kInterrupted;
  }
  const auto& result = std::get<TraceComparison>(compared);
  std::cout << (arguments.has("--json") ? traces_json(result) : terminal_text(comparison_text(result)));
  return result.equal() ? kDone : kNegativeAnswer;
}

}  // namespace shardscape
