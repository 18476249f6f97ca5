// The one style sheet, made from a template and the colours of a mode.
#pragma once

#include <QString>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {

QString styleSheet(Theme::Mode mode);

}  // namespace shardscape::ui
