// The memory of one stage over a step: what is there all along, what comes and goes, the capacity, the
// peak. Left and Right go from action to action, M to the peak, Enter to the timeline.
// Painted: names find free places on the lines, and a pixel shows the highest of its values.
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
  double seconds = 0;  // since the step began; actions counted where no time is known
  int64_t bytes = 0;   // in use
  int span = -1;       // of the action: index into StageTimes::spans
};

// By seconds; before, at the peak of, and after every action.
std::vector<MemoryPoint> memory_points(const Estimate& estimate, int stage);

// The same of a design that is pinned for comparison with the present one, on the stage in the same place of
// its pipeline.
struct ComparedMemory {
  int member = 1;  // as Comparisons::letter counts
  int stage = 0;
  std::vector<MemoryPoint> points;
  int64_t capacity = 0;  // of its accelerator; 0: unknown
};

class MemoryCurve : public Canvas {
  Q_OBJECT
 public:
  explicit MemoryCurve(SelectionState* state, QWidget* parent = nullptr);
  void setEstimate(std::shared_ptr<const Estimate> estimate, int stage);  // null: nothing to show
  void setComparedDesigns(std::vector<ComparedMemory> others);  // as lines over it, on the same axes
  const std::vector<MemoryPoint>& points() const { return points_; }
  const std::vector<ComparedMemory>& others() const { return others_; }
  QPointF place(const MemoryPoint& point) const;  // in the widget
  QString title() const;
  QString peakText() const;
  QString tipAt(const QPointF& point) const override;
  const MemoryPoint* marked() const {
    return marked_ ? &points_[*marked_] : nullptr;
  }  // of the selected action
  const std::vector<std::pair<double, double>>& when() const {
    return when_;
  }  // what is selected runs, if it is no action: from, to
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
  double top() const;         // of the value axis, bytes
  double span() const;        // of the time axis
  bool ofThisReport() const;  // not of the step before one that is still simulated
  const MemoryPoint* at(const QPointF& point) const;
  QString text(const MemoryPoint& point) const;
  QString comparedText(double seconds) const;  // what the others hold then, a line for each
  QPolygonF line(const std::vector<MemoryPoint>& points, const QRectF& plot) const;
  void paintHeading(QPainter& painter, const QRectF& rect, const QColor& ground) const;
  void paintAxes(QPainter& painter, const QRectF& rect, const QRectF& plot) const;
  void paintCurve(QPainter& painter, const QRectF& plot, const QColor& ground) const;
  void paintSpots(QPainter& painter, const QRectF& plot, const QColor& ground) const;
  void paintComparedDesigns(QPainter& painter, const QRectF& plot, const QColor& ground,
                            const QRectF& taken) const;
  size_t fullestOf(size_t point) const;  // of the points of its action
  void mark(std::optional<size_t> point);
  void selectNext(std::ptrdiff_t from, int by, int not_span);  // the first action that way, but not that one
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
