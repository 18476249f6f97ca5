// Latency against load: 50th, 90th and 99th percentiles of TTFT and TPOT over the rate of arrivals, with the
// limits and the knee.
#pragma once

#include <memory>

#include "serving/service/rate_sweep.h"
#include "ui/plot/canvas.h"
#include "ui/views/requests/plot_panel.h"

namespace shardscape::ui {

class RateChart : public Canvas {
  Q_OBJECT
 public:
  explicit RateChart(QWidget* parent = nullptr);
  void setSweep(std::shared_ptr<const RateSweep> sweep);  // null: nothing to show
  enum Part { Ttft, Tpot };
  static constexpr int kParts = 2;
  int points() const { return sweep_ ? static_cast<int>(sweep_->points.size()) : 0; }
  const RatePoint& point(int at) const { return sweep_->points[static_cast<size_t>(at)]; }
  int selected() const { return selected_; }
  void setSelected(int at);  // emits no signal; -1: none
  QString summary(int at) const;
  QPointF place(Part part, int at) const;  // of the 99th percentile, in the widget
  PlotPanel panel(Part part) const { return panelIn(QRectF(rect()), part); }
  QString tipAt(const QPointF& at) const override;
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {560, 300}; }
  QSize minimumSizeHint() const override { return {240, 140}; }

 Q_SIGNALS:
  void pointSelected(int at);
  void rateRequested(double rate);  // the person makes this the rate of the requests

 protected:
  bool ready() const override { return points() > 0; }
  QRectF focusFrame() const override { return selected_ < 0 ? Canvas::focusFrame() : QRectF(); }
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  void doubleClick(const QPointF& at) override;
  bool hover(const QPointF& at, bool) override { return pointAt(at) >= 0; }
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;

 private:
  const Distribution& of(Part part, int at) const;
  std::optional<double> limit(Part part) const;
  PlotPanel panelIn(const QRectF& rect, Part part) const;
  int pointAt(const QPointF& at) const;  // the nearest rate; -1: outside of the plots
  void select(int at);
  void paintPart(QPainter& painter, const PlotPanel& panel, Part part, const QColor& ground) const;
  void paintKnee(QPainter& painter, const PlotPanel& panel, const QColor& ground) const;
  std::shared_ptr<const RateSweep> sweep_;
  int selected_ = -1;
};

}  // namespace shardscape::ui
