#include "bundle/trace_folder.h"

#include "bundle/trace_name.h"

namespace shardscape {

namespace fs = std::filesystem;

std::map<std::string, TraceFamily> trace_families(const fs::path& folder, std::string_view suffix,
                                                  std::error_code& error) {
  std::map<std::string, TraceFamily> families;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string file = it->path().filename().string();
    const auto name = split_trace_name(without_gz(file), suffix);
    if (!name) continue;
    fs::path& path = families[name->name][name->rank];
    if (path.empty() || file.ends_with(suffix)) path = it->path();
  }
  return families;
}

}  // namespace shardscape
