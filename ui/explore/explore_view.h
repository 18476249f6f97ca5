// The search over designs: what is searched, what came of it, a design of it beside the present one, what matters of the
// present one, how it scales and how it serves.
#pragma once

#include <QWidget>

#include "ui/charts/chart_export.h"
#include "ui/explore/explore_job.h"

class QLabel;
class QPushButton;
class QStackedWidget;

namespace shardscape::ui {

class ComparePage;
class DesignsPage;
class ElidedLabel;
class MattersPage;
class SaveMenu;
class Segments;
class Session;
class ServingPage;
class SetupPanel;

class ExploreView : public QWidget {
  Q_OBJECT
 public:
  explicit ExploreView(Session* session, QWidget* parent = nullptr);
  // Lies beside the view, where the inspector is beside others; the window places it.
  SetupPanel* setup() const { return setup_; }
  ExploreJob* job() const { return job_; }
  DesignsPage* designs() const { return designs_; }
  ComparePage* compare() const { return compare_; }
  MattersPage* matters() const { return matters_; }
  MattersPage* scaling() const { return scaling_; }
  ServingPage* serving() const { return serving_; }
  enum Page { Designs, Compare, WhatMatters, Scaling, Serving };
  void showPage(int page);
  SaveMenu* saveMenu() const { return save_menu_; }
  Segments* pages() const { return pages_; }
  Picture picture() const;
  void zoomIn();
  void zoomOut();
  void fit();
  void makeCurrent(int row);  // of the designs; one undo step
  void pinPresent();          // beside what comes of it
  bool usesInspector() const;  // the page that is shown is about the present design, not about a search
  bool stale() const;         // the designs are of another space than the present design's

 Q_SIGNALS:
  void pageShown();
  void fileRequested();       // a design of a file to compare with

 protected:
  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  bool otherGpus() const;
  QWidget* makeTop();
  void followRows();
  void followSearch();
  void showState();
  void showMarked();
  void showRun();
  QString heading() const;
  QString shortHeading() const;
  Session* session_;
  ExploreJob* job_;
  SetupPanel* setup_;
  ElidedLabel* heading_;
  QLabel* note_;
  Segments* pages_;
  QStackedWidget* stack_;
  DesignsPage* designs_;
  ComparePage* compare_;
  MattersPage *matters_, *scaling_;
  ServingPage* serving_;
  SaveMenu* save_menu_;
  QPushButton* run_;           // while the panel beside is away
  bool same_search_ = false;
};

}  // namespace shardscape::ui
