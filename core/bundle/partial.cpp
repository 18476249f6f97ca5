#include "bundle/partial.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <utility>

#include "base/units.h"

namespace shardscape {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr size_t kRandomLetters = 6;

std::string prefix_of(const fs::path& target) { return "." + target.filename().string() + ".partial-"; }

}  // namespace

PathLock::PathLock(PathLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

PathLock& PathLock::operator=(PathLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

PathLock::~PathLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

PathLock PathLock::wait(const fs::path& path) {
  PathLock lock;
  lock.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  while (lock.descriptor_ >= 0 && ::flock(lock.descriptor_, LOCK_EX) != 0 && errno == EINTR) {}
  return lock;
}

std::optional<PathLock> PathLock::take(const fs::path& path) {
  PathLock lock;
  lock.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (lock.descriptor_ < 0 || (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK))
    return std::nullopt;
  return lock;
}

Result<fs::path> partial_path(const fs::path& target) {
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = prefix_of(target);
    for (size_t i = 0; i < kRandomLetters; ++i) name += kLetters[random() % kLetters.size()];
    std::error_code error;
    if (fs::path path = target.parent_path() / name; !fs::exists(fs::symlink_status(path, error)))
      return path;
  }
  return Problem{ProblemCode::FolderNotWritable, target.parent_path().string(),
                 "no name is free for a temporary file", "another folder"};
}

std::vector<fs::path> leftovers(const fs::path& target) {
  const std::string prefix = prefix_of(target);
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator it(target.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.size() != prefix.size() + kRandomLetters || !name.starts_with(prefix) ||
        name.find_first_not_of(kLetters, prefix.size()) != std::string::npos)
      continue;
    if (PathLock::take(it->path())) out.push_back(it->path());
  }
  std::sort(out.begin(), out.end());
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
  for (const fs::path& path : leftovers(target)) {
    const int64_t bytes = bytes_below(path);
    std::error_code error;
    fs::remove_all(path, error);
    lines.push_back((error ? "cannot remove " : "removed ") + path.string() + " (" + format_bytes(bytes) +
                    "), which an export that was killed left");
  }
  return lines;
}

}  // namespace shardscape
