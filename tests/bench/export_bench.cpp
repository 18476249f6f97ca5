// Speed and memory of bundle export: into memory compared with memcpy, to disk compared with a plain writer
// of equal files. usage: export_bench [--ranks 1024,4096] [--microbatches 16] [--disk-ranks 1024 (0: none)]
// [--folder DIR] [--rounds 3] [--json FILE]
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "bundle/bundle.h"
#include "bundle/sink.h"
#include "bundle/trace_export.h"
#include "plan/report.h"
#include "support/bench_figures.h"
#include "support/designs.h"

using namespace shardscape;
using bench::Figure;
namespace fs = std::filesystem;

namespace {

constexpr int64_t kMostDiskBytes = 8'000'000'000;

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

// Ring buffer for copies. It exceeds the caches, so that bytes reach memory like those of a file system.
class Ring {
 public:
  Ring() : bytes_(kBytes, 'r') {}  // touches every page before the first measurement
  void copy(const char* from, size_t size) {
    if (at_ + size > bytes_.size()) at_ = 0;
    if (size > bytes_.size()) throw std::runtime_error("a trace is larger than the benchmark's buffer");
    std::memcpy(bytes_.data() + at_, from, size);
    asm volatile("" : : "r"(bytes_.data()) : "memory");  // prevents the compiler from removing the copy
    at_ += size;
  }

 private:
  static constexpr size_t kBytes = 64 << 20;
  std::string bytes_;
  size_t at_ = 0;
};

// One warm ring per concurrent thread; export and plain copy use the same rings alternately.
class Rings {
 public:
  Rings() : free_(std::max(1u, std::thread::hardware_concurrency()), nullptr) {
    for (Ring*& ring : free_) ring = &rings_.emplace_back();
  }
  void copy(const char* from, size_t size) {
    Ring* ring = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (free_.empty()) free_.push_back(&rings_.emplace_back());
      ring = free_.back();
      free_.pop_back();
    }
    ring->copy(from, size);
    const std::lock_guard lock(mutex_);
    free_.push_back(ring);
  }

 private:
  std::mutex mutex_;
  std::deque<Ring> rings_;
  std::vector<Ring*> free_;
};

Rings& rings() {
  static Rings all;
  return all;
}

class MemorySink : public ByteSink {
 public:
  std::optional<Problem> write(const std::string&, std::string_view bytes) override {
    rings().copy(bytes.data(), bytes.size());
    const std::lock_guard lock(mutex_);
    sizes_.push_back(bytes.size());
    return std::nullopt;
  }
  std::vector<size_t> sizes_;

 private:
  std::mutex mutex_;
};

// The same number of threads writes the same files.
void for_each_file(const std::vector<size_t>& sizes, const std::function<void(size_t, size_t)>& work) {
  std::atomic<size_t> next{0};
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
    threads.emplace_back([&] {
      for (size_t i; (i = next.fetch_add(1)) < sizes.size();) work(i, sizes[i]);
    });
}

void bare_memcpy(const std::vector<size_t>& sizes, const std::string& from) {
  for_each_file(sizes, [&](size_t, size_t size) { rings().copy(from.data(), size); });
}

void bare_writer(const fs::path& folder, const std::vector<size_t>& sizes) {
  fs::create_directory(folder);
  for_each_file(sizes, [&](size_t i, size_t size) {
    thread_local std::string bytes;
    if (bytes.size() < size) bytes.assign(size, 'x');
    const int file = ::open((folder / ("bare." + std::to_string(i) + ".et")).c_str(),
                            O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (file < 0 || ::write(file, bytes.data(), size) != static_cast<ssize_t>(size))
      throw std::runtime_error("bare write failed");
    ::close(file);
  });
}

// An export does this before its bundle gets its name.
void sync_disk(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (file < 0 || ::syncfs(file) != 0) throw std::runtime_error("syncfs failed");
  ::close(file);
}

std::shared_ptr<const Report> job(int64_t ranks, int64_t microbatches) {
  Design d = test::preset_design("llama3-70b", 8, 8, ranks / 64, true);
  if (d.model.preset != "llama3-70b") throw std::runtime_error("the preset llama3-70b is missing");
  d.workload.microbatch = 1;
  d.workload.batch = microbatches * d.parallel.dp;
  auto report = make_report(d);
  if (!report || !report->valid())
    throw std::runtime_error("no report: " + (report ? to_string(report->problems.front()) : ""));
  return report;
}

std::vector<int64_t> numbers(const std::string& text) {
  std::vector<int64_t> out;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');)
    if (const int64_t n = std::stoll(part); n > 0) out.push_back(n);
  return out;
}

// Deletes its folder in the destructor, also after a failed measurement.
struct ScratchFolder {
  explicit ScratchFolder(const fs::path& where)
      : path(where / ("shardscape-export-bench-" + std::to_string(::getpid()))) {
    fs::create_directories(path);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

std::string of_ranks(int64_t ranks) { return std::to_string(ranks) + " ranks, "; }

void measure_sink(int64_t ranks, int64_t microbatches, int rounds, std::vector<Figure>& figures) {
  const auto report = job(ranks, microbatches);
  std::vector<double> rates, copies, ratios;
  double bytes = 0;
  rings();
  // The first round warms up caches and threads; it is not counted.
  for (int r = -1; r < rounds; ++r) {
    MemorySink sink;
    const double ours = seconds([&] {
      const auto result = TraceExport(*report, {}).write(sink, {}, {});
      if (const auto* problem = std::get_if<Problem>(&result)) throw std::runtime_error(to_string(*problem));
      bytes = static_cast<double>(std::get<TraceTotals>(result).bytes);
    });
    // Includes the rings of the benchmark, 64 MiB per thread.
    if (r < 0)
      figures.push_back({of_ranks(ranks) + "sink: peak resident memory", peak_megabytes(), "MB", "< 400 MB"});
    const std::string from(*std::max_element(sink.sizes_.begin(), sink.sizes_.end()), 'x');
    const double copy = seconds([&] { bare_memcpy(sink.sizes_, from); });
    if (r < 0) continue;
    copies.push_back(bytes / copy / 1e9);
    rates.push_back(bytes / ours / 1e9);
    ratios.push_back(copy / ours);
  }
  figures.push_back({of_ranks(ranks) + "sink: size", bytes / 1e9, "GB", ""});
  figures.push_back(
      {of_ranks(ranks) + "sink: rate, median", bench::percentile(rates, 0.5), "GB/s", ">= 1 GB/s"});
  figures.push_back({of_ranks(ranks) + "memcpy of the same sizes: rate, median",
                     bench::percentile(copies, 0.5), "GB/s", ""});
  figures.push_back(
      {of_ranks(ranks) + "sink: share of memcpy, median", bench::percentile(ratios, 0.5), "", ">= 0.5"});
  const double estimate = seconds([&] { estimate_bundle_bytes(*report, {}); });
  figures.push_back({of_ranks(ranks) + "size estimate", estimate * 1e3, "ms", ""});
}

void measure_disk(int64_t ranks, int64_t microbatches, int rounds, const fs::path& folder,
                  std::vector<Figure>& figures) {
  const auto report = job(ranks, microbatches);
  if (estimate_bundle_bytes(*report, {}) > kMostDiskBytes) {
    std::printf("  %lld ranks to disk: left out, more than 8 GB\n", static_cast<long long>(ranks));
    return;
  }
  MemorySink sizes;
  (void)TraceExport(*report, {}).write(sizes, {}, {});
  std::vector<double> rates, written, synced;
  for (int r = 0; r < rounds; ++r) {
    double bytes = 0;
    const double ours = seconds([&] {
      const auto result = export_bundle(*report, {.target = folder / "ours"});
      if (const auto* problem = std::get_if<Problem>(&result)) throw std::runtime_error(to_string(*problem));
      bytes = static_cast<double>(std::get<ExportSummary>(result).bytes);
    });
    fs::remove_all(folder / "ours");
    const double bare = seconds([&] { bare_writer(folder / "bare", sizes.sizes_); });
    const double sync = seconds([&] { sync_disk(folder); });
    fs::remove_all(folder / "bare");
    fs::create_directory(folder / "files");
    FolderSink files(folder / "files", 0);
    const double without_sync = seconds([&] { (void)TraceExport(*report, {}).write(files, {}, {}); });
    fs::remove_all(folder / "files");
    rates.push_back(bytes / ours / 1e9);
    written.push_back(without_sync / bare);
    synced.push_back(ours / (bare + sync));
  }
  const auto median = [&](const char* what, std::vector<double>& of, const char* unit, const char* aim) {
    figures.push_back({of_ranks(ranks) + what, bench::percentile(of, 0.5), unit, aim});
  };
  median("disk: rate, median", rates, "GB/s", "");
  median("disk: traces in the cache of files, time against a bare writer, median", written, "", "<= 1.3");
  median("disk: bundle on the disk, time against a bare writer and syncfs, median", synced, "", "<= 1.3");
}

}  // namespace

int main(int argc, char** argv) try {
  std::map<std::string, std::string> flags{{"--ranks", "1024,4096"},
                                           {"--microbatches", "16"},
                                           {"--disk-ranks", "1024"},
                                           {"--folder", fs::temp_directory_path().string()},
                                           {"--rounds", "3"}};
  for (int i = 1; i + 1 < argc; i += 2) flags[argv[i]] = argv[i + 1];
  const int rounds = std::stoi(flags["--rounds"]);
  const int64_t microbatches = std::stoll(flags["--microbatches"]);
  std::vector<Figure> figures;
  for (const int64_t ranks : numbers(flags["--ranks"])) measure_sink(ranks, microbatches, rounds, figures);
  const ScratchFolder folder(flags["--folder"]);
  for (const int64_t ranks : numbers(flags["--disk-ranks"]))
    measure_disk(ranks, microbatches, rounds, folder.path, figures);
  return bench::report_figures("export of Llama 3 70B, TP 8 with sequence parallelism, PP 8, " +
                                   flags["--microbatches"] + " microbatches",
                               figures, argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "export_bench: %s\n", error.what());
  return 1;
}
