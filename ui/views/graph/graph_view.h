// The Graph view: a bar with directions, notation, search and zoom above the canvas. With pinned designs, a
// second bar chooses the shown design and counts the differences to the others.
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

class QComboBox;
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
  QComboBox* heatChoice() { return heat_choice_; }
  DesignChoice* designChoice() { return choice_; }
  FlowChoice flow() const { return scene_->flowChoice(); }
  void setFlow(FlowChoice flow);                         // how stages follow each other
  bool compared() const { return comparison_.ready(); }  // with all pinned designs
  void stepDifference(int by);  // by: 1 for the next marked difference, -1 for the previous

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  struct Differences {
    GraphDifference from, to;  // from the present design to another, and from the other design to the present
  };
  QWidget* makeBar();
  QLayout* makeChoices(QWidget* bar);
  QLayout* makeTools(QWidget* bar);
  QWidget* makeDifferenceBar();
  QPushButton* makeFlowButton(QWidget* bar);
  void takeReport();
  void offerPasses();
  bool showsPresent() const;
  void showChosen();
  void markDifferences();
  // A design that the shown graph is compared with. comparedGraphs() is empty while the graph of another
  // design is being laid out.
  struct ComparedGraph {
    int member = 0;
    const GraphDifference* difference = nullptr;
    std::shared_ptr<const Report> report;
  };
  std::vector<ComparedGraph> comparedGraphs() const;
  void addComparedValues(Inspection& to, const NodeId& id) const;
  void search();
  void selectNode(const NodeId& id, int units);  // selected by the person: selects in all views
  void inspectNode(const NodeId& id, int units);
  void inspectWire(const WireSpot& spot);
  void inspectAgain();
  void followSelection(const QObject* by);  // shows a selection of another view
  void markSelected();
  void colourNodes();  // by the chosen quantity
  static NodeId nodeOf(const Selection& selection, const GraphTree& tree);
  static Selection selectionFor(const NodeId& id, int units);  // Nothing for a stage node
  std::shared_ptr<const Report> shown() const;
  void showSelection();  // fills the inspector when this view becomes visible

  SelectionState* state_;

  Session* session_;
  GraphScene* scene_;
  GraphCanvas* canvas_;
  SegmentedControl* passes_ = nullptr;
  QComboBox* heat_choice_ = nullptr;
  SearchField* search_field_ = nullptr;
  QWidget* difference_bar_ = nullptr;
  DesignChoice* choice_ = nullptr;
  ElidedLabel* difference_words_ = nullptr;
  QPushButton* flow_button_ = nullptr;
  QPushButton *previous_ = nullptr, *next_ = nullptr;
  ComparisonResults<Differences, std::shared_ptr<const Report>> comparison_;
  std::shared_ptr<const Report> compared_;  // the present report that comparison_ belongs to
  std::vector<NodeId> stops_;               // nodes with differences
  std::optional<NodeId> select_next_;       // to select once the graph is laid out
  bool follow_next_ = false;  // follow the shared selection once the present graph is shown again
  GraphSearchResult found_;
  NodeId inspected_;  // to inspect again when the numbers change
  int inspected_units_ = 1;
  bool following_ = false;
  Inspection inspected_wire_;  // the text of the selected line between nodes
};

}  // namespace shardscape::ui
