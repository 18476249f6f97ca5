// A folder that appears whole or not at all: it is filled next to its target, then renamed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <variant>

#include "base/problem.h"

namespace shardscape {

class BundleFolder {
 public:
  // Creates the temporary folder. Problems: the target is neither new nor empty (nor, with replace, a
  // bundle), is not writable, or lacks space.
  static Result<BundleFolder> open(const std::filesystem::path& target, bool replace, int64_t bytes_needed);
  BundleFolder(BundleFolder&& other) noexcept;
  BundleFolder& operator=(BundleFolder&&) = delete;
  // Removes the temporary folder if it was not committed, and parent folders that open() created.
  ~BundleFolder();
  const std::filesystem::path& path() const { return partial_; }
  const std::filesystem::path& target() const { return target_; }
  // Renames the temporary folder to the target. Replaces an old bundle if `replace` was set.
  std::optional<Problem> commit();

 private:
  BundleFolder() = default;
  std::filesystem::path target_, partial_;
  std::filesystem::path created_;  // topmost parent folder that open() created; empty: none
  bool replace_ = false;
};

}  // namespace shardscape
