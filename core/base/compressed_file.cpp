#include "base/compressed_file.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/data_dir.h"

namespace shardscape {
namespace {

// Traces and profiles compress 10 to 40 times. Files that expand further than this are made to exhaust
// memory.
constexpr size_t kLargestExpansion = 100, kAlwaysAllowed = size_t{64} << 20;
constexpr size_t kPart = 1 << 18;                 // bytes read at once
constexpr unsigned char kMagic[] = {0x1f, 0x8b};  // RFC 1952, section 2.3.1
constexpr int kGzipOnly = 16 + MAX_WBITS;         // inflateInit2: a gzip header, no zlib header

}  // namespace

struct CompressedFile::State {
  explicit State(const std::filesystem::path& path) : name(path.string()), in(path, std::ios::binary) {}
  ~State() {
    if (ready) inflateEnd(&stream);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start() {
    fill();
    gzip = stream.avail_in >= 2 && std::equal(std::begin(kMagic), std::end(kMagic), part.begin());
    ready = gzip && inflateInit2(&stream, kGzipOnly) == Z_OK;
  }
  // Reads the next part of the file when the previous one is used up.
  void fill() {
    if (stream.avail_in > 0) return;
    in.read(reinterpret_cast<char*>(part.data()), static_cast<std::streamsize>(part.size()));
    stream.next_in = part.data();
    stream.avail_in = static_cast<uInt>(in.gcount());
    on_disk += stream.avail_in;
  }
  size_t copy(char* to, size_t size) {
    fill();
    const size_t bytes = std::min<size_t>(size, stream.avail_in);
    std::copy_n(stream.next_in, bytes, to);
    stream.next_in += bytes;
    stream.avail_in -= static_cast<uInt>(bytes);
    return bytes;
  }
  // Why the text cannot be read on; empty: `stream.next_out` has more of it, or the file has ended.
  std::string inflate_part() {
    if (!ready) return "zlib has no memory";
    const uInt wanted = stream.avail_out;
    while (stream.avail_out == wanted) {
      fill();
      if (stream.avail_in == 0 && ended) return {};
      ended = false;
      const int status = inflate(&stream, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        ended = true;
        inflateReset(&stream);
      } else if (status == Z_BUF_ERROR && stream.avail_in == 0) {
        return "the gzip data ends too early";
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return std::string("the gzip data is damaged") + (stream.msg ? std::string(": ") + stream.msg : "");
      }
    }
    return {};
  }

  std::string name;
  std::ifstream in;
  std::vector<Bytef> part = std::vector<Bytef>(kPart);
  z_stream stream{};
  bool gzip = false, ready = false, ended = false;  // ended: at the end of a member
  size_t on_disk = 0, expanded = 0;                 // bytes so far
};

CompressedFile::CompressedFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
CompressedFile::CompressedFile(CompressedFile&&) noexcept = default;
CompressedFile& CompressedFile::operator=(CompressedFile&&) noexcept = default;
CompressedFile::~CompressedFile() = default;

Result<CompressedFile> CompressedFile::open(const std::filesystem::path& path) {
  const auto problem = [&](const std::string& reason) {
    return Problem(ProblemCode::FileUnreadable, path.string(), "the file cannot be read: " + reason,
                   "a readable file");
  };
  if (const std::string reason = why_unreadable(path); !reason.empty()) return problem(reason);
  errno = 0;
  auto state = std::make_unique<State>(path);
  if (!state->in) return problem(errno ? std::strerror(errno) : "it cannot be opened");
  state->start();
  return CompressedFile(std::move(state));
}

Result<size_t> CompressedFile::read(char* to, size_t size) {
  State& s = *state_;
  if (!s.gzip) return s.copy(to, size);
  s.stream.next_out = reinterpret_cast<Bytef*>(to);
  s.stream.avail_out = static_cast<uInt>(std::min(size, size_t{1} << 30));
  const size_t wanted = s.stream.avail_out;
  if (const std::string reason = s.inflate_part(); !reason.empty())
    return Problem(ProblemCode::FileUnreadable, s.name, "the file cannot be read: " + reason,
                   "a complete gzip file, or a file without compression");
  const size_t got = wanted - s.stream.avail_out;
  s.expanded += got;
  if (s.expanded > kAlwaysAllowed && s.expanded / kLargestExpansion > s.on_disk)
    return Problem(ProblemCode::FileUnreadable, s.name,
                   "the gzip data expands more than " + std::to_string(kLargestExpansion) + " times",
                   "a text, which expands at most 40 times");
  return got;
}

Result<std::string> read_text_or_gzip(const std::filesystem::path& file, const std::stop_token& stop) {
  std::error_code ignored;  // read_text has the message
  if (!std::filesystem::is_regular_file(file, ignored)) return read_text(file);
  std::ifstream in(file, std::ios::binary);
  if (in.get() != kMagic[0] || in.get() != kMagic[1]) return read_text(file);
  auto opened = CompressedFile::open(file);
  if (auto* problem = std::get_if<Problem>(&opened)) return std::move(*problem);
  std::string text;
  while (!stop.stop_requested()) {
    const size_t before = text.size();
    text.resize(before + kPart);
    auto got = std::get<CompressedFile>(opened).read(text.data() + before, kPart);
    if (auto* problem = std::get_if<Problem>(&got)) return std::move(*problem);
    text.resize(before + std::get<size_t>(got));
    if (text.size() == before) break;
  }
  return text;
}

}  // namespace shardscape
