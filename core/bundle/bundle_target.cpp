#include "bundle/bundle_target.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "bundle/archive.h"
#include "bundle/bundle_folder.h"

namespace shardscape {
namespace {

Result<ExportSummary> write_archive(const TargetOptions& options, const SinkWriter& write) {
  auto opened = ArchiveSink::open(options.target, options.replace, options.bytes_needed);
  if (auto* problem = std::get_if<Problem>(&opened)) return *problem;
  ArchiveSink& sink = *std::get<0>(opened);
  auto written = write(sink);
  auto* summary = std::get_if<ExportSummary>(&written);
  if (!summary) return written;
  if (auto problem = sink.commit()) return *problem;
  summary->target = sink.target();
  summary->removed = sink.removed();
  return written;
}

Result<ExportSummary> write_folder(const TargetOptions& options, const SinkWriter& write) {
  auto opened = BundleFolder::open(options.target,
                                   {options.replace, options.bytes_needed, options.settings, options.resume});
  if (auto* problem = std::get_if<Problem>(&opened)) return *problem;
  BundleFolder& folder = std::get<BundleFolder>(opened);
  FolderSink sink(folder.path(), options.bytes_needed, folder.resumed());
  auto written = write(sink);
  if (auto* problem = std::get_if<Problem>(&written)) {
    if (options.keep_partial && problem->code == ProblemCode::DiskFull) {
      folder.keep();
      problem->accepted += ". What is written stays in " + folder.path().string() +
                           "; with more space, the same command with --resume goes on";
    }
    return written;
  }
  if (auto problem = folder.commit()) return *problem;
  auto& summary = std::get<ExportSummary>(written);
  summary.target = folder.target();
  summary.removed = folder.removed();
  summary.resumed = folder.resumed();
  return written;
}

// A name that people give to archives of a format that archive_format() does not have.
bool names_other_archive(const std::filesystem::path& target) {
  static constexpr std::string_view kEndings[] = {".gz", ".tgz", ".xz", ".bz2", ".zip", ".7z"};
  std::error_code ignored;
  return !std::filesystem::exists(target, ignored) &&
         std::find(std::begin(kEndings), std::end(kEndings), target.extension().string()) !=
             std::end(kEndings);
}

}  // namespace

Result<ExportSummary> write_target(const TargetOptions& options, const SinkWriter& write) {
  if (!archive_format(options.target)) {
    if (names_other_archive(options.target))
      return Problem{ProblemCode::FileNotWritable, options.target.string(),
                     "archives of this format are not written", "NAME.tar, NAME.tar.zst, or a folder"};
    return write_folder(options, write);
  }
  if (options.resume)
    return Problem{ProblemCode::ConflictingFlags, "resume", "an archive is written in one go",
                   "a folder as the target"};
  return write_archive(options, write);
}

}  // namespace shardscape
