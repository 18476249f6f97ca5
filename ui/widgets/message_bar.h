// One line across the window for what went wrong outside the form (a file that cannot be read), or what was changed unasked; goes
// away by itself with the next success or edit, or by its button.
#pragma once

#include <QFrame>

class QAction;
class QLabel;
class QPushButton;

namespace shardscape::ui {

class MessageBar : public QFrame {
  Q_OBJECT
 public:
  explicit MessageBar(QWidget* parent = nullptr);
  void show(const QString& text);
  void note(const QString& text, QAction* way_back);  // until the next edit
  void endNote();
  QString text() const;
  QPushButton* wayBack() const { return way_back_; }

 private:
  QLabel* text_;
  QPushButton* way_back_;
  QAction* action_ = nullptr;
};

}  // namespace shardscape::ui
