// Cumulative distributions of TTFT, TPOT, ITL and end-to-end latency, with their limits; those of pinned
// designs on the same axes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ui/plot/panel_chart.h"
#include "ui/views/requests/shown_run.h"

namespace shardscape::ui {

class LatencyChart : public PanelChart {
  Q_OBJECT
 public:
  explicit LatencyChart(QWidget* parent = nullptr);
  struct Other {
    int member = 1;  // Comparisons::letter
    std::shared_ptr<const ShownRun> run;
  };
  void setRun(std::shared_ptr<const ShownRun> run, std::vector<Other> others = {});
  enum Part { Ttft, Tpot, Itl, E2e };                  // as LatencyPart
  double shareWithin(int part, double seconds) const;  // of the requests; of ITL: of the tokens
  const std::vector<Other>& others() const { return others_; }
  std::optional<double> limit(int part) const;
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;

 protected:
  bool ready() const override { return run_ && !run_->latencies[Ttft].seconds.empty(); }
  int panels() const override { return kLatencyParts; }
  PlotPanel panelIn(const QRectF& rect, int part) const override;
  QString tipIn(const PlotPanel& panel, int part, const QPointF& at) const override;

 private:
  void paintLine(QPainter& painter, const PlotPanel& panel, const Latencies& all) const;
  std::shared_ptr<const ShownRun> run_;
  std::vector<Other> others_;
};

}  // namespace shardscape::ui
