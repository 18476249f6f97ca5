#include "ui/views/timeline/span_text.h"

#include <QCoreApplication>
#include <algorithm>
#include <map>

#include "report/time_report.h"
#include "ui/inspector/communication_inspection.h"
#include "ui/selection/flops_group.h"
#include "ui/selection/step_relations.h"
#include "ui/toolkit/graph_text.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QString tr_span(const char* text) { return QCoreApplication::translate("SpanText", text); }

QString capitalised(QString text) {
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

}  // namespace

QString lane_label(StreamKind stream) {
  switch (stream) {
    case StreamKind::Compute: return tr_span("compute");
    case StreamKind::DataComm: return tr_span("sync");
    case StreamKind::PipelineComm: return tr_span("send");
    case StreamKind::Receive: return tr_span("receive");
    case StreamKind::Host: return tr_span("to host");
    case StreamKind::HostLoad: return tr_span("from host");
  }
  return {};
}

QString pass_label(const LaneItem& item) {
  switch (item.pass) {
    case Pass::Forward: return tr_span("Forward");
    case Pass::Backward:
      return capitalised(
          text_of(span_kind_label(item.kind == SpanKind::BackwardInput ? item.kind : SpanKind::Backward)));
    case Pass::WeightGradient: return capitalised(text_of(span_kind_label(SpanKind::BackwardWeight)));
    case Pass::Optimizer: return tr_span("Optimizer");
    default: return capitalised(text_of(span_kind_label(item.kind)));
  }
}

QString span_words(const Lanes& lanes, int stage, int span) {
  return QStringLiteral("%1 on stage %2")
      .arg(text_of(span_title(lanes.simulation(), lanes.span(stage, span))))
      .arg(stage);
}

QString item_title(const Lanes& lanes, const ItemRef& ref) {
  const LaneItem& item = lanes.item(ref);
  QString title = item.name >= 0
                      ? capitalised(text_of(lanes.simulation().names[static_cast<size_t>(item.name)].text))
                      : pass_label(item);
  if (item.microbatch >= 0) title += tr_span(", microbatch %1").arg(item.microbatch);
  if (item.microbatch >= 0 && lanes.chunks() > 1) title += tr_span(", chunk %1").arg(item.chunk);
  return title;
}

QString item_tip(const Lanes& lanes, const ItemRef& ref) {
  const LaneItem& item = lanes.item(ref);
  QStringList lines{
      item_title(lanes, ref),
      tr_span("stage %1, %2").arg(ref.stage).arg(text_of(stream_label(lanes.lane(ref).stream)).toLower()),
      tr_span("starts at %1, takes %2").arg(seconds_text(item.begin), seconds_text(item.end - item.begin))};
  if (item.recompute > 0)
    lines << tr_span("%1 of the time is recomputation").arg(percent_text(item.recompute));
  if (item.critical) lines << tr_span("on the critical path");
  return lines.join('\n');
}

QString placed_op_title(const Report& report, const PlacedOp& op) {
  return capitalised(kernel_title(report.graph().segments[static_cast<size_t>(op.segment)], op.op));
}

int collective_of_span(const StageReport& stage, const Lanes& lanes, int span) {
  const Span& of = lanes.span(stage.stage, span);
  for (size_t i = 0; i < stage.collectives.size(); ++i)
    if (counts_span(stage.collectives[i], lanes.simulation(), of)) return static_cast<int>(i);
  return -1;
}

Inspection inspect_item(const Report& report, const Lanes& lanes, OpDetail& detail, const ItemRef& ref,
                        UnitSystem units) {
  const StageReport& stage = report.stages[static_cast<size_t>(ref.stage)];
  const LaneItem& item = lanes.item(ref);
  const int index = lanes.span_index(ref);
  const Span& span = lanes.span(ref.stage, index);
  Inspection out;
  out.title = item_title(lanes, ref);
  out.subtitle = lanes.lane(ref).stream == StreamKind::Compute
                     ? tr_span("stage %1").arg(ref.stage)
                     : tr_span("stage %1, %2")
                           .arg(ref.stage)
                           .arg(text_of(stream_label(lanes.lane(ref).stream)).toLower());
  const double takes = item.end - item.begin;
  out.rows.append({tr_span("starts"), seconds_text(item.begin)});
  out.rows.append({tr_span("takes"), seconds_text(takes)});
  out.rows.append({tr_span("ends"), seconds_text(item.end)});
  out.rows.append({tr_span("on the critical path"), item.critical ? tr_span("yes") : tr_span("no")});
  if (const std::vector<PlacedOp>& ops = detail.of(ref); !ops.empty()) {
    std::map<std::string, double> exposed;
    std::map<FlopsGroup, double> computed;
    double busy = 0;
    for (const PlacedOp& op : ops) {
      if (op.concurrent) continue;
      const Op& of = report.graph().segments[static_cast<size_t>(op.segment)].op(op.op);
      (is_collective(of.kind) ? exposed[group_name(redistribution(of).group)]
                              : computed[flops_group(of.kind)]) += op.end - op.begin;
      busy += op.end - op.begin;
    }
    for (const auto& [group, seconds] : computed)
      out.rows.append({flops_group_label(group).toLower(), seconds_text(seconds)});
    for (const auto& [group, seconds] : exposed)
      out.rows.append({tr_span("%1 communication, exposed").arg(text_of(group)), seconds_text(seconds)});
    if (takes - busy > 1e-3 * takes) out.rows.append({tr_span("waits inside"), seconds_text(takes - busy)});
    if (item.recompute > 0) out.rows.append({tr_span("recompute"), percent_text(item.recompute)});
  }
  if (span.waits_stage >= 0) {
    Selection selection;
    selection.kind = SelectionKind::Span;
    selection.stage = span.waits_stage;
    selection.span = span.waits_span;
    const Span& before = lanes.span(span.waits_stage, span.waits_span);
    QString text = text_of(span_title(lanes.simulation(), before));
    if (span.waits_stage != ref.stage) text = tr_span("%1 on stage %2").arg(text).arg(span.waits_stage);
    out.links.append({before.kind == SpanKind::Send && span.kind == SpanKind::Receive ? tr_span("completes")
                                                                                      : tr_span("waits for"),
                      text, selection});
  } else {
    out.rows.append({tr_span("waits for"), tr_span("nothing")});
  }
  if (const int row = collective_of_span(stage, lanes, index); row >= 0) {
    const Inspection of = inspect_collective(report, &lanes.simulation(), stage,
                                             stage.collectives[static_cast<size_t>(row)], units);
    out.more_title = tr_span("All such calls of a step");
    out.more = of.figures;
    out.values = of.values;
    out.why_title = of.why_title;
    out.why = of.why;
  }
  return out;
}

}  // namespace shardscape::ui
