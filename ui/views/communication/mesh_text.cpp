#include "ui/views/communication/mesh_text.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "plan/rank_mesh.h"
#include "ui/inspector/communication_inspection.h"
#include "ui/inspector/inspected_quantity.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr size_t kMostListed = 16;  // the most members that the inspector lists

QString tr_mesh(const char* text) { return QCoreApplication::translate("MeshText", text); }

QString rank_name(int64_t rank) { return grouped_text(rank); }

// "node 588", "node 17 of rack 1".
QString node_name(const MeshGrid& grid, int64_t rank) {
  const QString node = tr_mesh("node %1").arg(grouped_text(grid.node(rank)));
  return grid.hasRacks() ? tr_mesh("%1 of rack %2").arg(node, grouped_text(grid.rack(rank))) : node;
}

QString nodes_text(const MeshGrid& grid, const RankGroup& group) {
  if (group.nodes == 1) return tr_mesh("inside %1").arg(node_name(grid, group.ranks.front()));
  if (grid.hasRacks() && group.domains == 1)
    return tr_mesh("inside rack %1").arg(grouped_text(grid.rack(group.ranks.front())));
  if (grid.hasRacks())
    return tr_mesh("over %1").arg(counted_text(group.domains, tr_mesh("rack"), tr_mesh("racks")));
  return tr_mesh("over %1").arg(counted_text(group.nodes, tr_mesh("node"), tr_mesh("nodes")));
}

// The distance between neighbouring members; 0 if the distances differ.
int64_t stride_of(const RankGroup& group) {
  const int64_t stride = group.ranks[1] - group.ranks[0];
  for (size_t i = 2; i < group.ranks.size(); ++i) {
    if (group.ranks[i] - group.ranks[i - 1] != stride) return 0;
  }
  return stride;
}

QString axes_text(const GroupRole& role) {
  QStringList names;
  for (const MeshAxis axis : role.axes) names.append(text_of(mesh_axis_name(axis)));
  return names.join(tr_mesh(" and "));
}

QString group_why(const Report& report, const MeshGrid& grid, const RankGroup& group) {
  QStringList lines{group_reason(group.name)};
  if (!group.takesPart())
    return tr_mesh(
        "Only the first and the last stage hold the shared table. Select a rank of one of these stages.");
  if (!group.role.embedding && !group.role.mirror)
    lines << tr_mesh(
                 "The ranks of this group differ in %1 only. Ranks are numbered in the order %2, fastest "
                 "first.")
                 .arg(axes_text(group.role), text_of(to_string(report.design.parallel.order)));
  if (const int64_t stride = stride_of(group); stride == 1)
    lines << tr_mesh("The ranks are consecutive.");
  else if (stride > 1)
    lines << tr_mesh("Neighbouring members are %1 ranks apart.").arg(grouped_text(stride));
  if (grid.hasRacks())
    lines << (group.domains == 1
                  ? tr_mesh("All ranks are in one rack: nothing crosses the network between racks.")
                  : tr_mesh(
                        "A rack has %1 consecutive ranks, so this group crosses the network between racks.")
                        .arg(grouped_text(grid.ranksPerRack())));
  else
    lines << (group.nodes == 1
                  ? tr_mesh("All ranks are in one node: nothing crosses the network between nodes.")
                  : tr_mesh(
                        "A node has %1 consecutive ranks, so this group crosses the network between nodes.")
                        .arg(grouped_text(grid.gpusPerNode())));
  lines.removeAll(QString());
  return lines.join(u' ');
}

void add_neighbours(const Report& report, const MeshGrid& grid, int64_t rank, Inspection& inspection) {
  const MeshPlace place = grid.place(rank);
  const PipelineLayout places = pipeline_layout(report.design.parallel);
  // The neighbours of all chunks. In V schedules and bidirectional schedules, chunks have different
  // neighbours.
  const auto neighbours = [&](bool above) -> QString {
    QStringList names;
    for (int64_t chunk = 0; chunk < places.chunks; ++chunk) {
      const StagePlace here{place.stage, chunk};
      const auto other = above ? places.before(here) : places.after(here);
      if (!other || other->stage == here.stage) continue;
      if (const QString name = tr_mesh("rank %1").arg(
              rank_name(grid.rank({other->stage, place.column, place.cell})));
          !names.contains(name))
        names.append(name);
    }
    return names.isEmpty() ? tr_mesh("none") : names.join(QStringLiteral(", "));
  };
  inspection.rows.append({tr_mesh("Activations from"), neighbours(true)});
  inspection.rows.append({tr_mesh("Activations to"), neighbours(false)});
}

void add_place(const Report& report, const MeshGrid& grid, int64_t rank, Inspection& inspection) {
  const QStringList places = text_of(rank_text(report, rank)).split(QStringLiteral(" | "));
  inspection.rows.append({tr_mesh("Rank %1").arg(rank_name(rank)), places.first()});
  if (places.size() > 1) inspection.rows.append({tr_mesh("Place on the expert mesh"), places.last()});
  inspection.rows.append({tr_mesh("Node"), tr_mesh("%1, GPU %2 of %3")
                                               .arg(node_name(grid, rank))
                                               .arg(rank % grid.gpusPerNode() + 1)
                                               .arg(std::min(grid.gpusPerNode(), grid.ranks()))});
}

}  // namespace

QString members_text(const MeshGrid& grid, const RankGroup& group) {
  if (!group.takesPart()) return tr_mesh("in no %1 group").arg(text_of(group.name));
  return tr_mesh("%1 group of %2 %3")
      .arg(text_of(group.name), grouped_text(static_cast<Wide>(group.ranks.size())), nodes_text(grid, group));
}

QString mesh_sentence(const MeshGrid& grid, int64_t rank, const std::vector<RankGroup>& groups) {
  QStringList parts;
  for (const RankGroup& group : groups) parts.append(members_text(grid, group));
  if (parts.isEmpty()) parts.append(tr_mesh("no group of more than one rank, nothing is communicated"));
  return tr_mesh("rank %1: %2").arg(rank_name(rank), parts.join(QStringLiteral("; ")));
}

QString rank_tip(const Report& report, const MeshGrid& grid, int64_t rank, int64_t selected,
                 const std::vector<RankGroup>& groups) {
  QStringList shared;
  for (const RankGroup& group : groups) {
    if (rank != selected && group.contains(rank)) shared.append(text_of(group.name));
  }
  QStringList lines{tr_mesh("<b>rank %1</b>").arg(rank_name(rank)), text_of(rank_text(report, rank)),
                    tr_mesh("%1, GPU %2 of %3")
                        .arg(node_name(grid, rank))
                        .arg(rank % grid.gpusPerNode() + 1)
                        .arg(std::min(grid.gpusPerNode(), grid.ranks()))};
  if (!shared.isEmpty())
    lines << tr_mesh("with rank %1 in: %2").arg(rank_name(selected), shared.join(QStringLiteral(", ")));
  return lines.join(QStringLiteral("<br>"));
}

QString block_tip(const MeshGrid& grid, const MeshLayout& layout, const MeshBlock& block, int64_t members,
                  const QString& group) {
  const int64_t first = layout.firstRank(block), last = layout.lastRank(block), ranks = layout.ranksIn(block);
  const QString title = ranks == 1 ? tr_mesh("rank %1").arg(rank_name(first))
                                   : tr_mesh("%1 ranks, %2 to %3")
                                         .arg(grouped_text(ranks), rank_name(first), rank_name(last));
  const MeshPlace a = grid.place(first), b = grid.place(last);
  const QString stages = a.stage == b.stage ? tr_mesh("stage %1").arg(a.stage)
                                            : tr_mesh("stages %1 to %2").arg(a.stage).arg(b.stage);
  const int64_t node = grid.node(first), end = grid.node(last);
  QStringList lines{
      QStringLiteral("<b>%1</b>").arg(title),
      stages + QStringLiteral(", ") +
          (node == end ? node_name(grid, first)
                       : tr_mesh("nodes %1 to %2")
                             .arg(grouped_text(std::min(node, end)), grouped_text(std::max(node, end))))};
  if (members > 0)
    lines << tr_mesh("%1 of the %2 group")
                 .arg(counted_text(members, tr_mesh("member"), tr_mesh("members")), group);
  return lines.join(QStringLiteral("<br>"));
}

Inspection inspect_rank_group(const Report& report, const MeshGrid& grid, int64_t rank,
                              const RankGroup& group) {
  Inspection inspection;
  inspection.title = tr_mesh("%1 group of rank %2").arg(text_of(group.name), rank_name(rank));
  inspection.subtitle = group_label(group.name);
  inspection.why_title = tr_mesh("Why these ranks?");
  inspection.why = group_why(report, grid, group);
  add_place(report, grid, rank, inspection);
  if (!group.takesPart()) return inspection;
  const Expr size = group.role.embedding ? Expr(2) : group_size(group.role.axes);
  const auto count = static_cast<Wide>(group.ranks.size());
  inspection.values.append(
      inspectedQuantity(tr_mesh("Ranks in the group"), {&size, count}, report.binding, grouped_text(count)));
  inspection.rows.append({tr_mesh("First member"), tr_mesh("rank %1").arg(rank_name(group.ranks.front()))});
  inspection.rows.append({tr_mesh("Last member"), tr_mesh("rank %1").arg(rank_name(group.ranks.back()))});
  if (group.ranks.size() <= kMostListed) {
    QStringList all;
    for (const int64_t member : group.ranks) all.append(rank_name(member));
    inspection.rows.append({tr_mesh("Members"), all.join(QStringLiteral(", "))});
  }
  if (grid.hasRacks()) inspection.rows.append({tr_mesh("Racks"), grouped_text(group.domains)});
  inspection.rows.append({tr_mesh("Nodes"), group.nodes == 1
                                                ? node_name(grid, group.ranks.front())
                                                : tr_mesh("%1, from node %2 to %3")
                                                      .arg(grouped_text(group.nodes),
                                                           grouped_text(grid.node(group.ranks.front())),
                                                           grouped_text(grid.node(group.ranks.back())))});
  inspection.rows.append({tr_mesh("Ranks per node"),
                          group.fewest_per_node == group.most_per_node
                              ? grouped_text(group.most_per_node)
                              : tr_mesh("%1 to %2").arg(group.fewest_per_node).arg(group.most_per_node)});
  if (group.name == "pp") add_neighbours(report, grid, rank, inspection);
  for (const CollectiveValue& value :
       report.stages[static_cast<size_t>(stage_of_rank(report, rank))].collectives) {
    if (value.group != group.name) continue;
    inspection.rows.append(
        {QStringLiteral("%1, %2").arg(words(value.op.name(), u'-'), words(phase_name(value.phase))),
         counted_text(value.count.value, tr_mesh("time"), tr_mesh("times"))});
  }
  return inspection;
}

Inspection inspect_lone_rank(const Report& report, const MeshGrid& grid, int64_t rank) {
  Inspection inspection;
  inspection.title = tr_mesh("Rank %1").arg(rank_name(rank));
  inspection.subtitle = tr_mesh("in no group of more than one rank");
  add_place(report, grid, rank, inspection);
  inspection.why_title = tr_mesh("Why no groups?");
  inspection.why = tr_mesh(
      "Every degree is 1, so nothing is communicated. Raise tp, cp, dp or pp to see groups.");
  return inspection;
}

QString mesh_csv(const Report& report, const MeshGrid& grid) {
  const DeviceMesh& mesh = grid.mesh();
  const std::vector<RankGroup> groups = groups_of_rank(report, 0);
  MeshAxes axes{MeshAxis::Tp, MeshAxis::Cp, MeshAxis::Dp, MeshAxis::Pp};
  for (const MeshAxis axis : expert_axes(report)) axes.push_back(axis);
  QString text = grid.hasRacks() ? QStringLiteral("rank,node,rack") : QStringLiteral("rank,node");
  for (const MeshAxis axis : axes) text += u',' + text_of(mesh_axis_name(axis));
  for (const RankGroup& group : groups)
    text += QStringLiteral(",first rank of %1 group").arg(text_of(group.name));
  text += u'\n';
  for (int64_t rank = 0; rank < grid.ranks(); ++rank) {
    text += QString::number(rank) + u',' + QString::number(grid.node(rank));
    if (grid.hasRacks()) text += u',' + QString::number(grid.rack(rank));
    for (const MeshAxis axis : axes) text += u',' + QString::number(mesh.coordinate(rank, axis));
    for (const RankGroup& group : groups) {
      const int64_t stage = mesh.coordinate(rank, MeshAxis::Pp);
      int64_t first = rank;
      for (const MeshAxis axis : group.role.axes) first = mesh.with(first, axis, 0);
      if (group.role.embedding) first = mesh.with(rank, MeshAxis::Pp, 0);
      const bool outside = group.role.embedding && stage != 0 && stage + 1 != grid.stages();
      text += u',' + (outside ? QString() : QString::number(first));
    }
    text += u'\n';
  }
  return text;
}

}  // namespace shardscape::ui
