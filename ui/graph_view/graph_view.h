// The graph of the design: a bar with directions, notation, search and zoom above the canvas.
#pragma once

#include <QWidget>

#include "ui/graph_view/graph_canvas.h"
#include "ui/graph_view/graph_scene.h"
#include "ui/graph_view/search.h"
#include "ui/state/session.h"

namespace shardscape::ui {

class SearchField;
class Segments;

class GraphView : public QWidget {
  Q_OBJECT
 public:
  explicit GraphView(Session* session, QWidget* parent = nullptr);

  void activateSearch();
  void fit() { canvas_->fit(); }
  void zoomIn();
  void zoomOut();
  void waitForGraph() { scene_->waitForSheet(); }  // blocks until the present report is drawn
  GraphScene* scene() { return scene_; }
  GraphCanvas* canvas() { return canvas_; }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* makeBar();
  void takeReport();
  void search();
  void inspectNode(const NodeId& id, int units);
  void inspectWire(const WireSpot& spot);
  void inspectAgain();
  void followPick(const QObject* by);  // the op that was selected in another view
  void showSelection();  // in the inspector, which another view may have had

  Session* session_;
  GraphScene* scene_;
  GraphCanvas* canvas_;
  SearchField* search_field_ = nullptr;
  SearchResult found_;
  NodeId inspected_;      // to be told anew when the numbers change
  int inspected_units_ = 1;
  bool following_ = false;
  Inspection inspected_wire_;  // of the selected line between nodes
};

}  // namespace shardscape::ui
