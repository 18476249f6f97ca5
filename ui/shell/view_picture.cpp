#include "ui/shell/view_picture.h"

#include <QPainter>
#include <QWidget>

#include "ui/plot/chart_page.h"
#include "ui/toolkit/file_slug.h"
#include "ui/views/explore/explore_view.h"
#include "ui/views/graph/graph_view.h"
#include "ui/views/timeline/timeline_view.h"

namespace shardscape::ui {

Picture viewPicture(QWidget* view, const QString& title, const QString& view_name) {
  if (const auto* page = qobject_cast<ChartPage*>(view)) return page->picture();
  if (const auto* timeline = qobject_cast<TimelineView*>(view)) return timeline->picture();
  if (const auto* explore = qobject_cast<ExploreView*>(view)) return explore->picture();
  auto* graph = qobject_cast<GraphView*>(view);
  QWidget* drawn = graph ? graph->canvas() : view;  // without the bar above the canvas
  Picture picture;
  picture.title = title + ", " + view_name.toLower();
  picture.file_name = slug(title) + "-" + view_name.toLower();
  picture.size = drawn->size();
  picture.paint = [drawn](QPaintDevice& device, QSize, double scale, const DrawBelow& below) {
    QPainter painter(&device);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(scale, scale);
    drawn->render(&painter, QPoint(), QRegion(), QWidget::DrawWindowBackground | QWidget::DrawChildren);
    below(painter);
  };
  return picture;
}

}  // namespace shardscape::ui
