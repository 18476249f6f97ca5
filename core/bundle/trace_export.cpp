#include "bundle/trace_export.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <numeric>

#include "chakra/digest.h"
#include "model/parallel_loop.h"

namespace shardscape {

Problem stopped_problem() {
  return Problem::note(ProblemCode::ExportStopped, "export",
                       "stopped before the bundle was complete; nothing was written");
}

namespace {

Problem design_problem(const LoweringError& error) {
  return {ProblemCode::TraceOverflow, "design", error.what(),
          "smaller sizes, or fewer microbatches per step"};
}

int64_t count(const RankProgram& program, chakra::NodeType type) {
  return std::count_if(program.nodes.begin(), program.nodes.end(),
                       [&](const TraceNode& n) { return program.ops[n.op].type == type; });
}

}  // namespace

TraceExport::TraceExport(const Report& report, const ExportOptions& options)
    : report_(report),
      options_(options),
      lowering_(std::in_place, report,
                options.launches    ? TraceTimes::Launches
                : options.durations ? TraceTimes::Durations
                                    : TraceTimes::Roofline),
      groups_(lowering_->mesh(), lowering_->roles()) {}

TraceExport::TraceExport(const StepWindow& window, const ExportOptions& options)
    : report_(window.reference().report()),
      options_(options),
      window_(&window),
      groups_(window.reference().mesh(), window.reference().roles()) {}

RankProgram TraceExport::program(const FileClass& of, std::stop_token stop) const {
  return window_ ? window_->stage(of.stage, options_.tensors, std::move(stop), of.position)
                 : lowering_->stage(of.stage, options_.tensors, std::move(stop), of.position);
}

RankNumbers TraceExport::numbers(int64_t rank) const {
  const int roles = static_cast<int>(lowering().roles().size());
  RankNumbers numbers;
  numbers.values.resize(slot_count(roles));
  for (int role = 0; role < roles; ++role) numbers.values[static_cast<size_t>(role)] = groups_.id(role, rank);
  const DeviceMesh& mesh = lowering().mesh();
  const int64_t stage = mesh.coordinate(rank, MeshAxis::Pp), stages = mesh.degree(MeshAxis::Pp);
  numbers.values[own_slot(roles)] = rank;
  // Only interleaved chunks send messages between the last stage and the first.
  const bool round = lowering().schedule().chunks > 1 && lowering().schedule().layout == ChunkLayout::Round;
  const int64_t previous = stage > 0 ? stage - 1 : round ? stages - 1 : 0;
  const int64_t next = stage + 1 < stages ? stage + 1 : round ? 0 : stages - 1;
  numbers.values[peer_slot(roles, Peer::PreviousStage)] = mesh.with(rank, MeshAxis::Pp, previous);
  numbers.values[peer_slot(roles, Peer::NextStage)] = mesh.with(rank, MeshAxis::Pp, next);
  for (const MeshAxis ring : ring_axes(report_.graph().structure)) {
    const int64_t at = mesh.coordinate(rank, ring), ranks = mesh.degree(ring);
    numbers.values[peer_slot(roles, Peer::PreviousInRing)] = mesh.with(rank, ring, (at + ranks - 1) % ranks);
    numbers.values[peer_slot(roles, Peer::NextInRing)] = mesh.with(rank, ring, (at + 1) % ranks);
  }
  return numbers;
}

std::vector<FileClass> TraceExport::classes() const {
  std::vector<FileClass> out;
  for (size_t s = 0; s < report_.stages.size(); ++s)
    for (int64_t position = 0; position < lowering().positions(); ++position) {
      out.emplace_back().stage = static_cast<int>(s);
      out.back().position = position;
    }
  return out;
}

int64_t TraceExport::estimate() const {
  const int roles = static_cast<int>(lowering().roles().size());
  const std::vector<FileClass> all = classes();
  std::vector<int64_t> bytes(all.size());
  parallel_loop(all.size(), [&](size_t c) {
    const int64_t first = lowering().mesh().with(0, MeshAxis::Pp, all[c].stage);
    bytes[c] = image_size(program(all[c], {}), slot_texts(numbers(first), roles));
  });
  const int64_t replicas = lowering().mesh().ranks() / static_cast<int64_t>(all.size());
  return replicas * std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
}

// A visit lowers a class and takes ranks of this class in portions. Threads take visits from one counter: the
// first visits go to every class once, later visits help with classes that still have ranks. So a class is
// lowered twice only when a thread has no unvisited class left.
class TraceWorkers {
 public:
  TraceWorkers(const TraceExport& what, ByteSink& sink, const ExportProgressFn& progress,
               std::stop_token stop)
      : export_(what),
        sink_(sink),
        progress_(progress),
        stop_(std::move(stop)),
        roles_(static_cast<int>(what.lowering().roles().size())),
        start_(std::chrono::steady_clock::now()) {
    const int64_t world = what.lowering().mesh().ranks();
    digests_.resize(static_cast<size_t>(world));
    sizes_.resize(static_cast<size_t>(world));
    classes_ = what.classes();
    const Lowering& lowering = what.lowering();
    for (int64_t rank = 0; rank < world; ++rank) {
      const int64_t of = lowering.mesh().coordinate(rank, MeshAxis::Pp) * lowering.positions() +
                         lowering.position_of(rank);
      classes_[static_cast<size_t>(of)].ranks.push_back(rank);
    }
    visits_ = classes_.size() * threads_;
    claimed_ = std::make_unique<std::atomic<size_t>[]>(classes_.size());
    done_.ranks = world;
  }

  Result<TraceTotals> run() {
    parallel_loop(threads_, [&](size_t) { work(); });
    if (problem_) return *problem_;
    if (stop_.stop_requested()) return stopped_problem();
    return totals();
  }

 private:
  void work() {
    RankProgram program;
    TraceImage image;
    try {
      for (size_t visit; (visit = next_.fetch_add(1)) < visits_ && !halted();) {
        const size_t index = visit % classes_.size();
        FileClass& c = classes_[index];
        const size_t portion = std::clamp<size_t>(c.ranks.size() / (4 * threads_), 1, 64);
        bool lowered = false;
        for (size_t first; (first = claimed_[index].fetch_add(portion)) < c.ranks.size() && !halted();) {
          if (!lowered) {
            image = {};
            program = export_.program(c, stop_);
            describe(c, program);
            lowered = true;
          }
          const size_t last = std::min(c.ranks.size(), first + portion);
          for (size_t k = first; k < last && !halted(); ++k) write_rank(c.ranks[k], program, image);
        }
      }
    } catch (const LoweringError& error) {
      fail(design_problem(error));
    }
  }

  bool halted() const { return failed_.load(std::memory_order_relaxed) || stop_.stop_requested(); }

  void write_rank(int64_t rank, const RankProgram& program, TraceImage& image) {
    const SlotTexts texts = slot_texts(export_.numbers(rank), roles_);
    if (image.fits(texts))
      image.patch(texts);
    else
      image = TraceImage(program, texts, stop_);
    if (halted()) return;
    if (auto problem = sink_.write(export_.options_.name + "." + std::to_string(rank) + ".et", image.bytes()))
      return fail(std::move(*problem));
    digests_[static_cast<size_t>(rank)] = image.digest();
    sizes_[static_cast<size_t>(rank)] = static_cast<int64_t>(image.bytes().size());
    report_rank(sizes_[static_cast<size_t>(rank)]);
  }

  void describe(FileClass& c, const RankProgram& program) {
    const std::lock_guard lock(mutex_);
    c.nodes = static_cast<int64_t>(program.nodes.size());
    c.collectives = count(program, chakra::NodeType::Coll);
    c.sends = count(program, chakra::NodeType::Send);
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

  void fail(Problem problem) {
    const std::lock_guard lock(mutex_);
    if (!problem_) problem_ = std::move(problem);
    failed_ = true;
  }

  TraceTotals totals() {
    TraceTotals totals;
    for (FileClass& c : classes_) {
      const auto ranks = static_cast<int64_t>(c.ranks.size());
      for (const int64_t rank : c.ranks) {
        const auto r = static_cast<size_t>(rank);
        c.bytes += sizes_[r];
        c.digest = poly61_fold(c.digest, digests_[r], static_cast<uint64_t>(sizes_[r]));
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

  const TraceExport& export_;
  ByteSink& sink_;
  const ExportProgressFn& progress_;
  std::stop_token stop_;
  int roles_;
  std::chrono::steady_clock::time_point start_;
  std::vector<FileClass> classes_;
  size_t threads_ = loop_threads();
  size_t visits_ = 0;                               // one per class and thread
  std::unique_ptr<std::atomic<size_t>[]> claimed_;  // by class: number of ranks that threads have taken
  std::vector<uint64_t> digests_;                   // by rank
  std::vector<int64_t> sizes_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::optional<Problem> problem_;
  ExportProgress done_;
  double last_report_ = 0;
};

Result<TraceTotals> TraceExport::write(ByteSink& sink, const ExportProgressFn& progress,
                                       std::stop_token stop) const {
  return TraceWorkers(*this, sink, progress, std::move(stop)).run();
}

}  // namespace shardscape
