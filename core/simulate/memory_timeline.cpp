#include "simulate/memory_timeline.h"

#include <algorithm>
#include <map>
#include <set>

#include "cost/grad_plan.h"
#include "graph/chunk_layers.h"
#include "report/outline.h"
#include "schedule/moments.h"
#include "simulate/memories.h"
#include "simulate/runtime_memory.h"

namespace shardscape {
namespace {

constexpr auto kBuffers = static_cast<size_t>(MemoryCategory::Buffers);
constexpr auto kRuntime = static_cast<size_t>(MemoryCategory::Runtime);

using Part = SegmentLifetimes::Part;

struct Instance {
  ClassKey key;
  int64_t layer = -1;
  bool offloaded = false;
  size_t group = 0;        // the first instance that is replayed with it
  bool ends_group = false;
};

// What an action of one virtual stage adds to what is there before it.
template <typename Bytes>
struct ActionTerms {
  Bytes peak{}, change{};
  Bytes received{}, sent{};  // what it takes over from the action before, and leaves to the one after
};
template <typename Bytes>
struct ChunkTerms {
  ActionTerms<Bytes> forward, backward;
  Bytes waiting{};           // between the two parts of its backward
};

// now: before the action, then after it; returns the fullest moment of it.
template <typename Bytes>
Bytes play(const Action& a, const ChunkTerms<Bytes>& of, Bytes& now) {
  Bytes peak = now;
  switch (a.kind) {
    case ActionKind::BackwardWeight: now = now - of.waiting; break;
    case ActionKind::Forward:
    case ActionKind::BackwardInput:
    case ActionKind::Backward: {
      const ActionTerms<Bytes>& p = a.kind == ActionKind::Forward ? of.forward : of.backward;
      const Bytes base = now - p.received;
      peak = base + p.peak;
      now = base + p.change + p.sent;
      if (a.kind == ActionKind::BackwardInput) now = now + of.waiting;
      break;
    }
    case ActionKind::ReceiveForward: now = now + of.forward.received; break;
    case ActionKind::ReceiveBackward: now = now + of.backward.received; break;
    case ActionKind::SendForward: now = now - of.forward.sent; break;
    case ActionKind::SendBackward: now = now - of.backward.sent; break;
    default: break;
  }
  return total(now) > total(peak) ? now : peak;
}

int64_t times(int64_t count, int64_t bytes) { return count * bytes; }
CategoryBytes times(int64_t count, CategoryBytes bytes) {
  for (int64_t& b : bytes) b *= count;
  return bytes;
}

// Before the action of a moment.
template <typename Bytes>
Bytes level(const StageMoment& moment, const std::vector<ChunkTerms<Bytes>>& chunks, Bytes fixed) {
  const auto add = [&](int32_t count, const Bytes& bytes) {
    if (count != 0) fixed = fixed + times(count, bytes);
  };
  for (size_t c = 0; c < chunks.size(); ++c) {
    const ChunkHolds& holds = moment.before[c];
    const ChunkTerms<Bytes>& of = chunks[c];
    add(holds.in_flight, of.forward.change);
    add(holds.waiting, of.waiting);
    add(holds.forward_come, of.forward.received);
    add(holds.forward_to_send, of.forward.sent);
    add(holds.backward_come, of.backward.received);
    add(holds.backward_to_send, of.backward.sent);
  }
  return fixed;
}

// A forward or backward of one virtual stage, relative to what is there before it.
struct Profile {
  CategoryBytes peak{}, change{};
  size_t instance = 0;     // of its chunk, where the peak is
  Part part = Part::Forward;
  CategoryBytes received{}, sent{};  // what it takes over from the action before, and leaves to the one after
};

class StageWalk {
 public:
  StageWalk(Memories& memories, const StageReport& stage) : m_(memories), r_(memories.report()), stage_(stage), graph_(r_.graph()) {
    place();
    for (size_t c = 0; c + 1 < starts_.size(); ++c) {
      const auto like = std::find_if(firsts_.begin(), firsts_.end(), [&](size_t other) { return alike(other, c); });
      classes_.push_back(static_cast<int>(like - firsts_.begin()));
      if (like != firsts_.end()) continue;
      firsts_.push_back(c);
      forwards_.push_back(forward(starts_[c], starts_[c + 1]));
      backwards_.push_back(backward(starts_[c], starts_[c + 1]));
      terms_.push_back({terms(forwards_.back()), terms(backwards_.back()), waiting(starts_[c], starts_[c + 1])});
      totals_.push_back({totals(terms_.back().forward), totals(terms_.back().backward), total(terms_.back().waiting)});
    }
    fix();
  }

  // Calls seen(action, begin, peak, end).
  template <typename Seen>
  void run(const std::vector<Action>& actions, const Seen& seen) {
    CategoryBytes now = fixed_;
    for (const Action& a : actions) {
      const CategoryBytes begin = now;
      const CategoryBytes peak = play(a, terms_[class_of(a)], now);
      seen(a, begin, peak, now);
    }
  }

  // The first of the moments at which most is there.
  const StageMoment& fullest(const std::vector<StageMoment>& moments, int64_t& most) const {
    const StageMoment* out = nullptr;
    const int64_t fixed = total(fixed_);
    for (const StageMoment& moment : moments) {
      int64_t now = level(moment, totals_, fixed);
      const int64_t peak = play(moment.of, totals_[class_of(moment.of)], now);
      if (out && peak <= most) continue;
      out = &moment;
      most = peak;
    }
    return *out;
  }

  // All that is in use at the fullest of these moments.
  int64_t in_use(const std::vector<StageMoment>& moments) {
    int64_t most = 0;
    const StageMoment& moment = fullest(moments, most);
    return most + waste(moment);
  }

  StageMemory fullest(const std::vector<StageMoment>& moments) {
    StageMemory out;
    out.stage = stage_.stage;
    out.fixed = fixed_;
    int64_t most = 0;
    const StageMoment& moment = fullest(moments, most);
    CategoryBytes now = level(moment, terms_, fixed_);
    out.at_peak = play(moment.of, terms_[class_of(moment.of)], now);
    out.action = moment.action;
    out.of = moment.of;
    waste_ = waste(moment);
    out.allocated = most - out.at_peak[kRuntime];
    explain(out, moment);
    out.reserved = out.allocated + waste_;
    out.in_use = total(out.at_peak);
    return out;
  }

  const std::vector<int>& classes() const { return classes_; }  // of chunks that do the same

 private:
  bool pipelined() const { return r_.stages.size() > 1; }

  ActionTerms<CategoryBytes> terms(const Profile& p) const {
    return pipelined() ? ActionTerms<CategoryBytes>{p.peak, p.change, p.received, p.sent} : ActionTerms<CategoryBytes>{p.peak, p.change, {}, {}};
  }
  static ActionTerms<int64_t> totals(const ActionTerms<CategoryBytes>& p) { return {total(p.peak), total(p.change), total(p.received), total(p.sent)}; }

  const Profile* profile_at(const StageMoment& moment) const {
    const size_t c = class_of(moment.of);
    const bool computes = moment.of.kind == ActionKind::Forward || moment.of.kind == ActionKind::Backward || moment.of.kind == ActionKind::BackwardInput;
    return !computes ? nullptr : moment.of.kind == ActionKind::Forward ? &forwards_[c] : &backwards_[c];
  }

  size_t class_of(const Action& action) const { return static_cast<size_t>(classes_[static_cast<size_t>(action.chunk)]); }
  size_t instance_at(const StageMoment& moment, const Profile& profile) const { return starts_[static_cast<size_t>(moment.of.chunk)] + profile.instance; }
  bool alike(size_t a, size_t b) const {
    const auto at = [&](size_t chunk) { return instances_.begin() + static_cast<std::ptrdiff_t>(starts_[chunk]); };
    return std::equal(at(a), at(a + 1), at(b), at(b + 1), [&](const Instance& x, const Instance& y) {
      return x.key == y.key && x.offloaded == y.offloaded && x.ends_group == y.ends_group && x.group - starts_[a] == y.group - starts_[b];
    });
  }

  // Layers that keep alike, times microbatches that they keep it of; of the one at hand, what lies before this moment in the
  // forward, what has not been used in the backward.
  std::map<ClassKey, int64_t> copies_at(const StageMoment& moment) const {
    const Profile* profile = profile_at(moment);
    std::map<ClassKey, int64_t> copies;
    for (size_t of = 0; of < firsts_.size(); ++of) {
      const bool here = of == class_of(moment.of);
      const int64_t held = moment.before[of].in_flight + (here && moment.of.kind == ActionKind::Forward);
      const size_t begin = starts_[firsts_[of]], end = starts_[firsts_[of] + 1];
      for (size_t i = begin; i < end; ++i)
        if (!instances_[i].offloaded) copies[instances_[i].key] += held - (profile && here && i - begin >= profile->instance);
    }
    return copies;
  }

  // What the allocator has reserved but not handed out.
  int64_t waste(const StageMoment& moment) {
    AllocatorSegments segments;
    for (const auto& [category, bytes] : fixed_bytes_)
      if (category != MemoryCategory::Runtime) segments.add(bytes, 1);
    for (const auto& [key, count] : copies_at(moment))
      if (count > 0) segments.add(m_.of(key).kept, count);
    if (const Profile* profile = profile_at(moment)) segments.add(m_.live_segments(instances_[instance_at(moment, *profile)].key, profile->part), 1);
    return segments.waste();
  }

  void place() {
    const PipelineLayout places = pipeline_layout(r_.design.parallel);
    for (size_t c = 0; c < stage_.chunks.size(); ++c) {
      const StagePlace here{stage_.stage, static_cast<int64_t>(c)};
      const StageChunk& of = stage_.chunks[c];
      starts_.push_back(instances_.size());
      const auto add = [&](int segment, Keeps keeps) {
        instances_.push_back({{segment, keeps}});
        instances_.back().group = instances_.size() - 1;
      };
      if (places.first(here)) add(0, Keeps::Activations);
      const size_t base = instances_.size();
      for (const ChunkLayer& layer : chunk_layers(graph_, r_.design, of.first_layer, of.layers)) {
        add(layer.segment, layer.keeps);
        Instance& i = instances_.back();
        i.layer = of.first_layer + layer.index;
        i.offloaded = layer.offloaded;
        i.group = base + static_cast<size_t>(layer.begin);
        i.ends_group = layer.ends_group();
      }
      if (places.last(here)) add(graph_.head(), Keeps::Activations);
    }
    starts_.push_back(instances_.size());
  }

  SegmentKind kind(size_t instance) const { return graph_.segments[static_cast<size_t>(instances_[instance].key.first)].kind; }
  const SegmentMemory& memory(size_t instance) { return m_.of(instances_[instance].key).memory; }

  static void note(Profile& p, const CategoryBytes& level, size_t instance, Part part) {
    if (total(level) <= total(p.peak)) return;
    p.peak = level;
    p.instance = instance;
    p.part = part;
  }

  Profile forward(size_t begin, size_t end) {
    Profile p;
    p.instance = begin;
    CategoryBytes stored{};  // on its way to the host
    for (size_t i = begin; i < end; ++i) {
      const SegmentMemory& s = memory(i);
      const bool ends = kind(i) == SegmentKind::Head;
      if (i == begin && kind(i) != SegmentKind::Embedding) p.received = on_the_way(s.forward.begin);
      note(p, p.change + s.forward.peak, i, Part::Forward);
      if (instances_[i].offloaded) {
        p.change = p.change - stored;
        stored = s.kept;
      }
      p.change = p.change + s.kept;
      if (i + 1 == end && !ends) p.sent = on_the_way(s.forward.end - s.kept);
    }
    p.change = p.change - stored;
    p.instance -= begin;
    return p;
  }

  Profile backward(size_t begin, size_t end) {
    Profile p;
    p.part = Part::Backward;
    CategoryBytes replayed{};
    std::set<size_t> loaded;
    const auto load = [&](size_t i) {
      if (instances_[i].offloaded && loaded.insert(i).second) p.change = p.change + memory(i).kept;
    };
    for (size_t i = end; i-- > begin;) {
      const SegmentMemory& s = memory(i);
      if (i + 1 == end) {
        if (kind(i) != SegmentKind::Head) p.received = on_the_way(s.output_grad);
        p.instance = i;
      }
      load(instances_[i].group);
      load(i);
      for (size_t before = instances_[i].group; before-- > begin;)
        if (instances_[before].offloaded) {  // one ahead
          load(before);
          break;
        }
      if (instances_[i].ends_group)
        for (size_t j = instances_[i].group; j <= i; ++j) {
          const SegmentMemory& again = memory(j);
          const SegmentPart& part = j < i ? again.replay_in_group : again.replay;
          const CategoryBytes own = p.change + replayed - part.begin + s.output_grad;
          note(p, own + part.peak, j, j < i ? Part::ReplayInGroup : Part::Replay);
          replayed = replayed - (part.begin - again.kept) + (part.end - again.kept);
        }
      const CategoryBytes survivors = s.backward.begin - s.kept - s.output_grad;
      note(p, p.change - s.kept + replayed - survivors + s.backward.peak, i, Part::Backward);
      replayed = replayed - survivors;
      p.change = p.change - s.kept;
      if (i == begin && kind(i) != SegmentKind::Embedding) p.sent = on_the_way(s.backward.end);
    }
    p.instance -= begin;
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

  void add_fixed(const char* name, MemoryCategory category, int64_t bytes) {
    if (bytes == 0) return;
    fixed_[static_cast<size_t>(category)] += bytes;
    fixed_bytes_.emplace_back(category, bytes);
    fixed_names_.push_back(name);
  }

  void fix() {
    if (stage_.states)
      for (const StageStates::Part& part : stage_.states->parts) add_fixed("", part.category, part.bytes);
    for (MemoryCategory c : {MemoryCategory::Parameters, MemoryCategory::Gradients, MemoryCategory::Optimizer})
      for (const PartValue& part : stage_.parts[static_cast<size_t>(c)]) add_fixed(part.name.c_str(), c, static_cast<int64_t>(part.bytes.value));
    const KernelProfile& profile = profile_of(graph_);
    if (profile.weight_gradient == WeightGradient::SharedDummy) add_fixed("dummy weight gradients", MemoryCategory::Buffers, dummy_gradients());
    add_fixed("workspace of matrix products", MemoryCategory::Buffers, workspace_bytes(r_, profile));
    add_fixed("CUDA context", MemoryCategory::Runtime, context_bytes());
    add_fixed("communicators", MemoryCategory::Runtime, communicator_bytes(r_));
  }

  int64_t dummy_gradients() {
    std::set<int> segments;
    for (const Instance& i : instances_) segments.insert(i.key.first);
    std::set<std::pair<int64_t, int64_t>> shapes;
    int64_t bytes = 0;
    for (int index : segments)
      for (const Dummy& dummy : m_.dummies(index))
        if (shapes.insert({dummy.rows, dummy.columns}).second) bytes += dummy.bytes;
    return bytes;
  }

  void explain(StageMemory& out, const StageMoment& moment) {
    for (size_t i = 0; i < fixed_bytes_.size(); ++i) out.culprits.push_back({fixed_names_[i], fixed_bytes_[i].first, fixed_bytes_[i].second});
    CategoryBytes explained = fixed_;
    const Profile* profile = profile_at(moment);
    std::map<std::pair<std::string, MemoryCategory>, int64_t> kept;
    for (const auto& [key, count] : copies_at(moment)) {
      if (count <= 0) continue;
      const Segment& s = graph_.segments[static_cast<size_t>(key.first)];
      for (const SavedStorage& saved : saved_by(s, key.second)) {
        const Op& saver = s.op(saved.saver);
        const std::string block = saver.block >= 0 ? s.blocks[static_cast<size_t>(saver.block)].label : s.name;
        const int64_t bytes = m_.sizes().storages[static_cast<size_t>(key.first)][static_cast<size_t>(saved.storage)];
        kept[{block, m_.category(key.first, saved.storage)}] += count * bytes;
      }
    }
    for (const auto& [key, bytes] : kept) {
      if (bytes == 0) continue;
      out.culprits.push_back({key.first + ", saved for the backward", key.second, bytes});
      explained[static_cast<size_t>(key.second)] += bytes;
    }
    if (profile) {
      const Instance& at = instances_[instance_at(moment, *profile)];
      out.segment = at.key.first;
      out.layer = at.layer;
      const SegmentMemory& memory = m_.of(at.key).memory;
      const SegmentPart& part = profile->part == Part::Forward ? memory.forward : profile->part == Part::Backward ? memory.backward
                                : profile->part == Part::Replay ? memory.replay : memory.replay_in_group;
      out.op = part.peak_op;
      for (const LiveStorage& storage : m_.live(at.key, profile->part)) {
        if (storage.bytes == 0) continue;
        out.culprits.push_back({storage.name + " of microbatch " + std::to_string(out.of.microbatch), storage.category, storage.bytes});
        explained[static_cast<size_t>(storage.category)] += storage.bytes;
      }
    }
    for (size_t k = 0; k < explained.size(); ++k)
      if (const int64_t rest = out.at_peak[k] - explained[k]; rest != 0)
        out.culprits.push_back({"messages and what else is on its way", static_cast<MemoryCategory>(k), rest});
    if (waste_ > 0) out.culprits.push_back({"rest of the allocator's segments", MemoryCategory::Runtime, waste_});
    out.at_peak[kRuntime] += waste_;
    std::stable_sort(out.culprits.begin(), out.culprits.end(), [](const Culprit& a, const Culprit& b) { return a.bytes > b.bytes; });
    out.moment = std::string(action_name(out.of.kind)) + (out.of.microbatch >= 0 ? " of microbatch " + std::to_string(out.of.microbatch) : "");
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
  std::vector<int> classes_;    // of every chunk
  std::vector<size_t> firsts_;  // chunk of every class
  std::vector<Profile> forwards_, backwards_;
  std::vector<ChunkTerms<CategoryBytes>> terms_;
  std::vector<ChunkTerms<int64_t>> totals_;
  CategoryBytes fixed_{};
  std::vector<std::pair<MemoryCategory, int64_t>> fixed_bytes_;
  std::vector<const char*> fixed_names_;
  int64_t waste_ = 0;
};

std::shared_ptr<const std::vector<StageMoment>> moments_of(const Report& report, int stage, const StageWalk& walk) {
  return stage_moments(report.design.parallel, stage, static_cast<int>(report.microbatches), walk.classes());
}

}  // namespace

int64_t most_in_use(const Report& outline, Memo<MemoryTable>& memo) {
  thread_local MemoKey key;
  const Binding& binding = outline.stages.front().binding;
  key.clear();
  key.add(static_cast<int64_t>(outline.model->serial));
  const std::shared_ptr<const SegmentLifetimes> lifetimes = cached_lifetimes(*outline.model);
  for (const Symbol symbol : lifetimes->symbols()) key.add(binding.get(symbol).value_or(-1));
  Memories memories(outline, memo.get(key, [&] { return Memories(outline).table(); }));
  std::map<int, StageWalk> walks;  // stages that are alike differ in what is in flight
  int64_t most = 0;
  for (const StageReport& stage : outline.stages) {
    StageWalk& walk = walks.try_emplace(stage.like, memories, outline.stages[static_cast<size_t>(stage.like)]).first->second;
    most = std::max(most, walk.in_use(*moments_of(outline, stage.stage, walk)));
  }
  return most;
}

std::shared_ptr<const MemoryTimeline> memory_timeline(const Report& report, std::stop_token stop) {
  auto out = std::make_shared<MemoryTimeline>();
  Memories memories(report);
  for (const StageReport& stage : report.stages) {
    if (stop.stop_requested()) return nullptr;
    StageWalk walk(memories, stage);
    out->stages.push_back(walk.fullest(*moments_of(report, stage.stage, walk)));
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
  walk.run(make_stage_schedule(report.design.parallel, stage, static_cast<int>(report.microbatches)),
           [&](const Action& action, const CategoryBytes& begin, const CategoryBytes& peak, const CategoryBytes& end) { out.push_back({action, begin, peak, end}); });
  return out;
}

}  // namespace shardscape
