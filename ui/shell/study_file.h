// A file that keeps the unsaved study of one window. A lock that ends with the process tells the files of
// running windows from those of crashed ones.
#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "base/problem.h"

namespace shardscape::ui {

class StudyFile {
 public:
  // A new name in the folder, which is made if it is missing. Nothing is written yet.
  static Result<std::unique_ptr<StudyFile>> create(const QString& folder);
  // The files of processes that ended without removing them, the newest first. The caller owns them: no other
  // process gets them meanwhile. Also removes what interrupted writes left.
  static std::vector<std::unique_ptr<StudyFile>> abandoned(const QString& folder);

  ~StudyFile();  // the file stays, and is abandoned
  StudyFile(const StudyFile&) = delete;
  StudyFile& operator=(const StudyFile&) = delete;
  const QString& path() const { return path_; }
  std::optional<Problem> write(const std::string& text) const;  // replaces the content at once
  void clear() const;                                           // removes the file, not the lock
  void remove();                                                // both

 private:
  StudyFile(const QString& path, int lock) : path_(path), lock_(lock) {}
  QString path_;
  int lock_;  // file descriptor
};

// Where the windows of this user keep their unsaved studies.
QString studyFolder();

}  // namespace shardscape::ui
