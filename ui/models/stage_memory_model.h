// One row per pipeline stage: what a rank of it holds, by category.
#pragma once

#include "report/report.h"
#include "simulate/memory_timeline.h"
#include "ui/models/table_model.h"

namespace shardscape::ui {

class StageMemoryModel : public TableModel {
  Q_OBJECT
 public:
  // Columns up to the first category: stage, layers, microbatches in flight. After the last: total, free.
  static constexpr int kFirstCategory = 3;
  static constexpr int kTotal = kFirstCategory + kMemoryCategoryCount;
  static constexpr int kFree = kTotal + 1;

  using TableModel::TableModel;
  // memory: of the same design; null: by the formulas alone, without buffers and runtime, and two columns fewer.
  void setReport(const Report& report, UnitSystem units, const MemoryTimeline* memory = nullptr);
};

// Bytes by category of one rank of a stage: at its fullest moment, or by the formulas alone.
std::vector<Wide> memory_bytes(const StageReport& stage, const MemoryTimeline* memory);
Wide memory_in_use(const StageReport& stage, const MemoryTimeline* memory);
// The unit in which all stages are compared.
ValueScale memory_scale(const Report& report, UnitSystem units, const MemoryTimeline* memory = nullptr);

}  // namespace shardscape::ui
