#include "base/partial.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <random>
#include <utility>

#include "base/units.h"

namespace shardscape {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789", kEnding = ".partial-";
constexpr size_t kRandomLetters = 6;
constexpr int kAttempts = 100;

// ".NAME.partial-". Of a name that leaves no room for the ending: its first letters and a number made of all.
std::string prefix_of(const fs::path& target) {
  std::string name = target.filename().string();
  const long most = ::pathconf(target.parent_path().c_str(), _PC_NAME_MAX);
  const size_t room = static_cast<size_t>(most > 64 ? most : 255) - 1 - kEnding.size() - kRandomLetters;
  if (name.size() > room) {
    const std::string number = "~" + std::to_string(std::hash<std::string>()(name));
    name = name.substr(0, room - number.size()) + number;
  }
  return "." + name + std::string(kEnding);
}

// Temporary files and folders of the target, of running programs too.
std::vector<fs::path> partials(const fs::path& target) {
  const std::string prefix = prefix_of(target);
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator it(target.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.size() == prefix.size() + kRandomLetters && name.starts_with(prefix) &&
        name.find_first_not_of(kLetters, prefix.size()) == std::string::npos)
      out.push_back(it->path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool lock(int file, int how) {
  int result = 0;
  while ((result = ::flock(file, how)) != 0 && errno == EINTR) {}
  return result == 0;
}

// Whether an open file still has a name: another program may remove it between open and lock.
bool has_name(int file) {
  struct stat state {};
  return ::fstat(file, &state) != 0 || state.st_nlink > 0;
}

int rename_to_new(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // A file system that knows no such rename: a second name never replaces a file either.
  if (::link(from.c_str(), to.c_str()) == 0) return ::unlink(from.c_str()) == 0 ? 0 : errno;
  if (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP) return errno;
  // Nor second names.
  struct stat there {};
  if (::lstat(to.c_str(), &there) == 0) return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

PathLock::PathLock(PathLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), holds_(other.holds_) {}

PathLock& PathLock::operator=(PathLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(holds_, other.holds_);
  return *this;
}

PathLock::~PathLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

PathLock PathLock::wait(const fs::path& path) {
  PathLock made;
  made.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  made.holds_ = made.descriptor_ >= 0 && lock(made.descriptor_, LOCK_EX);
  return made;
}

std::optional<PathLock> PathLock::take(const fs::path& path) {
  PathLock made;
  constexpr int kFlags = O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
  made.descriptor_ = ::open(path.c_str(), O_RDWR | kFlags);  // NFS locks only files that may be written
  if (made.descriptor_ < 0) made.descriptor_ = ::open(path.c_str(), O_RDONLY | kFlags);
  if (made.descriptor_ < 0) return std::nullopt;
  made.holds_ = lock(made.descriptor_, LOCK_EX | LOCK_NB);
  if (!made.holds_ && errno == EWOULDBLOCK) return std::nullopt;
  return made;
}

PartialFile::~PartialFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

int PartialFile::open(const fs::path& target, mode_t mode) {
  target_ = target;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto path = partial_path(target);
    if (!std::holds_alternative<fs::path>(path)) return EEXIST;
    const int file = ::open(std::get<fs::path>(path).c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return errno;
    lock(file, LOCK_EX);
    if (!has_name(file)) {
      ::close(file);
      continue;
    }
    path_ = std::get<fs::path>(path);
    descriptor_ = file;
    return 0;
  }
  return EEXIST;
}

int PartialFile::sync() {
  if (synced_) return 0;
  // Some file systems have no fsync.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return errno;
  synced_ = true;
  return 0;
}

int PartialFile::commit(bool replace) {
  if (const int error = sync()) return error;
  if (!replace) {
    if (const int error = rename_to_new(path_, target_)) return error;
  } else if (::rename(path_.c_str(), target_.c_str()) != 0) {
    return errno;
  }
  path_.clear();
  sync_folder(target_.parent_path());
  return 0;
}

Result<fs::path> partial_path(const fs::path& target) {
  std::random_device random;
  const std::string prefix = prefix_of(target);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string name = prefix;
    for (size_t i = 0; i < kRandomLetters; ++i) name += kLetters[random() % kLetters.size()];
    std::error_code error;
    if (fs::path path = target.parent_path() / name; !fs::exists(fs::symlink_status(path, error)))
      return path;
  }
  return Problem{ProblemCode::FolderNotWritable, target.parent_path().string(),
                 "no name is free for a temporary file", "another folder"};
}

std::vector<fs::path> leftovers(const fs::path& target) {
  std::vector<fs::path> out = partials(target);
  std::erase_if(out, [](const fs::path& path) { return !PathLock::take(path); });
  return out;
}

int64_t bytes_below(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const auto size = fs::file_size(path, error);
    return error ? 0 : static_cast<int64_t>(size);
  }
  int64_t bytes = 0;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    std::error_code of_file;
    if (const auto size = it->file_size(of_file); !of_file) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

std::vector<std::string> remove_leftovers(const fs::path& target) {
  std::vector<std::string> lines;
  for (const fs::path& path : partials(target)) {
    const auto lock = PathLock::take(path);  // held while the files are removed
    if (!lock) continue;
    const std::string what = path.string() + " (" + format_bytes(bytes_below(path)) + ")";
    if (!lock->holds()) {
      lines.push_back(what +
                      " may be what an export that was killed left: the file system has no locks, so " +
                      "it stays");
      continue;
    }
    std::error_code error;
    fs::remove_all(path, error);
    lines.push_back((error ? "cannot remove " : "removed ") + what +
                    ", which an export that was killed left");
  }
  return lines;
}

int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written >= 0)
      bytes.remove_prefix(static_cast<size_t>(written));
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

int take_rights(int file, const struct stat& old) {
  [[maybe_unused]] int given = ::fchown(file, old.st_uid, old.st_gid);
  if (given != 0) given = ::fchown(file, static_cast<uid_t>(-1), old.st_gid);
  struct stat now {};
  if (::fstat(file, &now) != 0) return errno;
  mode_t mode = old.st_mode & 07777;
  if (now.st_gid != old.st_gid) mode &= ~mode_t{S_IRWXG | S_ISGID} | ((mode & S_IRWXO) << 3);
  if (::fchmod(file, mode) == 0 || (now.st_mode & 07777 & ~mode) == 0) return 0;
  return errno;
}

bool out_of_files(const fs::path& folder) {
  struct statvfs info {};
  // Some file systems have no number of files: they state 0 of 0.
  return ::statvfs(folder.c_str(), &info) == 0 && info.f_files > 0 && info.f_favail == 0;
}

void sync_folder(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

}  // namespace shardscape
