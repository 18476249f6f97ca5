// A page that a view shows among others, made by whoever makes the view: it gives a picture of itself, and
// offers designs to work on.
#pragma once

#include <QWidget>

#include "design/design.h"
#include "ui/plot/chart_export.h"

namespace shardscape::ui {

class ViewPage : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;
  virtual Picture picture() const = 0;

 Q_SIGNALS:
  // A design to work on from now on; what: the name of the undo step.
  void taken(const shardscape::Design& design, const QString& what);
};

}  // namespace shardscape::ui
