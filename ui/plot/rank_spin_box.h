// Selects a rank: "rank 4711: tp 1, dp 3, pp 2". Typing a number or the arrow keys change it.
#pragma once

#include <QSpinBox>

namespace shardscape::ui {

class SelectionState;
class Session;

class RankSpinBox : public QSpinBox {
  Q_OBJECT
 public:
  explicit RankSpinBox(SelectionState* state, QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void refresh();
  void describe(int rank);
  SelectionState* state_;
  Session* session_;
};

}  // namespace shardscape::ui
