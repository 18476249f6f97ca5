// The workload of a run: arrivals per second over time, and histograms of prompt and output lengths.
#pragma once

#include <memory>

#include "ui/plot/panel_chart.h"
#include "ui/views/requests/shown_run.h"

namespace shardscape::ui {

class WorkloadChart : public PanelChart {
  Q_OBJECT
 public:
  explicit WorkloadChart(QWidget* parent = nullptr);
  void setRun(std::shared_ptr<const ShownRun> run);
  enum Part { Arrivals, Prompts, Outputs };  // as WorkloadPart
  const Histogram& counts(int part) const { return run_->counts[part]; }
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;

 protected:
  bool ready() const override { return run_ && !counts(Arrivals).counts.empty(); }
  int panels() const override { return kWorkloadParts; }
  PlotPanel panelIn(const QRectF& rect, int part) const override;
  QString tipIn(const PlotPanel& panel, int part, const QPointF& at) const override;

 private:
  double figure(int part, size_t bin) const;  // requests per second, or requests
  std::shared_ptr<const ShownRun> run_;
};

}  // namespace shardscape::ui
