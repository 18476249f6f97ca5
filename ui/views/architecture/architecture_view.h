// The architecture editor: layers of the present model, or the text of an architecture or block.
#pragma once

#include <QWidget>

#include "ui/views/architecture/text_page.h"

class QStackedWidget;

namespace shardscape::ui {

class LayersPage;
class SegmentedControl;

class ArchitectureView : public QWidget {
  Q_OBJECT
 public:
  enum Page { Layers, Text };
  // graph: draws the graph of show_graph().
  ArchitectureView(Session* session, QWidget* graph, TextPage::ShowGraph show_graph,
                   QWidget* parent = nullptr);
  LayersPage* layers() const { return layers_; }
  TextPage* text() const { return text_; }
  SegmentedControl* pages() const { return pages_; }
  void showPage(int page);

 private:
  Session* session_;
  SegmentedControl* pages_;
  QStackedWidget* stack_;
  LayersPage* layers_;
  TextPage* text_;
};

}  // namespace shardscape::ui
