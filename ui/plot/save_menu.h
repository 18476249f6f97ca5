// The menu behind every view's Save button: one entry per format, and the picture to the clipboard.
#pragma once

#include <QDate>
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
  // The day in captions; without it, the present one. Equal days give equal bytes.
  void setDay(QDate day) { day_ = day; }

 private:
  void save(SaveFormat format);
  void copy();
  std::function<Picture()> source_;
  const Session* session_;
  QDate day_;  // invalid: the present one
};

}  // namespace shardscape::ui
