#include "profile/run_file.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/compressed_file.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;
constexpr size_t kHead = 1 << 16;  // bytes: profiles describe devices and groups before their events

RunFile kind_of_text(const std::string& path) {
  auto opened = CompressedFile::open(path);
  auto* file = std::get_if<CompressedFile>(&opened);
  if (!file) return RunFile::None;
  std::string head(kHead, '\0');
  size_t size = 0;
  while (size < head.size()) {
    const auto got = file->read(head.data() + size, head.size() - size);
    const auto* bytes = std::get_if<size_t>(&got);
    if (!bytes || *bytes == 0) break;
    size += *bytes;
  }
  head.resize(size);
  const auto has = [&](const char* text) { return head.find(text) != std::string::npos; };
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || head[first] != '{') return RunFile::None;
  if (has("\"traceEvents\"")) return RunFile::Profile;
  // Chakra as JSON, and PyTorch's ExecutionTraceObserver.
  const bool trace = has("\"ctrl_deps\"") || has("\"data_deps\"") || has("\"ctrlDeps\"") ||
                     has("\"dataDeps\"") || (has("\"schema\"") && has("\"nodes\""));
  return trace ? RunFile::Trace : RunFile::None;
}

RunFile kind_of_file(const fs::path& path) {
  fs::path name = path.filename();
  if (name.extension() == ".gz") name = name.stem();
  if (name.extension() == ".et") return RunFile::Trace;
  return name.extension() == ".json" ? kind_of_text(path.string()) : RunFile::None;
}

}  // namespace

RunFile kind_of_run_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return kind_of_file(path);
  std::vector<fs::path> files;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
    files.push_back(at->path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files)
    if (const RunFile kind = kind_of_file(file); kind != RunFile::None) return kind;
  return RunFile::None;
}

}  // namespace shardscape
