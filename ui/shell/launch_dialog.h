// The preview of an imported launch: what became of every field, and the step that it would run next to what
// its log measured. "Apply" adopts the whole design, in one undo step. The person can correct what a file
// seldom says: the framework, the number of GPUs, the variables of a script.
#pragma once

#include <QDialog>
#include <QTimer>
#include <memory>

#include "launch/launch_import.h"
#include "plan/report.h"
#include "ui/shell/import_parts.h"

class QComboBox;
class QLineEdit;

namespace shardscape::ui {

class Session;

class LaunchDialog : public QDialog {
  Q_OBJECT
 public:
  // request: its text and name; the dialog asks for the rest.
  LaunchDialog(Session* session, LaunchRequest request, QWidget* parent);

 private:
  void addWidgets();
  void read();  // the text again, with the framework and GPUs that are chosen
  void fill();
  QString title() const;
  QString summary() const;
  QString problemText() const;
  void apply();
  Session* session_;
  LaunchRequest request_;
  LaunchImport import_;
  std::shared_ptr<const Report> report_;  // null: there is no design
  QLabel *title_, *summary_, *problem_;
  QComboBox* framework_;
  QLineEdit *gpus_, *name_;  // name_: of the model
  QLineEdit* variables_;     // of the environment of a script
  QTimer pause_;             // a number may be half typed
  FieldTree fields_;
  QPushButton* apply_;
};

}  // namespace shardscape::ui
