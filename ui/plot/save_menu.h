// The menu behind every view's Save button: one entry per format, and the picture to the clipboard.
#pragma once

#include <QMenu>
#include <functional>

#include "ui/plot/chart_export.h"

namespace shardscape::ui {

class Session;

class SaveMenu : public QMenu {
  Q_OBJECT
 public:
  // source is called when the person saves.
  SaveMenu(std::function<Picture()> source, const Session* session, QWidget* parent = nullptr);
  Picture picture() const;  // of the source, with the caption of the session's designs

 private:
  void save(SaveFormat format);
  void copy();
  std::function<Picture()> source_;
  const Session* session_;
};

}  // namespace shardscape::ui
