// A page inside a view (the serving and the requests page inside Explore). The maker of the view creates the
// page. A page provides a picture of itself and offers designs.
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
  // For pages with a picture whose view moves.
  virtual void zoomBy(double) {}
  virtual void fit() {}

 Q_SIGNALS:
  // The person makes this design the present design. what: the name of the undo step.
  void makeCurrentRequested(const shardscape::Design& design, const QString& what);
};

}  // namespace shardscape::ui
