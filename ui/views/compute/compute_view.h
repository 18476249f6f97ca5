// The Compute view: the kernels of one rank of each stage in a step, by kind of op and phase, as time or as
// counted or useful FLOPs. Alternatively, the ops of a stage under the roofline.
#pragma once

#include <utility>

#include "ui/plot/chart_page.h"
#include "ui/session/comparison_results.h"
#include "ui/views/compute/flops_bars.h"
#include "ui/views/compute/flops_model.h"
#include "ui/views/compute/roofline_data.h"

class QPushButton;

namespace shardscape::ui {

class RooflineCanvas;
class RooflineModel;
class SegmentedControl;

class ComputeView : public ChartPage {
  Q_OBJECT
 public:
  explicit ComputeView(SelectionState* state, QWidget* parent = nullptr);
  FlopsModel* model() const { return model_; }
  FlopsConvention convention() const { return convention_; }
  void setConvention(FlopsConvention convention);
  enum class Quantity { Time, Flops };
  Quantity quantity() const { return quantity_; }
  void setQuantity(Quantity quantity);
  SegmentedControl* quantityControl() const { return quantity_control_; }
  RooflineCanvas* roofline() const { return roofline_; }
  ChartTable* rooflineTable() const { return roofline_table_; }
  Picture picture() const override;

 protected:
  bool usesTime() const override { return true; }
  BarData bars(const Report& report) const override;
  void fillTable(const Report& report) override;
  QString caption(const Report& report) const override;
  QString csv(const Report& report) const override;
  Inspection inspectBar(const Report& report, int stage, int series) const override;
  bool rowsAreStages() const override { return false; }
  Inspection inspectRow(const Report& report, int row) const override;
  Selection selectionOfBar(const Report& report, int stage, int series) const override;
  Selection selectionOfRow(const Report& report, int row) const override;
  bool marksSeries(const Report& report, const ResolvedSelection& resolved, int stage,
                   int series) const override;
  bool marksRow(const Report& report, const ResolvedSelection& resolved, int row) const override;
  void explainAgain() override;
  void alternativeToggled() override;
  void followSelection(const QObject* by) override;
  void showEvent(QShowEvent* event) override;

 private:
  std::vector<FlopsSegment> segments(const Report& report) const;  // in the order of the bars' series
  void showControls();
  void fillRoofline();
  void selectPoint();
  void explainPoint();
  void markPoints();
  FlopsModel* model_;
  ComparisonResults<ComparedRoofline, std::pair<int, int>>
      comparison_;  // key: the selected stage, the number of stages
  RooflineCanvas* roofline_ = nullptr;
  RooflineModel* roofline_model_ = nullptr;
  ChartTable* roofline_table_ = nullptr;
  SegmentedControl* quantity_control_;
  Quantity quantity_ = Quantity::Time;
  QPushButton* counted_;
  QPushButton* useful_;
  FlopsConvention convention_ = FlopsConvention::Counted;
};

}  // namespace shardscape::ui
