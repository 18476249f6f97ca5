#include "ui/timeline/span_text.h"

#include <QCoreApplication>
#include <algorithm>
#include <map>

#include "simulate/time_report.h"
#include "ui/charts/communication_inspection.h"
#include "ui/charts/flops_bars.h"
#include "ui/graph_view/node_text.h"
#include "ui/models/value_scale.h"
#include "ui/state/relations.h"

namespace shardscape::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("SpanText", text); }

QString capitalised(QString text) {
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

QString category_reason(TimeCategory category) {
  switch (category) {
    case TimeCategory::Products: return tr("Matrix products, those that are computed again included.");
    case TimeCategory::Attention: return tr("Fused attention kernels and state-space mixers.");
    case TimeCategory::MemoryBound: return tr("Norms, activation functions, casts, routing: what moves more bytes than it computes.");
    case TimeCategory::TensorComm: return tr("Collectives inside layers over tp that nothing is computed beside.");
    case TimeCategory::ContextComm: return tr("Waits for keys and values of other cp ranks that attention does not hide.");
    case TimeCategory::ExpertComm: return tr("Tokens on their way to experts and back, where nothing is computed meanwhile.");
    case TimeCategory::PipelineComm: return tr("A stage waits while a message between stages is on its link.");
    case TimeCategory::DataComm: return tr("Reductions of gradients and gathers of parameters that no compute hides.");
    case TimeCategory::Host: return tr("Waits for activations on their way to the host's memory or from it.");
    case TimeCategory::Optimizer: return tr("The update of the rank's share of the parameters.");
    case TimeCategory::Bubble: return tr("The stage has nothing to do until another one has gone on: the pipeline fills, drains, or is out of balance.");
  }
  return {};
}

// Two figures that a line break may only part between them.
QString together(QString a, QString b) { return a.replace(u' ', QChar(0xA0)) + QStringLiteral(", ") + b.replace(u' ', QChar(0xA0)); }

QString share_of(double part, double whole) { return percent_text(whole > 0 ? part / whole : 0); }

double mean_of(const Simulation& simulation, TimeCategory category) {
  double sum = 0;
  for (const StageTimes& stage : simulation.stages) sum += stage.seconds[static_cast<size_t>(category)];
  return sum / static_cast<double>(std::max<size_t>(1, simulation.stages.size()));
}

}  // namespace

QString mfu_text(const Simulation& simulation) {
  const std::string above = above_peak_text(simulation);
  return text_of(mfu_convention()) + (above.empty() ? QString() : u' ' + text_of(above) + u'.');
}

QString seconds_text(double seconds) { return QString::fromStdString(format_seconds(seconds)); }

QString lane_label(StreamKind stream) {
  switch (stream) {
    case StreamKind::Compute: return tr("compute");
    case StreamKind::DataComm: return tr("sync");
    case StreamKind::PipelineComm: return tr("send");
    case StreamKind::Receive: return tr("receive");
    case StreamKind::Host: return tr("to host");
    case StreamKind::HostLoad: return tr("from host");
  }
  return {};
}

QString pass_label(const LaneItem& item) {
  switch (item.pass) {
    case Pass::Forward: return tr("Forward");
    case Pass::Backward: return capitalised(text_of(span_kind_label(item.kind == SpanKind::BackwardInput ? item.kind : SpanKind::Backward)));
    case Pass::WeightGradient: return capitalised(text_of(span_kind_label(SpanKind::BackwardWeight)));
    case Pass::Optimizer: return tr("Optimizer");
    default: return capitalised(text_of(span_kind_label(item.kind)));
  }
}

QString span_words(const Lanes& lanes, int stage, int span) {
  return QStringLiteral("%1 on stage %2").arg(text_of(span_title(lanes.simulation(), lanes.span(stage, span)))).arg(stage);
}

QString item_title(const Lanes& lanes, const ItemRef& ref) {
  const LaneItem& item = lanes.item(ref);
  QString title = item.name >= 0 ? capitalised(text_of(lanes.simulation().names[static_cast<size_t>(item.name)])) : pass_label(item);
  if (item.microbatch >= 0) title += tr(", microbatch %1").arg(item.microbatch);
  if (item.microbatch >= 0 && lanes.chunks() > 1) title += tr(", chunk %1").arg(item.chunk);
  return title;
}

QString item_tip(const Lanes& lanes, const ItemRef& ref) {
  const LaneItem& item = lanes.item(ref);
  QStringList lines{item_title(lanes, ref), tr("stage %1, %2").arg(ref.stage).arg(text_of(stream_label(lanes.lane(ref).stream)).toLower()),
                    tr("starts at %1, takes %2").arg(seconds_text(item.begin), seconds_text(item.end - item.begin))};
  if (item.recompute > 0) lines << tr("%1 of it computes activations again").arg(percent_text(item.recompute));
  if (item.critical) lines << tr("on the critical path");
  return lines.join('\n');
}

QString placed_op_title(const Report& report, const PlacedOp& op) {
  return capitalised(kernel_title(report.graph().segments[static_cast<size_t>(op.segment)], op.op));
}

Pick pick_of_row(const StageReport& stage, const CollectiveValue& row) {
  Pick pick;
  pick.kind = PickKind::Collective;
  pick.stage = stage.stage;
  pick.phase = row.phase;
  pick.collective = row.op;
  pick.group = row.group;
  pick.dtype = row.dtype;
  return pick;
}

int collective_of_span(const StageReport& stage, const Lanes& lanes, int span) {
  const Span& of = lanes.span(stage.stage, span);
  const bool message = of.kind == SpanKind::Send || of.kind == SpanKind::Receive;
  if (!message && of.kind != SpanKind::Collective) return -1;
  const std::string name = of.name < 0 ? std::string() : lanes.simulation().names[static_cast<size_t>(of.name)];
  for (size_t i = 0; i < stage.collectives.size(); ++i) {
    const CollectiveValue& row = stage.collectives[i];
    if (message ? row.phase == Phase::Pipeline && row.op == (of.kind == SpanKind::Send ? "send" : "recv") : is_of_collective(name, row))
      return static_cast<int>(i);
  }
  return -1;
}

Inspection inspect_item(const Report& report, const Lanes& lanes, OpDetail& detail, const ItemRef& ref, UnitSystem units) {
  const StageReport& stage = report.stages[static_cast<size_t>(ref.stage)];
  const LaneItem& item = lanes.item(ref);
  const int index = lanes.span_index(ref);
  const Span& span = lanes.span(ref.stage, index);
  Inspection out;
  out.title = item_title(lanes, ref);
  out.subtitle = lanes.lane(ref).stream == StreamKind::Compute ? tr("stage %1").arg(ref.stage)
                                                               : tr("stage %1, %2").arg(ref.stage).arg(text_of(stream_label(lanes.lane(ref).stream)).toLower());
  const double takes = item.end - item.begin;
  out.rows.append({tr("starts"), seconds_text(item.begin)});
  out.rows.append({tr("takes"), seconds_text(takes)});
  out.rows.append({tr("ends"), seconds_text(item.end)});
  out.rows.append({tr("on the critical path"), item.critical ? tr("yes") : tr("no")});
  if (const std::vector<PlacedOp>& ops = detail.of(ref); !ops.empty()) {
    std::map<std::string, double> exposed;
    std::map<FlopsGroup, double> computed;
    double busy = 0;
    for (const PlacedOp& op : ops) {
      const Op& of = report.graph().segments[static_cast<size_t>(op.segment)].op(op.op);
      (is_collective(of.kind) ? exposed[group_name(of.group)] : computed[flops_group(of.kind)]) += op.end - op.begin;
      busy += op.end - op.begin;
    }
    for (const auto& [group, seconds] : computed) out.rows.append({flops_group_label(group).toLower(), seconds_text(seconds)});
    for (const auto& [group, seconds] : exposed) out.rows.append({tr("%1 communication, exposed").arg(text_of(group)), seconds_text(seconds)});
    if (takes - busy > 1e-3 * takes) out.rows.append({tr("waits inside"), seconds_text(takes - busy)});
    if (item.recompute > 0) out.rows.append({tr("computed again"), percent_text(item.recompute)});
  }
  if (span.waits_stage >= 0) {
    Pick pick;
    pick.kind = PickKind::Span;
    pick.stage = span.waits_stage;
    pick.span = span.waits_span;
    const Span& before = lanes.span(span.waits_stage, span.waits_span);
    QString text = text_of(span_title(lanes.simulation(), before));
    if (span.waits_stage != ref.stage) text = tr("%1 on stage %2").arg(text).arg(span.waits_stage);
    out.links.append({before.kind == SpanKind::Send && span.kind == SpanKind::Receive ? tr("is the end of") : tr("waits for"), text, pick});
  } else {
    out.rows.append({tr("waits for"), tr("nothing")});
  }
  if (const int row = collective_of_span(stage, lanes, index); row >= 0) {
    const Inspection of = inspect_collective(report, stage, stage.collectives[static_cast<size_t>(row)], units);
    out.values = of.values;
    out.why_title = of.why_title;
    out.why = of.why;
  }
  return out;
}

Inspection inspect_category(const Simulation& simulation, TimeCategory category) {
  Inspection out;
  const auto c = static_cast<size_t>(category);
  out.title = text_of(time_category_label(category));
  const double mean = mean_of(simulation, category);
  out.subtitle = tr("%1 of a step of %2, mean over stages").arg(share_of(mean, simulation.step_seconds), seconds_text(simulation.step_seconds));
  out.rows.append({tr("mean over stages"), seconds_text(mean)});
  out.rows.append({tr("on the critical path"), seconds_text(simulation.critical_seconds[c])});
  for (size_t s = 0; s < simulation.stages.size(); ++s)
    out.rows.append({tr("stage %1").arg(s), together(seconds_text(simulation.stages[s].seconds[c]),
                                                                         share_of(simulation.stages[s].seconds[c], simulation.step_seconds))});
  out.why_title = tr("What counts as this?");
  out.why = category_reason(category);
  return out;
}

QString category_text(const Simulation& simulation, TimeCategory category) {
  const double mean = mean_of(simulation, category);
  return together(seconds_text(mean), share_of(mean, simulation.step_seconds));
}

QString step_beside_text(const Simulation& now, const Simulation& other) {
  QStringList figures{seconds_text(other.step_seconds), signed_percent_text(other.step_seconds / now.step_seconds - 1), tr("MFU %1").arg(percent_text(other.mfu))};
  return figures.replaceInStrings(QStringLiteral(" "), QString(QChar(0xA0))).join(QStringLiteral(", "));
}

Inspection inspect_step(const Simulation& s) {
  Inspection out;
  out.title = tr("One step, %1").arg(seconds_text(s.step_seconds));
  if (s.machine.accelerator) out.subtitle = tr("estimated for %1").arg(text_of(s.machine.accelerator->name));
  out.rows.append({tr("tokens per second"), grouped_text(static_cast<Wide>(s.tokens_per_second))});
  out.rows.append({tr("model TFLOP/s per GPU"), QString::fromStdString(significant(s.model_tflops))});
  out.rows.append({tr("MFU"), percent_text(s.mfu)});
  out.rows.append({tr("hardware TFLOP/s per GPU"), QString::fromStdString(significant(s.hardware_tflops))});
  out.rows.append({tr("HFU"), percent_text(s.hfu)});
  out.rows.append({tr("dense peak in %1").arg(text_of(dtype_name(s.peak_type))), tr("%1 TFLOP/s").arg(text_of(significant(s.peak_tflops)))});
  out.rows.append({tr("bubble, mean over stages"), percent_text(s.bubble)});
  out.rows.append({tr("exposed communication"), percent_text(s.exposed)});
  out.more_title = tr("The critical path");
  for (int c = 0; c < kTimeCategoryCount; ++c)
    if (const double seconds = s.critical_seconds[static_cast<size_t>(c)]; seconds > 0)
      out.more.append({text_of(time_category_label(static_cast<TimeCategory>(c))),
                       together(seconds_text(seconds), share_of(seconds, s.step_seconds))});
  out.why_title = tr("How is MFU counted?");
  out.why = mfu_text(s);
  return out;
}

}  // namespace shardscape::ui
