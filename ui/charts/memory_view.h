// What one rank of each stage holds, against the capacity of the accelerator.
#pragma once

#include <utility>

#include "ui/charts/chart_page.h"
#include "ui/charts/memory_curve.h"
#include "ui/state/beside.h"

namespace shardscape::ui {

class Advice;
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
  Pick pickOfBar(const Report& report, int stage, int series) const override;
  bool marksSeries(const Report& report, const Picked& picked, int stage, int series) const override;
  bool rowsAreStages() const override { return true; }
  int columnOf(int series) const override;

 private:
  void followEstimate();
  void placeBeside();
  void fitCurve();
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  StageMemoryModel* model_;
  MemoryCurve* curve_ = nullptr;
  Beside<MemoryBeside, std::pair<int, int>> beside_;  // by the picked stage and how many there are
};

}  // namespace shardscape::ui
