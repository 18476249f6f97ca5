// A design of the search beside the present one: what differs in the form, pairs of bars, and all numbers with their difference.
#pragma once

#include <QWidget>
#include <optional>

#include "explore/comparison.h"
#include "ui/charts/chart_export.h"
#include "ui/models/table_model.h"
#include "ui/state/newest_job.h"

class QLabel;
class QPushButton;

namespace shardscape::ui {

class ChartTable;
class ElidedLabel;
class PairBars;
class Session;

// Knobs whose values differ: one row each.
class DifferingKnobsModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setKnobs(const std::vector<ComparedKnob>& knobs);
};

// Every figure of two designs, its difference and that in percent.
class ComparisonModel : public TableModel {
  Q_OBJECT
 public:
  enum Column { Group, Figure, First, Second, Difference, Percent };
  using TableModel::TableModel;
  void setFigures(const std::vector<ComparedFigure>& figures, UnitSystem units);
};

class ComparePage : public QWidget {
  Q_OBJECT
 public:
  explicit ComparePage(Session* session, QWidget* parent = nullptr);
  void setDesign(const Design& design, const QString& name);  // to compare the present one with
  bool hasDesign() const { return other_.has_value(); }
  const std::vector<ComparedFigure>& figures() const { return figures_; }
  PairBars* bars() const { return bars_; }
  ChartTable* table() const { return table_; }
  ChartTable* knobs() const { return knobs_; }
  ComparisonModel* model() const { return model_; }
  Picture picture() const;

 Q_SIGNALS:
  void taken(const shardscape::Design& design);  // the other one shall be the current one

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void compute();
  void showFigures();
  void fitHeights();
  Session* session_;
  NewestJob job_;
  std::optional<Design> other_;
  QString name_;
  std::optional<ComparedDesign> compared_;   // of other_
  std::vector<ComparedFigure> figures_;
  ElidedLabel* title_;
  QLabel *message_, *legend_;
  QPushButton* take_;
  QWidget* body_;
  ChartTable *knobs_, *table_;
  DifferingKnobsModel* knobs_model_;
  PairBars* bars_;
  ComparisonModel* model_;
};

}  // namespace shardscape::ui
