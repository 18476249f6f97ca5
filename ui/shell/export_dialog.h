// The dialog that exports a bundle: folder, options, size and progress. Closing the dialog does not stop a
// running export.
#pragma once

#include <QDialog>

#include "ui/shell/export_job.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;

namespace shardscape::ui {

class BundleSteps;
class ScrolledContent;
class Session;

class ExportDialog : public QDialog {
  Q_OBJECT
 public:
  ExportDialog(Session* session, ExportJob* job, QWidget* parent);
  BundleSteps* steps() const { return steps_; }
  void setFolder(const QString& folder);  // chosen by the person; replaces the suggested folder

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
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
  QCheckBox *tensors_, *durations_, *flat_network_, *replace_;
  QLabel *what_, *size_, *fits_, *message_, *progress_text_;
  QProgressBar* progress_;
  QPushButton *browse_, *start_, *cancel_, *close_;
  BundleSteps* steps_;  // after an export
  ScrolledContent* scroll_;
  std::shared_ptr<const Report> exported_;
  bool folder_chosen_ = false;
};

}  // namespace shardscape::ui
