#include "ui/plot/panel_chart.h"

namespace shardscape::ui {

QString PanelChart::tipAt(const QPointF& at) const {
  if (!ready()) return {};
  for (int part = 0; part < panels(); ++part)
    if (const PlotPanel shown = panel(part); shown.plot.contains(at)) return tipIn(shown, part, at);
  return {};
}

}  // namespace shardscape::ui
