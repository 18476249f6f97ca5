// The Timeline view: the step time by category, the streams of every stage over time, and a table of the
// selected stage's spans.
#pragma once

#include <QWidget>
#include <memory>

#include "ui/plot/chart_export.h"
#include "ui/selection/selection_state.h"
#include "ui/session/comparison_results.h"
#include "ui/session/session.h"
#include "ui/views/timeline/timeline_search.h"

class QLabel;
class QPushButton;

namespace shardscape::ui {

class BreakdownBar;
class ChartTable;
class ElidedLabel;
class GanttCanvas;
class PageSettings;
class SaveMenu;
class SearchField;
class SegmentedControl;
struct GanttStep;
class Staleness;
class SpansModel;

class TimelineView : public QWidget {
  Q_OBJECT
 public:
  // pages: has the bookmarks; null: the view has its own.
  explicit TimelineView(SelectionState* state, QWidget* parent = nullptr, PageSettings* pages = nullptr);
  GanttCanvas* canvas() const { return canvas_; }
  BreakdownBar* breakdown() const { return breakdown_; }
  ChartTable* table() const { return table_; }
  SpansModel* model() const { return model_; }
  SaveMenu* saveMenu() const { return save_menu_; }
  const Lanes* lanes() const { return lanes_.get(); }
  bool selectsBox(const ItemRef& ref) const {
    return selection_highlight_.items && selection_highlight_.items(ref);
  }
  bool selectsOp(int member, int segment, int op, int layer) const {
    return selection_highlight_.ops && selection_highlight_.ops(member, segment, op, layer);
  }
  // Boxes that belong to the selection.
  std::vector<ItemRef> selectedBoxes() const {
    return lanes_ ? matches(*lanes_, selection_highlight_) : std::vector<ItemRef>();
  }
  Picture picture() const;
  QByteArray trace() const;  // for Perfetto; empty: no simulated step yet
  void activateSearch();
  void zoomIn();
  void zoomOut();
  void fit();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  enum class Shown { Step, Category, Box, Range };
  QWidget* makeTop();
  QWidget* makeTools();
  void refresh();
  void fade();
  void fillBreakdown();
  void showBookmarks();
  void keepBookmarks();
  void placeComparedDesigns();  // shows the steps of pinned designs that are computed
  void showRows();              // all stages, or one stage of every design
  void fillTable();
  void fitTable();
  void followStage();
  void followSelection(const QObject* by);
  void showSharedSelection();
  void markRows();
  void selectBox(int stage, int span, int op);
  void selectComparedBox();
  void showRange();  // the totals of the marked range
  Selection selectionInComparedDesign(
      const ItemRef& ref,
      const ItemRef& here) const;  // here: the matching box of the present design
  void selectTableRow(int row);
  void search();
  void applyHighlight();
  TimelineHighlight selectionHighlight() const;
  std::shared_ptr<const ResolvedSelection> resolvedSelectionIn(const GanttStep& step) const;
  void markBreakdown();
  void explain();
  Inspection inspectSelected() const;
  void addComparedValues(Inspection& to, const ItemRef& ref) const;

  SelectionState* state_;

  Session* session_;
  PageSettings* pages_;
  QLabel* heading_;
  SegmentedControl *time_scope_, *rows_;
  bool rows_chosen_ = false;  // chosen by the person; otherwise the number of rows decides
  BreakdownBar* breakdown_;
  SearchField* search_field_;
  QPushButton* critical_;
  GanttCanvas* canvas_;
  ElidedLabel* caption_;
  ChartTable* table_;
  SpansModel* model_;
  SaveMenu* save_menu_;
  Staleness* staleness_;
  std::shared_ptr<const Estimate> estimate_;
  std::shared_ptr<const Lanes> lanes_;
  ComparisonResults<Lanes> comparison_;
  TimelineHighlight searched_, selection_highlight_;
  std::vector<ItemRef> found_;
  bool keeping_ = false;  // the bookmarks of the canvas are being kept
  int filled_stage_ = -1, category_ = -1;
  Shown shown_ = Shown::Step;
};

}  // namespace shardscape::ui
