// What matters of the present design: a tornado of single changes, and how it scales; each with its table.
#pragma once

#include <QWidget>
#include <memory>

#include "ui/charts/chart_export.h"
#include "ui/explore/scaling_chart.h"
#include "ui/explore/tornado.h"
#include "ui/models/table_model.h"
#include "ui/state/beside.h"
#include "ui/state/newest_job.h"

class QLabel;
class QStackedWidget;

namespace shardscape::ui {

class ChartTable;
class Segments;
class Session;

// Every change of every knob with what comes of it.
class SensitivityModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  // Beside others: what the same change does to them.
  void setSensitivity(const Sensitivity& of, Mode mode, const std::vector<Tornado::Beside>& beside, UnitSystem units);
};

class ScalingModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  // Beside others: tokens per second and GPU on as many GPUs.
  void setPoints(const std::vector<ScalePoint>& strong, const std::vector<ScalePoint>& weak, Mode mode, const std::vector<ScalingChart::Beside>& beside, UnitSystem units);
};

// What either page works out of a design.
struct Matter {
  std::shared_ptr<const Sensitivity> sensitivity;
  std::vector<ScalePoint> strong, weak;
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
  bool besideReady() const { return beside_.ready(); }  // and all that are pinned
  Picture picture() const;

 Q_SIGNALS:
  void taken(const shardscape::Design& design, const QString& what);

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
  Design design_;                          // that is worked out, or shown
  bool started_ = false, ready_ = false;
  std::shared_ptr<const Matter> matter_;
  Beside<Matter> beside_;
  QLabel* lead_;
  Segments* what_ = nullptr;
  QLabel* message_;
  Tornado* tornado_ = nullptr;
  ScalingChart* chart_ = nullptr;
  ChartTable* table_;
  SensitivityModel* sensitivity_model_ = nullptr;
  ScalingModel* scaling_model_ = nullptr;
};

}  // namespace shardscape::ui
