// Throughput over latency: tokens per second and GPU over the time per output token (or to the first token).
// A line per context, a point per batch. Painted without QCustomPlot: points have different shapes and
// labels.
#pragma once

#include "ui/plot/axis_scale.h"
#include "ui/views/serving/serving_canvas.h"

namespace shardscape::ui {

class ServingChart : public ServingCanvas {
  Q_OBJECT
 public:
  explicit ServingChart(QWidget* parent = nullptr);
  QPointF place(int at) const override;
  int pointAt(const QPointF& at) const override;
  QPointF presentPlace() const;
  bool shows(int at) const;  // true if the axes include the point: points that fit, and the first point of
                             // each context that does not fit
  // The x of the limit of the shown phase, in the widget; empty: no limit, or outside of the axis.
  std::optional<double> limitPlace() const { return limitIn(plotOf(QRectF(rect()))); }
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;

 protected:
  bool ready() const override { return any_; }
  void changed() override;

 private:
  QRectF plotOf(const QRectF& rect) const;
  QPointF placeIn(const QRectF& plot, const InferenceFigures& figures) const;
  std::optional<double> limit() const { return decodes() ? limits().tpot : limits().ttft; }
  std::optional<double> limitIn(const QRectF& plot) const;
  QRectF limitLabel(const QRectF& plot) const;  // null: no line
  QString limitText() const;
  bool breaksOtherLimit(int at) const;  // of the phase that the axis does not show
  void paintLimit(QPainter& painter, const QRectF& plot, const QColor& ground) const;
  QColor ink(int context) const;
  int focus() const;  // the context with batch labels at its points and with the lines of pinned designs
  void paintAxes(QPainter& painter, const QRectF& rect, const QRectF& plot) const;
  void paintLegend(QPainter& painter, const QRectF& rect, const QRectF& plot, const QColor& ground) const;
  void paintLine(QPainter& painter, const QRectF& plot, int context, const QColor& ground) const;
  void paintComparedDesigns(QPainter& painter, const QRectF& plot, const OtherDesign& other,
                            const QColor& ground) const;
  std::optional<QPointF> endOf(const QRectF& plot, const OtherDesign& other) const;
  void paintLabels(QPainter& painter, const QRectF& plot, const QColor& ground) const;
  void paintMarks(QPainter& painter, const QRectF& plot, const QColor& ground) const;
  AxisScale x_, y_;
  bool any_ = false;
};

}  // namespace shardscape::ui
