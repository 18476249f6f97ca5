// Requests over time: a row per request in the order of arrival (queued, prompt, answer), above the steps of
// an engine and the use of its cache and its sequences. Mouse and keys are those of the step's timeline: the
// wheel scrolls the rows, with Ctrl it zooms around the cursor; a drag moves the view; W A S D zoom and move.
#pragma once

#include <memory>
#include <vector>

#include "serving/requests/request_wait.h"
#include "serving/service/service.h"
#include "ui/plot/canvas.h"

namespace shardscape::ui {

class RequestTimeline : public Canvas {
  Q_OBJECT
 public:
  explicit RequestTimeline(QWidget* parent = nullptr);
  // Null: nothing to show. The visible range stays, as far as the new run has it.
  void setRun(std::shared_ptr<const ServiceRun> run);
  const ServiceRun* run() const { return run_.get(); }
  RequestWait waitOf(int request) const;
  int selected() const { return selected_; }
  void setSelected(int request);  // emits no signal; -1: none
  void select(int request);       // also scrolls to its row
  int replica() const;            // whose steps are shown: of the selected request, else the first
  struct View {
    double from = 0, to = 1;  // seconds
    double top = 0;           // pixels that rows are scrolled up
  };
  const View& view() const { return view_; }
  QRectF rowOf(int request) const;         // the row, from its arrival to its last token, in the widget
  int requestAt(const QPointF& at) const;  // -1: none
  const StepRecord* stepAt(const QPointF& at) const;
  void zoomTo(int request);
  void zoomBy(double factor) override;
  void fit() override;
  QString tipAt(const QPointF& at) const override;
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {560, 300}; }
  QSize minimumSizeHint() const override { return {240, 140}; }

 Q_SIGNALS:
  void requestSelected(int request);

 protected:
  bool ready() const override { return run_ && length() > 0; }
  bool viewMoves() const override { return true; }
  QRectF focusFrame() const override { return selected_ < 0 ? Canvas::focusFrame() : QRectF(); }
  bool hover(const QPointF& at, bool has_tip) override;
  void leave() override { hovered_ = -1, update(); }
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
  struct Areas {
    QRectF rows, steps, use;  // from above to below; `use`: of the cache and the sequences
  };
  struct Column;  // what an engine does in a column of pixels
  static Areas areasIn(const QRectF& rect);
  double length() const;  // seconds
  double rowHeight(const Areas& areas) const;
  double place(const Areas& areas, double seconds) const;
  double secondsAt(const Areas& areas, double x) const;
  QRectF rowIn(const Areas& areas, int request) const;
  std::vector<Column> columns(const Areas& areas) const;
  void paintRows(QPainter& painter, const Areas& areas) const;
  void paintRow(QPainter& painter, const Areas& areas, int request) const;
  void paintUse(QPainter& painter, const Areas& areas) const;
  void paintLabels(QPainter& painter, const QRectF& rect, const Areas& areas) const;
  void keepInReach();
  void reveal(int request);
  void step(int rows);
  QString tipOfStep(const StepRecord& step) const;

  std::shared_ptr<const ServiceRun> run_;
  std::shared_ptr<const RequestWaits> waits_;
  std::vector<int> order_, row_;                       // requests by arrival; the row of each request
  std::vector<std::vector<const StepRecord*>> steps_;  // by replica, ascending
  View view_;
  bool at_home_ = true;  // the whole run is visible
  int selected_ = -1, hovered_ = -1;
};

}  // namespace shardscape::ui
