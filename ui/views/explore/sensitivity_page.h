// Two pages about the present design: sensitivity (a tornado chart of single changes) and scaling. Each has a
// table.
#pragma once

#include <memory>

#include "explore/scaling_lines.h"
#include "ui/plot/table_model.h"
#include "ui/plot/view_page.h"
#include "ui/selection/inspection.h"
#include "ui/session/comparison_results.h"
#include "ui/toolkit/newest_job.h"
#include "ui/views/explore/scaling_chart.h"
#include "ui/views/explore/tornado.h"

class QLabel;
class QMenu;
class QStackedWidget;

namespace shardscape::ui {

class ChartTable;
class PageSplitter;
class SegmentedControl;
class Session;

// The table of all single changes and their effects.
class SensitivityModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  // others: compared designs; columns show the effect of the same change.
  void setSensitivity(const Sensitivity& of, Mode mode, const std::vector<Tornado::OtherDesign>& others,
                      UnitSystem units);
};

class ScalingModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  // others: compared designs; columns show tokens per second and GPU on the same number of GPUs.
  void setPoints(const std::vector<ScalePoint>& strong, const std::vector<ScalePoint>& weak,
                 const Design& design, const std::vector<ScalingChart::OtherDesign>& others,
                 const std::vector<ScalingChart::ExtraLine>& extra, UnitSystem units);

 private:
  std::vector<TableColumn> columns(Mode mode, bool run,
                                   const std::vector<ScalingChart::OtherDesign>& others) const;
};

// The result that a page computes for a design.
struct SensitivityPageResult {
  std::shared_ptr<const Sensitivity> sensitivity;
  std::vector<ScalePoint> strong, weak;
};

// Computes while it is visible, always for the present design.
class SensitivityPage : public ViewPage {
  Q_OBJECT
 public:
  enum class Kind { Sensitivity, Scaling };
  SensitivityPage(Kind kind, Session* session, QWidget* parent = nullptr);
  Tornado* tornado() const { return tornado_; }
  ScalingChart* chart() const { return chart_; }
  ChartTable* table() const { return table_; }
  PageSplitter* splitter() const { return splitter_; }
  QMenu* linesMenu() const { return lines_menu_; }
  bool linesReady() const { return lines_ready_; }  // the best layouts and the chosen clusters
  bool ready() const { return ready_; }             // the shown result belongs to the present design
  bool comparisonReady() const { return comparison_.ready(); }  // the pinned designs are computed too
  Picture picture() const override;

 Q_SIGNALS:
  void explained(const shardscape::ui::Inspection& inspection);  // of the selected bar or point

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  QWidget* makeLines();
  void fillLinesMenu();
  void computeLines();
  void makeBestCurrent(int row);  // of the table
  void makeRowsApply();
  void applyRow(int row);  // of the table of changes
  void apply(const KnobSensitivity& knob, const Neighbour& change);
  void explainChange(int row);             // of the tornado; -1: none
  void explainPoint(int line, int point);  // of the scaling chart
  void fill();
  void fillTornado();
  void fillScaling();
  void fitTable();
  Kind kind_;
  Session* session_;
  NewestJob job_{this};
  Design design_;  // the design that is being computed, or shown
  bool started_ = false, ready_ = false;
  std::shared_ptr<const SensitivityPageResult> result_;
  ComparisonResults<SensitivityPageResult> comparison_;
  QLabel* intro_;
  SegmentedControl* measure_switch_ = nullptr;
  QLabel* message_;
  Tornado* tornado_ = nullptr;
  ScalingChart* chart_ = nullptr;
  PageSplitter* splitter_;  // chart, table
  ChartTable* table_;
  SensitivityModel* sensitivity_model_ = nullptr;
  ScalingModel* scaling_model_ = nullptr;
  // Further lines of the scaling page.
  QMenu* lines_menu_ = nullptr;
  bool with_best_ = true, lines_ready_ = false;
  std::vector<ClusterVariant> variants_;  // chosen by the person
  std::vector<LayoutAtSize> best_;
  std::vector<ScalingChart::ExtraLine> extra_;
  NewestJob lines_job_{this};
};

}  // namespace shardscape::ui
