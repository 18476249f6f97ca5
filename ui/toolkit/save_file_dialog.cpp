#include "ui/toolkit/save_file_dialog.h"

#include <QFileDialog>
#include <QFileInfo>

namespace shardscape::ui {

QString askWhereToSave(QWidget* parent, const QString& title, const QString& proposal, const QString& filter,
                       const QString& suffix) {
  const QFileInfo proposed(proposal);
  QFileDialog dialog(parent, title, proposed.absolutePath(), filter);
  dialog.setAcceptMode(QFileDialog::AcceptSave);
  dialog.setDefaultSuffix(suffix);
  dialog.selectFile(proposed.fileName());
  if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return {};
  return dialog.selectedFiles().front();
}

}  // namespace shardscape::ui
