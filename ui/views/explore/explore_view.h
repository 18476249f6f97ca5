// The Explore view: the search over designs, and pages for comparison, sensitivity, scaling, serving and
// requests.
#pragma once

#include <QWidget>

#include "ui/plot/chart_export.h"
#include "ui/views/explore/explore_job.h"

class QLabel;
class QPushButton;
class QStackedWidget;

namespace shardscape::ui {

class ComparePage;
class DesignsPage;
class ElidedLabel;
class MissingCostLine;
class PageSettings;
class SensitivityPage;
class SaveMenu;
class SegmentedControl;
class SelectionState;
class Session;
class SetupPanel;
class ViewPage;

class ExploreView : public QWidget {
  Q_OBJECT
 public:
  // serving, requests: pages that the view owns. settings: of the pages, in the document.
  ExploreView(SelectionState* state, PageSettings* settings, ViewPage* serving, ViewPage* requests,
              QWidget* parent = nullptr);
  // The search panel. The window places it where other views have the inspector.
  SetupPanel* setup() const { return setup_; }
  ExploreJob* job() const { return job_; }
  DesignsPage* designs() const { return designs_; }
  ComparePage* compare() const { return compare_; }
  SensitivityPage* sensitivity() const { return sensitivity_; }
  SensitivityPage* scaling() const { return scaling_; }
  ViewPage* serving() const { return serving_; }
  ViewPage* requests() const { return requests_; }
  enum Page { Designs, Compare, SensitivityTab, Scaling, Serving, Requests };
  static QStringList pageNames();  // by Page
  void showPage(int page);
  SaveMenu* saveMenu() const { return save_menu_; }
  SegmentedControl* pages() const { return pages_; }
  Picture picture() const;
  void zoomIn() { zoomBy(kZoom); }
  void zoomOut() { zoomBy(1 / kZoom); }
  void fit();
  void makeCurrent(int row);   // makes a row of the results the present design; one undo step
  void pinPresent();           // pins the present design
  bool usesInspector() const;  // the shown page is about the present design, not about a search
  bool stale() const;          // the results are for another space than the present design's

 Q_SIGNALS:
  void pageShown();
  void fileRequested();  // the person adds a design from a file to the comparison

 protected:
  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  static constexpr double kZoom = 1.4;
  void zoomBy(double factor);
  bool asksForOtherGpus() const;
  bool designHasOtherGpus() const;
  QWidget* makeTop();
  void followParts(SelectionState* state);  // connects signals of the parts
  void followRows();
  void followSearch();
  void showState();
  void showMarked();
  void showMissingCost();  // below the heading
  void showRun();
  QString heading() const;
  QString shortHeading() const;
  Session* session_;
  ExploreJob* job_;
  SetupPanel* setup_;
  ElidedLabel* heading_;
  QLabel* note_;
  MissingCostLine* missing_cost_;
  SegmentedControl* pages_;
  QStackedWidget* stack_;
  DesignsPage* designs_;
  ComparePage* compare_;
  SensitivityPage *sensitivity_, *scaling_;
  ViewPage *serving_, *requests_;
  SaveMenu* save_menu_;
  QPushButton* run_;  // shown while the panel is hidden
  bool same_search_ = false;
};

}  // namespace shardscape::ui
