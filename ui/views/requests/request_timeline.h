// Requests over time: a row per request in the order of arrival (queued, chunks of the prompt, answer,
// preempted, transferred), above the steps of an engine and the use of its cache and its sequences. If the
// rows have not enough room, an overview of all requests is at the right: a click or a drag there moves the
// view. A click selects a request or a step. Mouse and keys: TimeCanvas; T selects the first step of the
// selected request, and arrows then go from step to step.
#pragma once

#include <memory>
#include <optional>

#include "ui/plot/plot_panel.h"
#include "ui/plot/time_canvas.h"
#include "ui/views/requests/shown_run.h"

namespace shardscape::ui {

class RequestTimeline : public TimeCanvas {
  Q_OBJECT
 public:
  explicit RequestTimeline(QWidget* parent = nullptr);
  // Null: nothing to show. The visible range stays, as far as the new run has it.
  void setRun(std::shared_ptr<const ShownRun> run);
  const ServiceRun* run() const { return run_ ? run_->run.get() : nullptr; }
  RequestWait waitOf(int request) const;
  int selected() const { return selected_; }
  void setSelected(int request);           // emits no signal; -1: none
  void select(int request);                // also scrolls to its row
  int replica() const;                     // whose steps are shown: of the selected request, else the first
  const StepRecord* selectedStep() const;  // null: none
  std::optional<size_t> selectedStepIndex() const;  // in the steps of the simulation
  void selectStep(std::optional<size_t> at);        // among the steps of the shown replica
  // Selects the step that computes the first chunk of the selected request, or a step in the middle of the
  // view.
  void selectStepOfRequest();
  struct View {
    double from = 0, to = 1;  // seconds
    double top = 0;           // pixels that rows are scrolled up
  };
  const View& view() const { return view_; }
  QRectF rowOf(int request) const;         // the row, from its arrival to its last token, in the widget
  int requestAt(const QPointF& at) const;  // -1: none
  const StepRecord* stepAt(const QPointF& at) const;
  QPointF placeOfStep(const StepRecord& step) const;  // where a click selects it, in the widget
  QRectF overview() const;  // where all requests are, in the widget; empty: every row has room
  void zoomTo(int request);
  void zoomBy(double factor) override;
  void fit() override;
  QString tipAt(const QPointF& at) const override;
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {560, 300}; }
  QSize minimumSizeHint() const override { return {240, 140}; }

 Q_SIGNALS:
  void requestSelected(int request);
  void stepSelected();
  void stepRequested();  // the person opens the selected step

 protected:
  bool ready() const override { return run_ && length() > 0; }
  QRectF plotArea() const override;
  QRectF focusFrame() const override { return selected_ < 0 ? Canvas::focusFrame() : QRectF(); }
  bool hover(const QPointF& at, bool has_tip) override;
  void leave() override;
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  bool grabs(const QPointF& at, Qt::KeyboardModifiers held) override;
  bool drag(const QPointF& at) override;
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
    QRectF overview;          // right of the rows; empty: every row has room
  };
  Areas areasIn(const QRectF& rect) const;
  double length() const;  // seconds
  double rowHeight(const Areas& areas) const;
  double place(const Areas& areas, double seconds) const;
  double secondsAt(const Areas& areas, double x) const;
  QRectF rowIn(const Areas& areas, int request) const;
  const StepSummary& steps() const { return run_->steps[static_cast<size_t>(replica())]; }
  const RequestRecord& record(int request) const {
    return run_->run->simulation.requests[static_cast<size_t>(request)];
  }
  std::optional<size_t> stepIndexAt(double seconds) const;
  void paintRows(QPainter& painter, const Areas& areas) const;
  void paintRow(QPainter& painter, const Areas& areas, int request) const;
  void paintOverview(QPainter& painter, const Areas& areas, const QColor& ground) const;
  std::vector<LegendEntry> legend() const;
  QString rowsText(const Areas& areas) const;  // "requests\n1–38\nof 200"
  double firstArrival() const;                 // of the visible rows
  void moveTo(const QPointF& at);              // the middle of the view, by a point of the overview
  void paintUse(QPainter& painter, const Areas& areas) const;
  void paintStep(QPainter& painter, const Areas& areas) const;
  void paintLabels(QPainter& painter, const QRectF& rect, const Areas& areas) const;
  void keepInReach();
  void reveal(int request);
  void step(int rows);
  void revealTime(double from, double to);
  QString tipOfStep(const StepRecord& step) const;

  std::shared_ptr<const ShownRun> run_;
  View view_;
  bool at_home_ = true;  // the whole run is visible
  int selected_ = -1, hovered_ = -1;
  std::optional<size_t> step_;  // selected, among the steps of the shown replica
};

}  // namespace shardscape::ui
