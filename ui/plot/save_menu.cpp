#include "ui/plot/save_menu.h"

#include <QClipboard>
#include <QDir>
#include <QFileInfo>
#include <QGuiApplication>
#include <QImage>
#include <QMessageBox>
#include <QStandardPaths>

#include "ui/plot/picture_caption.h"
#include "ui/toolkit/save_file_dialog.h"

namespace shardscape::ui {
namespace {

// The folder of the last save in any view.
QString& last_folder() {
  static QString folder = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
  return folder;
}

}  // namespace

SaveMenu::SaveMenu(std::function<Picture()> source, const Session* session, QWidget* parent)
    : QMenu(parent), source_(std::move(source)), session_(session) {
  QList<QAction*> csv, trace, json;
  for (const SaveFormatInfo& info : save_formats()) {
    QAction* action = addAction(tr("%1…").arg(info.label), this,
                                [this, format = info.format] { save(format); });
    action->setObjectName(info.format == SaveFormat::Json ? QStringLiteral("save_result")
                                                          : QStringLiteral("save_") + info.suffix);
    if (info.format == SaveFormat::Json) json.append(action);
    if (info.format == SaveFormat::Csv) csv.append(action);
    if (info.format == SaveFormat::Trace) trace.append(action);
  }
  addSeparator();
  addAction(tr("Copy picture"), this, &SaveMenu::copy)->setObjectName(QStringLiteral("copy_picture"));
  connect(this, &QMenu::aboutToShow, this, [this, csv, trace, json] {
    const Picture picture = source_();
    for (QAction* action : csv) action->setVisible(static_cast<bool>(picture.csv));
    for (QAction* action : trace) action->setVisible(static_cast<bool>(picture.trace));
    for (QAction* action : json) action->setVisible(static_cast<bool>(picture.json));
  });
}

Picture SaveMenu::picture() const {
  Picture picture = source_();
  picture.caption = pictureCaption(*session_, day_.isValid() ? day_ : QDate::currentDate());
  return picture;
}

void SaveMenu::save(SaveFormat format) {
  const Picture picture = this->picture();
  const SaveFormatInfo& info = info_of(format);
  const QString suggestion = QDir(last_folder()).filePath(picture.file_name + u'.' + info.suffix);
  const QString path = askWhereToSave(parentWidget(), tr("Save %1").arg(picture.title), suggestion,
                                      QStringLiteral("%1 (*.%2)").arg(info.label, info.suffix), info.suffix);
  if (path.isEmpty()) return;
  last_folder() = QFileInfo(path).absolutePath();
  if (const std::optional<Problem> problem = save_picture(picture, format, path)) {
    auto* box = new QMessageBox(QMessageBox::Warning, tr("Nothing was saved"),
                                QString::fromStdString(to_string(*problem)), QMessageBox::Ok, parentWidget());
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
  }
}

void SaveMenu::copy() {
  const Result<QByteArray> bytes = encoded(picture(), SaveFormat::Png);
  if (const auto* png = std::get_if<QByteArray>(&bytes))
    QGuiApplication::clipboard()->setImage(QImage::fromData(*png, "PNG"));
}

}  // namespace shardscape::ui
