#include "ui/shell/export_target.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStorageInfo>

#include "bundle/manifest.h"

namespace shardscape::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("export", text); }

QString nearest_existing(QString path) {
  while (!path.isEmpty() && !QFileInfo::exists(path)) {
    const QString parent = QFileInfo(path).path();
    if (parent == path) break;
    path = parent;
  }
  return path;
}

}  // namespace

TargetState examineTarget(const QString& folder, bool replace) {
  TargetState state;
  if (folder.trimmed().isEmpty()) {
    state.problem = tr("Choose a folder for the bundle.");
    return state;
  }
  const QFileInfo info(folder);
  const QString existing = nearest_existing(info.absoluteFilePath());
  const QStorageInfo storage(existing);
  if (storage.isValid()) {
    state.free = storage.bytesAvailable();
    state.volume = storage.rootPath();
  }
  const QFileInfo base(existing);
  if (info.exists() && !info.isDir()) {
    state.problem = tr("%1 is a file. A bundle needs a folder of its own.").arg(folder);
  } else if (info.exists() &&
             !QDir(folder).isEmpty(QDir::AllEntries | QDir::Hidden | QDir::System | QDir::NoDotAndDotDot)) {
    state.bundle_there = read_manifest(folder.toStdString(), 0).has_value();
    if (!state.bundle_there) {
      state.problem = tr("This folder is not empty and holds no bundle. Choose a new or empty folder.");
    } else if (!replace) {
      state.problem = tr(
          "There is a bundle in this folder. Tick \"Replace\" to put the new one in its place.");
    }
  } else if (!base.isDir()) {
    state.problem = tr("%1 is a file, so no folder can be made below it.").arg(existing);
  } else if (!base.isWritable()) {
    state.problem = tr("%1 cannot be written to. Choose another place.").arg(existing);
  }
  return state;
}

}  // namespace shardscape::ui
