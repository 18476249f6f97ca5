// The memory of one stage over a step: static memory, short-lived memory, the capacity, the peak. Left and
// Right go from action to action, M to the peak, Enter to the timeline. Painted without QCustomPlot: names
// are at free places of the lines, and a pixel shows the highest of its values.
#pragma once

#include <QPolygonF>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ui/plot/canvas.h"
#include "ui/selection/selection_state.h"
#include "ui/session/estimate.h"
#include "ui/session/session.h"

namespace shardscape::ui {

struct MemoryPoint {
  double seconds = 0;  // since the start of the step; the number of the action if times are unknown
  int64_t bytes = 0;   // in use
  int span = -1;       // the action's index in StageTimes::spans
};

// Sorted by seconds. Each action has a point before, at its peak, and after.
std::vector<MemoryPoint> memory_points(const Estimate& estimate, int stage);

// The memory of a pinned design, on the stage at the same relative place of its pipeline.
struct ComparedMemory {
  int member = 1;  // 1 is the first pinned design, see Comparisons::letter
  int stage = 0;
  std::vector<MemoryPoint> points;
  int64_t capacity = 0;  // of the pinned design's accelerator; 0: unknown
};

class MemoryCurve : public Canvas {
  Q_OBJECT
 public:
  explicit MemoryCurve(SelectionState* state, QWidget* parent = nullptr);
  void setEstimate(std::shared_ptr<const Estimate> estimate, int stage);  // null: nothing to show
  void setComparedDesigns(std::vector<ComparedMemory> others);            // drawn as lines on the same axes
  const std::vector<MemoryPoint>& points() const { return points_; }
  const std::vector<ComparedMemory>& others() const { return others_; }
  QPointF place(const MemoryPoint& point) const;  // in the widget
  QString title() const;
  QString peakText() const;
  QString tipAt(const QPointF& point) const override;
  // The point of the selected action; null: no action is selected.
  const MemoryPoint* marked() const { return marked_ ? &points_[*marked_] : nullptr; }
  // (from, to) seconds at which the selection runs, if it is not an action.
  const std::vector<std::pair<double, double>>& when() const { return when_; }
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {640, 170}; }
  QSize minimumSizeHint() const override { return {320, 110}; }

 protected:
  bool ready() const override { return estimate_ && !points_.empty(); }
  QRectF focusFrame() const override;
  bool hover(const QPointF& at, bool has_tip) override;
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;
  bool otherKey(const QKeyEvent& event) override;

 private:
  const StageMemory& memory() const { return estimate_->report->memory->stages[static_cast<size_t>(stage_)]; }
  QRectF plot(const QRectF& rect) const;
  double top() const;         // upper end of the value axis, bytes
  double span() const;        // length of the time axis
  bool ofThisReport() const;  // false while a new step is simulated and the curve shows the earlier step
  const MemoryPoint* at(const QPointF& point) const;
  QString text(const MemoryPoint& point) const;
  QString comparedText(double seconds) const;  // memory of the compared designs at this time, a line for each
  QPolygonF line(const std::vector<MemoryPoint>& points, const QRectF& plot) const;
  void paintHeading(QPainter& painter, const QRectF& rect, const QColor& ground) const;
  void paintAxes(QPainter& painter, const QRectF& rect, const QRectF& plot) const;
  void paintCurve(QPainter& painter, const QRectF& plot, const QColor& ground) const;
  void paintSpots(QPainter& painter, const QRectF& plot, const QColor& ground) const;
  void paintComparedDesigns(QPainter& painter, const QRectF& plot, const QColor& ground,
                            const QRectF& taken) const;
  size_t peakOfAction(size_t point) const;  // the point with the most bytes of the same action
  void mark(std::optional<size_t> point);
  void selectNext(std::ptrdiff_t from, int by,
                  int not_span);  // the next action in this direction other than not_span
  void selectPoint(size_t point);
  void followSelection(const QObject* by);
  SelectionState* state_;
  Session* session_;
  std::shared_ptr<const Estimate> estimate_;
  int stage_ = 0;
  std::vector<MemoryPoint> points_;
  std::vector<ComparedMemory> others_;
  int64_t fixed_ = 0;
  std::optional<size_t> peak_, marked_;
  std::vector<std::pair<double, double>> when_;
};

}  // namespace shardscape::ui
