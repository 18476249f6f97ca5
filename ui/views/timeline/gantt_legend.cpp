#include "ui/views/timeline/gantt_legend.h"

#include "ui/plot/bar_paint.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

// From left to right: passes, the ops inside them, communication, the rest.
constexpr Role kOrder[] = {Role::Forward,
                           Role::Backward,
                           Role::Recompute,
                           Role::WeightGradient,
                           Role::MatrixProducts,
                           Role::Attention,
                           Role::ActivationFunctions,
                           Role::Embedding,
                           Role::Loss,
                           Role::Routing,
                           Role::OtherOps,
                           Role::TensorParallel,
                           Role::ContextParallel,
                           Role::ExpertParallel,
                           Role::OtherGroups,
                           Role::DataParallel,
                           Role::Pipeline,
                           Role::Optimizer,
                           Role::Host};

}  // namespace

void paint_gantt_legend(QPainter& painter, const QRectF& rect, const Roles& shown, const QColor& ground) {
  const Theme& theme = Theme::instance();
  painter.setFont(theme.uiFont(11));
  const QFontMetricsF metrics(painter.font());
  double x = rect.left();
  for (const Role role : kOrder) {
    if (!shown.test(static_cast<size_t>(role))) continue;
    const BarSeries entry = series_of(role, label_of(role));
    const double advance = metrics.horizontalAdvance(entry.label);
    if (x + 14 + advance > rect.right()) return;
    fill_bar(painter, QRectF(x, rect.center().y() - 4.5, 9, 9), entry, ground);
    painter.setPen(theme.colors().secondary);
    painter.drawText(QPointF(x + 13, rect.center().y() + metrics.capHeight() / 2), entry.label);
    x += 13 + advance + 14;
  }
}

}  // namespace shardscape::ui
