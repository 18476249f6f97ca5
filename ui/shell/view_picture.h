// What a view offers for saving: a chart its own picture and numbers, any other what it shows at present.
#pragma once

#include "ui/plot/chart_export.h"

class QWidget;

namespace shardscape::ui {

// title: of the design; view: "Graph".
Picture viewPicture(QWidget* view, const QString& title, const QString& view_name);

}  // namespace shardscape::ui
