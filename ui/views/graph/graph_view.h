// The graph of the design: a bar with directions, notation, search and zoom above the canvas. Where designs
// are pinned, a second bar: whose graph is shown, and what differs in the others.
#pragma once

#include <QWidget>
#include <memory>

#include "ui/selection/selection_state.h"
#include "ui/session/comparison_results.h"
#include "ui/session/session.h"
#include "ui/views/graph/graph_canvas.h"
#include "ui/views/graph/graph_difference.h"
#include "ui/views/graph/graph_scene.h"
#include "ui/views/graph/graph_search.h"

class QPushButton;

namespace shardscape::ui {

class DesignChoice;
class ElidedLabel;
class SearchField;
class SegmentedControl;

class GraphView : public QWidget {
  Q_OBJECT
 public:
  explicit GraphView(SelectionState* state, QWidget* parent = nullptr);

  void activateSearch();
  void fit() { canvas_->fit(); }
  void zoomIn();
  void zoomOut();
  void waitForGraph() { scene_->waitForSheet(); }  // blocks until the present report is drawn
  GraphScene* scene() { return scene_; }
  GraphCanvas* canvas() { return canvas_; }
  DesignChoice* designChoice() { return choice_; }
  bool compared() const { return comparison_.ready(); }  // to all that are pinned
  void stepDifference(int by);                           // to the next one that is marked, or the one before

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  struct Differences {
    GraphDifference from, to;  // of the present design to another, and back
  };
  QWidget* makeBar();
  QWidget* makeDifferenceBar();
  void takeReport();
  void offerPasses();
  bool showsPresent() const;
  void showChosen();
  void markDifferences();
  // What is compared with the graph that is shown: letter, difference, the other report; none while another
  // layout is under way.
  struct Against {
    int member = 0;
    const GraphDifference* difference = nullptr;
    std::shared_ptr<const Report> report;
  };
  std::vector<Against> against() const;
  void addComparedValues(Inspection& to, const NodeId& id) const;
  void search();
  void selectNode(const NodeId& id, int units);  // by the person: in all views
  void inspectNode(const NodeId& id, int units);
  void inspectWire(const WireSpot& spot);
  void inspectAgain();
  void followSelection(const QObject* by);  // what was selected in another view
  void markSelected();
  static NodeId nodeOf(const Selection& selection, const GraphTree& tree);
  static Selection selectionFor(const NodeId& id, int units);  // Nothing of a stage
  std::shared_ptr<const Report> shown() const;
  void showSelection();  // in the inspector, which another view may have had

  SelectionState* state_;

  Session* session_;
  GraphScene* scene_;
  GraphCanvas* canvas_;
  SegmentedControl* passes_ = nullptr;
  SearchField* search_field_ = nullptr;
  QWidget* difference_bar_ = nullptr;
  DesignChoice* choice_ = nullptr;
  ElidedLabel* difference_words_ = nullptr;
  QPushButton *previous_ = nullptr, *next_ = nullptr;
  ComparisonResults<Differences, std::shared_ptr<const Report>> comparison_;
  std::shared_ptr<const Report> compared_;  // with the pinned ones
  std::vector<NodeId> stops_;               // that differ
  std::optional<NodeId> select_next_;       // of a graph that is still laid out
  bool follow_next_ = false;                // the session's, when the present graph is back
  GraphSearchResult found_;
  NodeId inspected_;  // to be told anew when the numbers change
  int inspected_units_ = 1;
  bool following_ = false;
  Inspection inspected_wire_;  // of the selected line between nodes
};

}  // namespace shardscape::ui
