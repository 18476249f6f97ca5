#include "bundle/bundle_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <tbb/enumerable_thread_specific.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "base/compressed_file.h"
#include "base/file_limits.h"
#include "bundle/bundle_files.h"
#include "bundle/manifest.h"
#include "bundle/node_rules.h"
#include "bundle/trace_folder.h"
#include "chakra/digest.h"
#include "model/parallel_loop.h"
#include "model/progress_count.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;

struct TraceFiles {
  std::string name;
  std::vector<fs::path> paths;  // by rank; empty: missing
  int64_t extra = 0;            // ranks beyond those of the network
};

// Reads the bytes of the whole file. Returns 0 or an errno.
int read_plain(const fs::path& path, std::string& bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return errno;
  struct stat info {};
  int error = ::fstat(file, &info) == 0 ? 0 : errno;
  if (error == 0 && !S_ISREG(info.st_mode)) error = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
  if (error == 0 && !fits_in_memory(static_cast<uint64_t>(info.st_size))) error = EFBIG;
  if (error == 0) bytes.resize(static_cast<size_t>(info.st_size));
  size_t at = 0;
  while (error == 0 && at < bytes.size()) {
    const ssize_t got = ::read(file, bytes.data() + at, bytes.size() - at);
    if (got == 0) break;
    if (got > 0)
      at += static_cast<size_t>(got);
    else if (errno != EINTR)
      error = errno;
  }
  bytes.resize(at);
  ::close(file);
  return error;
}

// The content of a trace file.
struct TraceContent {
  std::string bytes;
  bool compressed = false;  // the file has the gzip data of these bytes
  std::string error;        // why the file cannot be read
};

TraceContent read_content(const fs::path& path, const std::stop_token& stop) {
  constexpr std::string_view kGzip = "\x1f\x8b";
  TraceContent out;
  if (const int error = read_plain(path, out.bytes)) out.error = std::strerror(error);
  out.compressed = out.bytes.starts_with(kGzip);
  if (!out.compressed) return out;
  auto text = read_text_or_gzip(path, stop);
  if (const auto* problem = std::get_if<Problem>(&text)) {
    out.error = problem->what;
  } else {
    out.bytes = std::move(std::get<std::string>(text));
  }
  return out;
}

class BundleReader {
 public:
  BundleReader(const BundlePaths& paths, bool folded, Findings& findings,
               const std::function<void(double)>& progress, const std::stop_token& stop)
      : paths_(paths),
        bundle_(paths.folder),
        folded_(folded),
        findings_(findings),
        progress_(progress),
        stop_(stop) {}

  BundleContents run() {
    std::error_code error;
    if (!fs::is_directory(bundle_, error)) {
      findings_.error("NO_TRACES", -1, -1, bundle_.string() + " is not a folder");
      return std::move(out_);
    }
    if (fs::exists(bundle_ / kCompactName, error)) {
      findings_.error("NO_TRACES", -1, -1,
                      bundle_.string() + " is a compact bundle; shardscape-cli expand writes its traces");
      return std::move(out_);
    }
    out_.config = read_bundle_config(paths_, findings_);
    find_files();
    if (!files_.paths.empty()) read_traces();
    if (!files_.paths.empty() && !stop_.stop_requested()) analyse_shapes();
    return std::move(out_);
  }

 private:
  void find_files() {
    std::error_code error;
    const auto families = trace_families(bundle_, ".et", error);
    if (families.empty())
      return findings_.error("NO_TRACES", -1, -1,
                             bundle_.string() + " has no file <name>.<rank>.et or .et.gz");
    if (families.size() > 1) {
      std::string names;
      for (const auto& [name, ranks] : families) names += (names.empty() ? "" : ", ") + name;
      return findings_.error("SEVERAL_NAMES", -1, -1,
                             "traces with several names: " + names + "; a bundle has only one name");
    }
    const auto& [name, ranks] = *families.begin();
    const int64_t count = out_.config.ranks > 0 ? out_.config.ranks : ranks.rbegin()->first + 1;
    // A wrong rank count must not make the check allocate without bound.
    const int64_t known = std::min<int64_t>(count, std::max<int64_t>(ranks.rbegin()->first + 1, 1));
    files_.name = name;
    // Nor may a rank in the name of a file.
    constexpr int64_t kGaps = 1024;
    const auto found = static_cast<int64_t>(ranks.size());
    if (known > 4 * found + kGaps)
      return findings_.error("MISSING_RANK", -1, -1,
                             "there are traces of " + std::to_string(found) + " ranks, the last of rank " +
                                 std::to_string(ranks.rbegin()->first) + "; all others are missing");
    files_.paths.resize(static_cast<size_t>(known));
    for (const auto& [rank, path] : ranks) {
      if (rank >= count)
        findings_.warning("EXTRA_FILE", rank, -1,
                          "a trace beyond the " + std::to_string(count) + " ranks is ignored");
      else
        files_.paths[static_cast<size_t>(rank)] = path;
    }
    out_.files = static_cast<int64_t>(ranks.size());
    if (is_part(ranks)) {
      out_.absent = std::max<int64_t>(0, count - out_.files);
      if (out_.absent > 0) return;
    }
    for (int64_t rank = 0; rank < known; ++rank)
      if (files_.paths[static_cast<size_t>(rank)].empty()) missing(rank);
    for (int64_t rank = known; rank < std::min(count, known + 2); ++rank) missing(rank);
    check_config_ranks(out_.config, known, out_.files, findings_);
  }

  // Whether the manifest says that the bundle is a part of the job. The ranks of this part must be there.
  bool is_part(const TraceFamily& ranks) {
    constexpr int64_t kMostListed = 1 << 20;  // numbers of missing ranks may be above all that are there
    const auto manifest = read_manifest(bundle_, kMostListed);
    if (!manifest || !manifest->part) return false;
    for (const ManifestClass& c : manifest->classes)
      for (const int64_t rank : c.ranks)
        if (!ranks.contains(rank)) missing(rank);
    return true;
  }

  void missing(int64_t rank) {
    findings_.error("MISSING_RANK", rank, -1, files_.name + "." + std::to_string(rank) + ".et is missing");
  }

  void read_traces() {
    const size_t count = files_.paths.size();
    out_.traces.ranks.resize(count);
    tbb::enumerable_thread_specific<Findings> local;
    const ProgressCount::Tell tell = [&](size_t done, size_t of) {
      if (progress_ && done % std::max<size_t>(1, of / 100) == 0)
        progress_(0.9 * static_cast<double>(done) / static_cast<double>(of));
    };
    ProgressCount done(tell);
    parallel_loop(count, [&](size_t r) {
      if (stop_.stop_requested() || files_.paths[r].empty()) return;
      read_one(static_cast<int64_t>(r), local.local());
      done.step(count);
    });
    for (Findings& f : local) findings_.merge(std::move(f));
  }

  void read_one(int64_t rank, Findings& findings) {
    const fs::path& path = files_.paths[static_cast<size_t>(rank)];
    const TraceContent content = read_content(path, stop_);
    if (!content.error.empty()) return findings.error("READ", rank, -1, content.error);
    if (content.compressed)
      findings.warning(
          "GZIP", rank, -1,
          path.filename().string() + " is compressed with gzip; simulators read plain files only");
    if (::access(path.c_str(), W_OK) != 0)
      findings.warning("READ_ONLY", rank, -1,
                       "the simulator opens traces for appending: the file must be writable");
    RankTrace& trace = out_.traces.ranks[static_cast<size_t>(rank)];
    trace.bytes = static_cast<int64_t>(content.bytes.size());
    trace.digest = poly61(content.bytes);
    TraceShape shape;
    const auto ranks = out_.absent > 0 ? out_.files + out_.absent : static_cast<int64_t>(files_.paths.size());
    read_trace(content.bytes, {out_.config, rank, ranks, stop_}, shape, trace, findings);
    if (trace.readable) trace.shape = intern(std::move(shape));
  }

  uint32_t intern(TraceShape shape) {
    const uint64_t hash = shape_hash(shape);
    const std::lock_guard lock(mutex_);
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto it = first; it != last; ++it)
      if (out_.traces.shapes[it->second] == shape) return it->second;
    const auto index = static_cast<uint32_t>(out_.traces.shapes.size());
    shape.nodes.shrink_to_fit();
    shape.deps.shrink_to_fit();
    out_.traces.shapes.push_back(std::move(shape));
    by_hash_.emplace(hash, index);
    return index;
  }

  void analyse_shapes() {
    std::vector<int64_t> first_rank(out_.traces.shapes.size(), -1);
    for (size_t r = out_.traces.ranks.size(); r-- != 0;)
      if (out_.traces.ranks[r].readable) first_rank[out_.traces.ranks[r].shape] = static_cast<int64_t>(r);
    out_.traces.analyses.resize(out_.traces.shapes.size());
    tbb::enumerable_thread_specific<Findings> local;
    parallel_loop(out_.traces.shapes.size(), [&](size_t s) {
      if (!stop_.stop_requested())
        out_.traces.analyses[s] = analyse_shape(out_.traces.shapes[s], first_rank[s], folded_, local.local());
    });
    for (Findings& f : local) findings_.merge(std::move(f));
    if (progress_) progress_(1);
  }

  const BundlePaths& paths_;
  const fs::path& bundle_;
  const bool folded_;
  Findings& findings_;
  const std::function<void(double)>& progress_;
  const std::stop_token& stop_;
  BundleContents out_;
  TraceFiles files_;
  std::mutex mutex_;
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;
};

}  // namespace

BundleContents read_bundle(const BundlePaths& paths, bool folded, Findings& findings,
                           const std::function<void(double)>& progress, const std::stop_token& stop) {
  return BundleReader(paths, folded, findings, progress, stop).run();
}

}  // namespace shardscape
