// The dialog that exports a bundle: folder, options, size and progress. Closing the dialog does not stop a
// running export. The bundle has the step of the present design, or a range of steps of a simulated service.
#pragma once

#include <QDialog>
#include <optional>

#include "bundle/step_bundle.h"
#include "ui/shell/export_job.h"
#include "ui/toolkit/newest_job.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;

namespace shardscape::ui {

class BundleShape;
class BundleSteps;
class ScrolledContent;
class Session;
struct TargetState;

class ExportDialog : public QDialog {
  Q_OBJECT
 public:
  ExportDialog(Session* session, ExportJob* job, QWidget* parent);
  BundleSteps* steps() const { return steps_; }
  // Exports these steps instead of the present design.
  void setSteps(std::shared_ptr<const ServiceRun> run, const StepRange& range);
  void setFolder(const QString& folder);  // chosen by the person; replaces the suggested folder

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  // What the bundle would have.
  struct Content {
    bool ready = false, computing = false;
    QString problem;  // why there is none
    int64_t traces = 0;
    std::optional<int64_t> bytes = {};  // nullopt: being computed
    bool part = false;                  // of the traces
  };
  Content content();
  QString sizeText(const Content& of, const TargetState& target) const;
  std::optional<int64_t> bytesOf(const std::shared_ptr<const Report>& report, ExportOptions options);
  QString name() const;  // of the design
  void describe();
  void build();
  void suggestFolder();
  ExportOptions options() const;
  void browse();
  void start();
  void refresh();  // updates size, target problems and buttons
  void refreshJob();
  void finish(const ExportJob::Outcome& outcome);
  void showFits();  // says if the design does not fit
  void showMessage(const QString& text, bool wrong);
  Session* session_;
  ExportJob* job_;
  QLineEdit *folder_, *name_;
  QCheckBox *tensors_, *durations_, *flat_network_;
  BundleShape* shape_;
  QCheckBox* replace_;
  QLabel *what_, *size_, *fits_, *message_, *progress_text_;
  QProgressBar* progress_;
  QPushButton *browse_, *start_, *cancel_, *close_;
  BundleSteps* steps_;  // after an export
  ScrolledContent* scroll_;
  std::shared_ptr<const Report> exported_;
  // Of a range of steps; null: the bundle has the present design.
  std::shared_ptr<const ServiceRun> run_;
  std::shared_ptr<const StepWindow> window_;  // null: being computed
  int64_t window_bytes_[2] = {};              // without and with tensors
  QString window_problem_;
  struct Sized {  // of which the size is known or being computed
    std::shared_ptr<const Report> report;
    ExportOptions options;  // without the target
    bool operator==(const Sized&) const = default;
  } sized_;
  std::optional<int64_t> bytes_;                  // of sized_; nullopt: being computed
  bool folder_chosen_ = false, started_ = false;  // started_: the running export is that of this dialog
  bool part_ = false;                             // the running export has a part of the traces
  bool outcome_shown_ = false;                    // of an export; the next change takes it away
  NewestJob size_job_{this};                      // last member: its thread ends before what it posts to
};

}  // namespace shardscape::ui
