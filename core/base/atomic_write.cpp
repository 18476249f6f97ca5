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

int replace_file(const fs::path& target, const struct stat* old, std::string_view text) {
  remove_leftovers(target);
  PartialFile file;
  if (const int error = file.open(target, old ? old->st_mode & 0777 : 0666)) return error;
  if (old) {
    // Only root can give files away. Without the owner, the permissions are those of the old file all the
    // same.
    [[maybe_unused]] const int owner = ::fchown(file.descriptor(), old->st_uid, old->st_gid);
    if (::fchmod(file.descriptor(), old->st_mode & 07777) != 0) return errno;
  }
  if (const int error = write_all(file.descriptor(), text)) return error;
  return file.commit(true);
}

}  // namespace

std::optional<Problem> atomic_write(const fs::path& path, std::string_view text) {
  const auto failed = [&](const std::string& reason, const std::string& accepted) {
    return Problem{ProblemCode::FileNotWritable, path.string(), "the file cannot be written: " + reason,
                   accepted};
  };
  const auto outcome = [&](int error) -> std::optional<Problem> {
    if (error == 0) return std::nullopt;
    const bool files = error == ENOSPC && out_of_files(folder_of(path));
    return failed(files ? "the disk has no room for another file (no free inodes)" : std::strerror(error),
                  "a path in an existing, writable folder with free space");
  };
  struct stat old {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) return failed("it is a folder", "the path of a file");
  const End end = end_of_links(path);
  if (end.descriptor) return outcome(write_and_close(::fcntl(*end.descriptor, F_DUPFD_CLOEXEC, 0), text));
  if (exists && !S_ISREG(old.st_mode))
    return outcome(write_and_close(::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC), text));
  if (exists && ((old.st_mode & 0222) == 0 || ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0))
    return failed("it is read-only", "another file, or one that its user may write to (chmod u+w)");
  return outcome(replace_file(end.path, exists ? &old : nullptr, text));
}

}  // namespace shardscape
