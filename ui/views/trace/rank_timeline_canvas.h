// The nodes of one rank over time, a row per track. A click selects a node. Mouse and keys: TimeCanvas.
#pragma once

#include <memory>
#include <vector>

#include "trace/rank_timeline.h"
#include "ui/plot/time_canvas.h"

namespace shardscape::ui {

class RankTimelineCanvas : public TimeCanvas {
  Q_OBJECT
 public:
  explicit RankTimelineCanvas(QWidget* parent);
  void setTimeline(std::shared_ptr<const RankTimeline> timeline);  // null: the message is shown
  const RankTimeline* timeline() const { return timeline_.get(); }
  int selected() const { return selected_; }
  void selectNode(quint64 node);  // emits no signal
  QRectF spanRect(int at) const { return spanIn(plotIn(QRectF(rect())), at); }
  double from() const { return from_; }
  double to() const { return to_; }
  void zoomBy(double factor) override;
  void fit() override;
  QString tipAt(const QPointF& at) const override;
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {640, 220}; }
  QSize minimumSizeHint() const override { return {300, 120}; }

 Q_SIGNALS:
  void nodeSelected(quint64 node);
  void nodeActivated(quint64 node);

 protected:
  bool ready() const override { return timeline_ && !timeline_->spans.empty(); }
  QRectF plotArea() const override { return plotIn(QRectF(rect())); }
  QRectF focusFrame() const override { return selected_ < 0 ? Canvas::focusFrame() : QRectF(); }
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  void doubleClick(const QPointF& at) override;
  void pan(const QPointF& pixels) override;
  void zoomAt(double factor, const QPointF& at) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;

 private:
  const TimelineSpan& span(int at) const { return timeline_->spans[static_cast<size_t>(at)]; }
  double whole() const;  // ns
  QRectF plotIn(const QRectF& rect) const;
  QRectF spanIn(const QRectF& plot, int at) const;
  int spanAt(const QPointF& at) const;  // -1: none
  void choose(int at);
  void reveal(int at);
  void keepInReach();
  QString text(int at) const;
  void paintTrack(QPainter& painter, const QRectF& plot, int track) const;
  // A trace may have millions of nodes, and as many tracks as receives that wait at the same time.
  struct Track {
    std::vector<int> spans;           // of the timeline, by begin
    std::vector<int64_t> latest_end;  // ns, of each span and those before it
  };
  std::shared_ptr<const RankTimeline> timeline_;
  std::vector<Track> tracks_;
  double from_ = 0, to_ = 1;  // ns
  int selected_ = -1;
};

}  // namespace shardscape::ui
