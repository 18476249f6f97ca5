#include "ui/toolkit/copy_command.h"

#include <QClipboard>
#include <QCoreApplication>
#include <QCursor>
#include <QGuiApplication>
#include <QToolTip>

#include "design/knobs/command_flags.h"

namespace shardscape::ui {

void copyCommandLine(const Design& design, QWidget* where) {
  const QString line = QString::fromStdString(command_line(design));
  QGuiApplication::clipboard()->setText(line);
  QToolTip::showText(
      QCursor::pos(),
      QStringLiteral("<p>%1</p>")
          .arg(QCoreApplication::translate("copyCommandLine", "Copied: %1").arg(line.toHtmlEscaped())),
      where);
}

}  // namespace shardscape::ui
