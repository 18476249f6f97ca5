#include "profile/compressed_file.h"

#include <zlib.h>

#include <algorithm>

namespace shardscape {
namespace {

// Profiles compress 10 to 40 times. Files that expand further than this are made to exhaust memory.
constexpr size_t kLargestExpansion = 400, kAlwaysAllowed = size_t{64} << 20;
constexpr unsigned kBuffer = 1 << 18;

gzFile handle(void* file) { return static_cast<gzFile>(file); }

}  // namespace

void CompressedFile::Close::operator()(void* file) const { gzclose_r(handle(file)); }

Result<CompressedFile> CompressedFile::open(const std::filesystem::path& path) {
  CompressedFile out;
  out.name_ = path.string();
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (!error) out.file_.reset(gzopen(out.name_.c_str(), "rb"));
  if (!out.file_)
    return Problem(ProblemCode::FileUnreadable, out.name_, "the file cannot be read", "a readable file");
  gzbuffer(handle(out.file_.get()), kBuffer);
  out.bytes_on_disk_ = static_cast<size_t>(size);
  return out;
}

Result<size_t> CompressedFile::read(char* to, size_t size) {
  const int got = gzread(handle(file_.get()), to, static_cast<unsigned>(std::min(size, size_t{1} << 30)));
  int code = Z_OK;
  const char* text = gzerror(handle(file_.get()), &code);
  if (got < 0 || code == Z_BUF_ERROR)
    return Problem(ProblemCode::ProfileFormat, name_,
                   code == Z_BUF_ERROR ? "the compressed data ends too early"
                                       : "the compressed data is damaged: " + std::string(text),
                   "a complete gzip file, or a file without compression");
  bytes_read_ += static_cast<size_t>(got);
  if (bytes_read_ > kAlwaysAllowed && bytes_read_ / kLargestExpansion > bytes_on_disk_)
    return Problem(ProblemCode::ProfileFormat, name_,
                   "the compressed data expands more than " + std::to_string(kLargestExpansion) + " times",
                   "a profile, which expands at most 40 times");
  return static_cast<size_t>(got);
}

}  // namespace shardscape
