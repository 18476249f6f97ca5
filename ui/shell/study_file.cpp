#include "ui/shell/study_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <QUuid>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/atomic_write.h"
#include "base/partial.h"

namespace shardscape::ui {
namespace {

QString lock_path(const QString& path) { return path + QStringLiteral(".lock"); }

// The descriptor of a locked file; -1, with errno: another process holds the lock, or the file cannot be
// made. flock ends with the process, however it ends, and the number of a process that is used again does not
// mislead it.
int locked(const QString& path) {
  for (;;) {
    const int file = ::open(QFile::encodeName(path).constData(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    struct stat state {};
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
      const int reason = errno;
      ::close(file);
      errno = reason;
      return -1;
    }
    // Another process may have removed the file between open and flock.
    if (::fstat(file, &state) == 0 && state.st_nlink > 0) return file;
    ::close(file);
  }
}

}  // namespace

Result<std::unique_ptr<StudyFile>> StudyFile::create(const QString& folder) {
  const QString path = QDir(folder).filePath(QUuid::createUuid().toString(QUuid::Id128) +
                                             QStringLiteral(".json"));
  QDir().mkpath(folder);
  const int lock = locked(lock_path(path));
  if (lock < 0)
    return Problem{ProblemCode::FolderNotWritable, folder.toStdString(),
                   std::string("unsaved work cannot be kept here: ") + std::strerror(errno),
                   "a writable folder on a file system with locks"};
  return std::unique_ptr<StudyFile>(new StudyFile(path, lock));
}

std::vector<std::unique_ptr<StudyFile>> StudyFile::abandoned(const QString& folder) {
  const QDir in(folder);
  QStringList names;
  for (QString name : in.entryList({QStringLiteral("*.json"), QStringLiteral("*.json.*")}, QDir::Files)) {
    // The filter ignores case.
    const auto end = name.indexOf(QStringLiteral(".json"));
    if (end < 0) continue;
    name.truncate(end + 5);
    if (!names.contains(name)) names << name;
  }
  std::vector<std::unique_ptr<StudyFile>> files;
  for (const QString& name : names) {
    const QString path = in.filePath(name);
    const int lock = locked(lock_path(path));
    if (lock < 0) continue;  // of a running window
    std::unique_ptr<StudyFile> file(new StudyFile(path, lock));
    remove_leftovers(path.toStdString());
    QFile::exists(path) ? files.push_back(std::move(file)) : file->remove();
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return QFileInfo(a->path()).lastModified() > QFileInfo(b->path()).lastModified();
  });
  return files;
}

StudyFile::~StudyFile() {
  if (lock_ >= 0) ::close(lock_);
}

std::optional<Problem> StudyFile::write(const std::string& text) const {
  return atomic_write(path_.toStdString(), text);
}

void StudyFile::clear() const { QFile::remove(path_); }

void StudyFile::remove() {
  clear();
  QFile::remove(lock_path(path_));
  ::close(std::exchange(lock_, -1));
}

QString studyFolder() {
  return QDir(QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation))
      .filePath(QStringLiteral("unsaved"));
}

}  // namespace shardscape::ui
