// One row per pipeline stage: the memory of a rank at its peak, by category.
#pragma once

#include "plan/report.h"
#include "ui/plot/table_model.h"

namespace shardscape::ui {

class StageMemoryModel : public TableModel {
  Q_OBJECT
 public:
  // Columns up to the first category: stage, layers, microbatches in flight. After the last: total, free.
  static constexpr int kFirstCategory = 3;
  static constexpr int kTotal = kFirstCategory + kAllMemoryCategories;
  static constexpr int kFree = kTotal + 1;

  using TableModel::TableModel;
  void setReport(const Report& report, UnitSystem units);  // report: with memory
};

// The common unit of all stages.
ValueScale memory_scale(const Report& report, UnitSystem units);

}  // namespace shardscape::ui
