// Writes several files into one folder: all of them or, after a failure, none.
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

// Makes the folder, with the folders above it. Replaces files only when all texts are on the disk. After a
// failure, the files and folders that are new are removed again. Returns a Problem with the path.
std::optional<Problem> write_files(const std::filesystem::path& folder, const std::vector<NamedText>& files);

}  // namespace shardscape
