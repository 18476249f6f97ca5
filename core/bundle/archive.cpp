#include "bundle/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/atomic_write.h"
#include "bundle/bundle_files.h"

namespace shardscape {
namespace fs = std::filesystem;
namespace {

constexpr const char* kStandardOutput = "-";
constexpr int kBlock = 1 << 20;  // bytes per write
constexpr std::pair<std::string_view, ArchiveFormat> kEndings[] = {
    {".tar", ArchiveFormat::Tar}, {".tar.zst", ArchiveFormat::TarZstd}, {".tzst", ArchiveFormat::TarZstd}};

Problem archive_not_writable(const fs::path& target, const std::string& reason) {
  return {ProblemCode::FileNotWritable, target.string(), "the archive cannot be written: " + reason,
          "a new file NAME.tar or NAME.tar.zst in a writable folder"};
}

// A device, a pipe or a socket.
bool is_stream(const fs::path& target) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// Whether the first file of an archive is a trace, as in every archive of a bundle.
bool holds_bundle(const fs::path& path) {
  archive* in = archive_read_new();
  archive_read_support_filter_zstd(in);
  archive_read_support_format_tar(in);
  archive_entry* entry = nullptr;
  const bool found = archive_read_open_filename(in, path.c_str(), kBlock) == ARCHIVE_OK &&
                     archive_read_next_header(in, &entry) == ARCHIVE_OK && archive_entry_pathname(entry) &&
                     std::string_view(archive_entry_pathname(entry)).ends_with(".et");
  archive_read_free(in);
  return found;
}

}  // namespace

std::optional<ArchiveFormat> archive_format(const fs::path& target) {
  if (target == kStandardOutput) return ArchiveFormat::Tar;
  const std::string name = target.filename().string();
  for (const auto& [ending, format] : kEndings)
    if (name.size() > ending.size() && name.ends_with(ending)) return format;
  if (is_stream(target)) return ArchiveFormat::Tar;
  return std::nullopt;
}

Result<std::unique_ptr<ArchiveSink>> ArchiveSink::open(const fs::path& wanted, bool replace,
                                                       int64_t bytes_needed) {
  std::unique_ptr<ArchiveSink> sink(new ArchiveSink);
  sink->target_ = wanted;
  sink->folder_ = "bundle";
  sink->bytes_needed_ = bytes_needed;
  sink->replace_ = replace;
  if (wanted == kStandardOutput) {
    if (::isatty(STDOUT_FILENO) != 0)
      return archive_not_writable("standard output",
                                  "standard output is a terminal; send it to a file or a program");
    sink->descriptor_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (sink->descriptor_ < 0) return archive_not_writable("standard output", std::strerror(errno));
  } else if (is_stream(wanted)) {
    sink->descriptor_ = ::open(wanted.c_str(), O_WRONLY | O_CLOEXEC);
    if (sink->descriptor_ < 0) return archive_not_writable(wanted, std::strerror(errno));
  } else if (auto problem = sink->open_file(replace)) {
    return *problem;
  }
  if (auto problem = sink->start(*archive_format(wanted))) return *problem;
  return sink;
}

std::optional<Problem> ArchiveSink::open_file(bool replace) {
  std::error_code error;
  target_ = fs::weakly_canonical(fs::absolute(target_, error), error);
  const std::string name = target_.filename().string();
  for (const auto& [ending, format] : kEndings)
    if (name.ends_with(ending)) folder_ = name.substr(0, name.size() - ending.size());
  if (folder_.find("empty") != std::string::npos)
    return Problem{
        ProblemCode::FolderNameUnsupported, target_.string(),
        "ASTRA-sim reads no communicator groups from a path that contains \"empty\", and the folder "
        "in the archive has the name of the archive",
        "a name that does not contain \"empty\""};
  if (fs::is_directory(target_, error)) return archive_not_writable(target_, "this is a folder");
  if (fs::exists(target_, error) && !(replace && holds_bundle(target_)))
    return archive_not_writable(target_, replace
                                             ? "the file exists and is no archive of a bundle"
                                             : "the file exists; --replace replaces the archive of a bundle");
  if (fs::exists(target_, error))
    if (auto problem = why_not_writable(target_)) return problem;
  return open_partial();
}

std::optional<Problem> ArchiveSink::open_partial() {
  const fs::path parent = target_.parent_path();
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) return archive_not_writable(parent, error.message());
  removed_ = remove_leftovers(target_);
  // A compressed archive is many times smaller than the bundle.
  const bool compressed = archive_format(target_) == ArchiveFormat::TarZstd;
  if (const auto free = free_bytes(parent); !compressed && free && *free < bytes_needed_)
    return disk_full(parent, bytes_needed_, *free);
  const fs::perms before = fs::status(target_, error).permissions();  // of an archive that is replaced
  const bool known = !error && before != fs::perms::unknown;
  const int failure = partial_.emplace().open(target_, known ? static_cast<mode_t>(before) & 0777 : 0666);
  if (failure == ENOSPC) return disk_full(parent, bytes_needed_, free_bytes(parent).value_or(0));
  if (failure != 0) return archive_not_writable(parent, std::strerror(failure));
  return std::nullopt;
}

std::optional<Problem> ArchiveSink::start(ArchiveFormat format) {
  archive_ = archive_write_new();
  if (!archive_) throw std::bad_alloc();
  archive_write_set_format_pax_restricted(archive_);
  // The library converts names from the character set of the locale. This option costs a header per file.
  if (std::any_of(folder_.begin(), folder_.end(),
                  [](char c) { return static_cast<unsigned char>(c) > 0x7f; }))
    archive_write_set_options(archive_, "hdrcharset=BINARY");
  if (format == ArchiveFormat::TarZstd) {
    archive_write_add_filter_zstd(archive_);
    // Older libraries compress on this thread; the bytes are then others, but equal each time.
    archive_write_set_filter_option(archive_, "zstd", "threads", "2");
  }
  archive_write_set_bytes_per_block(archive_, kBlock);
  archive_write_set_bytes_in_last_block(archive_, 1);
  if (archive_write_open(archive_, this, nullptr, put, nullptr) != ARCHIVE_OK) return failed();
  return std::nullopt;
}

// The library frees nothing of an archive whose write failed, so it does not learn of the failure.
ssize_t ArchiveSink::put(struct archive*, void* sink, const void* bytes, size_t size) {
  auto& self = *static_cast<ArchiveSink*>(sink);
  if (self.error_ == 0)
    self.error_ = write_all(self.partial_ ? self.partial_->descriptor() : self.descriptor_,
                            {static_cast<const char*>(bytes), size});
  return static_cast<ssize_t>(size);
}

ArchiveSink::~ArchiveSink() {
  if (error_ == 0) error_ = ECANCELED;  // a failed export has no end of the archive
  if (archive_) archive_write_free(archive_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

Problem ArchiveSink::failed() const {
  const int error = error_ != 0 ? error_ : archive_errno(archive_);
  if (error == ENOSPC || error == EDQUOT)
    return disk_full(target_.parent_path(), bytes_needed_, free_bytes(target_.parent_path()).value_or(0));
  if (error == EPIPE) return archive_not_writable(target_, "the program that reads it has ended");
  // The library's own text of a failed write is "Write error".
  return archive_not_writable(target_, error > 0 ? std::strerror(error) : archive_error_string(archive_));
}

std::optional<Problem> ArchiveSink::write(const std::string& name, std::string_view bytes) {
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, (folder_ + "/" + name).c_str());
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_perm(entry, name.ends_with(".sh") ? 0755 : 0644);
  archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
  archive_entry_set_mtime(entry, 0, 0);
  const int status = archive_write_header(archive_, entry);
  archive_entry_free(entry);
  if (status != ARCHIVE_OK || error_ != 0) return failed();
  while (!bytes.empty()) {
    const la_ssize_t written = archive_write_data(archive_, bytes.data(), bytes.size());
    if (written <= 0 || error_ != 0) return failed();
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return std::nullopt;
}

std::optional<Problem> ArchiveSink::commit() {
  if (archive_write_close(archive_) != ARCHIVE_OK || error_ != 0) return failed();
  archive_write_free(archive_);
  archive_ = nullptr;
  if (!partial_) {
    const int closed = ::close(std::exchange(descriptor_, -1));
    return closed == 0 ? std::nullopt : std::optional(archive_not_writable(target_, std::strerror(errno)));
  }
  // What appeared under this name meanwhile stays, unless it is an archive of a bundle to be replaced.
  if (replace_ && fs::exists(target_) && !holds_bundle(target_))
    return archive_not_writable(target_, "a file that is no archive of a bundle has appeared meanwhile");
  const int failure = partial_->commit(replace_);
  if (failure == ENOSPC || failure == EDQUOT)
    return disk_full(target_.parent_path(), bytes_needed_, free_bytes(target_.parent_path()).value_or(0));
  if (failure != 0) return archive_not_writable(target_, std::strerror(failure));
  return std::nullopt;
}

}  // namespace shardscape
