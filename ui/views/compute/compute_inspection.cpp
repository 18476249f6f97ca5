#include "ui/views/compute/compute_inspection.h"

#include <QCoreApplication>
#include <algorithm>

#include "ui/inspector/inspected_quantity.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QString tr_compute(const char* text) { return QCoreApplication::translate("ComputeInspection", text); }

QString reason(FlopsGroup group, Phase phase) {
  const bool backward = phase == Phase::Backward;
  switch (group) {
    case FlopsGroup::MatrixProducts:
      return backward
                 ? tr_compute(
                       "Each matrix product of the forward pass has two matrix products of the same size "
                       "in the backward pass: one for the gradient of its input, one for the gradient of "
                       "its weights.")
                 : tr_compute(
                       "Two FLOPs, a multiplication and an addition, for each term of each matrix "
                       "product with weights.");
    case FlopsGroup::Attention:
      return backward
                 ? tr_compute(
                       "Counted FLOPs include the gradients of queries, keys and values, and the "
                       "recomputation of scores in a flash kernel. Useful FLOPs leave out scores that "
                       "the causal mask discards.")
                 : tr_compute(
                       "Scores and their weighted sum grow with the square of the sequence length. "
                       "Counted FLOPs are the full square. Useful FLOPs leave out scores that the causal "
                       "mask discards.");
    case FlopsGroup::Activation:
      return tr_compute("A few FLOPs for each element between the matrix products of the MLP.");
    case FlopsGroup::Embedding:
      return backward ? tr_compute("The gradient of a table look-up adds each token's row.")
                      : tr_compute("A table look-up for each token.");
    case FlopsGroup::Loss:
      return tr_compute(
          "The softmax over the vocabulary and the loss of each token, on the last stage only.");
    case FlopsGroup::Pointwise:
      return tr_compute(
          "Norms, rotations and additions: a few FLOPs for each element. They cost bandwidth, not FLOPs.");
    case FlopsGroup::Optimizer:
      return tr_compute("Once a step for each parameter that the rank holds, whatever the batch.");
  }
  return {};
}

QString of_stage(Wide value, const StageReport& stage) {
  return percent_text(to_double(value) / std::max(1.0, to_double(stage.flops_total)));
}

void add_row_values(Inspection& inspection, const FlopsValue& row, const StageReport& stage,
                    const QString& prefix) {
  inspection.values.append(inspectedQuantity(prefix + tr_compute("counted"), row.counted, stage.binding,
                                             flops_text(row.counted.value)));
  const bool equal = row.counted.formula && row.useful.formula && *row.counted.formula == *row.useful.formula;
  if (!equal)
    inspection.values.append(inspectedQuantity(prefix + tr_compute("useful"), row.useful, stage.binding,
                                               flops_text(row.useful.value)));
}

// "12.3 ms, 40.0 % of the kernels".
QString time_text(double seconds, const StageTimes& times) {
  return tr_compute("%1, %2 of all kernels")
      .arg(seconds_text(seconds), percent_text(seconds / std::max(kernel_seconds(times), 1e-30)));
}

void add_kernels(Inspection& to, const StageTimes& times, const KernelTime& row) {
  to.figures.append({tr_compute("Time per step"), time_text(row.seconds, times)});
  to.figures.append(
      {tr_compute("Kernels"),
       tr_compute("%1, %2 each on average")
           .arg(grouped_text(row.kernels),
                seconds_text(row.seconds / static_cast<double>(std::max<int64_t>(1, row.kernels))))});
}

}  // namespace

Inspection inspect_kernels_without_flops(const StageTimes& times, const StageReport& stage,
                                         const KernelTime& row) {
  Inspection inspection;
  inspection.title = tr_compute("%1, %2, stage %3")
                         .arg(kernel_name(row), words(phase_name(row.phase)))
                         .arg(stage.stage);
  inspection.subtitle = tr_compute("one rank, one step; no FLOPs");
  add_kernels(inspection, times, row);
  inspection.values.append(
      {tr_compute("Time per step"),
       {},
       tr_compute("%1 kernels · %2")
           .arg(grouped_text(row.kernels),
                seconds_text(row.seconds / static_cast<double>(std::max<int64_t>(1, row.kernels)))),
       seconds_text(row.seconds)});
  inspection.why_title = tr_compute("Where does the time go?");
  inspection.why = tr_compute("These kernels move tensors and compute nothing that counts as a FLOP.");
  return inspection;
}

Inspection inspect_flops(const Simulation* simulation, const StageReport& stage, const FlopsValue& row) {
  Inspection inspection;
  if (const KernelTime* time = simulation ? kernel_time(*simulation, stage, row) : nullptr)
    add_kernels(inspection, simulation->stages[static_cast<size_t>(stage.stage)], *time);
  else if (simulation)
    inspection.figures.append({tr_compute("Time per step"), tr_compute("in the kernels of other ops")});
  inspection.title = tr_compute("%1, %2, stage %3")
                         .arg(words(row.name()), words(phase_name(row.phase)))
                         .arg(stage.stage);
  inspection.subtitle = tr_compute("one rank, one step; %1 of the counted FLOPs")
                            .arg(of_stage(row.counted.value, stage));
  add_row_values(inspection, row, stage, {});
  inspection.rows.append({tr_compute("Counted, exact"), grouped_text(row.counted.value)});
  inspection.rows.append({tr_compute("Useful, exact"), grouped_text(row.useful.value)});
  inspection.why_title = tr_compute("Where do they come from?");
  inspection.why = reason(flops_group(row.kind), row.phase);
  return inspection;
}

Inspection inspect_flops_segment(const Simulation* simulation, const StageReport& stage,
                                 const FlopsSegment& segment) {
  const std::vector<const FlopsValue*> rows = flops_rows(stage, segment);
  Inspection inspection;
  if (simulation)
    inspection.figures.append(
        {tr_compute("Time per step"), time_text(segment_seconds(*simulation, stage, segment),
                                                simulation->stages[static_cast<size_t>(stage.stage)])});
  inspection.title = tr_compute("%1, %2, stage %3")
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
  inspection.subtitle = moves          ? tr_compute("one rank, one step; no FLOPs")
                        : rows.empty() ? tr_compute("not on this stage")
                                       : tr_compute("one rank, one step; %1 of the counted FLOPs")
                                             .arg(of_stage(counted, stage));
  inspection.why_title = tr_compute("Where do they come from?");
  inspection.why = reason(segment.group, segment.phase);
  return inspection;
}

Inspection inspect_stage_flops(const Report& report, const Simulation* simulation, const StageReport& stage) {
  Inspection inspection;
  inspection.title = tr_compute("Compute of stage %1").arg(stage.stage);
  inspection.subtitle = tr_compute("one rank, one step of %1")
                            .arg(counted_text(report.microbatches, tr_compute("microbatch"),
                                              tr_compute("microbatches")));
  if (simulation) {
    const StageTimes& times = simulation->stages[static_cast<size_t>(stage.stage)];
    inspection.figures.append({tr_compute("Time of kernels"), seconds_text(kernel_seconds(times))});
    inspection.figures.append(
        {tr_compute("Of the step"), percent_text(kernel_seconds(times) / simulation->step_seconds)});
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
  inspection.rows.append({tr_compute("Counted"), with_unit(stage.flops_total, scale)});
  inspection.rows.append({tr_compute("Useful"), with_unit(stage.useful_flops_total, scale)});
  const auto heaviest = std::max_element(
      report.stages.begin(), report.stages.end(),
      [](const StageReport& a, const StageReport& b) { return a.flops_total < b.flops_total; });
  inspection.why_title = tr_compute("What do counted and useful mean?");
  inspection.why = tr_compute(
      "Counted FLOPs include the full square of attention and all slots of experts. Useful FLOPs leave out "
      "masked scores, recomputation, and expert slots beyond an even share of the routed tokens (padding, "
      "and the excess of the busiest expert).");
  if (report.stages.size() > 1) {
    const double part = to_double(stage.flops_total) / std::max(1.0, to_double(heaviest->flops_total));
    if (part > 0.9995) {  // prints as 100.0 %
      inspection.why += tr_compute(
          " No stage computes noticeably more than this stage, so this stage sets the pace of the pipeline.");
    } else {
      inspection.why +=
          tr_compute(" This stage computes %1 of the FLOPs of stage %2, which sets the pace of the pipeline.")
              .arg(percent_text(part))
              .arg(heaviest->stage);
    }
  }
  return inspection;
}

}  // namespace shardscape::ui
