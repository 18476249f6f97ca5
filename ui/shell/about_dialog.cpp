#include "ui/shell/about_dialog.h"

#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/toolkit/icons.h"
#include "ui/toolkit/screen_room.h"

namespace shardscape::ui {

void showAbout(QWidget* parent) {
  auto* dialog = new QDialog(parent);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(QDialog::tr("About Shardscape"));
  auto* icon = new QLabel(dialog);
  icon->setPixmap(iconPixmap("shardscape", Qt::black, 56, dialog->devicePixelRatioF()));
  auto* title = new QLabel(QString("Shardscape %1").arg(QCoreApplication::applicationVersion()), dialog);
  title->setProperty("role", "title");
  auto* text = new QLabel(
      QDialog::tr("Design-space explorer for distributed training and inference of large language models.\n\n"
                  "Free software under the GNU General Public License, version 3 or later.\n"
                  "Made with Qt %1, QCustomPlot, oneTBB and Protocol Buffers.")
          .arg(qVersion()),
      dialog);
  text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  text->setProperty("role", "secondary");
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
  QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::close);
  auto* layout = new QVBoxLayout((new ScrolledContent(dialog))->widget());
  layout->setContentsMargins(24, 20, 24, 16);
  layout->setSpacing(10);
  for (QWidget* widget : {static_cast<QWidget*>(icon), static_cast<QWidget*>(title),
                          static_cast<QWidget*>(text), static_cast<QWidget*>(buttons)}) {
    layout->addWidget(widget);
  }
  dialog->show();
}

}  // namespace shardscape::ui
