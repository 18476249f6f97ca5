// An overview of the whole graph in a corner, with a frame around the visible part.
#pragma once

#include <QPixmap>
#include <QWidget>
#include <memory>

#include "ui/views/graph/sheet_painter.h"

namespace shardscape::ui {

class MiniMap : public QWidget {
  Q_OBJECT
 public:
  explicit MiniMap(QWidget* parent);
  void setSheet(std::shared_ptr<const Sheet> sheet, const SheetFonts& fonts);  // also after a change of theme
  void setShown(const QRectF& scene_rect);                                     // the visible part
  QSize wantedSize(const QSize& view) const;                                   // a small part of the view

 Q_SIGNALS:
  void centreRequested(QPointF scene);

 protected:
  void paintEvent(QPaintEvent*) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void resizeEvent(QResizeEvent*) override { picture_ = {}; }

 private:
  ViewTransform transform() const;
  std::shared_ptr<const Sheet> sheet_;
  SheetFonts fonts_;
  QRectF shown_;
  QPixmap picture_;
};

}  // namespace shardscape::ui
