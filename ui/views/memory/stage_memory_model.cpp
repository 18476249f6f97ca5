#include "ui/views/memory/stage_memory_model.h"

#include <algorithm>

#include "memory/memory_timeline.h"

namespace shardscape::ui {
namespace {

// Breaks captions of two words or more, so that twelve columns fit between form and inspector.
QString narrow(QString label) {
  const qsizetype space = label.indexOf(u' ');
  return space < 0 ? label : label.replace(space, 1, u'\n');
}

std::vector<TableColumn> columns_in(const QString& unit, bool offloads) {
  std::vector<TableColumn> columns{
      {QStringLiteral("Stage"), QStringLiteral("stage"), true, QStringLiteral("Pipeline stage, from 0")},
      {QStringLiteral("Layers"), QStringLiteral("layers"), true,
       QStringLiteral("Transformer layers on the stage")},
      {narrow(QStringLiteral("In flight")), QStringLiteral("microbatches in flight"), true,
       QStringLiteral("Microbatches between their forward and backward passes, whose activations are saved")},
  };
  const auto add = [&](const QString& label) {
    columns.push_back({narrow(label), label.toLower() + QStringLiteral(" (bytes)"), true,
                       QStringLiteral("%1 on one rank, in %2").arg(label, unit)});
  };
  for (int i = 0; i < kAllMemoryCategories; ++i) {
    add(text_of(memory_category_label(static_cast<MemoryCategory>(i))));
  }
  add(QStringLiteral("Total"));
  add(QStringLiteral("Free"));
  if (offloads)
    columns.push_back({QStringLiteral("Host"), QStringLiteral("host (bytes)"), true,
                       QStringLiteral("Memory that one rank uses on its host, in %1").arg(unit)});
  return columns;
}

}  // namespace

ValueScale memory_scale(const Report& report, UnitSystem units) {
  double largest = 0;
  for (const StageMemory& stage : report.memory->stages)
    largest = std::max(largest, static_cast<double>(stage.in_use));
  return rank_memory_scale(largest, units);
}

void StageMemoryModel::setReport(const Report& report, UnitSystem units) {
  const ValueScale scale = memory_scale(report, units);
  const auto bytes_cell = [&](Wide value) {
    return number_cell(value, scaled_text(value, scale), exact_bytes_text(value));
  };
  const bool offloads = std::any_of(report.stages.begin(), report.stages.end(),
                                    [](const StageReport& s) { return !s.host_memory.empty(); });
  Rows rows;
  for (const StageReport& stage : report.stages) {
    std::vector<TableCell> row{number_cell(stage.stage, grouped_text(stage.stage)),
                               number_cell(stage.layers, grouped_text(stage.layers)),
                               number_cell(stage.in_flight, grouped_text(stage.in_flight))};
    const StageMemory& memory = report.memory->stages[static_cast<size_t>(stage.stage)];
    for (const int64_t bytes : memory.at_peak) row.push_back(bytes_cell(bytes));
    row.push_back(bytes_cell(memory.in_use));
    row.back().strong = true;
    if (report.accelerator) {
      const Wide free = Wide(report.accelerator->memory_bytes) - memory.in_use;
      row.push_back(bytes_cell(free));
      row.back().alarm = free < 0;
      if (free < 0) row.back().tip = exact_bytes_text(-free) + QStringLiteral(" too much");
    } else {
      row.push_back(text_cell(QString()));
    }
    if (offloads) {
      Wide host = 0;
      for (const PartValue& part : stage.host_memory) host += part.bytes.value;
      row.push_back(bytes_cell(host));
    }
    rows.push_back(std::move(row));
  }
  assign(columns_in(scale.unit, offloads), std::move(rows));
}

}  // namespace shardscape::ui
