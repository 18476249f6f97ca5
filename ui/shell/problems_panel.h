// The list of problems above the status bar. Enter or a click on a fix applies the fix; a double click goes
// to the field.
#pragma once

#include <QWidget>

#include "base/problem.h"

class QLabel;
class QTableView;

namespace shardscape::ui {

class ProblemsModel;
class Session;

class ProblemsPanel : public QWidget {
  Q_OBJECT
 public:
  explicit ProblemsPanel(Session* session, QWidget* parent = nullptr);
  QTableView* table() const { return table_; }

 Q_SIGNALS:
  void memoryRequested();
  void closeRequested();

 protected:
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void refresh();
  void applyFirstFix(int row);
  void goTo(const Problem& problem);
  Session* session_;
  ProblemsModel* model_;
  QTableView* table_;
  QLabel* empty_label_;
};

}  // namespace shardscape::ui
