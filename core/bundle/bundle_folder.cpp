#include "bundle/bundle_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <random>
#include <string_view>

#include "bundle/bundle_files.h"
#include "bundle/manifest.h"
#include "bundle/sink.h"

namespace shardscape {
namespace fs = std::filesystem;
namespace {

constexpr const char*
    kAccepted = "a new or empty folder, or replace (--replace) for a bundle that Shardscape wrote";

Problem problem(ProblemCode code, const fs::path& where, const std::string& what,
                const std::string& accepted) {
  return {code, where.string(), what, accepted};
}

Problem not_writable(const fs::path& where, const std::string& reason) {
  return problem(ProblemCode::FolderNotWritable, where, "the folder cannot be written: " + reason,
                 "a writable folder");
}

// Whether a bundle has a file of this name: <name>.<rank>.et, <name>.<rank>.json or one of the fixed names.
bool is_bundle_file(const std::string& file) {
  if (std::any_of(std::begin(kBundleFiles), std::end(kBundleFiles),
                  [&](const BundleFile& fixed) { return file == fixed.name; }))
    return true;
  for (const std::string_view ending : {".et", ".json"}) {
    if (!file.ends_with(ending)) continue;
    const std::string_view rest = std::string_view(file).substr(0, file.size() - ending.size());
    const size_t dot = rest.rfind('.');
    return dot != std::string::npos && dot > 0 && dot + 1 < rest.size() &&
           std::all_of(rest.begin() + static_cast<std::ptrdiff_t>(dot) + 1, rest.end(),
                       [](unsigned char c) { return std::isdigit(c) != 0; });
  }
  return false;
}

// A bundle is replaced as a whole folder, which would delete any other file in it.
std::optional<Problem> check_foreign_files(const fs::path& target) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(target, error)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file(error) || !is_bundle_file(name))
      return problem(ProblemCode::ForeignFiles, target,
                     "the bundle's folder also has \"" + name + "\", which Shardscape did not write",
                     "a folder that contains only a bundle; move \"" + name + "\" away first");
  }
  if (error) return not_writable(target, error.message());
  return std::nullopt;
}

std::optional<Problem> check_target(const fs::path& target, bool replace) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (!fs::exists(status)) return std::nullopt;
  if (!fs::is_directory(status))
    return problem(ProblemCode::NotAFolder, target, "this is a file, not a folder", kAccepted);
  const bool empty = fs::is_empty(target, error);
  if (error) return not_writable(target, error.message());
  if (empty) return std::nullopt;
  if (replace && read_manifest(target, 0)) return check_foreign_files(target);
  return problem(ProblemCode::FolderNotEmpty, target,
                 replace ? "the folder is not empty and contains no bundle that Shardscape wrote"
                         : "the folder is not empty",
                 kAccepted);
}

// A new folder next to the target, on the same disk, so that it can be renamed.
Result<fs::path> make_partial(const fs::path& target) {
  static constexpr char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = "." + target.filename().string() + ".partial-";
    for (int i = 0; i < 6; ++i) name += letters[random() % (sizeof letters - 1)];
    std::error_code error;
    const fs::path path = target.parent_path() / name;
    if (fs::create_directory(path, error)) return path;
    if (error) return not_writable(target.parent_path(), error.message());
  }
  return not_writable(target.parent_path(), "no name is free for a temporary folder");
}

// Exchanges both folders: afterwards `fresh` holds the old bundle. On failure both stay intact.
std::optional<Problem> exchange(const fs::path& fresh, const fs::path& target) {
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0)
    return std::nullopt;
  // Fallback for file systems that cannot exchange.
  std::error_code error;
  const fs::path old = fresh.string() + ".old";
  fs::rename(target, old, error);
  if (error) return not_writable(target, error.message());
  fs::rename(fresh, target, error);
  if (error) {
    const std::string reason = error.message();
    fs::rename(old, target, error);
    return not_writable(target, reason);
  }
  fs::rename(old, fresh, error);
  return std::nullopt;
}

}  // namespace

Result<BundleFolder> BundleFolder::open(const fs::path& wanted, bool replace, int64_t bytes_needed) {
  std::error_code error;
  BundleFolder folder;
  folder.replace_ = replace;
  folder.target_ = fs::weakly_canonical(fs::absolute(wanted, error), error);
  if (error || wanted.empty())
    return problem(ProblemCode::NotAFolder, wanted, "this is not a path to a folder", kAccepted);
  if (folder.target_.filename().empty()) folder.target_ = folder.target_.parent_path();
  if (folder.target_.filename().string().find("empty") != std::string::npos)
    return problem(ProblemCode::FolderNameUnsupported, wanted,
                   "ASTRA-sim reads no communicator groups from a path that contains \"empty\"",
                   "a folder whose name does not contain \"empty\"");
  if (auto bad = check_target(folder.target_, replace)) return *bad;
  const fs::path parent = folder.target_.parent_path();
  for (fs::path p = parent; !fs::exists(p, error) && p.has_relative_path(); p = p.parent_path())
    folder.created_ = p;
  fs::create_directories(parent, error);
  if (error) return not_writable(parent, error.message());
  if (const auto free = free_bytes(parent); free && *free < bytes_needed)
    return disk_full(parent, bytes_needed, *free);
  auto partial = make_partial(folder.target_);
  if (auto* bad = std::get_if<Problem>(&partial)) return *bad;
  folder.partial_ = std::get<fs::path>(partial);
  return folder;
}

BundleFolder::BundleFolder(BundleFolder&& other) noexcept
    : target_(std::move(other.target_)),
      partial_(std::move(other.partial_)),
      created_(std::move(other.created_)),
      replace_(other.replace_) {
  other.partial_.clear();
  other.created_.clear();
}

BundleFolder::~BundleFolder() {
  std::error_code ignored;
  if (!partial_.empty()) fs::remove_all(partial_, ignored);
  // Removes empty folders only: other programs may have added files meanwhile.
  if (!created_.empty())
    for (fs::path p = target_.parent_path(); fs::remove(p, ignored) && p != created_; p = p.parent_path()) {}
}

std::optional<Problem> BundleFolder::commit() {
  // The target may have changed during the export, so check it again.
  if (auto bad = check_target(target_, replace_)) return bad;
  std::error_code error;
  // rename(2) replaces an empty folder, but not a full one.
  fs::rename(partial_, target_, error);
  if (error) {
    if (auto bad = exchange(partial_, target_)) return bad;
    fs::remove_all(partial_, error);  // partial_ now holds the old bundle
  }
  partial_.clear();
  created_.clear();
  return std::nullopt;
}

}  // namespace shardscape
