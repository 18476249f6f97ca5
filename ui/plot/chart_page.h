// The base of the Memory, Compute and Communication views: heading, chart, table, selection, saving, stale
// results.
#pragma once

#include <QWidget>
#include <memory>

#include "explore/comparison.h"
#include "plan/report.h"
#include "ui/plot/bar_data.h"
#include "ui/plot/chart_export.h"
#include "ui/selection/selection_state.h"
#include "ui/session/session.h"

class QHBoxLayout;
class QPushButton;
class QVBoxLayout;

namespace shardscape::ui {

class BarComparisonModel;
class ChartNotice;
class ChartTable;
class ElidedLabel;
class PageSplitter;
class SaveMenu;
class SegmentedControl;
class StageChart;
class TableModel;

class ChartPage : public QWidget {
  Q_OBJECT
 public:
  StageChart* chart() const { return chart_; }
  ChartTable* table() const { return table_; }
  // With pinned designs, each stage has a bar per design, and this table can replace table().
  ChartTable* comparisonTable() const { return comparison_table_; }
  BarComparisonModel* comparisonModel() const { return comparison_model_; }
  QPushButton* comparisonButton() const { return comparison_button_; }
  // The divider between the pictures and the tables.
  PageSplitter* splitter() const { return splitter_; }
  // The button that shows the panel in place of the tables (setPanel).
  QPushButton* panelButton() const { return panel_button_; }
  ChartNotice* notice() const { return notice_; }
  SaveMenu* saveMenu() const { return save_menu_; }
  virtual Picture picture() const;
  // True while the alternative chart (setAlternative) is shown instead of the bars.
  bool alternativeShown() const { return alternative_shown_; }
  void setAlternativeShown(bool shown);

 protected:
  // name: the last part of saved files' names, "memory".
  ChartPage(SelectionState* state, const QString& title, const QString& name, QWidget* parent);
  void start(TableModel* model,
             const QList<int>& left_out_columns = {});  // once, from the view's constructor
  // Adds a second chart with a switch "Bars | name". table: shown with this chart instead of the bars' table.
  // bars_only: controls that are hidden with the bars. Call once, after start().
  void setAlternative(const QString& name, const QString& title, QWidget* chart, ChartTable* table = nullptr,
                      const QList<QWidget*>& bars_only = {});
  virtual void alternativeToggled() {}
  // Adds a panel and a button that shows the panel in place of the tables. Call once.
  void setPanel(const QString& name, const QString& tip, QWidget* panel);
  void setPanelShown(bool shown);
  QVBoxLayout* pictures() const { return pictures_; }  // the charts, above the divider
  void fitTable();                                     // after the rows of a table or a panel have changed
  Session* session() const { return session_; }
  SelectionState* state() const { return state_; }
  const StageReport& stageOf(const Report& report) const;  // the selected stage
  const Report* filled() const { return filled_.get(); }   // the shown report
  QHBoxLayout* controls() const { return controls_; }      // next to the title
  void refresh(bool even_if_same = false);
  void setBarsTitle(const QString& title);  // the title while bars are shown

  // Whether the page shows times of the simulated step. Then it also follows the estimate. Until the estimate
  // of a new report arrives, the old picture stays.
  virtual bool usesTime() const { return false; }
  // The simulation of the report, which is the session's or that of a pinned design; nullptr: none.
  const Simulation* simulationOf(const Report& report) const;
  virtual BarData bars(const Report& report) const = 0;
  virtual void fillTable(const Report& report) = 0;
  virtual QString caption(const Report& report) const = 0;  // of the table
  virtual QString csv(const Report& report) const = 0;
  // series: StageChart::kWholeStage for the whole bar.
  virtual Inspection inspectBar(const Report& report, int stage, int series) const = 0;
  // Whether row i of the table is stage i. Otherwise the page also overrides inspectRow, selectionOfRow and
  // marksRow.
  virtual bool rowsAreStages() const = 0;
  virtual Inspection inspectRow(const Report& report, int row) const;
  // The column of a series; -1: the table has no columns for series.
  virtual int columnOf(int) const { return -1; }
  // The selection of a bar segment or a row, for the other views.
  virtual Selection selectionOfBar(const Report& report, int stage, int series) const = 0;
  virtual Selection selectionOfRow(const Report&, int) const { return {}; }
  // True if the segment or the row belongs to the selection of any view.
  virtual bool marksSeries(const Report& report, const ResolvedSelection& resolved, int stage,
                           int series) const = 0;
  virtual bool marksRow(const Report&, const ResolvedSelection&, int) const { return false; }
  // Called when the view becomes visible: the inspector shows the last thing selected in this view.
  virtual void explainAgain();
  virtual void followSelection(const QObject* by);
  // Whether the inspector shows something of this view.
  bool showsOwn() const { return shown_.what != Shown::Nothing; }
  void setTitle(const QString& title);
  const QString& title() const { return title_; }
  QString pictureName(QStringView name) const;  // of a file: "llama3-8b-memory"

  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Alternative {
    QString title;
    QWidget* chart = nullptr;
    ChartTable* table = nullptr;
    QList<QWidget*> bars_only;
  };
  struct Shown {  // the thing of this view that the inspector shows
    enum What { Nothing, Bar, Row } what = Nothing;
    int index = 0;  // series or row
    // For a bar of a compared design: its report; index counts its own series.
    std::shared_ptr<const Report> of = nullptr;
    int stage = 0;
  };
  const Report* report() const;
  BarData pairedBars(const Report& report);
  void makeTables();
  void placeTables();
  void selectBar(int stage, int series);
  void selectComparedBar(int member, int stage, int series);
  void selectTableRow(int row);
  void selectComparisonRow(int row);  // a row of comparisonTable()
  const ComparedDesign& comparedDesign(int member) const {
    return compared_designs_[static_cast<size_t>(member - 1)];
  }
  std::pair<int, int> comparedBarShown(
      const Shown& of) const;  // member and series in the chart; member 0: the bar no longer exists
  Inspection inspectComparedBar(const Shown& of) const;
  void followStage();
  void explain(Shown shown);
  void showSelection(const Shown& of);
  std::vector<int> markedSeries() const;
  std::vector<int> markedRows() const;
  std::vector<BarMark> markedComparedBars() const;
  Shown shownOfSelection() const;  // the one selected thing of this view, else the stage

  SelectionState* state_;

  Session* session_;
  QString bars_title_, title_, name_;
  ElidedLabel* heading_;
  QHBoxLayout* controls_;
  PageSplitter* splitter_;
  QVBoxLayout *pictures_ = nullptr, *tables_ = nullptr;
  QHBoxLayout* between_ = nullptr;  // caption and buttons above the tables
  StageChart* chart_;
  ElidedLabel* caption_;
  ChartTable *table_, *comparison_table_;
  BarComparisonModel* comparison_model_;
  QPushButton* comparison_button_;
  QWidget* panel_ = nullptr;
  QPushButton* panel_button_ = nullptr;
  Alternative alternative_;
  SegmentedControl* switch_ = nullptr;
  bool alternative_shown_ = false;
  ChartNotice* notice_ = nullptr;
  SaveMenu* save_menu_;
  Shown shown_;
  Shown remembered_{Shown::Bar, -1};  // restored when the view becomes visible
  bool showing_ = false;
  std::vector<ComparedDesign> compared_designs_;  // the designs whose bars are in the chart
  std::shared_ptr<const Report> filled_;
  bool filled_times_ = false;  // with the times of the report's simulation
  int filled_stage_ = -1;
  UnitSystem filled_units_ = UnitSystem::Binary;
};

}  // namespace shardscape::ui
