// The About dialog: name, version, licence and libraries of the program.
#pragma once

class QWidget;

namespace shardscape::ui {

void showAbout(QWidget* parent);

}  // namespace shardscape::ui
