// The menu behind every view's Save button: one entry per format, and the picture to the clipboard.
#pragma once

#include <QMenu>
#include <functional>

#include "ui/plot/chart_export.h"

namespace shardscape::ui {

class SaveMenu : public QMenu {
  Q_OBJECT
 public:
  // source is called when the person saves.
  explicit SaveMenu(std::function<Picture()> source, QWidget* parent = nullptr);

 private:
  void save(SaveFormat format);
  void copy();
  std::function<Picture()> source_;
};

}  // namespace shardscape::ui
