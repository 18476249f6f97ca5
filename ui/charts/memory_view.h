// What one rank of each stage holds, against the capacity of the accelerator.
#pragma once

#include "ui/charts/chart_page.h"

namespace shardscape::ui {

class Advice;
class MemoryCurve;
class StageMemoryModel;

class MemoryView : public ChartPage {
  Q_OBJECT
 public:
  explicit MemoryView(Session* session, QWidget* parent = nullptr);
  StageMemoryModel* model() const { return model_; }
  MemoryCurve* curve() const { return curve_; }
  Advice* advice() const { return session()->advice(); }
  Picture picture() const override;

 protected:
  BarData bars(const Report& report) const override;
  void fillTable(const Report& report) override;
  QString caption(const Report& report) const override;
  QString csv(const Report& report) const override;
  Inspection inspectBar(const Report& report, int stage, int series) const override;
  bool rowsAreStages() const override { return true; }

 private:
  void followEstimate();
  void showEvent(QShowEvent* event) override;
  StageMemoryModel* model_;
  MemoryCurve* curve_ = nullptr;
};

}  // namespace shardscape::ui
