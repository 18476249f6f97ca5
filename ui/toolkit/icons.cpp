#include "ui/toolkit/icons.h"

#include <QAbstractButton>
#include <QAction>
#include <QFile>
#include <QPainter>
#include <QSvgRenderer>

#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {

QPixmap iconPixmap(const QString& name, const QColor& color, int size, double pixel_ratio) {
  QPixmap pixmap(qRound(size * pixel_ratio), qRound(size * pixel_ratio));
  pixmap.setDevicePixelRatio(pixel_ratio);
  pixmap.fill(Qt::transparent);
  QFile file(":/icons/" + name + ".svg");
  if (!file.open(QIODevice::ReadOnly)) return pixmap;
  QByteArray text = file.readAll();
  text.replace("currentColor", color.name().toLatin1());
  QSvgRenderer renderer(text);
  QPainter painter(&pixmap);
  renderer.render(&painter, QRectF(0, 0, size, size));
  return pixmap;
}

QIcon themedIcon(const QString& name) {
  const Colors& colors = Theme::instance().colors();
  QIcon icon;
  for (const double ratio : {1.0, 2.0}) {
    icon.addPixmap(iconPixmap(name, colors.text, 16, ratio), QIcon::Normal);
    icon.addPixmap(iconPixmap(name, mixed(colors.panel, colors.secondary, 0.5), 16, ratio), QIcon::Disabled);
  }
  return icon;
}

void setThemedIcon(QAction* action, const QString& name) {
  action->setIcon(themedIcon(name));
  QObject::connect(&Theme::instance(), &Theme::changed, action,
                   [action, name] { action->setIcon(themedIcon(name)); });
}

void setThemedIcon(QAbstractButton* button, const QString& name) {
  button->setIcon(themedIcon(name));
  QObject::connect(&Theme::instance(), &Theme::changed, button,
                   [button, name] { button->setIcon(themedIcon(name)); });
}

}  // namespace shardscape::ui
