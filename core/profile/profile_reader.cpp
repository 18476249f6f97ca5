#include <algorithm>
#include <filesystem>
#include <tuple>

#include "profile/event_reader.h"
#include "profile/profile.h"
#include "profile/trace_splitter.h"

namespace shardscape {

Result<Profile> read_profile(const std::string& file) {
  auto opened = CompressedFile::open(file);
  if (auto* problem = std::get_if<Problem>(&opened)) return std::move(*problem);
  Profile profile;
  profile.file = file;
  EventReader reader(profile);
  const TraceParts parts{
      [&](std::string_view text) { return reader.event(text); },
      [](std::string_view key) { return EventReader::wants(key); },
      [&](std::string_view key, std::string_view text) { return reader.member(key, text); }};
  if (auto problem = split_trace(std::get<CompressedFile>(opened), file, parts)) return std::move(*problem);
  reader.finish();
  // No number depends on the order of the events in the file.
  std::stable_sort(profile.spans.begin(), profile.spans.end(), [](const DeviceSpan& a, const DeviceSpan& b) {
    return std::tie(a.begin, a.stream, a.correlation) < std::tie(b.begin, b.stream, b.correlation);
  });
  std::stable_sort(profile.host.begin(), profile.host.end(),
                   [](const HostSpan& a, const HostSpan& b) { return a.begin < b.begin; });
  return profile;
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
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
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
