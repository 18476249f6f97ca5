// The Compare page: the present design and the pinned designs, the knobs that differ, groups of bars, and all
// figures with their differences.
#pragma once

#include <QWidget>
#include <optional>

#include "explore/comparison.h"
#include "ui/plot/chart_export.h"
#include "ui/plot/table_model.h"
#include "ui/selection/selection.h"

class QLabel;
class QPushButton;
class QScrollArea;
class QVBoxLayout;

namespace shardscape::ui {

class ChartTable;
class Comparisons;
class GroupedBars;
class PageSplitter;
class SelectionState;
class Session;

// The table of knobs whose values differ: a row per knob, a column per design.
class DifferingKnobsModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setKnobs(const std::vector<ComparedKnob>& knobs, int designs);
};

// The table of all figures of all designs: the baseline A, the present design B, then further pinned designs.
// For each pinned design, the present design minus the pinned one, absolute and in percent.
class ComparisonModel : public TableModel {
  Q_OBJECT
 public:
  enum Column { Group, Figure, Baseline, Present };
  // The columns of a pinned design; member is 1 or higher.
  static int value(int member) { return member == 1 ? Baseline : Present + 3 * (member - 1); }
  static int difference(int member) { return Present + 3 * (member - 1) + 1; }
  static int percent(int member) { return difference(member) + 1; }
  using TableModel::TableModel;
  void setFigures(const std::vector<ComparedFigure>& figures, const std::vector<Design>& designs,
                  UnitSystem units);
};

class ComparePage : public QWidget {
  Q_OBJECT
 public:
  explicit ComparePage(SelectionState* state, QWidget* parent = nullptr);
  const std::vector<ComparedFigure>& figures() const { return figures_; }
  GroupedBars* bars() const { return bars_; }
  ChartTable* table() const { return table_; }
  ChartTable* knobs() const { return knobs_; }
  ComparisonModel* model() const { return model_; }
  Picture picture() const;

 Q_SIGNALS:
  // The person makes this design the present design.
  void makeCurrentRequested(const shardscape::Design& design);
  void pinRequested();   // the present design
  void fileRequested();  // the person adds a design from a file

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeMessage();
  QPushButton* button(const QString& text, const QString& name, const QString& tip, QWidget* parent);
  void refresh();
  void followSelection(const QObject* by);
  void selectFigure(int figure);
  void markSelected();
  void explain();  // shows the selected figure of all designs in the inspector
  std::optional<Selection> selectionFor(
      const ComparedFigure& figure) const;  // empty for figures that are no part of step time or memory
  void fillMembers();
  std::vector<Design> designs() const;  // the present one first
  QString stateOf(int member) const;
  void fitHeights();
  SelectionState* state_;
  Session* session_;
  Comparisons* comparisons_;
  std::vector<ComparedFigure> figures_;
  QWidget *message_, *body_;
  QVBoxLayout* members_;
  ChartTable *knobs_, *table_;
  DifferingKnobsModel* knobs_model_;
  GroupedBars* bars_;
  PageSplitter* splitter_;  // knobs, bars, figures
  QScrollArea* scroll_;
  ComparisonModel* model_;
};

}  // namespace shardscape::ui
