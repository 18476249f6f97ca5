// Ctrl+K: one line that finds every action, model and field.
#pragma once

#include <QFrame>
#include <QPointer>

#include "ui/shell/command_model.h"

class QLabel;
class QLineEdit;
class QListView;

namespace shardscape::ui {

class CommandPalette : public QFrame {
  Q_OBJECT
 public:
  explicit CommandPalette(QWidget* window);
  void open(QVector<Command> commands);
  QLineEdit* line() const { return line_; }
  CommandModel* model() const { return model_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void place();
  void move(int rows);
  void run();
  void dismiss();
  QLineEdit* line_;
  QListView* list_;
  QLabel* no_match_;
  CommandModel* model_;
  QPointer<QWidget> focus_before_;
};

}  // namespace shardscape::ui
