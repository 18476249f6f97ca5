// Copies the command line that gives a design.
#pragma once

class QWidget;

namespace shardscape {
struct Design;
}

namespace shardscape::ui {

// "shardscape-cli report --model=llama3-8b --tp=2" goes to the clipboard. A tip at `where` says so.
void copyCommandLine(const Design& design, QWidget* where);

}  // namespace shardscape::ui
