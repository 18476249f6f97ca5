// The base of charts of several plots with axes of their own: the panels of the chart have numbers from 0 on.
#pragma once

#include "ui/plot/canvas.h"
#include "ui/plot/plot_panel.h"

namespace shardscape::ui {

class PanelChart : public Canvas {
  Q_OBJECT
 public:
  PlotPanel panel(int part) const { return panelIn(QRectF(rect()), part); }
  QString tipAt(const QPointF& at) const override;
  QSize sizeHint() const override { return {560, 300}; }
  QSize minimumSizeHint() const override { return {240, 140}; }

 protected:
  using Canvas::Canvas;
  virtual int panels() const = 0;
  virtual PlotPanel panelIn(const QRectF& rect, int part) const = 0;
  // The tip at a point of a panel's plot.
  virtual QString tipIn(const PlotPanel& panel, int part, const QPointF& at) const = 0;
};

}  // namespace shardscape::ui
