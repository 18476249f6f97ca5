// Copies a design to the clipboard: as the command line that gives it, or as the JSON of a saved design.
#pragma once

class QWidget;

namespace shardscape {
struct Design;
}

namespace shardscape::ui {

// "shardscape-cli report --model=llama3-8b --tp=2". A tip at `where` says so.
void copyCommandLine(const Design& design, QWidget* where);
// The text of a saved design. A file with this text opens as the design.
void copyDesignJson(const Design& design, QWidget* where);

}  // namespace shardscape::ui
