// Draws the pictures of a text document as vectors. Qt's text layout itself shows pixels only.
#pragma once

#include <QObject>
#include <QSvgRenderer>
#include <QTextObjectInterface>
#include <memory>
#include <vector>

namespace shardscape::ui {

// The handler of a document's images, whose names are those that add() gives.
class VectorPictures : public QObject, public QTextObjectInterface {
  Q_OBJECT
  Q_INTERFACES(QTextObjectInterface)
 public:
  // most: pixels of the largest picture. Every picture fills its width or height.
  VectorPictures(QSizeF most, QObject* parent) : QObject(parent), most_(most) {}
  QString add(const QByteArray& svg);
  QSizeF intrinsicSize(QTextDocument* document, int position, const QTextFormat& format) override;
  void drawObject(QPainter* painter, const QRectF& place, QTextDocument* document, int position,
                  const QTextFormat& format) override;

 private:
  QSvgRenderer* picture(const QTextFormat& format) const;
  QSizeF most_;
  std::vector<std::unique_ptr<QSvgRenderer>> pictures_;
};

}  // namespace shardscape::ui
