// Where to write the bundle, how large it gets, and how far it is. Closing it does not stop a running export.
#pragma once

#include <QDialog>

#include "ui/shell/export_job.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;

namespace shardscape::ui {

class Session;

class ExportDialog : public QDialog {
  Q_OBJECT
 public:
  ExportDialog(Session* session, ExportJob* job, QWidget* parent);
  void setFolder(const QString& folder);  // the person's choice: no longer the one that is suggested

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void build();
  void suggestFolder();
  ExportOptions options() const;
  void browse();
  void start();
  void refresh();  // what would be written, and whether it can be
  void refreshJob();
  void finish(const ExportJob::Outcome& outcome);
  void showMessage(const QString& text, bool wrong);
  Session* session_;
  ExportJob* job_;
  QLineEdit *folder_, *name_;
  QCheckBox *tensors_, *durations_, *replace_;
  QLabel *size_, *message_, *progress_text_;
  QProgressBar* progress_;
  QPushButton *browse_, *start_, *cancel_, *close_, *open_;
  bool folder_chosen_ = false;
  QString written_;  // the folder of the last export that ended well
};

}  // namespace shardscape::ui
