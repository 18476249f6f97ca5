// The timeline as a widget: zoomed about the cursor, panned, selected by mouse and keys, painted on any
// device.
#pragma once

#include <memory>

#include "ui/plot/canvas.h"
#include "ui/session/estimate.h"
#include "ui/views/timeline/gantt_painter.h"

namespace shardscape::ui {

class GanttCanvas : public Canvas {
  Q_OBJECT
 public:
  explicit GanttCanvas(QWidget* parent = nullptr);

  // Null: there is nothing to show. A view of a step of the same shape stays.
  void setEstimate(std::shared_ptr<const Estimate> estimate, std::shared_ptr<const Lanes> lanes);
  // Steps of other designs below it, on the same axis, and what the present one is called among them.
  void setComparedDesigns(const QString& name, std::vector<GanttStep> others);
  // Of the present design; of others the one in the same place of the pipeline. -1: all stages.
  void setOnly(int stage);
  const GanttSteps& steps() const { return steps_; }
  const GanttStep& stepOf(const ItemRef& ref) const { return steps_[at(ref.member)]; }
  void setCritical(bool on);
  void setHighlight(std::function<bool(const ItemRef&)> items,
                    std::function<bool(int member, int segment, int op, int layer)> ops);
  // Without telling; op: index among the ops of the box.
  void setSelected(const ItemRef& ref, int op = -1);
  const ItemRef& selected() const { return selected_; }
  int selectedOp() const { return op_; }
  const std::vector<ItemRef>& matching() const {
    return matching_;
  }                                              // the same box in the other designs, where they have it
  void select(const ItemRef& ref, int op = -1);  // and tells
  // The same action, or communication, of another design's step.
  ItemRef matchingItem(const ItemRef& ref, const GanttStep& of) const;
  void reveal(const ItemRef& ref);  // into view, zoomed as it is
  void zoomTo(const ItemRef& ref);  // large enough for its ops
  void zoomBy(double factor) override;
  void fit() override;
  const GanttView& view() const { return view_; }
  GanttLayout ganttLayout() const { return GanttLayout(area(), steps_, view_); }
  OpDetail& detail(int member = 0) { return details_[at(member)]; }
  std::vector<PlacedOp> opsShown(const ItemRef& ref) const;  // none where the box is too small for them
  bool critical() const { return critical_; }
  QString tipAt(const QPointF& point) const override;

  QSize sizeHint() const override { return {640, 320}; }
  QSize minimumSizeHint() const override { return {320, 140}; }
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;

 Q_SIGNALS:
  void itemSelected(int stage, int span, int op);
  void comparedItemSelected();  // the selected box is of a design that stands below
  void cleared();
  void searchRequested();

 protected:
  bool ready() const override { return !steps_.empty(); }
  bool viewMoves() const override { return true; }
  void paintWindow(QPainter& painter, const QRect& exposed) override;
  QRectF focusFrame() const override;
  bool hover(const QPointF& at, bool has_tip) override;
  void leave() override;
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  void doubleClick(const QPointF& at) override;
  void pan(const QPointF& pixels) override;
  void zoomAt(double factor, const QPointF& at) override;
  void wheel(const QPointF& notches, Qt::KeyboardModifiers held, const QPointF& at) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;
  bool otherKey(const QKeyEvent& event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QRectF area() const { return QRectF(rect()); }
  GanttMarks marks() const;
  void keepInReach();
  void step(int items);
  void climb(int lanes, bool rows);
  void hop(int designs);
  ItemRef first(double seconds) const;  // of the first row
  int opAt(const ItemRef& ref, const QPointF& point) const;
  void paintThumb(QPainter& painter, const GanttLayout& layout) const;
  void describe();
  void findMatchingItems();
  QString tipOf(const ItemRef& ref) const;
  size_t at(int member) const;  // among the steps
  const Lanes& lanesOf(const ItemRef& ref) const { return *stepOf(ref).lanes; }
  double length() const { return longest(steps_); }
  void limitRows();

  GanttSteps steps_;  // empty: there is nothing to show
  mutable LaidOutTexts texts_;
  mutable std::vector<OpDetail> details_;  // one for each
  std::vector<GanttStep> others_;
  QString name_;
  int only_ = -1;
  mutable bool detail_wanted_ = false;  // the next frame has more ops
  GanttView view_;
  bool at_home_ = true, critical_ = false;
  ItemRef selected_, hovered_;
  std::vector<ItemRef> matching_;
  int op_ = -1;
  std::function<bool(const ItemRef&)> items_out_;
  std::function<bool(int, int, int, int)> ops_out_;
  std::optional<double> peak_;
  QString peak_label_;
};

}  // namespace shardscape::ui
