#include "bundle/sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/partial.h"
#include "base/units.h"

namespace shardscape {

std::optional<int64_t> free_bytes(const std::filesystem::path& folder) {
  struct statvfs info {};
  if (::statvfs(folder.c_str(), &info) != 0) return std::nullopt;
  return static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
}

Problem disk_full(const std::filesystem::path& folder, int64_t bytes_needed, int64_t bytes_free) {
  if (out_of_files(folder))
    return {ProblemCode::DiskFull, folder.string(),
            "the disk has no room for another file (no free inodes), whatever number of bytes is free",
            "a folder on a disk with free inodes (df -i), or one archive: NAME.tar"};
  if (bytes_free >= bytes_needed)  // a quota, or a device such as /dev/full
    return {ProblemCode::DiskFull, folder.string(),
            "the disk takes no more bytes, although it has " + format_bytes(bytes_free) + " free",
            "another disk, or a larger quota"};
  return {ProblemCode::DiskFull, folder.string(),
          "the bundle needs " + format_bytes(bytes_needed) + " (" + grouped(bytes_needed) +
              " bytes), but the disk has " + format_bytes(bytes_free) + " free",
          "a folder on a disk with " + format_bytes(bytes_needed) + " free"};
}

namespace {

// Whether an open file has exactly these bytes.
bool has_bytes(int file, std::string_view bytes) {
  struct stat info {};
  if (::fstat(file, &info) != 0 || info.st_size != static_cast<off_t>(bytes.size())) return false;
  std::string buffer(std::min<size_t>(bytes.size(), size_t{1} << 20), '\0');
  while (!bytes.empty()) {
    const ssize_t got = ::read(file, buffer.data(), std::min(buffer.size(), bytes.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || bytes.substr(0, static_cast<size_t>(got)) != buffer.substr(0, static_cast<size_t>(got)))
      return false;
    bytes.remove_prefix(static_cast<size_t>(got));
  }
  return true;
}

}  // namespace

FolderSink::FolderSink(std::filesystem::path folder, int64_t bytes_needed, bool resume)
    : folder_(std::move(folder)), bytes_needed_(bytes_needed), resume_(resume) {
  descriptor_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) open_error_ = errno;
}

FolderSink::~FolderSink() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Problem FolderSink::failed(const std::string& name, int error) const {
  if (error == ENOSPC || error == EDQUOT)
    return disk_full(folder_.parent_path(), bytes_needed_, free_bytes(folder_).value_or(0));
  return {ProblemCode::FileNotWritable, (folder_ / name).string(),
          std::string("the file cannot be written: ") + std::strerror(error), "a writable folder"};
}

std::optional<Problem> FolderSink::write(const std::string& name, std::string_view bytes) {
  if (descriptor_ < 0) return failed("", open_error_);
  const mode_t mode = name.ends_with(".sh") ? 0777 : 0666;
  const int how = resume_ ? O_RDWR | O_CREAT | O_NOFOLLOW : O_WRONLY | O_CREAT | O_EXCL;
  const int file = ::openat(descriptor_, name.c_str(), how | O_CLOEXEC, mode);
  if (file < 0) return failed(name, errno);
  int error = 0;
  if (resume_) {
    if (has_bytes(file, bytes))
      bytes = {};
    else if (::ftruncate(file, 0) != 0 || ::lseek(file, 0, SEEK_SET) != 0)
      error = errno;
  }
  if (error == 0) error = write_all(file, bytes);
  // Network file systems may report a failed write only here.
  if (::close(file) != 0 && error == 0) error = errno;
  if (error != 0) return failed(name, error);
  return std::nullopt;
}

}  // namespace shardscape
