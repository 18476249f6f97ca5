// The Memory view: memory of one rank of each stage, against the capacity of the accelerator.
#pragma once

#include <utility>

#include "ui/plot/chart_page.h"
#include "ui/session/comparison_results.h"
#include "ui/views/memory/memory_curve.h"

namespace shardscape::ui {

class AdviceList;
class MemoryAdvisor;
class MemoryTreemap;
class PeakTensorsModel;
class StageMemoryModel;

class MemoryView : public ChartPage {
  Q_OBJECT
 public:
  explicit MemoryView(SelectionState* state, QWidget* parent = nullptr);
  StageMemoryModel* model() const { return model_; }
  MemoryCurve* curve() const { return curve_; }
  AdviceList* adviceList() const { return advice_list_; }
  MemoryAdvisor* advice() const { return session()->advice(); }
  MemoryTreemap* treemap() const { return treemap_; }
  ChartTable* tensorsTable() const { return tensors_table_; }
  Picture picture() const override;

 protected:
  BarData bars(const Report& report) const override;
  void fillTable(const Report& report) override;
  QString caption(const Report& report) const override;
  QString csv(const Report& report) const override;
  Inspection inspectBar(const Report& report, int stage, int series) const override;
  Selection selectionOfBar(const Report& report, int stage, int series) const override;
  bool marksSeries(const Report& report, const ResolvedSelection& resolved, int stage,
                   int series) const override;
  bool rowsAreStages() const override { return true; }
  int columnOf(int series) const override;
  void alternativeToggled() override;
  void explainAgain() override;
  void followSelection(const QObject* by) override;

 private:
  void followEstimate();
  void fillAdvice();
  void showCurve();
  void fillTreemap();
  void markTiles();
  void selectTile(int tile);
  void explainTile();
  void placeComparedDesigns();
  void fitCurve();
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  StageMemoryModel* model_;
  MemoryCurve* curve_ = nullptr;
  AdviceList* advice_list_ = nullptr;
  MemoryTreemap* treemap_ = nullptr;
  PeakTensorsModel* tensors_model_ = nullptr;
  ChartTable* tensors_table_ = nullptr;
  bool panel_chosen_ = false;  // the person has shown or hidden the list of changes
  ComparisonResults<ComparedMemory, std::pair<int, int>>
      comparison_;  // key: the selected stage, the number of stages
};

}  // namespace shardscape::ui
