// What one rank of each stage holds, against the capacity of the accelerator.
#pragma once

#include "ui/charts/chart_page.h"

namespace shardscape::ui {

class StageMemoryModel;

class MemoryView : public ChartPage {
  Q_OBJECT
 public:
  explicit MemoryView(Session* session, QWidget* parent = nullptr);
  StageMemoryModel* model() const { return model_; }

 protected:
  BarData bars(const Report& report) const override;
  void fillTable(const Report& report) override;
  QString caption(const Report& report) const override;
  QString csv(const Report& report) const override;
  Inspection inspectBar(const Report& report, int stage, int series) const override;
  bool rowsAreStages() const override { return true; }

 private:
  StageMemoryModel* model_;
};

}  // namespace shardscape::ui
