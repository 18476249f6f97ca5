// The machine of the estimates: every value of the design's accelerator and network, and measurements, with
// their sources. Follows the design.
#pragma once

#include <QDialog>

class QLabel;

namespace shardscape::ui {

class ChartTable;
class CopyLabel;
class MachineModel;
class Session;

class MachineDialog : public QDialog {
  Q_OBJECT
 public:
  MachineDialog(Session* session, QWidget* parent);

 private:
  void refresh();
  void showSource(int row);
  Session* session_;
  MachineModel* model_;
  ChartTable* table_;
  QLabel *title_, *summary_;
  CopyLabel* source_;  // the whole source of the selected row
  int selected_row_ = 0;
};

}  // namespace shardscape::ui
