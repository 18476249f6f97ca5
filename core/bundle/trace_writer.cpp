#include "bundle/trace_writer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "chakra/digest.h"
#include "chakra/lower.h"
#include "model/parallel_loop.h"

namespace shardscape {

std::string trace_file_name(const std::string& name, int64_t rank) {
  return name + "." + std::to_string(rank) + ".et";
}

std::string class_file_name(size_t index) { return "class-" + std::to_string(index) + ".et"; }

Problem stopped_problem() {
  return Problem::note(ProblemCode::ExportStopped, "export",
                       "stopped before the bundle was complete; nothing was written");
}

namespace {

Problem design_problem(const LoweringError& error) {
  return {ProblemCode::TraceOverflow, "design", error.what(),
          "smaller sizes, or fewer microbatches per step"};
}

// A visit makes the encoder of a class and takes ranks of this class in portions. Threads take visits from
// one counter: the first visits go to every class once, later visits help with classes that still have ranks.
// So a class is lowered twice only when a thread has no unvisited class left.
// The problem of the first rank that has one is reported, in the order of classes and their ranks. Threads
// therefore go on with the ranks before a problem, but leave out those behind it. A trace that cannot be made
// ends all writing at once; if a write of a rank before it fails at that moment, either problem is reported.
class TraceWorkers {
 public:
  TraceWorkers(const TraceSource& source, const TraceWriting& how, ByteSink& sink,
               const ExportProgressFn& progress, std::stop_token stop)
      : source_(source),
        how_(how),
        sink_(sink),
        progress_(progress),
        stop_(std::move(stop)),
        start_(std::chrono::steady_clock::now()),
        threads_(sink.ordered() ? 1 : loop_threads()) {
    classes_ = source.classes();
    for (const FileClass& c : classes_) {
      first_.push_back(static_cast<size_t>(done_.ranks));
      done_.ranks += static_cast<int64_t>(c.ranks.size());
      digests_.emplace_back(c.ranks.size());
      sizes_.emplace_back(c.ranks.size());
    }
    visits_ = classes_.size() * threads_;
    claimed_ = std::make_unique<std::atomic<size_t>[]>(classes_.size());
  }

  Result<TraceTotals> run() {
    parallel_loop(threads_, [&](size_t) { work(); });
    if (problem_) return *problem_;
    if (stop_.stop_requested()) return stopped_problem();
    return totals();
  }

 private:
  void work() {
    for (size_t visit; (visit = next_.fetch_add(1)) < visits_ && !stop_.stop_requested();)
      visit_class(visit % classes_.size());
  }

  void visit_class(size_t index) {
    const size_t ranks = classes_[index].ranks.size();
    const size_t portion = std::clamp<size_t>(ranks / (4 * threads_), 1, 64);
    std::unique_ptr<TraceSource::Encoder> encoder;
    TraceImage image;
    for (size_t k; (k = claimed_[index].fetch_add(portion)) < ranks && !left_out(index, k);) {
      const size_t last = std::min(ranks, k + portion);
      try {
        if (!encoder) encoder = describe(index);
        for (; k < last && !left_out(index, k); ++k) write_rank(index, k, *encoder, image);
      } catch (const LoweringError& error) {
        refused_ = true;
        return fail(index, k, design_problem(error));
      }
    }
  }

  bool left_out(size_t index, size_t k) const {
    return first_[index] + k > failed_at_.load(std::memory_order_relaxed) || stop_.stop_requested();
  }

  void write_rank(size_t index, size_t k, const TraceSource::Encoder& encoder, TraceImage& image) {
    const FileClass& c = classes_[index];
    const bool writes = !how_.compact || k == 0;
    const SlotTexts texts = source_.texts(c, k);
    if (!image.fits(texts))
      image = encoder.image(texts, stop_);
    else if (writes)
      image.patch(texts);
    if (refused_ || left_out(index, k)) return;
    if (writes)
      if (auto problem = sink_.write(
              how_.compact ? class_file_name(index) : trace_file_name(how_.name, c.ranks[k]), image.bytes()))
        return fail(index, k, std::move(*problem));
    digests_[index][k] = image.digest_of(texts);
    sizes_[index][k] = static_cast<int64_t>(image.bytes().size());
    report_rank(sizes_[index][k]);
  }

  // Several threads may describe a class at the same time, with equal results.
  std::unique_ptr<TraceSource::Encoder> describe(size_t index) {
    FileClass described{
        .stage = classes_[index].stage, .position = classes_[index].position, .index = classes_[index].index};
    auto encoder = source_.encoder(described, stop_);
    const std::lock_guard lock(mutex_);
    FileClass& c = classes_[index];
    c.nodes = described.nodes;
    c.collectives = described.collectives;
    c.sends = described.sends;
    c.used_slots = std::move(described.used_slots);
    return encoder;
  }

  void report_rank(int64_t bytes) {
    const std::lock_guard lock(mutex_);
    ++done_.ranks_done;
    done_.bytes += bytes;
    if (!progress_) return;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    done_.seconds = elapsed.count();
    // Twenty times a second is enough for any display.
    if (done_.ranks_done != done_.ranks && done_.seconds - last_report_ < 0.05) return;
    last_report_ = done_.seconds;
    progress_(done_);
  }

  void fail(size_t index, size_t k, Problem problem) {
    const std::lock_guard lock(mutex_);
    if (first_[index] + k >= failed_at_) return;
    failed_at_ = first_[index] + k;
    problem_ = std::move(problem);
  }

  TraceTotals totals() {
    TraceTotals totals;
    for (size_t index = 0; index < classes_.size(); ++index) {
      FileClass& c = classes_[index];
      const auto ranks = static_cast<int64_t>(c.ranks.size());
      for (size_t k = 0; k < c.ranks.size(); ++k) {
        c.bytes += sizes_[index][k];
        c.digest = poly61_fold(c.digest, digests_[index][k], static_cast<uint64_t>(sizes_[index][k]));
      }
      totals.ranks += ranks;
      totals.nodes += ranks * c.nodes;
      totals.collectives += ranks * c.collectives;
      totals.sends += ranks * c.sends;
      totals.bytes += c.bytes;
    }
    totals.classes = std::move(classes_);
    return totals;
  }

  const TraceSource& source_;
  const TraceWriting& how_;
  ByteSink& sink_;
  const ExportProgressFn& progress_;
  std::stop_token stop_;
  std::chrono::steady_clock::time_point start_;
  std::vector<FileClass> classes_;
  std::vector<size_t> first_;  // by class: number of ranks of the classes before it
  size_t threads_;
  size_t visits_ = 0;                               // one per class and thread
  std::unique_ptr<std::atomic<size_t>[]> claimed_;  // by class: number of ranks that threads have taken
  // By class, by rank of the class.
  std::vector<std::vector<uint64_t>> digests_;
  std::vector<std::vector<int64_t>> sizes_;
  std::atomic<size_t> next_{0};
  std::atomic<size_t> failed_at_{SIZE_MAX};  // number of ranks before the one with the problem
  std::atomic<bool> refused_{false};         // a trace cannot be made: no more files are written
  std::mutex mutex_;
  std::optional<Problem> problem_;
  ExportProgress done_;
  double last_report_ = 0;
};

}  // namespace

Result<TraceTotals> write_traces(const TraceSource& source, const TraceWriting& how, ByteSink& sink,
                                 const ExportProgressFn& progress, std::stop_token stop) {
  return TraceWorkers(source, how, sink, progress, std::move(stop)).run();
}

}  // namespace shardscape
