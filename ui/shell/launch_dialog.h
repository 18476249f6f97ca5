// The preview of an imported launch: what became of every field, and the step that it would run next to what
// its log measured. "Apply" adopts the whole design, in one undo step. The person can correct what a file
// seldom says: the framework, the number of GPUs, the variables of a script. A thread reads the launch and
// estimates its step, which takes seconds for thousands of pipeline stages.
#pragma once

#include <QDialog>
#include <QTimer>
#include <memory>

#include "launch/launch_import.h"
#include "plan/report.h"
#include "timing/simulation.h"
#include "ui/shell/import_parts.h"
#include "ui/toolkit/newest_job.h"

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
  struct Reading {
    LaunchImport import;
    std::shared_ptr<const Report> report;          // null: there is no design
    std::shared_ptr<const Simulation> simulation;  // null: there is no step, or nothing was measured
  };
  void addWidgets();
  void edit();  // what is shown is not of the choices any more
  void read();  // the text again, with the framework and GPUs that are chosen
  static Reading reading(const LaunchRequest& request, const ClusterSpec& cluster,
                         const std::shared_ptr<PlanCache>& plans, const std::stop_token& stop);
  void present(const Reading& reading);
  void fill();
  QString title() const;
  QString summary() const;
  QString problemText() const;
  void apply();
  Session* session_;
  LaunchRequest request_;
  Reading shown_;
  QLabel *title_, *summary_, *problem_;
  QComboBox* framework_;
  QLineEdit *gpus_, *name_;  // name_: of the model
  QLineEdit* variables_;     // of the environment of a script
  QTimer pause_;             // a number may be half typed
  FieldTree fields_;
  QPushButton* apply_;
  NewestJob job_{this};  // last member: the thread ends before what it posts to
};

}  // namespace shardscape::ui
