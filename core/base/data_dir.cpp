#include "base/data_dir.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>

#include "base/file_limits.h"

namespace shardscape {
namespace fs = std::filesystem;
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void append_json(const fs::path& folder, std::vector<fs::path>& files) {
  const size_t first = files.size();
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->path().extension() == ".json" && it->is_regular_file(ignored)) files.push_back(it->path());
  }
  std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
}

constexpr size_t kLongestPipe = size_t{256} << 20;  // bytes; a pipe may never end

// A pipe that a shell has opened for this program has a writer. A named pipe may wait for one for ever.
bool is_open_pipe(const fs::path& path) {
  const std::string name = path.string();
  return name == "/dev/stdin" || name.starts_with("/dev/fd/") || name.starts_with("/proc/self/fd/");
}

}  // namespace

fs::path data_dir() {
  if (const std::string chosen = environment("SHARDSCAPE_DATA"); !chosen.empty()) return chosen;
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path installed = executable.parent_path().parent_path() / "share" / "shardscape";
    if (fs::is_directory(installed, error)) return installed;
  }
  return SHARDSCAPE_SOURCE_DIR;
}

fs::path user_data_dir() {
  // The XDG base directory specification demands that a relative path is ignored.
  if (const fs::path home = environment("XDG_DATA_HOME"); home.is_absolute()) return home / "shardscape";
  const fs::path home = environment("HOME");
  return home.empty() ? fs::path() : home / ".local" / "share" / "shardscape";
}

std::vector<fs::path> data_files(const std::string& sub) {
  std::vector<fs::path> files;
  append_json(data_dir() / sub, files);
  if (const fs::path user = user_data_dir(); !user.empty()) append_json(user / sub, files);
  return files;
}

std::string why_unreadable(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    return (error ? error : std::make_error_code(std::errc::no_such_file_or_directory)).message();
  if (fs::is_directory(status)) return "it is a folder";
  if (fs::is_fifo(status) && is_open_pipe(path)) return {};
  if (!fs::is_regular_file(status)) return "it is a pipe or a device";
  if (const auto size = fs::file_size(path, error); !error && !fits_in_memory(size))
    return "it has " + std::to_string(size) + " bytes, more than the memory of this machine";
  return {};
}

namespace {

// The text of each pipe that was read. A pipe gives its bytes once, but a command may read one input twice:
// to find out what it is, and to read it. One thread reads at a time: two would get a part each.
class ReadPipes {
 public:
  Result<std::string> text(const fs::path& path, const std::function<Result<std::string>()>& read) {
    const std::lock_guard lock(mutex_);
    if (const auto at = texts_.find(path); at != texts_.end()) return at->second;
    auto made = read();
    if (const auto* text = std::get_if<std::string>(&made)) texts_.emplace(path, *text);
    return made;
  }

 private:
  std::mutex mutex_;
  std::map<fs::path, std::string> texts_;
};

// The byte order marks of texts that Windows programs write.
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF", kUtf16Marks[] = {"\xFF\xFE", "\xFE\xFF"};

bool is_utf16(std::string_view text) {
  return std::any_of(std::begin(kUtf16Marks), std::end(kUtf16Marks),
                     [&](std::string_view mark) { return text.starts_with(mark); });
}

ReadPipes& read_pipes() {
  static ReadPipes pipes;
  return pipes;
}

Problem file_unreadable(const fs::path& path, const std::string& reason, const char* accepted) {
  return {ProblemCode::FileUnreadable, path.string(), "the file cannot be read: " + reason, accepted};
}

Result<std::string> text_of_file(const fs::path& path, bool pipe) {
  const auto problem = [&](const std::string& reason) {
    return file_unreadable(path, reason, "a readable file");
  };
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return problem(errno ? std::strerror(errno) : "it cannot be opened");
  std::string text;
  std::vector<char> part(size_t{1} << 16);
  while (stream.read(part.data(), static_cast<std::streamsize>(part.size())) || stream.gcount() > 0) {
    text.append(part.data(), static_cast<size_t>(stream.gcount()));
    if (pipe && text.size() > kLongestPipe) return problem("the pipe has more than 256 MiB");
  }
  if (stream.bad()) return problem(errno ? std::strerror(errno) : "reading stopped");
  if (is_utf16(text)) return file_unreadable(path, "it is UTF-16 text", "UTF-8 text");
  if (text.starts_with(kUtf8Mark)) text.erase(0, kUtf8Mark.size());
  return text;
}

}  // namespace

Result<std::string> read_text(const fs::path& path) {
  const std::string unreadable = why_unreadable(path);
  if (!unreadable.empty()) return file_unreadable(path, unreadable, "a readable file");
  std::error_code error;
  if (!fs::is_fifo(path, error)) return text_of_file(path, false);
  return read_pipes().text(path, [&] { return text_of_file(path, true); });
}

}  // namespace shardscape
