#include "base/atomic_write.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace shardscape {
namespace {

namespace fs = std::filesystem;

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

std::optional<Problem> atomic_write(const fs::path& path, std::string_view text) {
  const auto failed = [&](const std::string& reason) {
    return Problem{ProblemCode::FileNotWritable, path.string(), "the file cannot be written: " + reason,
                   "a path in an existing, writable folder with free space"};
  };
  std::error_code error;
  // A symbolic link stays: the file that the link points to is replaced.
  fs::path target = fs::weakly_canonical(path, error);
  if (error || target.empty()) target = path;
  if (fs::is_directory(target, error)) return failed("it is a folder");
  const fs::path part = target.string() + ".part-" + std::to_string(::getpid());
  struct stat old {};
  const mode_t mode = ::stat(target.c_str(), &old) == 0 ? old.st_mode & 07777 : 0666;
  const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (file < 0) return failed(std::strerror(errno));
  bool good = write_all(file, text) && ::fsync(file) == 0;
  int reason = errno;
  if (::close(file) != 0 && good) {
    good = false;
    reason = errno;
  }
  if (good && ::rename(part.c_str(), target.c_str()) != 0) {
    good = false;
    reason = errno;
  }
  if (good) return std::nullopt;
  ::unlink(part.c_str());
  return failed(std::strerror(reason));
}

}  // namespace shardscape
