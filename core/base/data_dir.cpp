#include "base/data_dir.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

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

Result<std::string> read_text(const fs::path& path) {
  const auto problem = [&](const std::string& reason) {
    return Problem{ProblemCode::FileUnreadable, path.string(), "the file cannot be read: " + reason,
                   "a readable file"};
  };
  std::error_code error;
  if (fs::is_directory(path, error)) return problem("it is a folder");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return problem(errno ? std::strerror(errno) : "it cannot be opened");
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (stream.bad()) return problem(errno ? std::strerror(errno) : "reading stopped");
  return text;
}

}  // namespace shardscape
