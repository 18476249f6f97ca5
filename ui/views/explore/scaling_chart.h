// The present design on more or fewer GPUs: tokens per second and GPU, with constant batch (strong scaling)
// and with the batch proportional to GPUs (weak scaling). Painted: points that do not fit are hollow;
// QCustomPlot has hollow points only for whole lines.
#pragma once

#include <vector>

#include "explore/sensitivity.h"
#include "ui/plot/axis_scale.h"
#include "ui/plot/canvas.h"

namespace shardscape::ui {

double per_gpu(const ScalePoint& point);  // tokens per second; 0: not timed

class ScalingChart : public Canvas {
  Q_OBJECT
 public:
  explicit ScalingChart(QWidget* parent = nullptr);
  enum Line { Strong, Weak };
  void setPoints(std::vector<ScalePoint> strong, std::vector<ScalePoint> weak, int64_t gpus_now, Mode mode);
  // The lines of pinned designs, on the same axes.
  struct OtherDesign {
    int member = 1;                    // 1 is the first pinned design, see Comparisons::letter
    std::vector<ScalePoint> lines[2];  // by Line
  };
  void setComparedDesigns(std::vector<OtherDesign> others);
  const std::vector<OtherDesign>& others() const { return others_; }
  // Further lines of the present design: the best layout at each size, other networks and accelerators.
  struct ExtraLine {
    QString label;
    std::vector<ScalePoint> points;
    bool best = false;
    ClusterSpec cluster = {};
  };
  static constexpr int kMostExtra = 5;
  void setExtraLines(std::vector<ExtraLine> lines);
  const std::vector<ExtraLine>& extraLines() const { return extra_; }
  QPointF placeOf(int extra_line, int point) const;
  const std::vector<ScalePoint>& points(Line line) const { return lines_[line]; }
  QPointF place(Line line, int point) const;
  QString tipAt(const QPointF& point) const override;
  void select(Line line, int point);  // -1: none
  int selected() const { return selected_; }
  Line selectedLine() const { return line_; }
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {640, 280}; }
  QSize minimumSizeHint() const override { return {320, 140}; }

 Q_SIGNALS:
  void pointSelected(int line, int point);

 protected:
  bool ready() const override { return y_.high > 0; }
  QRectF focusFrame() const override { return selected_ < 0 ? Canvas::focusFrame() : QRectF(); }
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool clear() override;

 private:
  QRectF plotOf(const QRectF& rect) const;
  QColor extraInk(size_t line) const;
  void paintExtra(QPainter& painter, const QRectF& plot, const QColor& ground) const;
  void paintExtraLegend(QPainter& painter, const QRectF& rect, const QRectF& plot) const;
  QPointF placeIn(const QRectF& plot, const ScalePoint& point) const;
  void fitAxes();
  void step(int by);
  QString text(Line line, const ScalePoint& point) const;
  QColor ink(Line line) const;  // of the present design
  void paintAxes(QPainter& painter, const QRectF& rect, const QRectF& plot) const;
  void paintLegend(QPainter& painter, const QRectF& rect, const QRectF& plot) const;
  void paintLine(QPainter& painter, const QRectF& plot, const std::vector<ScalePoint>& points, Line line,
                 const QColor& ink, bool present, const QColor& ground) const;
  std::vector<ScalePoint> lines_[2];
  std::vector<OtherDesign> others_;
  std::vector<ExtraLine> extra_;
  int64_t now_ = 0;
  Mode mode_ = Mode::Train;
  AxisScale x_, y_ = linear_scale(0, 0);  // GPUs; tokens per second and GPU
  int selected_ = -1;
  Line line_ = Strong;
};

}  // namespace shardscape::ui
