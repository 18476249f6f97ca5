#include "ui/views/compute/flops_model.h"

#include <algorithm>

namespace shardscape::ui {

const Quantity& flops_of(const FlopsValue& row, FlopsConvention convention) {
  return convention == FlopsConvention::Counted ? row.counted : row.useful;
}

Wide flops_total(const StageReport& stage, FlopsConvention convention) {
  return convention == FlopsConvention::Counted ? stage.flops_total : stage.useful_flops_total;
}

void FlopsModel::setReport(const Report& report, int stage, FlopsConvention convention) {
  Rows rows;
  double largest = 0;
  for (const StageReport& of : report.stages)
    if (stage == kAllStages || of.stage == stage) largest = std::max(largest, to_double(of.flops_total));
  const ValueScale scale = flop_parts_scale(largest);
  for (const StageReport& of : report.stages) {
    if (stage != kAllStages && of.stage != stage) continue;
    const double total = std::max(1.0, to_double(flops_total(of, convention)));
    for (const FlopsValue& value : of.flops) {
      const Quantity& shown = flops_of(value, convention);
      const double share = to_double(shown.value) / total;
      TableCell share_cell = text_cell(percent_text(share), QString::number(share * 100, 'g', 10));
      share_cell.sort = share;
      rows.push_back(
          {number_cell(of.stage, grouped_text(of.stage)),
           text_cell(words(value.name()), text_of(value.name())),
           text_cell(words(phase_name(value.phase)), text_of(phase_name(value.phase))),
           number_cell(value.counted.value, scaled_text(value.counted.value, scale)),
           number_cell(value.useful.value, scaled_text(value.useful.value, scale)), share_cell,
           text_cell(QString::fromStdString(shown.formula ? shown.formula->text() : std::string()))});
    }
  }
  const bool counted = convention == FlopsConvention::Counted;
  const QString name = counted ? QStringLiteral("counted") : QStringLiteral("useful");
  assign({{QStringLiteral("Stage"), QStringLiteral("stage"), true, {}},
          {QStringLiteral("Operation"), QStringLiteral("operation"), false, {}},
          {QStringLiteral("Phase"), QStringLiteral("phase"), false, {}},
          {QStringLiteral("Counted\n%1").arg(scale.unit), QStringLiteral("counted (FLOP)"), true,
           QStringLiteral("FLOPs that the kernels of one rank execute in a step")},
          {QStringLiteral("Useful\n%1").arg(scale.unit), QStringLiteral("useful (FLOP)"), true,
           QStringLiteral("FLOPs without masked scores and recomputation")},
          {QStringLiteral("Share"), QStringLiteral("share of %1 (%)").arg(name), true,
           QStringLiteral("Share of the %1 FLOPs of this rank").arg(name)},
          {QStringLiteral("Formula (%1)").arg(name), QStringLiteral("formula (%1)").arg(name), false, {}}},
         std::move(rows));
}

}  // namespace shardscape::ui
