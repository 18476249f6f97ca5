// Draws pictures of every view of the window, for documentation and for machines without a screen.
#pragma once

#include <QString>
#include <QStringList>
#include <optional>
#include <variant>

#include "base/problem.h"

namespace shardscape::ui {

class MainWindow;

// Every view, light and dark, at 1280x800 and 2560x1440, as DIR/<view>-<theme>-<size>.png. Returns the files.
Result<QStringList> renderViews(MainWindow& window, const QString& folder);

}  // namespace shardscape::ui
