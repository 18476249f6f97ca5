#include "ui/shell/vector_pictures.h"

namespace shardscape::ui {

QString VectorPictures::add(const QByteArray& svg) {
  pictures_.push_back(std::make_unique<QSvgRenderer>(svg));
  return QString::number(pictures_.size() - 1);
}

QSvgRenderer* VectorPictures::picture(const QTextFormat& format) const {
  bool number = false;
  const qulonglong at = format.toImageFormat().name().toULongLong(&number);
  return number && at < pictures_.size() ? pictures_[at].get() : nullptr;
}

QSizeF VectorPictures::intrinsicSize(QTextDocument*, int, const QTextFormat& format) {
  const QSvgRenderer* const shown = picture(format);
  return shown ? QSizeF(shown->defaultSize()).scaled(most_, Qt::KeepAspectRatio) : QSizeF();
}

void VectorPictures::drawObject(QPainter* painter, const QRectF& place, QTextDocument*, int,
                                const QTextFormat& format) {
  if (QSvgRenderer* shown = picture(format)) shown->render(painter, place);
}

}  // namespace shardscape::ui
