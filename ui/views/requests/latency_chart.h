// Cumulative distributions of the time to first token and the time per output token, with their limits.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "serving/service/service.h"
#include "ui/plot/canvas.h"
#include "ui/views/requests/plot_panel.h"

namespace shardscape::ui {

class LatencyChart : public Canvas {
  Q_OBJECT
 public:
  explicit LatencyChart(QWidget* parent = nullptr);
  void setRun(std::shared_ptr<const ServiceRun> run);  // null: nothing to show
  enum Part { Ttft, Tpot };
  static constexpr int kParts = 2;
  const std::vector<double>& seconds(Part part) const { return seconds_[part]; }  // ascending
  double shareWithin(Part part, double seconds) const;                            // of the requests
  std::optional<double> limit(Part part) const;
  PlotPanel panel(Part part) const { return panelIn(QRectF(rect()), part); }
  QString tipAt(const QPointF& at) const override;
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {560, 300}; }
  QSize minimumSizeHint() const override { return {240, 140}; }

 protected:
  bool ready() const override { return !seconds_[Ttft].empty(); }

 private:
  PlotPanel panelIn(const QRectF& rect, Part part) const;
  std::shared_ptr<const ServiceRun> run_;
  std::vector<double> seconds_[kParts];
};

}  // namespace shardscape::ui
