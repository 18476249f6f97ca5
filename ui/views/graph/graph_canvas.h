// Shows a graph scene. A person can pan, zoom, select and unfold.
#pragma once

#include <optional>

#include "ui/plot/canvas.h"
#include "ui/views/graph/graph_scene.h"
#include "ui/views/graph/mini_map.h"
#include "ui/views/graph/sheet_painter.h"
#include "ui/views/graph/sheet_walk.h"

namespace shardscape::ui {

class GraphCanvas : public Canvas {
  Q_OBJECT
 public:
  explicit GraphCanvas(GraphScene* scene, QWidget* parent = nullptr);

  void zoomBy(double factor) override;  // about the middle
  void fit() override;
  QString tipAt(const QPointF& point) const override;
  void setHits(const SearchHits& hits);
  void setSelectedOps(SelectedOps ops);
  const SelectedOps& selectedOps() const { return selected_ops_; }
  // The name of the selected node in the next graph; Root: the next graph lacks the node.
  void rename(const NodeId& selected) { renamed_ = selected; }
  void setDifferences(std::vector<DifferenceMarks> differences);
  const std::vector<DifferenceMarks>& differences() const { return differences_; }
  void setHeat(std::shared_ptr<const GraphHeat> heat);  // null: colours by kind
  const GraphHeat* heat() const { return heat_.get(); }
  // Unfolds the containers of the node, selects the node and scrolls to it.
  void reveal(const NodeId& id);
  void select(const NodeId& id);
  void clearSelection();
  void toggle(const NodeId& id);

  const NodeId& selected() const { return selected_; }
  double zoom() const { return view_.zoom; }
  // The rectangle of a node in this widget; empty if a folded container hides the node.
  QRectF nodeRect(const NodeId& id) const;
  // A point on the line of the tensor, in this widget; null: no such line.
  QPointF wirePoint(int segment, TensorId tensor) const;
  QSize sizeHint() const override { return {800, 600}; }

 Q_SIGNALS:
  void nodeSelected(const shardscape::ui::NodeId& id, int units);
  void wireSelected(const shardscape::ui::WireSpot& spot);
  void selectionCleared();
  void searchRequested();
  void differenceRequested(int by);  // by: 1 for the next marked difference, -1 for the previous
  void zoomChanged(double zoom);

 protected:
  bool ready() const override { return sheet_ != nullptr; }
  bool viewMoves() const override { return true; }
  void themeChanged() override;
  void paintWindow(QPainter& painter,
                   const QRect& exposed) override;  // the view draws the picture for saving
  QRectF focusFrame() const override;
  bool hover(const QPointF& at, bool has_tip) override;
  void leave() override;
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  void pan(const QPointF& pixels) override;
  void zoomAt(double factor, const QPointF& at) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;
  bool otherKey(const QKeyEvent& event) override;
  void resizeEvent(QResizeEvent*) override;

 private:
  void takeSheet(bool other_graph);
  void goHome();
  void moved();        // the view has changed
  void keepInReach();  // keeps a part of the graph visible
  void bringIntoView(const QRectF& scene);
  void keepInPlace(const NodeId& id);  // the node keeps its place when the next sheet arrives
  void placeMiniMap();
  void step(Step step);
  void paintSavedEdges(QPainter& painter) const;
  void describe(const Spot& spot);  // for screen readers
  std::optional<Spot> exactly(const NodeId& id) const;

  GraphScene* scene_;
  std::shared_ptr<const Sheet> sheet_;  // the sheet that view_ belongs to
  ViewTransform view_;
  MiniMap* mini_map_;
  NodeId selected_, hovered_;
  int selected_units_ = 1;
  NodeId reveal_next_;  // scroll to this node when its sheet arrives
  std::optional<WireSpot> wire_;
  std::optional<std::pair<NodeId, QPointF>> anchor_;  // top centre in this widget
  SearchHits hits_;
  std::vector<DifferenceMarks> differences_;
  SelectedOps selected_ops_;
  std::shared_ptr<const GraphHeat> heat_;
  std::optional<NodeId> renamed_;
  bool at_home_ = true;  // true until a person moves the view: the view follows the window's size
};

}  // namespace shardscape::ui
