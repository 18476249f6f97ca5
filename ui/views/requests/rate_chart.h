// Latency against load: 50th, 90th and 99th percentiles of TTFT, TPOT and limited end-to-end latency over the
// rate of arrivals, with the limits and the knee; the 99th percentiles of pinned designs on the same axes.
#pragma once

#include <memory>
#include <vector>

#include "serving/service/rate_sweep.h"
#include "ui/plot/panel_chart.h"

namespace shardscape::ui {

class RateChart : public PanelChart {
  Q_OBJECT
 public:
  explicit RateChart(QWidget* parent = nullptr);
  struct Other {
    int member = 1;  // Comparisons::letter
    std::shared_ptr<const RateSweep> sweep;
  };
  void setSweep(std::shared_ptr<const RateSweep> sweep);  // null: nothing to show
  void setOthers(std::vector<Other> others);
  const std::vector<Other>& others() const { return others_; }
  enum Part { Ttft, Tpot, E2e };  // E2e: only with a limit
  int points() const { return sweep_ ? static_cast<int>(sweep_->points.size()) : 0; }
  const RatePoint& point(int at) const { return sweep_->points[static_cast<size_t>(at)]; }
  int selected() const { return selected_; }
  void setSelected(int at);  // emits no signal; -1: none
  QString summary(int at) const;
  QPointF place(int part, int at) const;  // of the 99th percentile, in the widget
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;

 Q_SIGNALS:
  void pointSelected(int at);
  void rateRequested(double rate);  // the person makes this the rate of the requests

 protected:
  bool ready() const override { return points() > 0; }
  int panels() const override { return sweep_ && sweep_->spec.limits.e2e ? 3 : 2; }
  PlotPanel panelIn(const QRectF& rect, int part) const override;
  QString tipIn(const PlotPanel& panel, int part, const QPointF& at) const override;
  QRectF focusFrame() const override { return selected_ < 0 ? Canvas::focusFrame() : QRectF(); }
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  void doubleClick(const QPointF& at) override;
  bool hover(const QPointF& at, bool) override { return pointAt(at) >= 0; }
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;

 private:
  static const Distribution& of(int part, const RatePoint& point);
  std::optional<double> limit(int part) const;
  int pointAt(const QPointF& at) const;  // the nearest rate; -1: outside of the plots
  void select(int at);
  void paintPart(QPainter& painter, const PlotPanel& panel, int part, const QColor& ground) const;
  void paintLine(QPainter& painter, const PlotPanel& panel, const RateSweep& sweep, int part,
                 double Distribution::*value) const;
  void paintBand(QPainter& painter, const PlotPanel& panel, int part) const;
  static QString nameOf(int part);
  void paintKnee(QPainter& painter, const PlotPanel& panel, const QColor& ground) const;
  std::shared_ptr<const RateSweep> sweep_;
  std::vector<Other> others_;
  int selected_ = -1;
};

}  // namespace shardscape::ui
