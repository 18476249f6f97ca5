#include "launch/launch_files.h"

#include <algorithm>

#include "base/data_dir.h"

namespace shardscape {

namespace fs = std::filesystem;

std::function<std::optional<std::string>(const std::string&)> files_below(const fs::path& folder) {
  return [folder](const std::string& name) -> std::optional<std::string> {
    std::error_code ignored;
    const fs::path root = fs::weakly_canonical(folder.empty() ? "." : folder, ignored);
    const fs::path file = fs::weakly_canonical(root / name, ignored);
    const auto [end, rest] = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
    if (end != root.end() || !fs::is_regular_file(file, ignored)) return std::nullopt;
    auto text = read_text(file);
    const auto* found = std::get_if<std::string>(&text);
    return found ? std::optional<std::string>(*found) : std::nullopt;
  };
}

}  // namespace shardscape
