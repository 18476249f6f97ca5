// The picture of a view for saving: a chart's own picture with numbers, or a drawing of any other widget.
#pragma once

#include "ui/plot/chart_export.h"

class QWidget;

namespace shardscape::ui {

// title: the name of the design; view_name: "Graph".
Picture viewPicture(QWidget* view, const QString& title, const QString& view_name);

}  // namespace shardscape::ui
