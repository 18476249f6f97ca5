// A folder that appears whole or not at all: it is filled next to its target, then renamed. An export that
// was killed leaves its temporary folder, which a later export of the same target removes or resumes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/partial.h"
#include "base/problem.h"

namespace shardscape {

struct FolderOptions {
  bool replace = false;
  int64_t bytes_needed = 0;
  // JSON of everything that decides on the bytes of the files (export_settings.h). Empty: the export cannot
  // be resumed.
  std::string settings{};
  bool resume = false;  // goes on with what a killed export of the same settings left, if there is any
};

class BundleFolder {
 public:
  // Creates the temporary folder. Problems: the target is neither new nor empty (nor, with replace, a
  // bundle), is not writable, or lacks space; to resume, the settings differ.
  static Result<BundleFolder> open(const std::filesystem::path& target, const FolderOptions& options);
  BundleFolder(BundleFolder&& other) noexcept;
  BundleFolder& operator=(BundleFolder&&) = delete;
  // Removes the temporary folder if it was not committed, and parent folders that open() created.
  ~BundleFolder();
  const std::filesystem::path& path() const { return partial_; }
  const std::filesystem::path& target() const { return target_; }
  // Whether the temporary folder is that of a killed export, with files in it.
  bool resumed() const { return resumed_; }
  // Lines about what killed exports left: temporary folders that open() removed, an old bundle that it put
  // back.
  const std::vector<std::string>& removed() const { return removed_; }
  // Leaves the temporary folder for an export that resumes.
  void keep() { keep_ = true; }
  // Renames the temporary folder to the target. Replaces an old bundle if `replace` was set.
  std::optional<Problem> commit();

 private:
  BundleFolder() = default;
  std::optional<Problem> make_partial(const FolderOptions& options);
  std::optional<Problem> take_leftover(const FolderOptions& options);
  std::filesystem::path target_, partial_;
  std::filesystem::path created_;  // topmost parent folder that open() created; empty: none
  bool replace_ = false, resumed_ = false, keep_ = false;
  PathLock lock_;  // of partial_
  std::vector<std::string> removed_;
};

}  // namespace shardscape
