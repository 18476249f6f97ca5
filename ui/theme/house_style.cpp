#include "ui/theme/house_style.h"

#include <QStyleFactory>

namespace shardscape::ui {

HouseStyle::HouseStyle() : QProxyStyle(QStyleFactory::create("Fusion")) {}

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
    case SH_UnderlineShortcut: return 0;  // Alt and the letter work all the same
    default: return QProxyStyle::styleHint(hint, option, widget, data);
  }
}

}  // namespace shardscape::ui
