#include "simulate/memory_timeline.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "cost/grad_plan.h"
#include "cost/sync_params.h"
#include "model/library.h"
#include "simulate/runtime_memory.h"
#include "simulate/stage_layout.h"

namespace shardscape {
namespace {

constexpr auto kBuffers = static_cast<size_t>(MemoryCategory::Buffers);
constexpr auto kRuntime = static_cast<size_t>(MemoryCategory::Runtime);

const KernelProfile& profile_of(const Graph& graph) { return *ModelLibrary::instance().profile(graph.structure.profile); }

// What does not depend on numbers, of the graphs used last.
std::shared_ptr<const SegmentLifetimes> cached_lifetimes(const std::shared_ptr<const StepModel>& model) {
  constexpr size_t kKept = 64;
  static std::mutex mutex;
  static std::map<const StepModel*, std::pair<std::weak_ptr<const StepModel>, std::shared_ptr<const SegmentLifetimes>>> cache;
  {
    const std::scoped_lock lock(mutex);
    if (const auto it = cache.find(model.get()); it != cache.end() && it->second.first.lock() == model) return it->second.second;
  }
  auto made = std::make_shared<const SegmentLifetimes>(*model->graph, profile_of(*model->graph));
  const std::scoped_lock lock(mutex);
  if (cache.size() >= kKept) cache.clear();
  cache[model.get()] = {model, made};
  return made;
}

using Part = SegmentLifetimes::Part;
using ClassKey = std::pair<int, Keeps>;

// What all stages share.
class Memories {
 public:
  explicit Memories(const Report& report)
      : report_(report), lifetimes_(cached_lifetimes(report.model)), sizes_(lifetimes_->sizes(report.stages.front().binding)) {}
  const SegmentMemory& of(ClassKey key) {
    const auto it = memories_.find(key);
    return it != memories_.end() ? it->second : memories_.emplace(key, lifetimes_->memory(key.first, key.second, sizes_)).first->second;
  }
  const std::vector<LiveStorage>& live(ClassKey key, Part part) {
    const auto it = live_.find({key, part});
    return it != live_.end() ? it->second : live_.emplace(std::pair{key, part}, lifetimes_->live(key.first, key.second, sizes_, part)).first->second;
  }
  const SegmentSizes& sizes() const { return sizes_; }
  MemoryCategory category(int segment, StorageId kept) const { return lifetimes_->kept_category(segment, kept); }
  const Report& report() const { return report_; }

 private:
  const Report& report_;
  std::shared_ptr<const SegmentLifetimes> lifetimes_;
  SegmentSizes sizes_;
  std::map<ClassKey, SegmentMemory> memories_;
  std::map<std::pair<ClassKey, Part>, std::vector<LiveStorage>> live_;
};

// Memory that the allocator takes in whole segments: blocks of at most 1 MiB share segments of 2 MiB, of less than 10 MiB
// segments of 20 MiB, larger ones have segments of their own in steps of 2 MiB (PyTorch c10/cuda/CUDACachingAllocator). What
// freed blocks of other sizes leave unused is not counted: expandable segments give it back.
class Segments {
 public:
  void add(int64_t bytes, int64_t count) {
    (bytes <= kSmall ? small_ : bytes < kLarge ? middle_ : large_) += count * (bytes < kLarge ? bytes : whole(bytes, kStep) - bytes);
  }
  int64_t waste() const { return large_ + whole(small_, kStep) - small_ + whole(middle_, kMiddle) - middle_; }

 private:
  static constexpr int64_t kSmall = int64_t{1} << 20, kLarge = 10 * kSmall, kStep = 2 * kSmall, kMiddle = 20 * kSmall;
  static int64_t whole(int64_t bytes, int64_t step) { return (bytes + step - 1) / step * step; }
  int64_t small_ = 0, middle_ = 0, large_ = 0;  // bytes of blocks that share segments; rounding of those that do not
};

struct Instance {
  ClassKey key;
  int64_t layer = -1;
  bool offloaded = false;
  size_t group = 0;        // the first instance that is replayed with it
  bool ends_group = false;
};

// The fullest moment of an instance at work.
struct Level {
  CategoryBytes bytes{};
  size_t instance = 0;     // where it is: a replay runs others of its group
  Part part = Part::Forward;
};

// A forward or backward of one virtual stage, relative to what is there before it.
struct Profile {
  Level peak;
  CategoryBytes change{};
  std::vector<Level> levels;         // of its instances, in the order that they run in
  CategoryBytes received{}, sent{};  // what it takes over from the action before, and leaves to the one after
};

// Who runs at the fullest moment: one action, or an overlapped forward and backward.
struct AtWork {
  size_t chunk = 0;
  Level level;
  int microbatch = -1;
};

class StageWalk {
 public:
  StageWalk(Memories& memories, const StageReport& stage) : m_(memories), r_(memories.report()), stage_(stage), graph_(r_.graph()) {
    place();
    for (size_t c = 0; c + 1 < starts_.size(); ++c) {
      forwards_.push_back(forward(starts_[c], starts_[c + 1]));
      backwards_.push_back(backward(starts_[c], starts_[c + 1]));
      waiting_.push_back(waiting(starts_[c], starts_[c + 1]));
    }
    fix();
  }

  // Calls seen(index, action, begin, peak, end).
  template <typename Seen>
  void run(const std::vector<Action>& actions, const Seen& seen) {
    CategoryBytes now = fixed_;
    held_.assign(starts_.size() - 1, 0);
    for (size_t i = 0; i < actions.size(); ++i) {
      const Action& a = actions[i];
      const auto c = static_cast<size_t>(a.chunk);
      const CategoryBytes begin = now;
      CategoryBytes peak = now;
      at_work_.clear();
      if (a.overlapped && a.kind == ActionKind::Forward) {
        const Action& b = actions[++i];
        now = both(a, b, now, peak);
        ++held_[c];
        if (total(now) > total(peak)) peak = now;
        seen(static_cast<int>(i) - 1, a, begin, peak, now);
        seen(static_cast<int>(i), b, now, peak, now);
        --held_[static_cast<size_t>(b.chunk)];
        continue;
      }
      switch (a.kind) {
        case ActionKind::BackwardWeight: now = now - waiting_[c]; break;
        case ActionKind::Forward:
        case ActionKind::BackwardInput:
        case ActionKind::Backward: {
          const Profile& p = a.kind == ActionKind::Forward ? forwards_[c] : backwards_[c];
          const CategoryBytes base = now - (pipelined() ? p.received : CategoryBytes{});
          peak = base + p.peak.bytes;
          at_work_ = {{c, p.peak, a.microbatch}};
          now = base + p.change + (pipelined() ? p.sent : CategoryBytes{});
          if (a.kind == ActionKind::Forward) ++held_[c];
          if (a.kind == ActionKind::BackwardInput) now = now + waiting_[c];
          break;
        }
        case ActionKind::ReceiveForward: now = now + forwards_[c].received; break;
        case ActionKind::ReceiveBackward: now = now + backwards_[c].received; break;
        case ActionKind::SendForward: now = now - forwards_[c].sent; break;
        case ActionKind::SendBackward: now = now - backwards_[c].sent; break;
        default: break;
      }
      if (total(now) > total(peak)) peak = now;
      seen(static_cast<int>(i), a, begin, peak, now);
      if (a.kind == ActionKind::Backward || a.kind == ActionKind::BackwardInput) --held_[c];
    }
  }

  StageMemory fullest(const std::vector<Action>& actions) {
    StageMemory out;
    out.stage = stage_.stage;
    out.fixed = fixed_;
    int64_t most = -1;
    std::vector<int64_t> held;
    std::vector<AtWork> at_work;
    run(actions, [&](int index, const Action& action, const CategoryBytes&, const CategoryBytes& peak, const CategoryBytes&) {
      if (total(peak) <= most) return;
      most = total(peak);
      out.at_peak = peak;
      out.action = index;
      out.of = action;
      held = held_;
      at_work = at_work_;
    });
    out.allocated = most - out.at_peak[kRuntime];
    explain(out, held, at_work);
    out.reserved = out.allocated + waste_;
    out.in_use = total(out.at_peak);
    return out;
  }

  const CategoryBytes& fixed() const { return fixed_; }

 private:
  bool pipelined() const { return r_.stages.size() > 1; }

  // A forward and a backward that run at once, layer by layer: what each has when, both count from what is there before them
  // (github deepseek-ai/DualPipe, _forward_backward_compute_chunk). Returns what they leave.
  CategoryBytes both(const Action& forward, const Action& backward, const CategoryBytes& now, CategoryBytes& peak) {
    const auto cf = static_cast<size_t>(forward.chunk), cb = static_cast<size_t>(backward.chunk);
    const Profile &f = forwards_[cf], &b = backwards_[cb];
    const bool split = backward.kind == ActionKind::BackwardInput;
    const CategoryBytes base = now - (pipelined() ? f.received + b.received : CategoryBytes{});
    peak = now;
    for (size_t k = 0; k < std::max(f.levels.size(), b.levels.size()); ++k) {
      const bool runs_f = k < f.levels.size(), runs_b = k < b.levels.size();
      const CategoryBytes level = base + (runs_f ? f.levels[k].bytes : f.change) + (runs_b ? b.levels[k].bytes : b.change);
      if (total(level) <= total(peak)) continue;
      peak = level;
      at_work_.clear();
      if (runs_f) at_work_.push_back({cf, f.levels[k], forward.microbatch});
      if (runs_b) at_work_.push_back({cb, b.levels[k], backward.microbatch});
    }
    return base + f.change + b.change + (pipelined() ? f.sent + b.sent : CategoryBytes{}) + (split ? waiting_[cb] : CategoryBytes{});
  }

  void place() {
    const StageLayout layout = stage_layout(r_, stage_);
    for (const StageInstance& i : layout.instances) instances_.push_back({{i.segment, i.of.keeps}, i.layer, i.of.offloaded, i.group, i.ends_group});
    for (const StageRange& chunk : layout.chunks) starts_.push_back(chunk.first);
    starts_.push_back(instances_.size());
  }

  SegmentKind kind(size_t instance) const { return graph_.segments[static_cast<size_t>(instances_[instance].key.first)].kind; }
  const SegmentMemory& memory(size_t instance) { return m_.of(instances_[instance].key); }

  // The level of the instance that has begun last is its highest one.
  static void note(Profile& p, const CategoryBytes& level, size_t instance, Part part, bool begins = false) {
    if (begins) p.levels.push_back({level, instance, part});
    else if (total(level) > total(p.levels.back().bytes)) p.levels.back() = {level, instance, part};
    if (total(level) > total(p.peak.bytes)) p.peak = {level, instance, part};
  }

  Profile forward(size_t begin, size_t end) {
    Profile p;
    p.peak.instance = begin;
    CategoryBytes stored{};  // on its way to the host
    for (size_t i = begin; i < end; ++i) {
      const SegmentMemory& s = memory(i);
      const bool ends = kind(i) == SegmentKind::Head;
      if (i == begin && kind(i) != SegmentKind::Embedding) p.received = on_the_way(s.forward.begin);
      note(p, p.change + s.forward.peak, i, Part::Forward, true);
      if (instances_[i].offloaded) {
        p.change = p.change - stored;
        stored = s.kept;
      }
      p.change = p.change + s.kept;
      if (i + 1 == end && !ends) p.sent = on_the_way(s.forward.end - s.kept);
    }
    p.change = p.change - stored;
    return p;
  }

  Profile backward(size_t begin, size_t end) {
    Profile p;
    p.peak.part = Part::Backward;
    CategoryBytes replayed{};
    std::set<size_t> loaded;
    const auto load = [&](size_t i) {
      if (instances_[i].offloaded && loaded.insert(i).second) p.change = p.change + memory(i).kept;
    };
    for (size_t i = end; i-- > begin;) {
      const SegmentMemory& s = memory(i);
      if (i + 1 == end) {
        if (kind(i) != SegmentKind::Head) p.received = on_the_way(s.output_grad);
        p.peak.instance = i;
      }
      load(instances_[i].group);
      load(i);
      for (size_t before = instances_[i].group; before-- > begin;)
        if (instances_[before].offloaded) {  // one ahead
          load(before);
          break;
        }
      bool begins = true;
      if (instances_[i].ends_group)
        for (size_t j = instances_[i].group; j <= i; ++j) {
          const SegmentMemory& again = memory(j);
          const SegmentPart& part = j < i ? again.replay_in_group : again.replay;
          const CategoryBytes own = p.change + replayed - part.begin + s.output_grad;
          note(p, own + part.peak, j, j < i ? Part::ReplayInGroup : Part::Replay, std::exchange(begins, false));
          replayed = replayed - (part.begin - again.kept) + (part.end - again.kept);
        }
      const CategoryBytes survivors = s.backward.begin - s.kept - s.output_grad;
      note(p, p.change - s.kept + replayed - survivors + s.backward.peak, i, Part::Backward, begins);
      replayed = replayed - survivors;
      p.change = p.change - s.kept;
      if (i == begin && kind(i) != SegmentKind::Embedding) p.sent = on_the_way(s.backward.end);
    }
    return p;
  }

  // What the gradients of weights still read once that of the input is made.
  CategoryBytes waiting(size_t begin, size_t end) const {
    CategoryBytes out{};
    for (size_t i = begin; i < end; ++i) {
      const auto& [segment, keeps] = instances_[i].key;
      const Segment& s = graph_.segments[static_cast<size_t>(segment)];
      const auto category = static_cast<size_t>(s.kind == SegmentKind::Head ? MemoryCategory::Logits : MemoryCategory::Activations);
      for (const SavedStorage& kept : waiting_in(s, keeps))
        out[category] += m_.sizes().storages[static_cast<size_t>(segment)][static_cast<size_t>(kept.storage)];
    }
    return out;
  }

  // A message is a buffer, whatever the segment makes of it.
  static CategoryBytes on_the_way(const CategoryBytes& bytes) {
    CategoryBytes out{};
    out[kBuffers] = total(bytes);
    return out;
  }

  void add_fixed(const std::string& name, MemoryCategory category, int64_t bytes) {
    if (bytes == 0) return;
    fixed_[static_cast<size_t>(category)] += bytes;
    fixed_parts_.push_back({name, category, bytes});
  }

  void fix() {
    for (MemoryCategory c : {MemoryCategory::Parameters, MemoryCategory::Gradients, MemoryCategory::Optimizer, MemoryCategory::KvCache})
      for (const PartValue& part : stage_.parts[static_cast<size_t>(c)]) add_fixed(part.name, c, static_cast<int64_t>(part.bytes.value));
    const KernelProfile& profile = profile_of(graph_);
    if (graph_.structure.trains() && profile.weight_gradient == WeightGradient::SharedDummy) add_fixed("dummy weight gradients", MemoryCategory::Buffers, dummy_gradients());
    add_fixed("workspace of matrix products", MemoryCategory::Buffers, workspace_bytes(r_, profile));
    add_fixed("CUDA context", MemoryCategory::Runtime, context_bytes());
    add_fixed("communicators", MemoryCategory::Runtime, communicator_bytes(r_));
  }

  // One for each shape of weights of matrix products, of an expert's by itself.
  int64_t dummy_gradients() {
    std::set<int> segments;
    for (const Instance& i : instances_) segments.insert(i.key.first);
    std::set<std::pair<int64_t, int64_t>> shapes;
    int64_t bytes = 0;
    for (int index : segments) {
      const Segment& s = graph_.segments[static_cast<size_t>(index)];
      for (const FlatParam& flat : flat_params(s)) {
        const Tensor& t = s.tensor(flat.param->tensor);
        const bool product = std::any_of(s.ops.begin(), s.ops.end(), [&](const Op& op) {
          return op.grad == GradRole::Weight && op.kind == OpKind::Einsum && s.tensor(op.outputs[0]).gradient_of == flat.param->tensor;
        });
        if (!product || flat.vector) continue;
        const bool experts = t.axes.front() == Axis::Experts;
        const Expr columns = flat.columns, rows = flat.rows;
        const auto number = [&](const Expr& e) {
          const auto v = evaluate(e, stage_.binding);
          return std::holds_alternative<Wide>(v) ? static_cast<int64_t>(std::get<Wide>(v)) : int64_t{0};
        };
        const int64_t local = experts ? number(local_size(t, 0)) : 1;
        const int64_t elements = number(flat.elements()) / std::max<int64_t>(local, 1);
        if (shapes.insert({number(rows), number(columns)}).second) bytes += allocated_bytes(elements * dtype_bytes(t.dtype));
      }
    }
    return bytes;
  }

  void explain(StageMemory& out, const std::vector<int64_t>& held, const std::vector<AtWork>& at_work) {
    out.culprits = fixed_parts_;
    CategoryBytes explained = fixed_;
    // Layers that keep alike, times microbatches that they keep it of; of the one at hand, what lies before this moment in the
    // forward, what has not been used in the backward.
    std::map<ClassKey, int64_t> copies;
    for (size_t chunk = 0; chunk + 1 < starts_.size(); ++chunk)
      for (size_t i = starts_[chunk]; i < starts_[chunk + 1]; ++i)
        if (!instances_[i].offloaded)
          copies[instances_[i].key] += held[chunk] - std::count_if(at_work.begin(), at_work.end(), [&](const AtWork& w) { return w.chunk == chunk && i >= w.level.instance; });
    std::map<std::pair<std::string, MemoryCategory>, int64_t> kept;
    Segments segments;
    for (const Culprit& part : fixed_parts_)
      if (part.category != MemoryCategory::Runtime) segments.add(part.bytes, 1);
    for (const auto& [key, count] : copies) {
      if (count <= 0) continue;
      const Segment& s = graph_.segments[static_cast<size_t>(key.first)];
      for (const SavedStorage& saved : saved_by(s, key.second)) {
        const Op& saver = s.op(saved.saver);
        const std::string block = saver.block >= 0 ? s.blocks[static_cast<size_t>(saver.block)].label : s.name;
        const int64_t bytes = m_.sizes().storages[static_cast<size_t>(key.first)][static_cast<size_t>(saved.storage)];
        kept[{block, m_.category(key.first, saved.storage)}] += count * bytes;
        segments.add(bytes, count);
      }
    }
    for (const auto& [key, bytes] : kept) {
      if (bytes == 0) continue;
      out.culprits.push_back({key.first + ", saved for the backward", key.second, bytes});
      explained[static_cast<size_t>(key.second)] += bytes;
    }
    for (const AtWork& work : at_work) {
      const Instance& at = instances_[work.level.instance];
      if (&work == &at_work.front()) {
        const SegmentMemory& memory = m_.of(at.key);
        const Part runs = work.level.part;
        const SegmentPart& part = runs == Part::Forward ? memory.forward : runs == Part::Backward ? memory.backward
                                  : runs == Part::Replay ? memory.replay : memory.replay_in_group;
        out.segment = at.key.first;
        out.layer = at.layer;
        out.op = part.peak_op;
      }
      for (const LiveStorage& storage : m_.live(at.key, work.level.part)) {
        if (storage.bytes == 0) continue;
        segments.add(storage.bytes, 1);
        out.culprits.push_back({storage.name + " of microbatch " + std::to_string(work.microbatch), storage.category, storage.bytes});
        explained[static_cast<size_t>(storage.category)] += storage.bytes;
      }
    }
    for (size_t k = 0; k < explained.size(); ++k)
      if (const int64_t rest = out.at_peak[k] - explained[k]; rest != 0)
        out.culprits.push_back({"messages and what else is on its way", static_cast<MemoryCategory>(k), rest});
    waste_ = segments.waste();
    if (waste_ > 0) out.culprits.push_back({"rest of the allocator's segments", MemoryCategory::Runtime, waste_});
    out.at_peak[kRuntime] += waste_;
    std::stable_sort(out.culprits.begin(), out.culprits.end(), [](const Culprit& a, const Culprit& b) { return a.bytes > b.bytes; });
    out.moment = std::string(action_label(out.of.kind)) + (out.of.microbatch >= 0 ? " of microbatch " + std::to_string(out.of.microbatch) : "");
    if (out.layer >= 0) out.moment += ", layer " + std::to_string(out.layer);
    else if (out.segment >= 0) out.moment += ", " + graph_.segments[static_cast<size_t>(out.segment)].name;
    if (out.op >= 0) out.moment += ": " + graph_.segments[static_cast<size_t>(out.segment)].op(out.op).label;
  }

  Memories& m_;
  const Report& r_;
  const StageReport& stage_;
  const Graph& graph_;
  std::vector<Instance> instances_;
  std::vector<size_t> starts_;  // of every chunk, and the end
  std::vector<Profile> forwards_, backwards_;
  std::vector<CategoryBytes> waiting_;  // of every chunk, between the two parts of its backward
  CategoryBytes fixed_{};
  std::vector<Culprit> fixed_parts_;
  std::vector<int64_t> held_;   // microbatches in flight, by chunk
  std::vector<AtWork> at_work_; // when the action at hand needs most
  int64_t waste_ = 0;
};

std::vector<Action> actions_of(const Report& report, int stage, int64_t microbatches) {
  return make_stage_schedule(report.design.parallel, stage, static_cast<int>(microbatches));
}

// Enough for the fullest moment.
int64_t enough_microbatches(const Report& report) { return telling_microbatches(report.design.parallel, static_cast<int>(report.microbatches)); }

}  // namespace

std::shared_ptr<const MemoryTimeline> memory_timeline(const Report& report, std::stop_token stop) {
  auto out = std::make_shared<MemoryTimeline>();
  Memories memories(report);
  for (const StageReport& stage : report.stages) {
    if (stop.stop_requested()) return nullptr;
    StageWalk walk(memories, stage);
    out->stages.push_back(walk.fullest(actions_of(report, stage.stage, enough_microbatches(report))));
    if (out->stages.back().in_use > out->stages[static_cast<size_t>(out->peak_stage)].in_use) out->peak_stage = stage.stage;
  }
  if (report.accelerator) out->capacity = report.accelerator->memory_bytes;
  out->fits = report.accelerator && out->stages[static_cast<size_t>(out->peak_stage)].in_use <= out->capacity;
  return out;
}

std::vector<ActionMemory> stage_timeline(const Report& report, int stage) {
  Memories memories(report);
  StageWalk walk(memories, report.stages[static_cast<size_t>(stage)]);
  std::vector<ActionMemory> out;
  walk.run(actions_of(report, stage, report.microbatches),
           [&](int, const Action& action, const CategoryBytes& begin, const CategoryBytes& peak, const CategoryBytes& end) { out.push_back({action, begin, peak, end}); });
  return out;
}

}  // namespace shardscape
