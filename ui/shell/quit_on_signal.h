// Ctrl+C in the terminal, or the end of the session, closes the program in order: a running export removes
// what it wrote.
#pragma once

class QObject;

namespace shardscape::ui {

void quitOnSignal(QObject* parent);  // once, after the application exists

}  // namespace shardscape::ui
