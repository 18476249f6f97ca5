#include "ui/views/trace/trace_models.h"

#include "ui/plot/comparison_cells.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kMicrosecond = 1e-6;  // seconds

TableCell count_cell(Wide value) { return number_cell(value, grouped_text(value)); }
TableCell flops_cell(Wide value) { return value == 0 ? no_cell() : number_cell(value, flops_text(value)); }
TableCell bytes_cell(Wide value, UnitSystem units) {
  return value == 0 ? no_cell() : number_cell(value, bytes_text(value, units), exact_bytes_text(value));
}
TableCell duration_cell(Wide microseconds) {
  return microseconds == 0 ? no_cell() : number_cell(microseconds, trace_duration_text(microseconds));
}
TableCell id_cell(uint64_t id) { return number_cell(static_cast<Wide>(id), QString::number(id)); }

}  // namespace

QString trace_duration_text(Wide microseconds) {
  return microseconds == 0 ? QStringLiteral("–") : seconds_text(to_double(microseconds) * kMicrosecond);
}

void TraceKindModel::setKinds(const std::map<std::string, KindTotals>& kinds, UnitSystem units) {
  Rows rows;
  for (const auto& [kind, totals] : kinds)
    rows.push_back({text_cell(text_of(kind)), count_cell(totals.nodes), flops_cell(totals.flops),
                    bytes_cell(totals.tensor_bytes, units), duration_cell(totals.microseconds)});
  assign({{tr("Kind"), QStringLiteral("kind"), false, {}},
          {tr("Nodes"), QStringLiteral("nodes"), true, {}},
          {tr("FLOPs"), QStringLiteral("flops"), true, tr("The sum of num_ops")},
          {tr("Tensors"), QStringLiteral("tensor_size (bytes)"), true, tr("The sum of tensor_size")},
          {tr("Durations"), QStringLiteral("duration (µs)"), true, tr("The sum of duration_micros")}},
         std::move(rows));
}

void TraceCommModel::setComm(const std::vector<CommRow>& rows, UnitSystem units) {
  Rows out;
  for (const CommRow& row : rows) {
    const bool counted = !row.group_ranks.empty() && row.group_ranks.front() >= '0' &&
                         row.group_ranks.front() <= '9';
    const QString ranks = text_of(row.group_ranks);
    out.push_back({text_cell(text_of(row.what)),
                   counted ? number_cell(ranks.toLongLong(), ranks) : text_cell(ranks),
                   row.groups > 0 ? count_cell(row.groups) : no_cell(), bytes_cell(row.bytes, units),
                   count_cell(row.totals.calls), bytes_cell(row.all_bytes(), units),
                   duration_cell(row.totals.microseconds)});
  }
  assign({{tr("Communication"), QStringLiteral("type"), false, {}},
          {tr("Ranks in\ngroup"), QStringLiteral("group_ranks"), true,
           tr("? where no file of groups says it; send and receive have no group")},
          {tr("Groups"), QStringLiteral("groups"), true, {}},
          {tr("Size"), QStringLiteral("comm_size (bytes)"), true, tr("comm_size of one call")},
          {tr("Calls"), QStringLiteral("calls"), true, {}},
          {tr("All calls"), QStringLiteral("all (bytes)"), true, tr("Size times calls")},
          {tr("Durations"), QStringLiteral("duration (µs)"), true, {}}},
         std::move(out));
}

void TraceClassModel::setClasses(const std::vector<RankClass>& classes) {
  Rows rows;
  for (const RankClass& one : classes) {
    const TraceSummary& s = one.summary;
    const KindTotals totals = s.totals();
    TableCell chain = s.chain_microseconds > 0
                          ? number_cell(static_cast<Wide>(s.chain_microseconds),
                                        trace_duration_text(static_cast<Wide>(s.chain_microseconds)))
                          : number_cell(s.chain_length, tr("%1 nodes").arg(grouped_text(s.chain_length)));
    if (s.stuck > 0) {
      chain = text_cell(tr("cycle"));
      chain.alarm = true;
      chain.tip = tr("%1 nodes can never run, because they depend on each other").arg(grouped_text(s.stuck));
    }
    rows.push_back({text_cell(text_of(ranks_text(one.ranks))),
                    count_cell(static_cast<Wide>(one.ranks.size())), count_cell(s.nodes),
                    flops_cell(totals.flops), std::move(chain), duration_cell(totals.microseconds)});
  }
  assign({{tr("Ranks with\nequal traces"), QStringLiteral("ranks"), false,
           tr("Traces that are equal apart from the names of groups and peers")},
          {tr("Ranks"), QStringLiteral("count"), true, {}},
          {tr("Nodes of\na rank"), QStringLiteral("nodes"), true, {}},
          {tr("FLOPs of\na rank"), QStringLiteral("flops"), true, {}},
          {tr("Longest\nchain"), QStringLiteral("chain"), true,
           tr("The chain of dependencies with the longest sum of durations")},
          {tr("Durations"), QStringLiteral("duration (µs)"), true, {}}},
         std::move(rows));
}

void TraceNodeModel::setNodes(const std::vector<FoundNode>& nodes) {
  Rows rows;
  for (const FoundNode& node : nodes)
    rows.push_back({id_cell(node.id), text_cell(text_of(node.name)), text_cell(text_of(node.kind)),
                    text_cell(text_of(node.work)), duration_cell(static_cast<Wide>(node.microseconds))});
  assign({{tr("Node"), QStringLiteral("id"), true, {}},
          {tr("Name"), QStringLiteral("name"), false, {}},
          {tr("Kind"), QStringLiteral("kind"), false, {}, true},
          {tr("Work"), QStringLiteral("work"), false, {}},
          {tr("Duration"), QStringLiteral("duration (µs)"), true, {}}},
         std::move(rows));
}

void TraceFindingModel::setFindings(const std::vector<Finding>& findings) {
  Rows rows;
  const auto place = [](int64_t number) {
    return number < 0 ? no_cell() : number_cell(number, QString::number(number));
  };
  for (const Finding& finding : findings) {
    TableCell severity = text_cell(finding.error ? tr("error") : tr("warning"));
    severity.alarm = finding.error;
    const QString message = text_of(finding.message);
    rows.push_back({std::move(severity), text_cell(text_of(finding.code)), place(finding.rank),
                    place(finding.node),
                    text_cell(finding.count > 1 ? tr("%1 more: %2").arg(grouped_text(finding.count), message)
                                                : message)});
  }
  assign({{tr("Finding"), QStringLiteral("severity"), false, {}},
          {tr("Code"), QStringLiteral("code"), false, {}},
          {tr("Rank"), QStringLiteral("rank"), true, {}},
          {tr("Node"), QStringLiteral("node"), true, {}},
          {tr("What"), QStringLiteral("message"), false, {}}},
         std::move(rows));
}

void NodeAttributeModel::setAttributes(const std::vector<std::pair<std::string, std::string>>& attributes) {
  Rows rows;
  for (const auto& [name, value] : attributes)
    rows.push_back({text_cell(text_of(name)), text_cell(text_of(value))});
  assign({{tr("Attribute"), QStringLiteral("attribute"), false, {}},
          {tr("Value"), QStringLiteral("value"), false, {}}},
         std::move(rows));
}

}  // namespace shardscape::ui
