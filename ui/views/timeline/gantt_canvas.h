// The timeline as a widget, with the mouse and the keys of Perfetto (TimeCanvas); a drag marks a range, with
// Shift it moves the view. Boxes are selected by mouse and keys. Rows fold and change places. Painted on any
// device.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "ui/plot/time_canvas.h"
#include "ui/session/estimate.h"
#include "ui/views/timeline/gantt_overlay.h"
#include "ui/views/timeline/gantt_painter.h"

namespace shardscape::ui {

class GanttCanvas : public TimeCanvas {
  Q_OBJECT
 public:
  explicit GanttCanvas(QWidget* parent = nullptr);

  // Null: nothing to show. The visible range stays if the new step has the same number of stages.
  void setEstimate(std::shared_ptr<const Estimate> estimate, std::shared_ptr<const Lanes> lanes);
  // The steps of compared designs below the present step, on the same axis. name: the name of the present
  // design.
  void setComparedDesigns(const QString& name, std::vector<GanttStep> others);
  // Shows one stage of the present design, and of compared designs the stage at the same relative place. -1:
  // all stages.
  void setOnly(int stage);
  const GanttSteps& steps() const { return steps_; }
  const GanttStep& stepOf(const ItemRef& ref) const { return steps_[at(ref.member)]; }
  void setCritical(bool on);
  void setHighlight(std::function<bool(const ItemRef&)> items,
                    std::function<bool(int member, int segment, int op, int layer)> ops);
  // Emits no signal. op: index among the ops of the box; -1: none.
  void setSelected(const ItemRef& ref, int op = -1);
  const ItemRef& selected() const { return selected_; }
  int selectedOp() const { return op_; }
  // The matching boxes of compared designs.
  const std::vector<ItemRef>& matching() const { return matching_; }
  void select(const ItemRef& ref, int op = -1);  // emits a signal
  // The box with the same action or communication in another design's step.
  ItemRef matchingItem(const ItemRef& ref, const GanttStep& of) const;
  void reveal(const ItemRef& ref);  // scrolls to the box, keeps the zoom
  void zoomTo(const ItemRef& ref);  // zooms in until the ops of the box are visible
  void zoomBy(double factor) override;
  void fit() override;
  const GanttView& view() const { return view_; }
  GanttLayout ganttLayout() const { return GanttLayout(area(), steps_, view_); }
  OpDetail& detail(int member = 0) { return details_[at(member)]; }
  std::vector<PlacedOp> opsShown(const ItemRef& ref) const;  // empty if the box is too small to show ops
  bool critical() const { return critical_; }
  const Roles& shownRoles() const { return shown_; }  // of the last frame; the legend names them
  const std::optional<TimeRange>& range() const { return overlay_.range; }
  const std::vector<Flow>& flows() const { return overlay_.flows; }  // arrows of the selected box
  // Rows of one design. The order and the folded rows stay while its number of stages stays.
  void foldRow(int member, int stage, bool folded);
  void foldAll(bool folded);
  void moveRow(int row, int to);  // indices of the layout's rows; both of one design
  double stepSeconds() const;     // of the present design; 0: no step
  // Bookmarks, in seconds of the present design's step.
  const std::vector<double>& bookmarks() const { return overlay_.bookmarks; }
  void setBookmarks(std::vector<double> seconds);
  void toggleBookmark();         // at the selected box, else at the mouse, else in the middle
  void goToBookmark(int steps);  // 1: the next one, -1: the previous one
  QString tipAt(const QPointF& point) const override;

  QSize sizeHint() const override { return {640, 320}; }
  QSize minimumSizeHint() const override { return {320, 140}; }
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;

 Q_SIGNALS:
  void itemSelected(int stage, int span, int op);
  void comparedItemSelected();  // a box of a compared design was selected
  void rangeMarked();           // range() is set
  void bookmarksChanged();      // by the person
  void cleared();
  void searchRequested();

 protected:
  bool ready() const override { return !steps_.empty(); }
  void paintWindow(QPainter& painter, const QRect& exposed) override;
  QRectF focusFrame() const override;
  bool hover(const QPointF& at, bool has_tip) override;
  void leave() override;
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  void doubleClick(const QPointF& at) override;
  bool grabs(const QPointF& at, Qt::KeyboardModifiers held) override;
  bool drag(const QPointF& at) override;
  void drop() override;
  void pan(const QPointF& pixels) override;
  void zoomAt(double factor, const QPointF& at) override;
  QRectF plotArea() const override { return ganttLayout().plot(); }
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
  void moveToRow(int lanes, bool rows);
  void moveToDesign(int designs);
  ItemRef first(double seconds) const;  // the box of the first row at this time
  int opAt(const ItemRef& ref, const QPointF& point) const;
  void paintThumb(QPainter& painter, const GanttLayout& layout) const;
  void describe();
  void findMatchingItems();
  QString tipOf(const ItemRef& ref) const;
  size_t at(int member) const;  // the index of the member's step in steps_
  const Lanes& lanesOf(const ItemRef& ref) const { return *stepOf(ref).lanes; }
  double length() const { return longest(steps_); }
  void limitRows();
  void markRange(const QPointF& from, const QPointF& to);
  void markShownRange();  // of the selected box, else what is visible
  std::optional<double> timeUnderMouse() const;

  GanttSteps steps_;  // empty: nothing to show
  mutable LaidOutTexts texts_;
  mutable std::vector<OpDetail> details_;  // one per step
  std::vector<GanttStep> others_;
  QString name_;
  int only_ = -1;
  mutable bool detail_wanted_ = false;  // another frame is needed to compute more ops
  GanttView view_;
  bool at_home_ = true, critical_ = false;
  ItemRef selected_, hovered_;
  GanttOverlay overlay_;
  Roles shown_;
  std::map<int, RowOrder> row_orders_;  // by member
  QPointF grabbed_at_;
  int grabbed_row_ = -1;  // a row whose label is dragged; -1: a range is marked
  std::vector<ItemRef> matching_;
  int op_ = -1;
  std::function<bool(const ItemRef&)> items_out_;
  std::function<bool(int, int, int, int)> ops_out_;
  std::optional<double> peak_;
  QString peak_label_;
};

}  // namespace shardscape::ui
