#include "serving/requests/gzip_text.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/data_dir.h"

namespace shardscape {
namespace {

constexpr char kMagic[] = "\x1f\x8b";
constexpr int kGzipOnly = 16 + MAX_WBITS;  // inflateInit2: a gzip header, no zlib header
constexpr size_t kPart = 1 << 18;          // bytes that are decompressed at once

// Decompresses gzip members one after another.
class Inflater {
 public:
  explicit Inflater(const std::string& data) : data_(data), part_(kPart) {
    ready_ = inflateInit2(&stream_, kGzipOnly) == Z_OK;
  }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Appends the text. Why it stopped before the end of the data; empty: it did not.
  std::string append_to(std::string& text) {
    if (!ready_) return "zlib has no memory";
    // A full part can leave text inside of zlib.
    bool full = false;
    while (given_ < data_.size() || stream_.avail_in > 0 || (full && !ended_)) {
      feed();
      stream_.next_out = part_.data();
      stream_.avail_out = static_cast<uInt>(part_.size());
      const int status = inflate(&stream_, Z_NO_FLUSH);
      text.append(reinterpret_cast<const char*>(part_.data()), part_.size() - stream_.avail_out);
      full = stream_.avail_out == 0;
      ended_ = status == Z_STREAM_END;
      if (ended_)
        inflateReset(&stream_);
      else if (status != Z_OK && status != Z_BUF_ERROR)
        return std::string("the gzip data is damaged") + (stream_.msg ? std::string(": ") + stream_.msg : "");
    }
    return ended_ ? "" : "the gzip data ends too early";
  }

 private:
  // Gives zlib the next bytes when it has read the previous ones.
  void feed() {
    if (stream_.avail_in > 0) return;
    const size_t bytes = std::min<size_t>(data_.size() - given_, std::numeric_limits<uInt>::max());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data_.data() + given_));
    stream_.avail_in = static_cast<uInt>(bytes);
    given_ += bytes;
  }

  const std::string& data_;
  size_t given_ = 0;  // bytes that zlib got
  z_stream stream_{};
  std::vector<Bytef> part_;
  bool ready_ = false, ended_ = false;
};

}  // namespace

Result<std::string> read_text_or_gzip(const std::filesystem::path& file) {
  Result<std::string> read = read_text(file);
  const auto* data = std::get_if<std::string>(&read);
  if (!data || !data->starts_with(kMagic)) return read;
  std::string text;
  const std::string reason = Inflater(*data).append_to(text);
  if (reason.empty()) return text;
  return Problem(ProblemCode::FileUnreadable, file.string(), "the file cannot be read: " + reason,
                 "a complete gzip file, or a file without compression");
}

}  // namespace shardscape
