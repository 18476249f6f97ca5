// One line across the window for what went wrong outside the form (a file that cannot be read); goes away by itself
// with the next success or by its button.
#pragma once

#include <QFrame>

class QLabel;

namespace shardscape::ui {

class MessageBar : public QFrame {
  Q_OBJECT
 public:
  explicit MessageBar(QWidget* parent = nullptr);
  void show(const QString& text);
  QString text() const;

 private:
  QLabel* text_;
};

}  // namespace shardscape::ui
