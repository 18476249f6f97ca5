#include "ui/shell/vector_pictures.h"

namespace shardscape::ui {

QString VectorPictures::add(const QByteArray& svg) {
  pictures_.push_back(std::make_unique<QSvgRenderer>(svg));
  return QString::number(pictures_.size() - 1);
}

QSvgRenderer& VectorPictures::picture(const QTextFormat& format) const {
  return *pictures_.at(format.toImageFormat().name().toULongLong());
}

QSizeF VectorPictures::intrinsicSize(QTextDocument*, int, const QTextFormat& format) {
  return QSizeF(picture(format).defaultSize()).scaled(most_, Qt::KeepAspectRatio);
}

void VectorPictures::drawObject(QPainter* painter, const QRectF& place, QTextDocument*, int,
                                const QTextFormat& format) {
  picture(format).render(painter, place);
}

}  // namespace shardscape::ui
