// A folder that appears whole or not at all: filled beside its target, then renamed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <variant>

#include "base/problem.h"

namespace shardscape {

class BundleFolder {
 public:
  // Problems: the target is no new or empty folder (nor, under replace, a bundle), is not writable, or lacks space.
  static std::variant<BundleFolder, Problem> open(const std::filesystem::path& target, bool replace,
                                                  int64_t bytes_needed);
  BundleFolder(BundleFolder&& other) noexcept;
  BundleFolder& operator=(BundleFolder&&) = delete;
  ~BundleFolder();  // removes what was not committed, and folders made on the way
  const std::filesystem::path& path() const { return partial_; }
  const std::filesystem::path& target() const { return target_; }
  std::optional<Problem> commit();

 private:
  BundleFolder() = default;
  std::filesystem::path target_, partial_;
  std::filesystem::path created_;  // topmost parent folder that had to be made; empty: none
  bool replace_ = false;
};

}  // namespace shardscape
