#include "ui/views/compute/compute_inspection.h"

#include <QCoreApplication>
#include <algorithm>

#include "ui/inspector/inspected_quantity.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("ComputeInspection", text); }

QString reason(FlopsGroup group, Phase phase) {
  const bool backward = phase == Phase::Backward;
  switch (group) {
    case FlopsGroup::MatrixProducts:
      return backward ? tr("Each matrix product of the forward pass has two matrix products of the same size "
                           "in the backward pass: one for the gradient of its input, one for the gradient of "
                           "its weights.")
                      : tr("Two FLOPs, a multiplication and an addition, for each term of each matrix "
                           "product with weights.");
    case FlopsGroup::Attention:
      return backward ? tr("Counted FLOPs include the gradients of queries, keys and values, and the "
                           "recomputation of scores in a flash kernel. Useful FLOPs leave out scores that "
                           "the causal mask discards.")
                      : tr("Scores and their weighted sum grow with the square of the sequence length. "
                           "Counted FLOPs are the full square. Useful FLOPs leave out scores that the causal "
                           "mask discards.");
    case FlopsGroup::Activation:
      return tr("A few FLOPs for each element between the matrix products of the MLP.");
    case FlopsGroup::Embedding:
      return backward ? tr("The gradient of a table look-up adds each token's row.")
                      : tr("A table look-up for each token.");
    case FlopsGroup::Loss:
      return tr("The softmax over the vocabulary and the loss of each token, on the last stage only.");
    case FlopsGroup::Pointwise:
      return tr(
          "Norms, rotations and additions: a few FLOPs for each element. They cost bandwidth, not FLOPs.");
    case FlopsGroup::Optimizer:
      return tr("Once a step for each parameter that the rank holds, whatever the batch.");
  }
  return {};
}

QString of_stage(Wide value, const StageReport& stage) {
  return percent_text(to_double(value) / std::max(1.0, to_double(stage.flops_total)));
}

void add_row_values(Inspection& inspection, const FlopsValue& row, const StageReport& stage,
                    const QString& prefix) {
  inspection.values.append(
      inspectedQuantity(prefix + tr("counted"), row.counted, stage.binding, flops_text(row.counted.value)));
  const bool equal = row.counted.formula && row.useful.formula && *row.counted.formula == *row.useful.formula;
  if (!equal)
    inspection.values.append(
        inspectedQuantity(prefix + tr("useful"), row.useful, stage.binding, flops_text(row.useful.value)));
}

// "12.3 ms, 40.0 % of the kernels".
QString time_text(double seconds, const StageTimes& times) {
  return tr("%1, %2 of all kernels")
      .arg(seconds_text(seconds), percent_text(seconds / std::max(kernel_seconds(times), 1e-30)));
}

void add_kernels(Inspection& to, const StageTimes& times, const KernelTime& row) {
  to.figures.append({tr("Time per step"), time_text(row.seconds, times)});
  to.figures.append(
      {tr("Kernels"),
       tr("%1, %2 each on average")
           .arg(grouped_text(row.kernels),
                seconds_text(row.seconds / static_cast<double>(std::max<int64_t>(1, row.kernels))))});
}

}  // namespace

Inspection inspect_kernels_without_flops(const StageTimes& times, const StageReport& stage,
                                         const KernelTime& row) {
  Inspection inspection;
  inspection
      .title = tr("%1, %2, stage %3").arg(kernel_name(row), words(phase_name(row.phase))).arg(stage.stage);
  inspection.subtitle = tr("one rank, one step; no FLOPs");
  add_kernels(inspection, times, row);
  inspection.values.append(
      {tr("Time per step"),
       {},
       tr("%1 kernels · %2")
           .arg(grouped_text(row.kernels),
                seconds_text(row.seconds / static_cast<double>(std::max<int64_t>(1, row.kernels)))),
       seconds_text(row.seconds)});
  inspection.why_title = tr("Where does the time go?");
  inspection.why = tr("These kernels move tensors and compute nothing that counts as a FLOP.");
  return inspection;
}

Inspection inspect_flops(const Simulation* simulation, const StageReport& stage, const FlopsValue& row) {
  Inspection inspection;
  if (const KernelTime* time = simulation ? kernel_time(*simulation, stage, row) : nullptr)
    add_kernels(inspection, simulation->stages[static_cast<size_t>(stage.stage)], *time);
  else if (simulation)
    inspection.figures.append({tr("Time per step"), tr("in the kernels of other ops")});
  inspection
      .title = tr("%1, %2, stage %3").arg(words(row.name()), words(phase_name(row.phase))).arg(stage.stage);
  inspection.subtitle = tr("one rank, one step; %1 of the counted FLOPs")
                            .arg(of_stage(row.counted.value, stage));
  add_row_values(inspection, row, stage, {});
  inspection.rows.append({tr("Counted, exact"), grouped_text(row.counted.value)});
  inspection.rows.append({tr("Useful, exact"), grouped_text(row.useful.value)});
  inspection.why_title = tr("Where do they come from?");
  inspection.why = reason(flops_group(row.kind), row.phase);
  return inspection;
}

Inspection inspect_flops_segment(const Simulation* simulation, const StageReport& stage,
                                 const FlopsSegment& segment) {
  const std::vector<const FlopsValue*> rows = flops_rows(stage, segment);
  Inspection inspection;
  if (simulation)
    inspection.figures.append(
        {tr("Time per step"), time_text(segment_seconds(*simulation, stage, segment),
                                        simulation->stages[static_cast<size_t>(stage.stage)])});
  inspection.title = tr("%1, %2, stage %3")
                         .arg(flops_group_label(segment.group), words(phase_name(segment.phase)))
                         .arg(stage.stage);
  Wide counted = 0;
  for (const FlopsValue* row : rows) {
    counted += row->counted.value;
    // The kind is named only where the group has several.
    add_row_values(inspection, *row, stage,
                   rows.size() > 1 ? words(row->name()) + QStringLiteral(", ") : QString());
  }
  const bool moves = rows.empty() && simulation && segment_seconds(*simulation, stage, segment) > 0;
  inspection.subtitle = moves ? tr("one rank, one step; no FLOPs")
                        : rows.empty()
                            ? tr("not on this stage")
                            : tr("one rank, one step; %1 of the counted FLOPs").arg(of_stage(counted, stage));
  inspection.why_title = tr("Where do they come from?");
  inspection.why = reason(segment.group, segment.phase);
  return inspection;
}

Inspection inspect_stage_flops(const Report& report, const Simulation* simulation, const StageReport& stage) {
  Inspection inspection;
  inspection.title = tr("Compute of stage %1").arg(stage.stage);
  inspection.subtitle = tr("one rank, one step of %1")
                            .arg(counted_text(report.microbatches, tr("microbatch"), tr("microbatches")));
  if (simulation) {
    const StageTimes& times = simulation->stages[static_cast<size_t>(stage.stage)];
    inspection.figures.append({tr("Time of kernels"), seconds_text(kernel_seconds(times))});
    inspection.figures.append(
        {tr("Of the step"), percent_text(kernel_seconds(times) / simulation->step_seconds)});
    for (const FlopsSegment& segment : time_segments(report, simulation))
      if (const double seconds = segment_seconds(*simulation, stage, segment); seconds > 0)
        inspection.figures.append(
            {QStringLiteral("%1, %2").arg(flops_group_label(segment.group), words(phase_name(segment.phase))),
             seconds_text(seconds)});
  }
  const ValueScale scale = flop_parts_scale(to_double(stage.flops_total));
  for (const FlopsSegment& segment : flops_segments(report, FlopsConvention::Counted)) {
    Wide sum = 0;
    for (const FlopsValue* row : flops_rows(stage, segment)) sum += row->counted.value;
    if (sum == 0) continue;
    inspection.rows.append(
        {QStringLiteral("%1, %2").arg(flops_group_label(segment.group), words(phase_name(segment.phase))),
         with_unit(sum, scale)});
  }
  inspection.rows.append({tr("Counted"), with_unit(stage.flops_total, scale)});
  inspection.rows.append({tr("Useful"), with_unit(stage.useful_flops_total, scale)});
  const auto heaviest = std::max_element(
      report.stages.begin(), report.stages.end(),
      [](const StageReport& a, const StageReport& b) { return a.flops_total < b.flops_total; });
  inspection.why_title = tr("What do counted and useful mean?");
  inspection.why = tr(
      "Counted FLOPs include the full square of attention and all slots of experts. Useful FLOPs leave out "
      "masked scores, recomputation, and expert slots beyond an even share of the routed tokens (padding, "
      "and the excess of the busiest expert).");
  if (report.stages.size() > 1) {
    const double part = to_double(stage.flops_total) / std::max(1.0, to_double(heaviest->flops_total));
    if (part > 0.9995) {  // prints as 100.0 %
      inspection.why += tr(
          " No stage computes noticeably more than this stage, so this stage sets the pace of the pipeline.");
    } else {
      inspection
          .why += tr(" This stage computes %1 of the FLOPs of stage %2, which sets the pace of the pipeline.")
                      .arg(percent_text(part))
                      .arg(heaviest->stage);
    }
  }
  return inspection;
}

}  // namespace shardscape::ui
