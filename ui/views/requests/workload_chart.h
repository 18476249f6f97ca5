// The workload of a run: arrivals per second over time, and histograms of prompt and output lengths.
#pragma once

#include <memory>

#include "serving/service/service.h"
#include "ui/plot/canvas.h"
#include "ui/views/requests/histogram.h"
#include "ui/views/requests/plot_panel.h"

namespace shardscape::ui {

class WorkloadChart : public Canvas {
  Q_OBJECT
 public:
  explicit WorkloadChart(QWidget* parent = nullptr);
  void setRun(std::shared_ptr<const ServiceRun> run);  // null: nothing to show
  enum Part { Arrivals, Prompts, Outputs };
  static constexpr int kParts = 3;
  const Histogram& counts(Part part) const { return counts_[part]; }
  PlotPanel panel(Part part) const { return panelIn(QRectF(rect()), part); }
  QString tipAt(const QPointF& at) const override;
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {560, 300}; }
  QSize minimumSizeHint() const override { return {240, 140}; }

 protected:
  bool ready() const override { return !counts_[Arrivals].counts.empty(); }

 private:
  PlotPanel panelIn(const QRectF& rect, Part part) const;
  double figure(Part part, size_t bin) const;  // requests per second, or requests
  Histogram counts_[kParts];
};

}  // namespace shardscape::ui
