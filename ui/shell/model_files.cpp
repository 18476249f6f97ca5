#include "ui/shell/model_files.h"

#include <QDir>
#include <QDirIterator>
#include <QFileInfo>

#include "ui/session/session.h"
#include "ui/shell/message_bar.h"

namespace shardscape::ui {
namespace {

constexpr int kPauseMs = 300;

QString own() { return QString::fromStdString(own_folder().string()); }

}  // namespace

ModelFiles::ModelFiles(Session* session, MessageBar* messages, QObject* parent)
    : QObject(parent), session_(session), messages_(messages) {
  pause_.setSingleShot(true);
  pause_.setInterval(kPauseMs);
  connect(&pause_, &QTimer::timeout, this, &ModelFiles::readAgain);
  for (const auto signal : {&QFileSystemWatcher::directoryChanged, &QFileSystemWatcher::fileChanged})
    connect(&watcher_, signal, &pause_, qOverload<>(&QTimer::start));
  // The program's own saves read the library at once.
  connect(session, &Session::libraryChanged, this, &ModelFiles::follow);
  follow();
  report();
}

// A file may have changed before it is watched.
void ModelFiles::follow() {
  read_ = ModelLibrary::instance().own_files();
  watch();
  if (own_file_stamps() != read_) pause_.start();
}

// Watches files for changes, and folders for new and replaced files. Until the folder of the models exists,
// its nearest existing parent is watched.
void ModelFiles::watch() {
  if (own().isEmpty()) return;
  QString folder = own();
  while (!QFileInfo::exists(folder) && !QDir(folder).isRoot()) folder = QFileInfo(folder).path();
  QStringList paths{folder};
  if (folder == own()) {
    QDirIterator folders(folder, QDir::Dirs | QDir::NoDotAndDotDot);
    while (folders.hasNext()) paths << folders.next();
    for (const auto& [path, stamp] : own_file_stamps()) paths << QString::fromStdString(path);
  }
  const QStringList watched = watcher_.files() + watcher_.directories();
  if (!watched.isEmpty()) watcher_.removePaths(watched);
  watcher_.addPaths(paths);
}

void ModelFiles::readAgain() {
  watch();  // a replaced file is no longer watched
  if (own_file_stamps() == read_) return;
  session_->reloadLibrary();
  report();
}

// Own files that cannot be read are left out; the program goes on without them.
void ModelFiles::report() {
  const std::vector<Problem>& problems = ModelLibrary::instance().problems();
  if (problems.empty()) {
    if (!reported_.isEmpty() && messages_->text() == reported_) messages_->hide();
    reported_.clear();
    return;
  }
  const QString first = QString::fromStdString(problems.front().where + ": " + problems.front().what);
  reported_ = problems.size() == 1 ? tr("A model file was left out. %1").arg(first)
                                   : tr("%1 model files were left out. %2").arg(problems.size()).arg(first);
  messages_->show(reported_);
}

}  // namespace shardscape::ui
