// The machine of the estimates: every value of the design's accelerator and network, and measurements, with
// their sources. Follows the design. Values that settings of the cluster override can be edited.
#pragma once

#include <QDialog>
#include <optional>

#include "base/problem.h"

class QLabel;
class QLineEdit;
class QPushButton;

namespace shardscape::ui {

class ChartTable;
class CopyLabel;
class IssueLine;
class MachineModel;
class Session;

class MachineDialog : public QDialog {
  Q_OBJECT
 public:
  MachineDialog(Session* session, QWidget* parent);
  QPushButton* editButton() const { return edit_; }
  QPushButton* resetButton() const { return reset_; }
  IssueLine* issue() const { return issue_; }

 private:
  void refresh();
  void showSource(int row);
  void showIssue();
  QLineEdit* makeEditor(QWidget* parent, int row) const;
  void setValue(int row, const QString& text);
  Session* session_;
  MachineModel* model_;
  ChartTable* table_;
  QLabel *title_, *summary_;
  CopyLabel* source_;  // the whole source of the selected row
  IssueLine* issue_;   // the problem of the selected row's setting
  QPushButton *edit_, *reset_;
  std::optional<Problem> rejected_;  // of the last typed text
  int selected_row_ = 0;
};

}  // namespace shardscape::ui
