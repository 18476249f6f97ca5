// FLOPs of one rank of each stage in a step, by kind of op and phase, counted or useful; or its ops under the roofline.
#pragma once

#include <utility>

#include "ui/charts/chart_page.h"
#include "ui/charts/roofline_data.h"
#include "ui/models/flops_model.h"
#include "ui/state/beside.h"

class QPushButton;

namespace shardscape::ui {

class RooflineCanvas;
class RooflineModel;
class Segments;

class ComputeView : public ChartPage {
  Q_OBJECT
 public:
  explicit ComputeView(Session* session, QWidget* parent = nullptr);
  FlopsModel* model() const { return model_; }
  FlopsConvention convention() const { return convention_; }
  void setConvention(FlopsConvention convention);
  RooflineCanvas* roofline() const { return roofline_; }
  ChartTable* rooflineTable() const { return roofline_table_; }
  bool rooflineShown() const { return roofline_shown_; }
  void setRooflineShown(bool shown);
  Picture picture() const override;

 protected:
  BarData bars(const Report& report) const override;
  void fillTable(const Report& report) override;
  QString caption(const Report& report) const override;
  QString csv(const Report& report) const override;
  Inspection inspectBar(const Report& report, int stage, int series) const override;
  Inspection inspectRow(const Report& report, int row) const override;
  Pick pickOfBar(const Report& report, int stage, int series) const override;
  Pick pickOfRow(const Report& report, int row) const override;
  bool marksSeries(const Report& report, const Picked& picked, int stage, int series) const override;
  bool marksRow(const Report& report, const Picked& picked, int row) const override;
  void explainAgain() override;
  void followPick(const QObject* by) override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fillRoofline();
  void fitRoofline();
  void pickPoint();
  void explainPoint();
  void markPoints();
  FlopsModel* model_;
  Segments* switch_ = nullptr;
  Beside<RooflineBeside, std::pair<int, int>> beside_;  // by the picked stage and how many there are
  RooflineCanvas* roofline_ = nullptr;
  RooflineModel* roofline_model_ = nullptr;
  ChartTable* roofline_table_ = nullptr;
  bool roofline_shown_ = false;
  QPushButton* counted_;
  QPushButton* useful_;
  FlopsConvention convention_ = FlopsConvention::Counted;
};

}  // namespace shardscape::ui
