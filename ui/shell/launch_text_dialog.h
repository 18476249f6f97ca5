// Shows the present design as the launch of a framework, with the settings that the framework cannot express.
// The text can be copied or saved.
#pragma once

#include <QDialog>

#include "launch/launch_export.h"
#include "ui/shell/import_parts.h"

class QComboBox;
class QPlainTextEdit;

namespace shardscape::ui {

class Session;

class LaunchTextDialog : public QDialog {
  Q_OBJECT
 public:
  LaunchTextDialog(Session* session, QWidget* parent);

 private:
  void addWidgets();
  void write();  // for the framework that is chosen
  void copy();
  void save();
  Session* session_;
  LaunchText launch_;
  QLabel *title_, *problem_;
  QComboBox* framework_;
  QPlainTextEdit* text_;
  FieldTree gaps_;
  QPushButton *copy_, *save_;
};

}  // namespace shardscape::ui
