#include "ui/toolkit/copy_command.h"

#include <QClipboard>
#include <QCoreApplication>
#include <QCursor>
#include <QGuiApplication>
#include <QToolTip>

#include "design/document.h"
#include "design/knobs/command_flags.h"

namespace shardscape::ui {
namespace {

void copied(const QString& text, const QString& tip, QWidget* where) {
  QGuiApplication::clipboard()->setText(text);
  QToolTip::showText(QCursor::pos(), QStringLiteral("<p>%1</p>").arg(tip.toHtmlEscaped()), where);
}

}  // namespace

void copyCommandLine(const Design& design, QWidget* where) {
  const QString line = QString::fromStdString(command_line(design));
  copied(line, QCoreApplication::translate("copyCommandLine", "Copied: %1").arg(line), where);
}

void copyDesignJson(const Design& design, QWidget* where) {
  copied(QString::fromStdString(to_json(design)),
         QCoreApplication::translate("copyDesignJson", "Copied as JSON: %1")
             .arg(QString::fromStdString(design.name)),
         where);
}

}  // namespace shardscape::ui
