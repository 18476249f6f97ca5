// Commands of the palette for the pages of Explore, the pictures of requests and the settings of a service.
#pragma once

#include <QVector>
#include <functional>

#include "ui/shell/command_model.h"

namespace shardscape::ui {

class ExploreView;

// show: makes Explore the shown view.
QVector<Command> pageCommands(ExploreView* explore, const std::function<void()>& show);

}  // namespace shardscape::ui
