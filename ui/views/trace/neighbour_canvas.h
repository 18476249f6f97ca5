// The nodes around a node: what it depends on at the left, what depends on it at the right, and a line for
// every dependency. A double click or Enter makes a neighbour the centre. Columns that have not enough room
// scroll with the wheel.
#pragma once

#include <vector>

#include "trace/trace_query.h"
#include "ui/plot/canvas.h"

namespace shardscape::ui {

class NeighbourCanvas : public Canvas {
  Q_OBJECT
 public:
  explicit NeighbourCanvas(QWidget* parent);
  void setNodes(const Neighbourhood& nodes);
  void clearNodes();
  int count() const { return static_cast<int>(boxes_.size()); }
  const FoundNode& node(int at) const { return boxes_[static_cast<size_t>(at)].node; }
  QRectF boxRect(int at) const { return boxIn(QRectF(rect()), at); }  // in the widget
  int selected() const { return selected_; }
  QString tipAt(const QPointF& at) const override;
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {620, 300}; }
  QSize minimumSizeHint() const override { return {300, 140}; }

 Q_SIGNALS:
  void centreRequested(quint64 node);

 protected:
  bool ready() const override { return !boxes_.empty(); }
  QRectF focusFrame() const override { return selected_ < 0 ? Canvas::focusFrame() : QRectF(); }
  bool hover(const QPointF& at, bool has_tip) override;
  void leave() override;
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  void doubleClick(const QPointF& at) override;
  void wheel(const QPointF& notches, Qt::KeyboardModifiers held, const QPointF& at) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;

 private:
  struct Box {
    FoundNode node;
    int column = 0, row = 0;           // from the left, from above
    std::vector<int> depends_on = {};  // boxes
  };
  // The first shown column, and how many are shown: narrow pictures show direct neighbours only.
  std::pair<int, int> columnsIn(const QRectF& rect) const;
  QRectF boxIn(const QRectF& rect, int at) const;  // empty: not shown
  double rowHeight(const QRectF& rect) const;
  int boxAt(const QPointF& at) const;  // -1: none
  void choose(int at);
  int neighbour(Way way) const;
  void paintLines(QPainter& painter, const QRectF& rect) const;
  void paintBox(QPainter& painter, const QRectF& rect, int at) const;
  QString text(const FoundNode& node) const;
  std::vector<Box> boxes_;  // the centre first
  std::vector<int> rows_;   // boxes by column
  std::vector<int> steps_;  // distance from the centre, by column
  int64_t left_out_ = 0;
  int selected_ = -1, hovered_ = -1;
  double scrolled_ = 0;  // pixels
};

}  // namespace shardscape::ui
