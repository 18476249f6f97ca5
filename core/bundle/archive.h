// A bundle as one archive: a tar file in a file, on standard output, or in a pipe.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/partial.h"
#include "base/problem.h"
#include "bundle/sink.h"

struct archive;

namespace shardscape {

enum class ArchiveFormat : uint8_t { Tar, TarZstd };

// The format of an export to this target; nothing if the target is a folder. "-" is standard output. Names
// end in .tar, .tar.zst or .tzst. Devices and pipes, such as /dev/stdout, take a tar.
std::optional<ArchiveFormat> archive_format(const std::filesystem::path& target);

// Files of the archive lie in one folder, which has the name of the archive without its ending; "bundle" on
// standard output and in devices. Equal exports give equal bytes: files have no time and no owner. A regular
// file appears whole or not at all, under a temporary name until commit(). Other targets get the bytes
// directly.
class ArchiveSink : public ByteSink {
 public:
  // Problems: the target exists (unless `replace`, and it is an archive of a bundle), cannot be written, or
  // lacks space.
  static Result<std::unique_ptr<ArchiveSink>> open(const std::filesystem::path& target, bool replace,
                                                   int64_t bytes_needed);
  ~ArchiveSink() override;
  ArchiveSink(const ArchiveSink&) = delete;
  ArchiveSink& operator=(const ArchiveSink&) = delete;
  bool ordered() const override { return true; }
  std::optional<Problem> write(const std::string& name, std::string_view bytes) override;
  // Ends the archive and gives it its name.
  std::optional<Problem> commit();
  const std::filesystem::path& target() const { return target_; }
  const std::vector<std::string>& removed() const { return removed_; }

 private:
  ArchiveSink() = default;
  std::optional<Problem> open_file(bool replace);
  std::optional<Problem> open_partial();
  std::optional<Problem> start(ArchiveFormat format);
  static ssize_t put(struct archive* archive, void* sink, const void* bytes, size_t size);
  Problem failed() const;
  std::filesystem::path target_;
  std::string folder_;
  int64_t bytes_needed_ = 0;
  bool replace_ = false;
  std::optional<PartialFile> partial_;  // nothing if bytes go to the target directly
  int descriptor_ = -1;                 // of the target, without a partial file
  int error_ = 0;                       // of the first write that failed (errno)
  std::vector<std::string> removed_;
  archive* archive_ = nullptr;
};

}  // namespace shardscape
