#include "ui/views/compute/flops_model.h"

#include <algorithm>

#include "ui/plot/comparison_cells.h"

namespace shardscape::ui {

const Quantity& flops_of(const FlopsValue& row, FlopsConvention convention) {
  return convention == FlopsConvention::Counted ? row.counted : row.useful;
}

Wide flops_total(const StageReport& stage, FlopsConvention convention) {
  return convention == FlopsConvention::Counted ? stage.flops_total : stage.useful_flops_total;
}

const KernelTime* kernel_time(const Simulation& simulation, const StageReport& stage, const FlopsValue& row) {
  const std::vector<KernelTime>& kernels = simulation.stages[static_cast<size_t>(stage.stage)].kernels;
  const auto it = std::find_if(kernels.begin(), kernels.end(), [&](const KernelTime& time) {
    return time.kind == row.kind && time.phase == row.phase && time.compute == row.compute;
  });
  return it == kernels.end() ? nullptr : &*it;
}

std::vector<KernelTime> timed_without_flops(const Simulation& simulation, const StageReport& stage) {
  std::vector<KernelTime> out;
  for (const KernelTime& time : simulation.stages[static_cast<size_t>(stage.stage)].kernels)
    if (std::none_of(stage.flops.begin(), stage.flops.end(),
                     [&](const FlopsValue& row) { return kernel_time(simulation, stage, row) == &time; }))
      out.push_back(time);
  return out;
}

double kernel_seconds(const StageTimes& times) {
  double sum = 0;
  for (const KernelTime& time : times.kernels) sum += time.seconds;
  return sum;
}

QString kernel_name(const KernelTime& time) {
  return words(FlopsValue{time.kind, time.phase, time.compute, {}, {}}.name());
}

namespace {

struct TimeCells {
  TableCell time, share;
};
// time: nullptr: without a kernel of its own.
TimeCells time_cells(const StageTimes& of, const KernelTime* time, const ValueScale& scale) {
  if (!time) {
    TableCell none = real_cell(0, QStringLiteral("–"));
    none.tip = TableModel::tr("Kernels of other ops compute these ops");
    return {none, real_cell(0, QStringLiteral("–"))};
  }
  const double share = time->seconds / std::max(kernel_seconds(of), 1e-30);
  TableCell seconds = real_cell(time->seconds, scaled_real_text(time->seconds, scale));
  seconds.tip = TableModel::tr("%1 in %2")
                    .arg(seconds_text(time->seconds),
                         counted_text(time->kernels, TableModel::tr("kernel"), TableModel::tr("kernels")));
  return {seconds, real_cell(share, percent_text(share))};
}

}  // namespace

void FlopsModel::setReport(const Report& report, int stage, FlopsConvention convention,
                           const Simulation* simulation) {
  Rows rows;
  double largest = 0, longest = 0;
  for (const StageReport& of : report.stages) {
    if (stage != kAllStages && of.stage != stage) continue;
    largest = std::max(largest, to_double(of.flops_total));
    if (!simulation) continue;
    for (const KernelTime& time : simulation->stages[static_cast<size_t>(of.stage)].kernels)
      longest = std::max(longest, time.seconds);
  }
  const ValueScale scale = flop_parts_scale(largest), seconds = seconds_scale(longest / 100);
  for (const StageReport& of : report.stages) {
    if (stage != kAllStages && of.stage != stage) continue;
    const double total = std::max(1.0, to_double(flops_total(of, convention)));
    for (const FlopsValue& value : of.flops) {
      const Quantity& shown = flops_of(value, convention);
      const double share = to_double(shown.value) / total;
      TableCell share_cell = text_cell(percent_text(share), QString::number(share * 100, 'g', 10));
      share_cell.sort = share;
      const TimeCells time = simulation ? time_cells(simulation->stages[static_cast<size_t>(of.stage)],
                                                     kernel_time(*simulation, of, value), seconds)
                                        : TimeCells{};
      rows.push_back(
          {number_cell(of.stage, grouped_text(of.stage)),
           text_cell(words(value.name()), text_of(value.name())),
           text_cell(words(phase_name(value.phase)), text_of(phase_name(value.phase))), time.time, time.share,
           number_cell(value.counted.value, scaled_text(value.counted.value, scale)),
           number_cell(value.useful.value, scaled_text(value.useful.value, scale)), share_cell,
           text_cell(QString::fromStdString(shown.formula ? shown.formula->text() : std::string()))});
    }
    if (!simulation) continue;
    for (const KernelTime& value : timed_without_flops(*simulation, of)) {
      const TimeCells time = time_cells(simulation->stages[static_cast<size_t>(of.stage)], &value, seconds);
      rows.push_back({number_cell(of.stage, grouped_text(of.stage)), text_cell(kernel_name(value)),
                      text_cell(words(phase_name(value.phase)), text_of(phase_name(value.phase))), time.time,
                      time.share, number_cell(0, QStringLiteral("–")), number_cell(0, QStringLiteral("–")),
                      real_cell(0, QStringLiteral("–")), text_cell(QString())});
    }
  }
  const bool counted = convention == FlopsConvention::Counted;
  const QString name = counted ? QStringLiteral("counted") : QStringLiteral("useful");
  assign({{QStringLiteral("Stage"), QStringLiteral("stage"), true, {}},
          {QStringLiteral("Operation"), QStringLiteral("operation"), false, {}},
          {QStringLiteral("Phase"), QStringLiteral("phase"), false, {}},
          {tr("Time\n%1").arg(seconds.unit), QStringLiteral("time (s)"), true,
           tr("Seconds of the kernels of one rank in a step, from the simulated step")},
          {tr("Of time"), QStringLiteral("share of kernel time"), true,
           tr("Share of the time of all kernels of this rank")},
          {QStringLiteral("Counted\n%1").arg(scale.unit), QStringLiteral("counted (FLOP)"), true,
           QStringLiteral("FLOPs that the kernels of one rank execute in a step")},
          {QStringLiteral("Useful\n%1").arg(scale.unit), QStringLiteral("useful (FLOP)"), true,
           QStringLiteral("FLOPs without masked scores and recomputation")},
          {QStringLiteral("Share"), QStringLiteral("share of %1 (%)").arg(name), true,
           QStringLiteral("Share of the %1 FLOPs of this rank").arg(name), true},
          {QStringLiteral("Formula (%1)").arg(name), QStringLiteral("formula (%1)").arg(name), false, {}}},
         std::move(rows));
}

}  // namespace shardscape::ui
