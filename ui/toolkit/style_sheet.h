// The style sheet of the window, made from a template and the colours of a theme mode.
#pragma once

#include <QString>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {

QString styleSheet(Theme::Mode mode);
// Sets or replaces the sheet of the application.
//
// The first sheet is put off until a widget is polished. Under a sheet, each change of a widget's parent
// restyles all its descendants, and windows are built by such changes. QApplication::setStyleSheet() alone
// would replace a sheet by restyling each widget once per ancestor; here each visible widget is restyled
// once, and a hidden one when it is shown.
void setApplicationSheet(const QString& sheet);
bool hasApplicationSheet();

}  // namespace shardscape::ui
