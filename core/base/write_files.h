// Writes several files into one folder, so that a failure leaves no part of them behind.
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

// Makes the folder, with the folders above it, and writes each file with atomic_write. After a failure, the
// files and folders that are new are removed again. Returns a Problem with the path.
std::optional<Problem> write_files(const std::filesystem::path& folder, const std::vector<NamedText>& files);

}  // namespace shardscape
