// A list of mixers or feed-forward parts. The wheel scrolls the page, unless the list has the focus. The open
// list is as wide as its longest text.
#pragma once

#include <QComboBox>

namespace shardscape::ui {

class PartBox : public QComboBox {
  Q_OBJECT
 public:
  explicit PartBox(QWidget* parent);
  void showPopup() override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
};

}  // namespace shardscape::ui
