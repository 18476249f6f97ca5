#include "ui/toolkit/house_style.h"

#include <QStyleFactory>

#include "ui/toolkit/icons.h"

namespace shardscape::ui {

HouseStyle::HouseStyle() : QProxyStyle(QStyleFactory::create("Fusion")) {}

QIcon HouseStyle::standardIcon(StandardPixmap which, const QStyleOption* option,
                               const QWidget* widget) const {
  if (which != SP_LineEditClearButton) return QProxyStyle::standardIcon(which, option, widget);
  const QColor grey(0x80, 0x8A, 0x95);  // fields keep the icon when the theme changes
  QIcon icon(iconPixmap(QStringLiteral("close"), grey, 16));
  icon.addPixmap(iconPixmap(QStringLiteral("close"), grey, 16, 2.0));
  return icon;
}

void HouseStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                               const QWidget* widget) const {
  // The style sheet draws the line below the tabs and borders of what has the focus.
  if (element == PE_FrameTabBarBase || element == PE_FrameFocusRect) return;
  QProxyStyle::drawPrimitive(element, option, painter, widget);
}

int HouseStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
  if (metric == PM_SmallIconSize || metric == PM_ButtonIconSize) return 16;
  return QProxyStyle::pixelMetric(metric, option, widget);
}

int HouseStyle::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                          QStyleHintReturn* data) const {
  switch (hint) {
    case SH_ToolTip_WakeUpDelay: return 500;
    case SH_ComboBox_Popup: return 0;  // a list below the box, not a menu over it
    case SH_DialogButtonBox_ButtonsHaveIcons: return 0;
    case SH_UnderlineShortcut: return 0;  // Alt with the letter still works
    default: return QProxyStyle::styleHint(hint, option, widget, data);
  }
}

}  // namespace shardscape::ui
