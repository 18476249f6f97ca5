// Icons from resources/icons, drawn in a colour of the theme.
#pragma once

#include <QIcon>
#include <QPixmap>
#include <QString>

class QAbstractButton;
class QAction;

namespace shardscape::ui {

// A square picture with sides of `size` logical pixels. The name "check" means resources/icons/check.svg.
QPixmap iconPixmap(const QString& name, const QColor& color, int size, double pixel_ratio = 1.0);
// An icon in the theme's text colour, paler when disabled.
QIcon themedIcon(const QString& name);
// Keeps the icon in the theme's colour when the theme changes.
void setThemedIcon(QAction* action, const QString& name);
void setThemedIcon(QAbstractButton* button, const QString& name);

}  // namespace shardscape::ui
