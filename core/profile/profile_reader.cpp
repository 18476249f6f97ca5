#include <algorithm>
#include <array>
#include <filesystem>
#include <tuple>

#include "profile/event_reader.h"
#include "profile/profile.h"
#include "profile/trace_splitter.h"

namespace shardscape {

Result<Profile> read_profile(const std::string& file, const std::stop_token& stop) {
  auto opened = CompressedFile::open(file);
  if (auto* problem = std::get_if<Problem>(&opened)) return std::move(*problem);
  Profile profile;
  profile.file = file;
  EventReader reader(profile);
  const TraceParts parts{
      [&](std::string_view text) { return reader.event(text); },
      [](std::string_view key) { return EventReader::wants(key); },
      [&](std::string_view key, std::string_view text) { return reader.member(key, text); }};
  if (auto problem = split_trace(std::get<CompressedFile>(opened), file, parts, stop))
    return std::move(*problem);
  reader.finish();
  // No number depends on the order of the events in the file.
  std::stable_sort(profile.spans.begin(), profile.spans.end(), [](const DeviceSpan& a, const DeviceSpan& b) {
    return std::tie(a.begin, a.stream, a.correlation) < std::tie(b.begin, b.stream, b.correlation);
  });
  std::stable_sort(profile.host.begin(), profile.host.end(),
                   [](const HostSpan& a, const HostSpan& b) { return a.begin < b.begin; });
  return profile;
}

bool looks_like_profile(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;  // a pipe can be read only once
  auto opened = CompressedFile::open(file);
  auto* text = std::get_if<CompressedFile>(&opened);
  if (!text) return false;
  std::array<char, 256> begin{};
  const auto got = text->read(begin.data(), begin.size());
  const size_t* size = std::get_if<size_t>(&got);
  if (!size) return true;  // damaged compression: the reader of profiles has the message
  const std::string_view start(begin.data(), *size);
  const size_t at = start.find_first_not_of(" \t\r\n");
  return at != std::string_view::npos && (start[at] == '{' || start[at] == '[');
}

Result<std::vector<std::string>> profile_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    const std::filesystem::directory_iterator entries(path, error);
    if (error)
      return Problem(ProblemCode::FileUnreadable, path, "the folder cannot be read: " + error.message(),
                     "a readable folder");
    for (const auto& entry : entries) {
      const std::string name = entry.path().string();
      if (entry.is_regular_file(error) && (name.ends_with(".json") || name.ends_with(".json.gz")))
        inside.push_back(name);
    }
    if (inside.empty())
      return Problem(ProblemCode::ProfileFormat, path, "the folder has no profile",
                     "a folder with files *.json or *.json.gz");
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

}  // namespace shardscape
