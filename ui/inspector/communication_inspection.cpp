#include "ui/inspector/communication_inspection.h"

#include <QCoreApplication>
#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "performance/collective_time.h"
#include "plan/collective_rows.h"
#include "ui/inspector/inspected_quantity.h"
#include "ui/selection/step_relations.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/roles.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kMostOps = 8;  // named in the inspector for one row

QString tr(const char* text) { return QCoreApplication::translate("CommunicationInspection", text); }

bool on_stage(const Segment& segment, const StageShape& shape) {
  switch (segment.kind) {
    case SegmentKind::Tower: return shape.first.tower;
    case SegmentKind::Embedding: return shape.first.embedding;
    case SegmentKind::Layer: return shape.has_layers;
    case SegmentKind::Head: return shape.last;
  }
  return false;
}

// The ops of the graph that a row counts; none for gradient sync and transfers between stages.
std::vector<const Op*> ops_behind(const Report& report, const StageReport& stage,
                                  const CollectiveValue& row) {
  std::vector<const Op*> ops;
  const StageShape& shape = report.model->shapes[static_cast<size_t>(stage.shape)];
  for (const Segment& segment : report.graph().segments) {
    if (!on_stage(segment, shape)) continue;
    for (const Op& op : segment.ops) {
      if (is_behind(segment, op, row)) ops.push_back(&op);
    }
  }
  return ops;
}

// A transfer is counted where it is sent.
bool counts_as_sent(const CollectiveValue& row) { return row.op.part() != CommPart::Receive; }

// "ep", "etp_ep", "tp_ep": with ep as a part of the name.
bool is_of_experts(const std::string& group) { return ('_' + group + '_').find("_ep_") != std::string::npos; }

// Labels and reasons of the groups. tests/ui/views/communication/mesh_view_test.cpp names a mesh
// axis without a row.
struct GroupText {
  std::string_view group;
  const char *label, *reason;
};
constexpr const char* kShardingGroup =
    "Hybrid sharding: the ranks of this group share one copy of the optimizer states, and with FSDP "
    "also of parameters and gradients.";
constexpr const char* kKvHeads = "The tp ranks that hold different KV heads.";
constexpr const char* kKvCopies =
    "There are fewer KV heads than tp ranks: the ranks that share a head hold copies of it and sum its "
    "gradients.";
constexpr GroupText kGroupTexts[] = {
    {"tp", "Tensor parallel (tp)",
     "Tensor parallelism splits matrix products over ranks. If a matrix product sums over a split "
     "dimension, each rank holds a partial sum. Collectives add the partial sums, and gather shards "
     "where the next op needs the whole tensor."},
    {"tp_kv", "KV heads (tp_kv)", kKvHeads},
    {"tp_rep", "Copies of KV heads (tp_rep)", kKvCopies},
    {"tp_kv2", "KV heads (tp_kv2)", kKvHeads},
    {"tp_rep2", "Copies of KV heads (tp_rep2)", kKvCopies},
    {"tp_kv3", "KV heads (tp_kv3)", kKvHeads},
    {"tp_rep3", "Copies of KV heads (tp_rep3)", kKvCopies},
    {"tp_kv4", "KV heads (tp_kv4)", kKvHeads},
    {"tp_rep4", "Copies of KV heads (tp_rep4)", kKvCopies},
    {"tp_outer", "Shared contexts (tp_outer)",
     "In decode, ranks of different groups that share a context: each group has other heads."},
    {"dcp", "Decode context parallel (dcp)",
     "In decode, these ranks share the context of their KV heads: each attends to a part of "
     "the context, and the results are merged."},
    {"cp", "Context parallel (cp)",
     "Context parallelism gives each rank a part of the sequence. Attention and the scans of mixers "
     "need the whole sequence. Ranks therefore exchange keys and values, or heads for positions, and "
     "later their gradients."},
    {"cp_ring", "Context parallel, ring (cp_ring)",
     "Groups that exchange heads form a ring. Blocks of keys and values go from one group to the "
     "next, and their gradients return to the owner."},
    {"cp_ulysses", "Context parallel, Ulysses (cp_ulysses)",
     "Neighbouring ranks exchange heads for positions: each rank gets more of the sequence and fewer "
     "heads. A ring brings the rest of the sequence."},
    {"cp_groups", "Context parallel, mixer groups (cp_groups)",
     "Scans of mixers see the whole sequence: these ranks exchange positions for groups of "
     "heads."},
    {"cp_heads", "Context parallel, mixer heads (cp_heads)",
     "Scans of mixers see the whole sequence: these ranks share a group of heads, and each "
     "runs some heads of the group."},
    {"dp", "Data parallel (dp)",
     "Each replica processes other samples. Gradients are summed over the replicas, before the "
     "optimizer. Where replicas share states or parameters, each gathers what the others hold."},
    {"dp_cp", "Data and context parallel (dp_cp)",
     "Replicas process other samples, and context-parallel ranks process other positions of the same "
     "samples. All of them hold the same parameters, so one collective reduces their gradients."},
    {"dp_shard", "Sharding group (dp_shard)", kShardingGroup},
    {"dp_shard_cp", "Sharding group (dp_shard_cp)", kShardingGroup},
    {"dp_replicate", "Copies of shards (dp_replicate)",
     "Hybrid sharding: each group of dp_shard replicas has a copy of the states. The gradient shards "
     "are summed over the copies."},
    {"pp", "Pipeline (pp)",
     "Each microbatch's activations go to the next stage, and their gradients come back to the one "
     "before."},
    {"embedding", "Tied embedding",
     "The first and the last stage share the embedding table, so its gradient is summed over both."},
    {"mirror", "Mirrored stages (DualPipe)",
     "Under DualPipe, stages p and pp - 1 - p hold the same layers, and each runs half of the "
     "microbatches. The gradients of both are summed."},
    {"ep", "Expert parallel (ep)",
     "Each rank of this group holds a part of the experts of a layer. Tokens go to the ranks of "
     "their experts, and the results come back."},
    {"ep_node", "Expert parallel, across nodes (ep_node)",
     "The experts of a layer are spread over nodes; this group has one rank of each node, at the "
     "same local index. A token is sent once to each node that holds one of its experts."},
    {"ep_local", "Expert parallel, inside a node (ep_local)",
     "The ranks of one node that hold experts of a layer. Tokens that arrived at the node go on to "
     "the ranks of their experts."},
    {"etp", "Expert tensor parallel (etp)",
     "Each expert is split over these ranks. The degree etp is independent of tp."},
    {"edp", "Expert replicas (edp)",
     "These ranks hold the same experts, and the gradients of experts are reduced over them. All "
     "other gradients are reduced over all replicas."},
    {"edp_shard", "Sharding group of experts (edp_shard)",
     "Ranks of one copy of the states that hold the same experts: each keeps a part of the states of "
     "these experts."},
};
constexpr GroupText kExpertsAndTensors = {
    "", "Experts and their tensor parallelism (%1)",
    "The ranks that hold the experts of a layer, including the ranks that each expert is split "
    "over. Tokens reach all of them."};

// nullptr: no text.
const GroupText* text_of_group(const std::string& group) {
  const auto* row = std::find_if(std::begin(kGroupTexts), std::end(kGroupTexts),
                                 [&](const GroupText& text) { return text.group == group; });
  if (row != std::end(kGroupTexts)) return row;
  return is_of_experts(group) ? &kExpertsAndTensors : nullptr;
}

QString row_title(const CollectiveValue& row) {
  return QStringLiteral("%1 over %2").arg(words(row.op.name(), u'-'), text_of(row.group));
}

}  // namespace

QString group_reason(const std::string& group) {
  const GroupText* text = text_of_group(group);
  return text ? tr(text->reason) : QString();
}

QColor group_color(const std::string& group) {
  const Role role = role_of_group(group);
  const QColor ink = color_of(role);
  // Parts of one role are next to each other in a chart: parts beside the main group are paler.
  const bool main = group == "tp" || group == "cp" || group == "ep" || group == "dp" || group == "pp";
  return main || role == Role::OtherGroups ? ink : mixed(Theme::instance().colors().panel, ink, 0.6);
}

QString group_label(const std::string& group) {
  const GroupText* text = text_of_group(group);
  if (!text) return words(group);
  return text == &kExpertsAndTensors ? tr(text->label).arg(text_of(group)) : tr(text->label);
}

Wide group_bytes(const StageReport& stage, const std::string& group) {
  Wide sum = 0;
  for (const CollectiveValue& value : stage.collectives) {
    if (value.group == group && counts_as_sent(value)) sum += value.bytes.value;
  }
  return sum;
}

const CollectiveTime* time_of(const Simulation* simulation, const StageReport& stage,
                              const CollectiveValue& row) {
  if (!simulation) return nullptr;
  return &simulation->stages[static_cast<size_t>(stage.stage)]
              .collectives[static_cast<size_t>(&row - stage.collectives.data())];
}

GroupTime group_time(const Simulation& simulation, const StageReport& stage, const std::string& group) {
  GroupTime out;
  for (const CollectiveValue& row : stage.collectives) {
    if (row.group != group || !has_waits(row)) continue;
    const CollectiveTime& time = *time_of(&simulation, stage, row);
    out.seconds += time.seconds;
    out.exposed += time.exposed;
  }
  return out;
}

QString bus_text(double rate) {
  if (rate <= 0) return QStringLiteral("–");
  return tr("%1 GB/s").arg(text_of(significant(rate * 1e-9)));
}

QString bus_rate_note() {
  return tr(
      "Bus bandwidth as nccl-tests define it: bytes of the full buffer / time × 2(n−1)/n of an all-reduce, "
      "(n−1)/n of an all-gather, a reduce-scatter or an all-to-all, 1 of a broadcast, a reduction or a "
      "message, for n ranks. Source: NVIDIA/nccl-tests, doc/PERFORMANCE.md");
}

namespace {

// "1.14 ms, 12 % exposed".
QString time_text(const GroupTime& time) {
  if (time.seconds <= 0) return seconds_text(0);
  return tr("%1, %2 exposed").arg(seconds_text(time.seconds), percent_text(time.exposed / time.seconds));
}

void add_times(Inspection& to, const Simulation& simulation, const CollectiveValue& row,
               const CollectiveTime& time) {
  const Network& network = simulation.machine.network;
  const double share = time.seconds > 0 ? time.exposed / time.seconds : 0;
  to.figures = {
      {tr("Time per step"), seconds_text(time.seconds)},
      {tr("Per call"), tr("%1 × %2").arg(seconds_text(time.per_call),
                                         counted_text(row.count.value, tr("call"), tr("calls")))},
      {tr("Bus bandwidth"), bus_text(time.bus_rate)},
      {tr("Level"), tr("%1: %2").arg(text_of(network_level_label(time.level, network)),
                                     text_of(span_text(network, time.span)))},
      {tr("Exposed"), has_waits(row)
                          ? tr("%1, %2 of its time").arg(seconds_text(time.exposed), percent_text(share))
                          : tr("at the receiver")}};
  to.more_title = tr("How are these found?");
  to.more = {{tr("time"), text_of(collective_basis(simulation.machine))},
             {tr("exposed"), tr("the simulated step: what compute waits for")}};
}

}  // namespace

Inspection inspect_collective(const Report& report, const Simulation* simulation, const StageReport& stage,
                              const CollectiveValue& row, UnitSystem units) {
  Inspection inspection;
  if (const CollectiveTime* time = time_of(simulation, stage, row))
    add_times(inspection, *simulation, row, *time);
  inspection.title = row_title(row);
  inspection.subtitle = tr("%1, stage %2, %3, %4")
                            .arg(words(phase_name(row.phase)))
                            .arg(stage.stage)
                            .arg(counted_text(row.group_size, tr("rank"), tr("ranks")),
                                 text_of(dtype_name(row.dtype)));
  inspection.values.append(inspectedQuantity(tr("Bytes, full buffers"), row.bytes, stage.binding,
                                             bytes_text(row.bytes.value, units)));
  inspection.values.append(
      inspectedQuantity(tr("Elements"), row.elements, stage.binding, grouped_text(row.elements.value)));
  inspection.values.append(
      inspectedQuantity(tr("Count per step"), row.count, stage.binding, grouped_text(row.count.value)));
  if (row.count.value > 0)
    inspection.rows.append({tr("Bytes of each"), bytes_text(row.bytes.value / row.count.value, units)});
  const std::vector<const Op*> ops = ops_behind(report, stage, row);
  QStringList reasons;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (i < kMostOps)
      inspection.rows.append(
          {text_of(ops[i]->label.empty() ? ops[i]->name : ops[i]->label), text_of(ops[i]->name)});
    const QString why = text_of(redistribution(*ops[i]).why);
    if (!why.isEmpty() && !reasons.contains(why)) reasons.append(why);
  }
  inspection.why_title = tr("Why is this collective here?");
  if (row.op.is_message()) inspection.why_title = tr("Why is this transfer here?");
  inspection.why = reasons.isEmpty() ? group_reason(row.group) : reasons.join(u'\n');
  inspection.why_first = true;
  if (row.phase == Phase::Pipeline && row.op == CollectiveKind::AllGather) {
    inspection.why = tr(
        "Scatter-gather: a message between stages is Shard(seq) on tp, and each rank sends and receives its "
        "shard. The layers need the message Replicate on tp, so the receivers gather it.");
  }
  return inspection;
}

Inspection inspect_group(const Report&, const Simulation* simulation, const StageReport& stage,
                         const std::string& group, UnitSystem units) {
  Inspection inspection;
  inspection.title = tr("%1, stage %2").arg(group_label(group)).arg(stage.stage);
  const Wide bytes = group_bytes(stage, group);
  inspection.subtitle = bytes == 0 ? tr("nothing on this stage")
                                   : tr("one rank, one step; %1 of the stage's bytes")
                                         .arg(percent_text(to_double(bytes) /
                                                           std::max(1.0, to_double(stage.bytes_sent_total))));
  if (simulation)
    inspection.figures.append({tr("Time per step"), time_text(group_time(*simulation, stage, group))});
  for (const CollectiveValue& row : stage.collectives) {
    if (row.group != group) continue;
    if (const CollectiveTime* time = time_of(simulation, stage, row); time && has_waits(row))
      inspection.figures.append(
          {QStringLiteral("%1, %2").arg(words(row.op.name(), u'-'), words(phase_name(row.phase))),
           time_text({time->seconds, time->exposed})});
    inspection.values.append(inspectedQuantity(
        QStringLiteral("%1, %2").arg(words(row.op.name(), u'-'), words(phase_name(row.phase))), row.bytes,
        stage.binding, bytes_text(row.bytes.value, units)));
    inspection.rows.append(
        {QStringLiteral("%1, %2").arg(words(row.op.name(), u'-'), words(phase_name(row.phase))),
         counted_text(row.count.value, tr("time"), tr("times"))});
  }
  inspection.why_title = tr("Why these collectives?");
  inspection.why = group_reason(group);
  return inspection;
}

Inspection inspect_stage_communication(const Simulation* simulation, const StageReport& stage,
                                       UnitSystem units) {
  Inspection inspection;
  if (simulation) {
    const StageTimes& times = simulation->stages[static_cast<size_t>(stage.stage)];
    inspection.figures.append({tr("Time per step"), time_text({times.communication, times.exposed})});
  }
  inspection.title = tr("Communication of stage %1").arg(stage.stage);
  inspection.subtitle = tr("one rank, one step");
  std::map<std::string, Wide> groups;
  for (const CollectiveValue& row : stage.collectives) groups[row.group] = group_bytes(stage, row.group);
  const ValueScale scale = byte_scale(to_double(stage.bytes_sent_total),
                                      units);  // parts and total in one unit
  for (const auto& [group, bytes] : groups) {
    if (simulation)
      inspection.figures.append({group_label(group), time_text(group_time(*simulation, stage, group))});
    inspection.rows.append({group_label(group), with_unit(bytes, scale)});
  }
  inspection.rows.append({tr("Total"), with_unit(stage.bytes_sent_total, scale)});
  inspection.why_title = tr("How are bytes and time counted?");
  inspection.why = tr(
      "Bytes are sizes of full buffers: the gathered output of an all-gather, the whole input of a "
      "reduce-scatter, the tensor of an all-reduce. A transfer counts once, at the sender. Time follows the "
      "algorithm that NCCL chooses for the group, and its bytes and hops on scale-up links and NICs; "
      "measured "
      "curves replace formulas where they exist. The exposed part is what compute waits for in the simulated "
      "step. The time of a transfer counts at the receiver.");
  return inspection;
}

}  // namespace shardscape::ui
