// FLOPs of one rank of each stage in a step, by kind of op and phase, counted or useful.
#pragma once

#include "ui/charts/chart_page.h"
#include "ui/models/flops_model.h"

class QPushButton;

namespace shardscape::ui {

class ComputeView : public ChartPage {
  Q_OBJECT
 public:
  explicit ComputeView(Session* session, QWidget* parent = nullptr);
  FlopsModel* model() const { return model_; }
  FlopsConvention convention() const { return convention_; }
  void setConvention(FlopsConvention convention);

 protected:
  BarData bars(const Report& report) const override;
  void fillTable(const Report& report) override;
  QString caption(const Report& report) const override;
  QString csv(const Report& report) const override;
  Inspection inspectBar(const Report& report, int stage, int series) const override;
  Inspection inspectRow(const Report& report, int row) const override;

 private:
  FlopsModel* model_;
  QPushButton* counted_;
  QPushButton* useful_;
  FlopsConvention convention_ = FlopsConvention::Counted;
};

}  // namespace shardscape::ui
