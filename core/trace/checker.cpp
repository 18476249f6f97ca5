#include "trace/checker.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>

#include "trace/bundle_config.h"
#include "trace/digest.h"
#include "trace/findings.h"
#include "trace/manifest.h"
#include "trace/match_rules.h"
#include "trace/node_rules.h"
#include "trace/player.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;

struct TraceFiles {
  std::string name;
  std::vector<fs::path> paths;  // by rank; empty: missing
  int64_t extra = 0;            // ranks beyond those of the network
};

// "trace.12.et" -> "trace", 12
bool split_name(const std::string& file, std::string& name, int64_t& rank) {
  if (!file.ends_with(".et")) return false;
  const std::string stem = file.substr(0, file.size() - 3);
  const size_t dot = stem.rfind('.');
  if (dot == std::string::npos || dot + 1 == stem.size() || (stem[dot + 1] == '0' && dot + 2 != stem.size())) return false;
  const auto [end, status] = std::from_chars(stem.data() + dot + 1, stem.data() + stem.size(), rank);
  name = stem.substr(0, dot);
  return status == std::errc() && end == stem.data() + stem.size() && rank >= 0 && rank < (int64_t{1} << 31);
}

// The whole file in one go; 0 or an errno.
int read_file(const fs::path& path, std::string& bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  struct stat info {};
  int error = ::fstat(file, &info) == 0 ? 0 : errno;
  if (error == 0 && !S_ISREG(info.st_mode)) error = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
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

class Checker {
 public:
  Checker(const fs::path& bundle, const std::function<void(double)>& progress, const std::stop_token& stop)
      : bundle_(bundle), progress_(progress), stop_(stop) {}

  CheckReport run() {
    std::error_code error;
    if (!fs::is_directory(bundle_, error)) {
      findings_.error("NO_TRACES", -1, -1, bundle_.string() + " is no folder");
    } else {
      config_ = read_bundle_config(bundle_, findings_);
      find_files();
      if (!files_.paths.empty()) check_traces();
    }
    if (stop_.stop_requested()) findings_.error("STOPPED", -1, -1, "the check was stopped before its end");
    report_.findings = findings_.take();
    return std::move(report_);
  }

 private:
  void find_files() {
    std::map<std::string, std::map<int64_t, fs::path>> families;
    std::error_code error;
    for (fs::directory_iterator it(bundle_, error), end; !error && it != end; it.increment(error)) {
      std::string name;
      int64_t rank = 0;
      if (split_name(it->path().filename().string(), name, rank)) families[name][rank] = it->path();
    }
    if (families.empty()) return findings_.error("NO_TRACES", -1, -1, bundle_.string() + " holds no <name>.<rank>.et");
    if (families.size() > 1) {
      std::string names;
      for (const auto& [name, ranks] : families) names += (names.empty() ? "" : ", ") + name;
      return findings_.error("SEVERAL_NAMES", -1, -1, "traces with several names: " + names + "; one bundle has one name");
    }
    const auto& [name, ranks] = *families.begin();
    const int64_t count = config_.ranks > 0 ? config_.ranks : ranks.rbegin()->first + 1;
    // A wrong rank count must not make the check allocate without bound.
    const int64_t known = std::min<int64_t>(count, std::max<int64_t>(ranks.rbegin()->first + 1, 1));
    files_.name = name;
    files_.paths.resize(static_cast<size_t>(known));
    for (const auto& [rank, path] : ranks) {
      if (rank >= count)
        findings_.warning("EXTRA_FILE", rank, -1, "a trace beyond the " + std::to_string(count) + " ranks is ignored");
      else
        files_.paths[static_cast<size_t>(rank)] = path;
    }
    for (int64_t rank = 0; rank < known; ++rank)
      if (files_.paths[static_cast<size_t>(rank)].empty()) missing(rank);
    for (int64_t rank = known; rank < std::min(count, known + 2); ++rank) missing(rank);
    report_.ranks = static_cast<int64_t>(ranks.size());
    check_config_ranks(config_, known, report_.ranks, findings_);
  }

  void missing(int64_t rank) {
    findings_.error("MISSING_RANK", rank, -1, files_.name + "." + std::to_string(rank) + ".et is missing");
  }

  void check_traces() {
    read_traces();
    if (stop_.stop_requested()) return;
    analyse_shapes();
    if (stop_.stop_requested()) return;
    count_nodes();
    check_manifest();
    check_group_ids(traces_, findings_);
    check_collectives_match(traces_, config_, findings_);
    check_transfers_match(traces_, findings_);
    if (progress_) progress_(0.95);
    report_.finished = play(traces_, config_, findings_, stop_) && !stop_.stop_requested();
    if (progress_) progress_(1);
  }

  void read_traces() {
    const size_t count = files_.paths.size();
    traces_.ranks.resize(count);
    tbb::enumerable_thread_specific<Findings> local;
    std::atomic<size_t> done{0};
    tbb::parallel_for(size_t{0}, count, [&](size_t r) {
      if (stop_.stop_requested() || files_.paths[r].empty()) return;
      read_one(static_cast<int64_t>(r), local.local());
      const size_t so_far = ++done;
      if (!progress_ || (so_far % std::max<size_t>(1, count / 100) != 0)) return;
      const std::lock_guard lock(mutex_);
      progress_(0.8 * static_cast<double>(so_far) / static_cast<double>(count));
    });
    for (Findings& f : local) findings_.merge(std::move(f));
  }

  void read_one(int64_t rank, Findings& findings) {
    const fs::path& path = files_.paths[static_cast<size_t>(rank)];
    std::string bytes;
    if (const int error = read_file(path, bytes)) return findings.error("READ", rank, -1, std::strerror(error));
    if (::access(path.c_str(), W_OK) != 0)
      findings.warning("READ_ONLY", rank, -1, "the simulator opens traces for appending: the file must be writable");
    RankTrace& trace = traces_.ranks[static_cast<size_t>(rank)];
    trace.bytes = static_cast<int64_t>(bytes.size());
    trace.digest = poly61(bytes);
    TraceShape shape;
    read_trace(bytes, {config_, rank, static_cast<int64_t>(files_.paths.size())}, shape, trace, findings);
    if (trace.readable) trace.shape = intern(std::move(shape));
  }

  uint32_t intern(TraceShape shape) {
    const uint64_t hash = shape_hash(shape);
    const std::lock_guard lock(mutex_);
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto it = first; it != last; ++it)
      if (traces_.shapes[it->second] == shape) return it->second;
    const auto index = static_cast<uint32_t>(traces_.shapes.size());
    shape.nodes.shrink_to_fit();
    shape.deps.shrink_to_fit();
    traces_.shapes.push_back(std::move(shape));
    by_hash_.emplace(hash, index);
    return index;
  }

  void analyse_shapes() {
    std::vector<int64_t> first_rank(traces_.shapes.size(), -1);
    for (size_t r = traces_.ranks.size(); r-- != 0;)
      if (traces_.ranks[r].readable) first_rank[traces_.ranks[r].shape] = static_cast<int64_t>(r);
    traces_.analyses.resize(traces_.shapes.size());
    tbb::enumerable_thread_specific<Findings> local;
    tbb::parallel_for(size_t{0}, traces_.shapes.size(), [&](size_t s) {
      if (!stop_.stop_requested()) traces_.analyses[s] = analyse_shape(traces_.shapes[s], first_rank[s], local.local());
    });
    for (Findings& f : local) findings_.merge(std::move(f));
    if (progress_) progress_(0.9);
  }

  void count_nodes() {
    for (size_t r = 0; r < traces_.ranks.size(); ++r) {
      const RankTrace& trace = traces_.ranks[r];
      report_.bytes += trace.bytes;
      if (!trace.readable) continue;
      report_.nodes += static_cast<int64_t>(traces_.shapes[trace.shape].nodes.size());
      report_.collectives += traces_.analyses[trace.shape].collective_count;
      report_.sends += traces_.analyses[trace.shape].send_count;
    }
  }

  void check_manifest() {
    const auto manifest = read_manifest(bundle_);
    if (!manifest) return;
    if (manifest->ranks != static_cast<int64_t>(traces_.ranks.size()))
      findings_.warning("MANIFEST", -1, -1, "manifest.json describes " + std::to_string(manifest->ranks) + " ranks");
    for (size_t c = 0; c < manifest->classes.size(); ++c) {
      uint64_t digest = 0;
      for (const int64_t rank : manifest->classes[c].ranks) {
        if (rank >= static_cast<int64_t>(traces_.ranks.size())) return;
        const RankTrace& trace = traces_.ranks[static_cast<size_t>(rank)];
        digest = poly61_fold(digest, trace.digest, static_cast<uint64_t>(trace.bytes));
      }
      if (poly61_text(digest) != manifest->classes[c].digest)
        findings_.warning("MANIFEST_DIGEST", -1, -1, "the traces of class " + std::to_string(c) +
                                                         " are not those that manifest.json describes");
    }
  }

  const fs::path& bundle_;
  const std::function<void(double)>& progress_;
  const std::stop_token& stop_;
  Findings findings_;
  CheckReport report_;
  BundleConfig config_;
  TraceFiles files_;
  BundleTraces traces_;
  std::mutex mutex_;
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;
};

}  // namespace

bool CheckReport::ok() const {
  return finished && std::none_of(findings.begin(), findings.end(), [](const Finding& f) { return f.error; });
}

CheckReport check_bundle(const fs::path& bundle, const std::function<void(double)>& progress, std::stop_token stop) {
  return Checker(bundle, progress, stop).run();
}

}  // namespace shardscape
