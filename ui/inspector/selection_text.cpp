#include "ui/inspector/selection_text.h"

#include <QCoreApplication>

#include "report/time_report.h"
#include "ui/inspector/communication_inspection.h"
#include "ui/selection/flops_group.h"
#include "ui/selection/step_relations.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/graph_text.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QString tr_selection(const char* text) { return QCoreApplication::translate("SelectionText", text); }

QString where(const Report& report, const Selection& selection) {
  const int embedding = embedding_unit(report);
  if (selection.unit == embedding) return tr_selection("embedding");
  if (selection.unit == units_in(report) - 1) return tr_selection("head and loss");
  const int layer = layer_of_unit(report, selection.unit);
  if (layer < 0)
    return QString::fromStdString(
               report.graph().segments[static_cast<size_t>(segment_of_unit(report, selection.unit))].name)
        .replace('_', ' ');
  if (selection.units > 1) return tr_selection("layers %1 … %2").arg(layer).arg(layer + selection.units - 1);
  return tr_selection("layer %1").arg(layer);
}

}  // namespace

QString selectionText(const Selection& selection, const Report& report, const Simulation* simulation) {
  const auto on_stage = [&](const QString& what) {
    return tr_selection("%1, stage %2").arg(capitalized(what)).arg(selection.stage);
  };
  const bool of_graph = selection.kind == SelectionKind::Op || selection.kind == SelectionKind::Block ||
                        selection.kind == SelectionKind::Unit;
  if (of_graph && (selection.unit < 0 || selection.unit >= units_in(report))) return {};
  const Segment& segment = report.graph().segments[static_cast<size_t>(
      of_graph ? segment_of_unit(report, selection.unit) : 0)];
  switch (selection.kind) {
    case SelectionKind::Nothing: return {};
    case SelectionKind::Op: {
      if (selection.op < 0 || selection.op >= static_cast<int>(segment.ops.size())) return {};
      return QStringLiteral("%1, %2").arg(capitalized(selection.kernel ? kernel_title(segment, selection.op)
                                                                       : op_title(segment.op(selection.op))),
                                          where(report, selection));
    }
    case SelectionKind::Block:
      if (selection.block < 0 || selection.block >= static_cast<int>(segment.blocks.size())) return {};
      return QStringLiteral("%1, %2").arg(text_of(segment.blocks[static_cast<size_t>(selection.block)].label),
                                          where(report, selection));
    case SelectionKind::Unit: return capitalized(where(report, selection));
    case SelectionKind::Span: {
      const bool known = simulation && selection.stage < static_cast<int>(simulation->stages.size()) &&
                         selection.span >= 0 &&
                         selection.span <
                             static_cast<int>(
                                 simulation->stages[static_cast<size_t>(selection.stage)].spans.size());
      if (!known) return {};
      return on_stage(text_of(span_title(*simulation, simulation->stages[static_cast<size_t>(selection.stage)]
                                                          .spans[static_cast<size_t>(selection.span)])));
    }
    case SelectionKind::Collective:
      return on_stage(QStringLiteral("%1 over %2, %3")
                          .arg(words(selection.collective.value().name(), u'-'), text_of(selection.group),
                               words(phase_name(selection.phase))));
    case SelectionKind::Group: return on_stage(group_label(selection.group));
    case SelectionKind::Memory: return on_stage(text_of(memory_category_label(selection.memory)));
    case SelectionKind::Flops: {
      const QString what = selection.row
                               ? words(FlopsValue{
                                     selection.row->first, selection.phase, selection.row->second, {}, {}}
                                           .name())
                               : flops_group_label(selection.flops);
      return on_stage(QStringLiteral("%1, %2").arg(what, words(phase_name(selection.phase))));
    }
    case SelectionKind::Time: return text_of(time_category_label(selection.time));
  }
  return {};
}

}  // namespace shardscape::ui
