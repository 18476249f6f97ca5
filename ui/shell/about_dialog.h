// Name, version, licence and what the program is made with.
#pragma once

class QWidget;

namespace shardscape::ui {

void showAbout(QWidget* parent);

}  // namespace shardscape::ui
