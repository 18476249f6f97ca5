// The Fusion style with small icons, lists below combo boxes and quick tool tips. The style sheet sets
// colours and spacing.
#pragma once

#include <QProxyStyle>

namespace shardscape::ui {

class HouseStyle : public QProxyStyle {
  Q_OBJECT
 public:
  HouseStyle();
  QIcon standardIcon(StandardPixmap which, const QStyleOption* option = nullptr,
                     const QWidget* widget = nullptr) const override;
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget = nullptr) const override;
  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override;
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* data) const override;
};

}  // namespace shardscape::ui
