// A bar of two parts beside one another, or below one another where one line has no room for both.
#pragma once

#include <QWidget>

class QBoxLayout;

namespace shardscape::ui {

class WrappingBar : public QWidget {
  Q_OBJECT
 public:
  explicit WrappingBar(const QMargins& margins, QWidget* parent);
  void add(QLayout* part, int stretch);

 protected:
  bool event(QEvent* event) override;

 private:
  QBoxLayout* parts_;
};

}  // namespace shardscape::ui
