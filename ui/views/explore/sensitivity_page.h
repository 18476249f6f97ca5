// The sensitivity of the present design: a tornado of single changes, and how it scales; each with its table.
#pragma once

#include <memory>

#include "ui/plot/table_model.h"
#include "ui/plot/view_page.h"
#include "ui/session/comparison_results.h"
#include "ui/toolkit/newest_job.h"
#include "ui/views/explore/scaling_chart.h"
#include "ui/views/explore/tornado.h"

class QLabel;
class QStackedWidget;

namespace shardscape::ui {

class ChartTable;
class SegmentedControl;
class Session;

// Every change of every knob with what comes of it.
class SensitivityModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  // In a comparison: what the same change does to them.
  void setSensitivity(const Sensitivity& of, Mode mode, const std::vector<Tornado::OtherDesign>& others,
                      UnitSystem units);
};

class ScalingModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  // In a comparison: tokens per second and GPU on as many GPUs.
  void setPoints(const std::vector<ScalePoint>& strong, const std::vector<ScalePoint>& weak, Mode mode,
                 const std::vector<ScalingChart::OtherDesign>& others, UnitSystem units);
};

// What either page works out of a design.
struct SensitivityPageResult {
  std::shared_ptr<const Sensitivity> sensitivity;
  std::vector<ScalePoint> strong, weak;
};

// Computes while it is visible, always of the present design.
class SensitivityPage : public ViewPage {
  Q_OBJECT
 public:
  enum class Kind { Sensitivity, Scaling };
  SensitivityPage(Kind kind, Session* session, QWidget* parent = nullptr);
  Tornado* tornado() const { return tornado_; }
  ScalingChart* chart() const { return chart_; }
  ChartTable* table() const { return table_; }
  bool ready() const { return ready_; }                         // shows the present design
  bool comparisonReady() const { return comparison_.ready(); }  // and all that are pinned
  Picture picture() const override;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();
  void fill();
  void fillTornado();
  void fillScaling();
  Kind kind_;
  Session* session_;
  NewestJob job_;
  Design design_;  // that is worked out, or shown
  bool started_ = false, ready_ = false;
  std::shared_ptr<const SensitivityPageResult> result_;
  ComparisonResults<SensitivityPageResult> comparison_;
  QLabel* lead_;
  SegmentedControl* what_ = nullptr;
  QLabel* message_;
  Tornado* tornado_ = nullptr;
  ScalingChart* chart_ = nullptr;
  ChartTable* table_;
  SensitivityModel* sensitivity_model_ = nullptr;
  ScalingModel* scaling_model_ = nullptr;
};

}  // namespace shardscape::ui
