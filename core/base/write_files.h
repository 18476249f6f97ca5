// Writes several files into one folder. None changes before all texts are on the disk.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"

namespace shardscape {

struct NamedText {
  std::string name;  // of a file in the folder
  std::string text;
};

// Makes the folder, with the folders above it, and replaces its files when all texts are on the disk. After a
// failure, files and folders that are new are removed again; if a rename fails, files before it may have
// their new text. Returns a Problem with the path.
std::optional<Problem> write_files(const std::filesystem::path& folder, const std::vector<NamedText>& files);

}  // namespace shardscape
