// One line across the window for what went wrong outside the form (a file that cannot be read), or what was
// changed, or not changed, unasked; goes away by itself with the next success or edit, or by its button.
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
  void note(const QString& text, QAction* way_out,
            const QString& words = tr("Undo"));  // until the next edit; words: of the button
  void endNote();
  QString text() const;
  QPushButton* wayOut() const { return way_out_; }

 private:
  QLabel* text_;
  QPushButton* way_out_;
  QAction* action_ = nullptr;
};

}  // namespace shardscape::ui
