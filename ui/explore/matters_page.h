// What matters of the present design: a tornado of single changes, and how it scales; each with its table.
#pragma once

#include <QWidget>
#include <memory>

#include "ui/charts/chart_export.h"
#include "ui/explore/tornado.h"
#include "ui/models/table_model.h"
#include "ui/state/newest_job.h"

class QLabel;
class QStackedWidget;

namespace shardscape::ui {

class ChartTable;
class ScalingChart;
class Segments;
class Session;

// Every change of every knob with what comes of it.
class SensitivityModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setSensitivity(const Sensitivity& of, UnitSystem units);
};

class ScalingModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setPoints(const std::vector<ScalePoint>& strong, const std::vector<ScalePoint>& weak, UnitSystem units);
};

// Computes while it is visible, always of the present design.
class MattersPage : public QWidget {
  Q_OBJECT
 public:
  enum class Kind { Sensitivity, Scaling };
  MattersPage(Kind kind, Session* session, QWidget* parent = nullptr);
  Tornado* tornado() const { return tornado_; }
  ScalingChart* chart() const { return chart_; }
  ChartTable* table() const { return table_; }
  bool ready() const { return ready_; }    // shows the present design
  Picture picture() const;

 Q_SIGNALS:
  void taken(const shardscape::Design& design, const QString& what);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();
  void fill();
  Kind kind_;
  Session* session_;
  NewestJob job_;
  Design design_;                          // that is worked out, or shown
  bool started_ = false, ready_ = false;
  std::shared_ptr<const Sensitivity> sensitivity_;
  std::vector<ScalePoint> strong_, weak_;
  Segments* what_ = nullptr;
  QLabel* message_;
  Tornado* tornado_ = nullptr;
  ScalingChart* chart_ = nullptr;
  ChartTable* table_;
  SensitivityModel* sensitivity_model_ = nullptr;
  ScalingModel* scaling_model_ = nullptr;
};

}  // namespace shardscape::ui
