#include "timing/concurrent_ops.h"

#include <algorithm>
#include <map>

#include "graph/op_traits.h"

namespace shardscape {
namespace {

// Work on one stream: a kernel with all its ops, the packing of an exchange, or an exchange.
struct Work {
  OpId op = 0;  // has the seconds
  double seconds = 0;
  TimeCategory category = TimeCategory::MemoryBound;
  double exposed = 0;  // part of `seconds` in category `waits` (OpTime)
  TimeCategory waits = TimeCategory::ContextComm;
  bool concurrent = false;
  std::vector<size_t> after{};  // works that produce what this one reads
  bool placed = false;
  double end = 0;
};

class Scheduler {
 public:
  Scheduler(const Segment& segment, const std::vector<OpTime>& times, double gemm_slowdown)
      : s_(segment), times_(times), slowdown_(gemm_slowdown) {}

  ConcurrentPart run(const std::vector<OpId>& ops) {
    make_works(ops);
    for (size_t left = works_.size(); left > 0; --left) {
      const size_t next = first_to_start();
      if (works_[next].concurrent)
        communicate(works_[next]);
      else
        compute(works_[next]);
    }
    // The part ends when its collectives have ended, too.
    wait_until(exchanged_, last_category_);
    out_.seconds = computed_;
    std::stable_sort(out_.ops.begin(), out_.ops.end(),
                     [](const PlacedPartOp& a, const PlacedPartOp& b) { return a.begin < b.begin; });
    out_.hidden = std::max(0.0, exchanges_ - waited_);
    return std::move(out_);
  }

 private:
  bool is_concurrent(OpId id) const {
    const Op& op = s_.op(id);
    return is_collective(op.kind) && !is_ring(op.kind) && op.block >= 0 &&
           s_.blocks[static_cast<size_t>(op.block)].concurrent;
  }

  void make_works(const std::vector<OpId>& ops) {
    std::map<int, size_t> of_kernel;
    std::map<OpId, size_t> of_op;
    for (const OpId id : ops) {
      const int kernel = s_.kernel_of[static_cast<size_t>(id)];
      const auto known = kernel < 0 ? of_kernel.end() : of_kernel.find(kernel);
      size_t at = known == of_kernel.end() ? add(id) : known->second;
      if (kernel >= 0) of_kernel.try_emplace(kernel, at);
      of_op[id] = at;
      const OpTime& time = times_[static_cast<size_t>(id)];
      if (time.seconds > 0) set(at, id, time);
    }
    for (const OpId id : ops)
      for (const TensorId in : s_.op(id).inputs) {
        const OpId producer = in >= 0 ? s_.tensor(in).producer : -1;
        const auto before = of_op.find(producer);
        if (before == of_op.end() || before->second == of_op.at(id)) continue;
        std::vector<size_t>& after = works_[first_of(of_op.at(id))].after;
        after.push_back(before->second);
      }
  }

  size_t add(OpId id) {
    works_.push_back({id});
    return works_.size() - 1;
  }
  // The packing kernels of an exchange are a work of their own, in front of the exchange.
  void set(size_t& at, OpId id, const OpTime& time) {
    Work& work = works_[at];
    work.op = id;
    if (!is_concurrent(id)) {
      work.seconds += time.seconds;
      work.category = time.category;
      work.exposed = time.exposed;
      work.waits = time.waits;
      return;
    }
    const bool packed = !is_communication(time.category);
    work.seconds = packed ? time.exposed : time.seconds;
    work.category = packed ? time.waits : time.category;
    work.concurrent = true;
    if (!packed || time.seconds <= time.exposed) return;
    Work packing{id, time.seconds - time.exposed, time.category};
    works_.push_back(std::move(packing));
    packing_of_[at] = works_.size() - 1;
    works_[at].after.push_back(works_.size() - 1);
  }
  size_t first_of(size_t work) const {
    const auto packing = packing_of_.find(work);
    return packing == packing_of_.end() ? work : packing->second;
  }

  bool known(const Work& work) const {
    return std::all_of(work.after.begin(), work.after.end(), [&](size_t w) { return works_[w].placed; });
  }
  double start(const Work& work) const {
    double out = work.concurrent ? exchanged_ : computed_;
    for (const size_t w : work.after) out = std::max(out, works_[w].end);
    return out;
  }

  // Collectives come before compute that starts at the same time.
  size_t first_to_start() const {
    size_t best = works_.size();
    for (size_t w = 0; w < works_.size(); ++w) {
      if (works_[w].placed || !known(works_[w])) continue;
      if (works_[w].concurrent) return w;
      if (best == works_.size() || start(works_[w]) < start(works_[best]) ||
          (start(works_[w]) == start(works_[best]) && works_[w].op < works_[best].op))
        best = w;
    }
    if (best < works_.size()) return best;
    // Two kernels that need results of each other run in the order of the segment.
    return static_cast<size_t>(
        std::find_if(works_.begin(), works_.end(), [](const Work& w) { return !w.placed; }) - works_.begin());
  }

  void place(Work& work, double begin, double end) {
    work.placed = true;
    work.end = end;
    if (end > begin) out_.ops.push_back({work.op, begin, end, work.concurrent});
  }

  void communicate(Work& work) {
    const double begin = start(work);
    place(work, begin, begin + work.seconds);
    exchanges_ += work.seconds;
    exchanged_ = work.end;
    last_category_ = work.category;
  }

  // No operand of a collective ends after the compute so far. So collectives run during the whole wait.
  void wait_until(double time, TimeCategory category) {
    if (time <= computed_) return;
    for (PlacedPartOp& op : out_.ops)
      if (op.concurrent) op.exposed += std::max(0.0, std::min(op.end, time) - std::max(op.begin, computed_));
    out_.categories[static_cast<size_t>(category)] += time - computed_;
    waited_ += time - computed_;
    computed_ = time;
  }

  void compute(Work& work) {
    const double begin = start(work);
    TimeCategory awaited = last_category_;
    for (const size_t w : work.after)
      if (works_[w].end == begin && works_[w].concurrent) awaited = works_[w].category;
    wait_until(begin, awaited);
    const bool slows = work.category == TimeCategory::MatrixProducts ||
                       work.category == TimeCategory::Attention;
    double seconds = work.seconds;
    if (slows && exchanged_ > begin) {
      // Until the collectives end, the op runs slower by the factor.
      const double slow = std::min(seconds * slowdown_, exchanged_ - begin);
      seconds += slow - slow / slowdown_;
    }
    out_.categories[static_cast<size_t>(work.category)] += seconds - work.exposed;
    out_.categories[static_cast<size_t>(work.waits)] += work.exposed;
    place(work, begin, begin + seconds);
    if (seconds > 0)
      out_.ops.back().exposed = (is_communication(work.category) ? seconds - work.exposed : 0) +
                                (is_communication(work.waits) ? work.exposed : 0);
    computed_ = work.end;
  }

  const Segment& s_;
  const std::vector<OpTime>& times_;
  const double slowdown_;
  std::vector<Work> works_;
  std::map<size_t, size_t> packing_of_;  // exchange -> its packing
  double computed_ = 0, exchanged_ = 0;  // ends of the streams
  double exchanges_ = 0, waited_ = 0;    // seconds of collectives; seconds that compute waits for them
  TimeCategory last_category_ = TimeCategory::ExpertComm;
  ConcurrentPart out_;
};

}  // namespace

bool has_concurrent_blocks(const Segment& segment) {
  return std::any_of(segment.blocks.begin(), segment.blocks.end(),
                     [](const BlockInstance& block) { return block.concurrent; });
}

ConcurrentPart schedule_concurrent(const Segment& segment, const std::vector<OpTime>& times,
                                   const std::vector<OpId>& ops, double gemm_slowdown) {
  return Scheduler(segment, times, gemm_slowdown).run(ops);
}

}  // namespace shardscape
