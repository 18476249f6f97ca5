#include "ui/inspector/pick_text.h"

#include <QCoreApplication>

#include "simulate/time_report.h"
#include "ui/charts/communication_inspection.h"
#include "ui/charts/flops_bars.h"
#include "ui/graph_view/node_text.h"
#include "ui/models/value_scale.h"
#include "ui/state/relations.h"

namespace shardscape::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("PickText", text); }

QString where(const Report& report, const Pick& pick) {
  if (pick.unit == 0) return tr("embedding");
  if (pick.unit == units_in(report) - 1) return tr("head and loss");
  if (pick.units > 1) return tr("layers %1 … %2").arg(pick.unit - 1).arg(pick.unit + pick.units - 2);
  return tr("layer %1").arg(pick.unit - 1);
}

QString capitalised(QString text) {
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

}  // namespace

QString pick_text(const Pick& pick, const Report& report, const Simulation* simulation) {
  const auto on_stage = [&](const QString& what) { return tr("%1, stage %2").arg(capitalised(what)).arg(pick.stage); };
  const bool of_graph = pick.kind == PickKind::Op || pick.kind == PickKind::Block || pick.kind == PickKind::Unit;
  if (of_graph && (pick.unit < 0 || pick.unit >= units_in(report))) return {};
  const Segment& segment = report.graph().segments[static_cast<size_t>(of_graph ? segment_of_unit(report, pick.unit) : 0)];
  switch (pick.kind) {
    case PickKind::Nothing: return {};
    case PickKind::Op: {
      if (pick.op < 0 || pick.op >= static_cast<int>(segment.ops.size())) return {};
      return QStringLiteral("%1, %2").arg(capitalised(pick.kernel ? kernel_title(segment, pick.op) : op_title(segment.op(pick.op))), where(report, pick));
    }
    case PickKind::Block:
      if (pick.block < 0 || pick.block >= static_cast<int>(segment.blocks.size())) return {};
      return QStringLiteral("%1, %2").arg(text_of(segment.blocks[static_cast<size_t>(pick.block)].label), where(report, pick));
    case PickKind::Unit: return capitalised(where(report, pick));
    case PickKind::Span: {
      const bool known = simulation && pick.stage < static_cast<int>(simulation->stages.size()) && pick.span >= 0 &&
                         pick.span < static_cast<int>(simulation->stages[static_cast<size_t>(pick.stage)].spans.size());
      if (!known) return {};
      return on_stage(text_of(span_title(*simulation, simulation->stages[static_cast<size_t>(pick.stage)].spans[static_cast<size_t>(pick.span)])));
    }
    case PickKind::Collective: return on_stage(QStringLiteral("%1 over %2, %3").arg(words(pick.collective, u'-'), text_of(pick.group), words(phase_name(pick.phase))));
    case PickKind::Group: return on_stage(group_label(pick.group));
    case PickKind::Memory: return on_stage(text_of(memory_category_label(pick.memory)));
    case PickKind::Flops: {
      const QString what = pick.row ? words(FlopsValue{pick.row->first, pick.phase, pick.row->second, {}, {}}.name()) : flops_group_label(pick.flops);
      return on_stage(QStringLiteral("%1, %2").arg(what, words(phase_name(pick.phase))));
    }
    case PickKind::Time: return text_of(time_category_label(pick.time));
  }
  return {};
}

}  // namespace shardscape::ui
