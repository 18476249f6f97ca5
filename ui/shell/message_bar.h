// A line across the window for errors outside the form (an unreadable file) and for automatic changes of the
// design. The next success or edit hides the line, or its button does.
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
            const QString& words = tr("Undo"));  // shown until the next edit; words: the button's text
  void endNote();
  QString text() const;
  QPushButton* wayOut() const { return way_out_; }

 private:
  QLabel* text_;
  QPushButton* way_out_;
  QAction* action_ = nullptr;
};

}  // namespace shardscape::ui
