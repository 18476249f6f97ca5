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

#include "base/data_dir.h"
#include "base/units.h"
#include "bundle/bundle_files.h"
#include "bundle/export_settings.h"
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

Problem folder_not_writable(const fs::path& where, const std::string& reason) {
  return problem(ProblemCode::FolderNotWritable, where, "the folder cannot be written: " + reason,
                 "a writable folder");
}

// Whether a bundle has a file of this name: <name>.<rank>.et, <name>.<rank>.json or one of the fixed names.
bool is_bundle_file(const std::string& file) {
  if (std::any_of(std::begin(kBundleFiles), std::end(kBundleFiles),
                  [&](const BundleFile& fixed) { return file == fixed.name; }))
    return true;
  const auto packet_files = packet_file_kinds();
  if (std::any_of(packet_files.begin(), packet_files.end(),
                  [&](const PacketFileKind& kind) { return file == kind.name; }))
    return true;
  if (file == kCompactName) return true;
  if (file.starts_with("class-") && file.ends_with(".et")) return true;
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
  if (error) return folder_not_writable(target, error.message());
  return std::nullopt;
}

bool is_bundle_folder(const fs::path& folder) {
  std::error_code ignored;
  return read_manifest(folder, 0).has_value() || fs::exists(folder / kCompactName, ignored);
}

std::optional<Problem> check_target(const fs::path& target, bool replace) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (!fs::exists(status)) {
    if (fs::is_symlink(fs::symlink_status(target, error)))
      return problem(ProblemCode::NotAFolder, target, "this is a link to a folder that does not exist",
                     kAccepted);
    return std::nullopt;
  }
  if (!fs::is_directory(status))
    return problem(ProblemCode::NotAFolder, target, "this is a file, not a folder", kAccepted);
  const bool empty = fs::is_empty(target, error);
  if (error) return folder_not_writable(target, error.message());
  if (empty) return std::nullopt;
  if (replace && is_bundle_folder(target)) return check_foreign_files(target);
  return problem(ProblemCode::FolderNotEmpty, target,
                 replace ? "the folder is not empty and contains no bundle that Shardscape wrote"
                         : "the folder is not empty",
                 kAccepted);
}

// Where two folders cannot be exchanged, the old bundle waits under this name until the new one has its
// place.
fs::path waiting_path(const fs::path& target) {
  return target.parent_path() / ("." + target.filename().string() + ".partial-old-bundle");
}

// An export that was killed between the two renames left an old bundle under its waiting name. It goes back
// to its place or, if the new bundle is there, is removed. Returns a line for people; empty: nothing was
// left.
std::string settle_waiting(const fs::path& target) {
  // On a file system with locks, no running export of this machine is between its renames now.
  const PathLock lock = PathLock::wait(target.parent_path());
  const fs::path waiting = waiting_path(target);
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(waiting, error))) return "";
  const std::string size = " (" + format_bytes(bytes_below(waiting)) + ")";
  if (!is_bundle_folder(target)) {
    fs::rename(waiting, target, error);  // replaces an empty folder at most
    if (!error)
      return "put back " + target.string() + ", which an export that was killed was about to replace";
    return "cannot put back the old bundle in " + waiting.string() + size + ": " + error.message();
  }
  // Other programs may have added files to the old bundle.
  if (const auto foreign = check_foreign_files(waiting))
    return "leaves the old bundle in " + waiting.string() + size + ": " + foreign->what;
  // Under a new name no running export finds it: without locks one may be about to move it.
  const auto removed = partial_path(target);
  if (std::holds_alternative<fs::path>(removed)) {
    fs::rename(waiting, std::get<fs::path>(removed), error);
    if (!error) fs::remove_all(std::get<fs::path>(removed), error);
  }
  return (error ? "cannot remove " : "removed ") + waiting.string() + size +
         ", the old bundle that an export that was killed had replaced";
}

// Exchanges both folders: afterwards `fresh` holds what was in `target`. On failure both stay intact.
std::optional<Problem> exchange(const fs::path& fresh, const fs::path& target) {
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0)
    return std::nullopt;
  // Fallback for file systems that cannot exchange.
  std::error_code error;
  const PathLock lock = PathLock::wait(target.parent_path());
  const fs::path old = waiting_path(target);
  fs::rename(target, old, error);
  if (error) return folder_not_writable(target, error.message());
  fs::rename(fresh, target, error);
  if (error) {
    const std::string reason = error.message();
    fs::rename(old, target, error);
    return folder_not_writable(target, reason);
  }
  fs::rename(old, fresh, error);  // if this fails, the next export finds it by its waiting name
  return std::nullopt;
}

// Who may read the old bundle may read the new one.
std::optional<Problem> take_rights_of(const fs::path& target, const fs::path& fresh) {
  struct stat old {};
  if (::stat(target.c_str(), &old) != 0) return folder_not_writable(target, std::strerror(errno));
  const int file = ::open(fresh.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return folder_not_writable(target, std::strerror(errno));
  const int error = take_rights(file, old);
  ::close(file);
  if (error != 0) return folder_not_writable(target, std::strerror(error));
  return std::nullopt;
}

// Puts the fresh bundle in the place of an old one and deletes that one. Other programs may have added files
// to it since the last look, so what is deleted is looked at again under its temporary name. keep: what is
// under the temporary name now must stay.
std::optional<Problem> replace_bundle(const fs::path& fresh, const fs::path& target, bool& keep) {
  if (auto bad = take_rights_of(target, fresh)) return bad;
  if (auto bad = exchange(fresh, target)) return bad;
  std::optional<Problem> bad;
  try {
    bad = check_target(fresh, true);
  } catch (...) {  // no memory to read its manifest: the old bundle goes back
    keep = exchange(fresh, target).has_value();
    throw;
  }
  if (bad) {
    keep = exchange(fresh, target).has_value();
    if (keep) bad->what += "; it is now in " + fresh.string();
    bad->where = target.string();
    return bad;
  }
  std::error_code ignored;
  fs::remove_all(fresh, ignored);  // what cannot be removed is a leftover for the next export
  return std::nullopt;
}

// Writes the files of a folder to the disk: after a loss of power a bundle is whole or is not there.
std::optional<Problem> sync_files(const fs::path& folder, const fs::path& target) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return folder_not_writable(target, std::strerror(errno));
  // One call for the whole file system: a call per file waits for the journal a thousand times.
  const int error = ::syncfs(file) == 0 ? 0 : errno;
  ::close(file);
  if (error == 0 || error == EINVAL || error == ENOSYS || error == EOPNOTSUPP) return std::nullopt;
  return folder_not_writable(target, std::strerror(error));
}

}  // namespace

Result<BundleFolder> BundleFolder::open(const fs::path& wanted, const FolderOptions& options) {
  std::error_code error;
  BundleFolder folder;
  folder.replace_ = options.replace;
  folder.target_ = fs::weakly_canonical(fs::absolute(wanted, error), error);
  if (wanted.empty())
    return problem(ProblemCode::NotAFolder, wanted, "this is not a path to a folder", kAccepted);
  if (error) return folder_not_writable(wanted, error.message());
  if (folder.target_.filename().empty()) folder.target_ = folder.target_.parent_path();
  if (folder.target_.filename().string().find("empty") != std::string::npos)
    return problem(ProblemCode::FolderNameUnsupported, wanted,
                   "ASTRA-sim reads no communicator groups from a path that contains \"empty\"",
                   "a folder whose name does not contain \"empty\"");
  const std::string settled = settle_waiting(folder.target_);
  const auto failed = [&](Problem bad) {
    if (!settled.empty()) bad.what += "; this export " + settled;
    return bad;
  };
  if (const auto bad = check_target(folder.target_, options.replace)) return failed(*bad);
  const fs::path parent = folder.target_.parent_path();
  for (fs::path p = parent; !fs::exists(p, error) && p.has_relative_path(); p = p.parent_path())
    folder.created_ = p;
  fs::create_directories(parent, error);
  if (error) return failed(folder_not_writable(parent, error.message()));
  if (const auto bad = folder.make_partial(options)) return failed(*bad);
  if (!settled.empty()) folder.removed_.insert(folder.removed_.begin(), settled);
  return folder;
}

std::optional<Problem> BundleFolder::make_partial(const FolderOptions& options) {
  const fs::path parent = target_.parent_path();
  // Others see the new folder only when it has its lock.
  const PathLock parent_lock = PathLock::wait(parent);
  if (options.resume)
    if (auto bad = take_leftover(options)) return bad;
  removed_ = remove_leftovers(target_);  // but for that which is locked now
  if (::faccessat(AT_FDCWD, parent.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    return folder_not_writable(parent, std::strerror(errno));
  const int64_t needed = options.bytes_needed - (resumed_ ? bytes_below(partial_) : 0);
  if (const auto free = free_bytes(parent); free && *free < needed) {
    keep_ = resumed_;
    return disk_full(parent, needed, *free);
  }
  if (resumed_) return std::nullopt;
  auto path = partial_path(target_);
  if (auto* bad = std::get_if<Problem>(&path)) return *bad;
  std::error_code error;
  if (!fs::create_directory(std::get<fs::path>(path), error)) {
    if (error == std::errc::no_space_on_device)
      return disk_full(parent, needed, free_bytes(parent).value_or(0));
    return folder_not_writable(parent, error.message());
  }
  partial_ = std::get<fs::path>(path);
  lock_ = PathLock::wait(partial_);
  if (options.settings.empty()) return std::nullopt;
  return FolderSink(partial_, options.bytes_needed).write(kSettingsName, options.settings);
}

// Goes on with the temporary folder of a killed export. A Problem if there are only some of other settings.
std::optional<Problem> BundleFolder::take_leftover(const FolderOptions& options) {
  std::optional<Problem> mismatch;
  for (const fs::path& path : leftovers(target_)) {
    const auto text = read_text(path / kSettingsName);
    if (!std::holds_alternative<std::string>(text)) continue;
    const std::string difference = settings_difference(std::get<std::string>(text), options.settings);
    if (difference.empty()) {
      auto lock = PathLock::take(path);
      if (!lock) continue;
      partial_ = path;
      lock_ = std::move(*lock);
      resumed_ = true;
      return std::nullopt;
    }
    mismatch = problem(ProblemCode::ResumeMismatch, path,
                       "the export that was killed had other settings: " + difference,
                       "the design and the flags of that export; without --resume, a new export removes it");
  }
  return mismatch;
}

BundleFolder::BundleFolder(BundleFolder&& other) noexcept
    : target_(std::move(other.target_)),
      partial_(std::move(other.partial_)),
      created_(std::move(other.created_)),
      replace_(other.replace_),
      resumed_(other.resumed_),
      keep_(other.keep_),
      lock_(std::move(other.lock_)),
      removed_(std::move(other.removed_)) {
  other.partial_.clear();
  other.created_.clear();
}

BundleFolder::~BundleFolder() {
  std::error_code ignored;
  if (!partial_.empty() && !keep_) fs::remove_all(partial_, ignored);
  // Removes empty folders only: other programs may have added files meanwhile.
  if (!created_.empty())
    for (fs::path p = target_.parent_path(); fs::remove(p, ignored) && p != created_; p = p.parent_path()) {}
}

std::optional<Problem> BundleFolder::commit() {
  // The target may have changed during the export, so check it again.
  if (auto bad = check_target(target_, replace_)) return bad;
  if (auto bad = sync_files(partial_, target_)) return bad;
  // Last, because an export that is killed before can be resumed.
  std::error_code error;
  fs::remove(partial_ / kSettingsName, error);
  // rename(2) replaces an empty folder, but neither a full one nor a file.
  fs::rename(partial_, target_, error);
  if (error && !replace_) {
    // Someone else was faster.
    if (auto bad = check_target(target_, false)) return bad;
    return folder_not_writable(target_, error.message());
  }
  if (error) {
    if (auto bad = replace_bundle(partial_, target_, keep_)) return bad;
  }
  sync_folder(target_.parent_path());
  partial_.clear();
  created_.clear();
  return std::nullopt;
}

}  // namespace shardscape
