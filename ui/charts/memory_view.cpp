#include "ui/charts/memory_view.h"

#include "simulate/memory_timeline.h"
#include "ui/charts/memory_inspection.h"
#include "ui/charts/stage_chart.h"
#include "ui/models/stage_memory_model.h"
#include "ui/theme/theme.h"

namespace shardscape::ui {

MemoryView::MemoryView(Session* session, QWidget* parent)
    : ChartPage(session, tr("Memory of one rank, by stage"), QStringLiteral("memory"), parent),
      model_(new StageMemoryModel(this)) {
  start(model_);
}

BarData MemoryView::bars(const Report& report) const {
  BarData data;
  const UnitSystem units = session()->units();
  const ValueScale scale = memory_scale(report, units);
  data.title = tr("Memory of one rank, by stage");
  data.unit = scale.unit;
  data.divisor = scale.divisor;
  data.text = [units](double value) { return bytes_text(static_cast<Wide>(value), units); };
  for (int i = 0; i < kAllMemoryCategories; ++i) {
    const auto category = static_cast<MemoryCategory>(i);
    data.series.push_back({text_of(memory_category_label(category)), Theme::instance().memoryColor(category)});
  }
  data.legend = data.series;
  for (const StageMemory& stage : report.memory->stages) {
    std::vector<double> values;
    for (const int64_t bytes : stage.at_peak) values.push_back(static_cast<double>(bytes));
    data.values.push_back(std::move(values));
  }
  if (report.accelerator) {
    const Wide capacity = report.accelerator->memory_bytes;
    data.limit = BarLimit{to_double(capacity), tr("%1 capacity").arg(capacity_text(capacity, units))};
  }
  return data;
}

void MemoryView::fillTable(const Report& report) { model_->setReport(report, session()->units()); }

QString MemoryView::caption(const Report& report) const {
  const QString unit = memory_scale(report, session()->units()).unit;
  return report.stages.size() == 1 ? tr("The only stage, %1 on each rank").arg(unit)
                                   : tr("All stages, %1 on one rank of each").arg(unit);
}

QString MemoryView::csv(const Report&) const { return csv_text(*model_); }

Inspection MemoryView::inspectBar(const Report& report, int stage, int series) const {
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  if (series == StageChart::kWholeStage) return inspect_stage_memory(report, of, session()->units());
  return inspect_memory(report, of, static_cast<MemoryCategory>(series), session()->units());
}

}  // namespace shardscape::ui
