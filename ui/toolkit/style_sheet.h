// The style sheet of the window, made from a template and the colours of a theme mode.
#pragma once

#include <QString>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {

QString styleSheet(Theme::Mode mode);

}  // namespace shardscape::ui
