#include "base/atomic_write.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/partial.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as the kernel

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : "."; }

// The path that a chain of symbolic links ends in, also where no file is there. /dev/stdout ends in
// /proc/self/fd/1: the links in that folder are names of open files, whatever they seem to point to.
struct End {
  fs::path path;
  std::optional<int> descriptor{};  // of this process
};

End end_of_links(fs::path path) {
  const fs::path descriptors = "/proc/" + std::to_string(::getpid()) + "/fd";
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code error;
    const fs::path folder = fs::canonical(folder_of(path), error);
    if (error) return {path};
    path = folder / path.filename();
    if (const std::string name = path.filename().string(); folder == descriptors) {
      int number = -1;
      if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc())
        return {path, number};
    }
    const fs::path next = fs::read_symlink(path, error);
    if (error) return {path};
    path = folder / next;
  }
  return {path};
}

// 0 or errno. The file may be -1, with errno set.
int write_and_close(int file, std::string_view text) {
  if (file < 0) return errno;
  const int error = write_all(file, text);
  return ::close(file) != 0 && error == 0 ? errno : error;
}

// A new temporary file with the text and the rights of the old file, on the disk. 0 or errno.
int write_partial(PartialFile& file, const fs::path& target, const struct stat* old, std::string_view text) {
  remove_leftovers(target);
  if (const int error = file.open(target, old ? old->st_mode & 0777 : 0666)) return error;
  if (old)
    if (const int error = take_rights(file.descriptor(), *old)) return error;
  if (const int error = write_all(file.descriptor(), text)) return error;
  return file.sync();
}

Problem not_writable(const fs::path& path, const std::string& reason, const std::string& accepted) {
  return {ProblemCode::FileNotWritable, path.string(), "the file cannot be written: " + reason, accepted};
}

constexpr const char* kWritableFolder = "a path in an existing, writable folder with free space";

std::optional<Problem> problem_of(int error, const fs::path& path) {
  if (error == 0) return std::nullopt;
  const bool files = error == ENOSPC && out_of_files(folder_of(path));
  return not_writable(path,
                      files ? "the disk has no room for another file (no free inodes)" : std::strerror(error),
                      kWritableFolder);
}

// A file that exists, or nothing.
std::optional<struct stat> status_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

// What keeps the file that exists from being written.
std::optional<Problem> why_kept(const fs::path& path, const struct stat& old) {
  if (S_ISDIR(old.st_mode)) return not_writable(path, "it is a folder", "the path of a file");
  const bool writable = !S_ISREG(old.st_mode) || (old.st_mode & 0222) != 0;
  if (writable && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0) return std::nullopt;
  if (writable && errno == EROFS) return not_writable(path, std::strerror(errno), kWritableFolder);
  return not_writable(path, "it is read-only", "another file, or one that its user may write to (chmod u+w)");
}

// 0 or errno.
int access_error(const fs::path& folder) {
  return ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

}  // namespace

std::optional<Problem> why_not_writable(const fs::path& path) {
  if (path.empty()) return not_writable(path, "the path is empty", kWritableFolder);
  const End end = end_of_links(path);
  if (end.descriptor) return std::nullopt;
  const auto old = status_of(path);
  if (old)
    if (auto problem = why_kept(path, *old)) return problem;
  if (old && !S_ISREG(old->st_mode))
    return std::nullopt;  // a device or a pipe takes bytes without its folder
  const auto folder = status_of(folder_of(end.path));
  const int error = !folder ? errno : !S_ISDIR(folder->st_mode) ? ENOTDIR : access_error(folder_of(end.path));
  if (error != 0) return not_writable(path, std::strerror(error), kWritableFolder);
  return std::nullopt;
}

std::optional<Problem> why_no_folder(const fs::path& path) {
  fs::path above = path;
  while (!above.empty() && !status_of(above) && errno == ENOENT && above != above.parent_path())
    above = above.parent_path();
  if (above.empty()) above = ".";
  const auto folder = status_of(above);
  const int error = !folder ? errno : !S_ISDIR(folder->st_mode) ? ENOTDIR : access_error(above);
  if (error == 0) return std::nullopt;
  return Problem{ProblemCode::FolderNotWritable, path.string(),
                 std::string("the folder cannot be written: ") + std::strerror(error),
                 "a new folder in a writable folder"};
}

AtomicFile::AtomicFile() = default;
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;
AtomicFile::~AtomicFile() = default;

Result<AtomicFile> AtomicFile::write(const fs::path& path, std::string_view text) {
  const auto old = status_of(path);
  if (old && S_ISDIR(old->st_mode)) return *why_kept(path, *old);
  const End end = end_of_links(path);
  AtomicFile made;
  made.path_ = path;
  made.text_ = text;
  made.descriptor_ = end.descriptor;
  if (end.descriptor || (old && !S_ISREG(old->st_mode))) return made;
  if (old)
    if (auto problem = why_kept(path, *old)) return *problem;
  made.file_ = std::make_unique<PartialFile>();
  if (auto problem = problem_of(write_partial(*made.file_, end.path, old ? &*old : nullptr, text), path))
    return *problem;
  return made;
}

std::optional<Problem> AtomicFile::commit() {
  if (file_) return problem_of(file_->commit(true), path_);
  const int file = descriptor_ ? ::fcntl(*descriptor_, F_DUPFD_CLOEXEC, 0)
                               : ::open(path_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  return problem_of(write_and_close(file, text_), path_);
}

std::optional<Problem> atomic_write(const fs::path& path, std::string_view text) {
  auto written = AtomicFile::write(path, text);
  if (auto* problem = std::get_if<Problem>(&written)) return std::move(*problem);
  return std::get<AtomicFile>(written).commit();
}

}  // namespace shardscape
