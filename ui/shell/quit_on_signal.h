// Quits the program on SIGINT, SIGTERM and SIGHUP. A running export removes its files first.
#pragma once

class QObject;

namespace shardscape::ui {

void quitOnSignal(QObject* parent);  // once, after the application exists

}  // namespace shardscape::ui
