// What the Memory, Compute and Communication views share: heading, chart, table, selecting, saving, stale
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

namespace shardscape::ui {

class BarComparisonModel;
class ChartNotice;
class ChartTable;
class ElidedLabel;
class SaveMenu;
class SegmentedControl;
class StageChart;
class TableModel;

class ChartPage : public QWidget {
  Q_OBJECT
 public:
  StageChart* chart() const { return chart_; }
  ChartTable* table() const { return table_; }
  // With designs pinned for comparison the bars are paired, and this table can stand in the place of
  // the other.
  ChartTable* comparisonTable() const { return comparison_table_; }
  BarComparisonModel* comparisonModel() const { return comparison_model_; }
  QPushButton* comparisonButton() const { return comparison_button_; }
  ChartNotice* notice() const { return notice_; }
  SaveMenu* saveMenu() const { return save_menu_; }
  virtual Picture picture() const;
  // Whether a second chart has the place of the bars (setAlternative).
  bool alternativeShown() const { return alternative_shown_; }
  void setAlternativeShown(bool shown);

 protected:
  // name ends the file name of what is saved: "memory".
  ChartPage(SelectionState* state, const QString& title, const QString& name, QWidget* parent);
  void start(TableModel* model,
             const QList<int>& left_out_columns = {});  // once, from the view's constructor
  // A chart that can have the place of the bars, with a switch "Bars | name". table: shown with it, instead
  // of the table of the bars. bars_only: controls that only the bars have. Once, after start.
  void setAlternative(const QString& name, const QString& title, QWidget* chart, QWidget* table = nullptr,
                      const QList<QWidget*>& bars_only = {});
  virtual void alternativeToggled() {}
  Session* session() const { return session_; }
  SelectionState* state() const { return state_; }
  const StageReport& stageOf(const Report& report) const;  // the selected stage
  const Report* filled() const { return filled_.get(); }   // what the view shows
  QHBoxLayout* controls() const { return controls_; }      // next to the title
  void refresh(bool even_if_same = false);

  virtual BarData bars(const Report& report) const = 0;
  virtual void fillTable(const Report& report) = 0;
  virtual QString caption(const Report& report) const = 0;  // of the table
  virtual QString csv(const Report& report) const = 0;
  // series: StageChart::kWholeStage for all of it.
  virtual Inspection inspectBar(const Report& report, int stage, int series) const = 0;
  // Whether row i of the table is stage i. Otherwise the page also overrides inspectRow, selectionOfRow and
  // marksRow.
  virtual bool rowsAreStages() const = 0;
  virtual Inspection inspectRow(const Report& report, int row) const;
  virtual int columnOf(int) const { return -1; }  // of a series, where the table has a column for each
  // What a segment or a row stands for in other views.
  virtual Selection selectionOfBar(const Report& report, int stage, int series) const = 0;
  virtual Selection selectionOfRow(const Report&, int) const { return {}; }
  // What belongs to whatever is selected, here or elsewhere.
  virtual bool marksSeries(const Report& report, const ResolvedSelection& resolved, int stage,
                           int series) const = 0;
  virtual bool marksRow(const Report&, const ResolvedSelection&, int) const { return false; }
  // The inspector shows again what was last selected here: the view came back.
  virtual void explainAgain();
  virtual void followSelection(const QObject* by);
  bool showsOwn() const { return shown_.what != Shown::Nothing; }  // the inspector is about this view
  void setTitle(const QString& title);
  const QString& title() const { return title_; }
  QString pictureName(QStringView name) const;  // of a file: "llama3-8b-memory"

  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Alternative {
    QString title;
    QWidget *chart = nullptr, *table = nullptr;
    QList<QWidget*> bars_only;
  };
  struct Shown {  // what this view has put into the inspector
    enum What { Nothing, Bar, Row } what = Nothing;
    int index = 0;  // series or row
    // A bar of a compared design: index is of its own series.
    std::shared_ptr<const Report> of = nullptr;
    int stage = 0;
  };
  const Report* report() const;
  BarData pairedBars(const Report& report);
  void placeTables();
  void selectBar(int stage, int series);
  void selectComparedBar(int member, int stage, int series);
  void selectTableRow(int row);
  void selectComparisonRow(int row);  // of the table side by side
  const ComparedDesign& comparedDesign(int member) const {
    return compared_designs_[static_cast<size_t>(member - 1)];
  }
  std::pair<int, int> comparedBarShown(
      const Shown& of) const;  // member and series of the chart; 0: it is gone
  Inspection inspectComparedBar(const Shown& of) const;
  void followStage();
  void explain(Shown shown);
  void showSelection(const Shown& of);
  std::vector<int> markedSeries() const;
  std::vector<int> markedRows() const;
  std::vector<BarMark> markedComparedBars() const;
  Shown shownOfSelection() const;  // the one thing of this view that is selected, or else the stage
  void fitTable();

  SelectionState* state_;

  Session* session_;
  QString bars_title_, title_, name_;
  ElidedLabel* heading_;
  QHBoxLayout* controls_;
  StageChart* chart_;
  ElidedLabel* caption_;
  ChartTable *table_, *comparison_table_;
  BarComparisonModel* comparison_model_;
  QPushButton* comparison_button_;
  Alternative alternative_;
  SegmentedControl* switch_ = nullptr;
  bool alternative_shown_ = false;
  ChartNotice* notice_ = nullptr;
  SaveMenu* save_menu_;
  Shown shown_;
  Shown remembered_{Shown::Bar, -1};  // shown again when the view comes back
  bool showing_ = false;
  std::vector<ComparedDesign>
      compared_designs_;  // whose bars are next to those of the present design in the chart
  std::shared_ptr<const Report> filled_;
  int filled_stage_ = -1;
  UnitSystem filled_units_ = UnitSystem::Binary;
};

}  // namespace shardscape::ui
