#include "ui/toolkit/elided_combo.h"

#include <QComboBox>
#include <QStyleOptionComboBox>
#include <QStylePainter>

namespace shardscape::ui {

int textRoom(const QComboBox& box, const QStyleOptionComboBox& option) {
  return box.style()
      ->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, &box)
      .width();
}

void paintElided(QComboBox& box, QStyleOptionComboBox option) {
  constexpr int kTextEdge = 4;
  QStylePainter painter(&box);
  option.currentText = box.fontMetrics().elidedText(box.currentText(), Qt::ElideMiddle,
                                                    textRoom(box, option) - kTextEdge);
  painter.drawComplexControl(QStyle::CC_ComboBox, option);
  painter.drawControl(QStyle::CE_ComboBoxLabel, option);
}

}  // namespace shardscape::ui
