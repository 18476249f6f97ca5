#include "simulate/memory_timeline.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cost/grad_plan.h"
#include "graph/product_kernels.h"
#include "report/outline.h"
#include "schedule/moments.h"
#include "simulate/action_terms.h"
#include "simulate/memories.h"
#include "simulate/runtime_memory.h"
#include "simulate/stage_layout.h"

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

// The fullest moment of an instance at work.
struct Level {
  CategoryBytes bytes{};
  size_t instance = 0;     // of the chunk, where it is: a replay runs others of its group
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
  Action of{};
};

class StageWalk {
 public:
  // at: in the pipeline, where the stage stands for another.
  StageWalk(Memories& memories, const StageReport& stage, int at)
      : m_(memories), r_(memories.report()), stage_(stage), place_(at), graph_(r_.graph()), pairs_(runs_pairs(r_.design.parallel)), keeps_messages_(shardscape::keeps_messages(r_)),
        places_(pipeline_layout(r_.design.parallel)) {
    place();
    for (size_t c = 0; c + 1 < starts_.size(); ++c) {
      const auto like = std::find_if(firsts_.begin(), firsts_.end(), [&](size_t other) { return alike(other, c); });
      classes_.push_back(static_cast<int>(like - firsts_.begin()));
      if (like != firsts_.end()) continue;
      firsts_.push_back(c);
      forwards_.push_back(forward(starts_[c], starts_[c + 1]));
      backwards_.push_back(backward(starts_[c], starts_[c + 1]));
      if (keeps_messages_) keep_messages(c, forwards_.back(), backwards_.back());
      terms_.push_back({terms(forwards_.back()), terms(backwards_.back()), waiting(starts_[c], starts_[c + 1])});
      totals_.push_back({totals(terms_.back().forward), totals(terms_.back().backward), total(terms_.back().waiting)});
    }
    fix();
  }

  // Calls seen(action, begin, peak, end, place of the peak).
  template <typename Seen>
  void run(const std::vector<Action>& actions, const Seen& seen) {
    CategoryBytes now = fixed_;
    for (size_t i = 0; i < actions.size(); ++i) {
      const Action& a = actions[i];
      const CategoryBytes begin = now;
      const bool pair = a.overlapped && a.kind == ActionKind::Forward;
      std::vector<AtWork> who;
      CategoryBytes peak;
      if (pair) {
        const auto [most, step] = both(a, actions[i + 1], terms_, now);
        peak = most;
        who = at_work(a, &actions[i + 1], step);
      } else {
        peak = play(a, terms_[class_of(a)], now);
        who = at_work(a, nullptr, -1);
      }
      const auto at = [&](const Action& action) {
        const auto it = std::find_if(who.begin(), who.end(), [&](const AtWork& w) { return w.of == action; });
        return it == who.end() ? PeakPlace{} : place_of(*it);
      };
      seen(a, begin, peak, now, at(a));
      if (pair) {
        ++i;
        seen(actions[i], now, peak, now, at(actions[i]));
      }
    }
  }

  // The first of the moments at which most is there.
  const StageMoment& fullest(const std::vector<StageMoment>& moments, int64_t& most) const {
    const StageMoment* out = nullptr;
    const int64_t fixed = total(fixed_);
    for (const StageMoment& moment : moments) {
      int64_t now = level_before(moment, totals_, fixed);
      const int64_t peak = moment.beside ? both(moment.of, *moment.beside, totals_, now).first : play(moment.of, totals_[class_of(moment.of)], now);
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
    return most + waste(moment, at_work(moment));
  }

  StageMemory fullest(const std::vector<StageMoment>& moments) {
    StageMemory out;
    out.stage = stage_.stage;
    out.fixed = fixed_;
    int64_t most = 0;
    const StageMoment& moment = fullest(moments, most);
    const std::vector<AtWork> at_work = this->at_work(moment);
    CategoryBytes now = level_before(moment, terms_, fixed_);
    out.at_peak = moment.beside ? both(moment.of, *moment.beside, terms_, now).first : play(moment.of, terms_[class_of(moment.of)], now);
    out.action = moment.action;
    out.of = moment.of;
    waste_ = waste(moment, at_work);
    out.allocated = most - out.at_peak[kRuntime];
    explain(out, moment, at_work);
    out.reserved = out.allocated + waste_;
    out.in_use = total(out.at_peak);
    return out;
  }

  const std::vector<int>& classes() const { return classes_; }  // of chunks that do the same

 private:
  bool pipelined() const { return r_.stages.size() > 1; }

  ActionTerms<CategoryBytes> terms(const Profile& p) const {
    ActionTerms<CategoryBytes> out{p.peak.bytes, p.change, {}, {}, {}};
    if (pipelined()) {
      out.received = p.received;
      out.sent = p.sent;
    }
    if (pairs_)
      for (const Level& level : p.levels) out.levels.push_back(level.bytes);
    return out;
  }
  static ActionTerms<int64_t> totals(const ActionTerms<CategoryBytes>& p) {
    ActionTerms<int64_t> out{total(p.peak), total(p.change), total(p.received), total(p.sent), {}};
    for (const CategoryBytes& level : p.levels) out.levels.push_back(total(level));
    return out;
  }

  size_t class_of(const Action& action) const { return static_cast<size_t>(classes_[static_cast<size_t>(action.chunk)]); }
  bool alike(size_t a, size_t b) const {
    if (keeps_messages_ && (receives(a) != receives(b) || sends(a) != sends(b))) return false;
    const auto at = [&](size_t chunk) { return instances_.begin() + static_cast<std::ptrdiff_t>(starts_[chunk]); };
    return std::equal(at(a), at(a + 1), at(b), at(b + 1), [&](const Instance& x, const Instance& y) {
      return x.key == y.key && x.offloaded == y.offloaded && x.ends_group == y.ends_group && x.group - starts_[a] == y.group - starts_[b];
    });
  }

  // The fullest moment of a pair, and which of its steps that is.
  template <typename Bytes>
  std::pair<Bytes, int> both(const Action& forward, const Action& backward, const std::vector<ChunkTerms<Bytes>>& classes, Bytes& now) const {
    const ChunkTerms<Bytes> &f = classes[class_of(forward)], &b = classes[class_of(backward)];
    int step = -1;
    const Bytes peak = play(f.forward, b.backward, backward.kind == ActionKind::BackwardInput ? b.waiting : Bytes{}, now, step);
    return {peak, step};
  }

  // Who runs at a moment, where its action needs most.
  std::vector<AtWork> at_work(const StageMoment& moment) const {
    if (!moment.beside) return at_work(moment.of, nullptr, -1);
    int64_t now = level_before(moment, totals_, total(fixed_));
    return at_work(moment.of, &*moment.beside, both(moment.of, *moment.beside, totals_, now).second);
  }
  // step: of a pair, as both() tells it.
  std::vector<AtWork> at_work(const Action& a, const Action* beside, int step) const {
    const auto chunk = [](const Action& action) { return static_cast<size_t>(action.chunk); };
    std::vector<AtWork> out;
    if (beside) {
      const auto add = [&](const Action& action, const std::vector<Level>& levels) {
        if (step >= 0 && static_cast<size_t>(step) < levels.size()) out.push_back({chunk(action), levels[static_cast<size_t>(step)], action});
      };
      add(a, forwards_[class_of(a)].levels);
      add(*beside, backwards_[class_of(*beside)].levels);
    } else if (a.kind == ActionKind::Forward) {
      out.push_back({chunk(a), forwards_[class_of(a)].peak, a});
    } else if (a.kind == ActionKind::Backward || a.kind == ActionKind::BackwardInput) {
      out.push_back({chunk(a), backwards_[class_of(a)].peak, a});
    }
    return out;
  }

  // Layers that keep alike, times microbatches that they keep it of; of the one at hand, what lies before this moment in the
  // forward, what has not been used in the backward.
  // received: those of them whose input lies in a buffer to receive into.
  std::map<ClassKey, int64_t> copies_at(const StageMoment& moment, const std::vector<AtWork>& at_work, std::map<ClassKey, int64_t>* received = nullptr) const {
    std::map<ClassKey, int64_t> copies;
    for (size_t of = 0; of < firsts_.size(); ++of) {
      const int64_t held = moment.before[of].in_flight + (of == class_of(moment.of) && moment.of.kind == ActionKind::Forward);
      const size_t begin = starts_[firsts_[of]], end = starts_[firsts_[of] + 1];
      for (size_t i = begin; i < end; ++i) {
        if (instances_[i].offloaded) continue;
        const int64_t count = held - std::count_if(at_work.begin(), at_work.end(), [&](const AtWork& w) {
          return static_cast<size_t>(classes_[w.chunk]) == of && i - begin >= w.level.instance;
        });
        copies[instances_[i].key] += count;
        if (received && input_received(i)) (*received)[instances_[i].key] += count;
      }
    }
    return copies;
  }

  // Whether its input lies in a buffer to receive into for as long as it is kept.
  bool input_received(size_t instance) const {
    const Instance& i = instances_[instance];
    const auto chunk = static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), instance) - starts_.begin() - 1);
    return keeps_messages_ && instance == starts_[chunk] && receives(chunk) && !i.offloaded && m_.lifetimes().keeps_input(i.key.first, i.key.second);
  }
  const std::string& input_name(int segment) const {
    const Segment& s = graph_.segments[static_cast<size_t>(segment)];
    return s.storages[static_cast<size_t>(s.tensor(s.input).storage)].name;
  }
  const Instance& instance_of(const AtWork& work) const { return instances_[starts_[work.chunk] + work.level.instance]; }
  PeakPlace place_of(const AtWork& work) {
    const SegmentMemory& memory = m_.of(instance_of(work).key).memory;
    const Part runs = work.level.part;
    const SegmentPart& part = runs == Part::Forward ? memory.forward : runs == Part::Backward ? memory.backward
                              : runs == Part::Replay ? memory.replay : memory.replay_in_group;
    return {static_cast<int64_t>(starts_[work.chunk] + work.level.instance), runs, part.peak_op};
  }

  // What the allocator has reserved but not handed out.
  int64_t waste(const StageMoment& moment, const std::vector<AtWork>& at_work) {
    AllocatorSegments segments;
    for (const auto& [category, bytes] : fixed_bytes_)
      if (category != MemoryCategory::Runtime) segments.add(bytes, 1);
    for (const auto& [key, count] : copies_at(moment, at_work))
      if (count > 0) segments.add(m_.of(key).kept, count);
    for (const AtWork& work : at_work) segments.add(m_.live_segments(instance_of(work).key, work.level.part), 1);
    return segments.waste();
  }

  void place() {
    const StageLayout layout = stage_layout(r_, stage_);
    for (const StageInstance& i : layout.instances) instances_.push_back({{i.segment, i.of.keeps}, i.layer, i.of.offloaded, i.group, i.ends_group});
    for (const StageRange& chunk : layout.chunks) starts_.push_back(chunk.first);
    starts_.push_back(instances_.size());
  }

  SegmentKind kind(size_t instance) const { return graph_.segments[static_cast<size_t>(instances_[instance].key.first)].kind; }
  const SegmentMemory& memory(size_t instance) { return m_.of(instances_[instance].key).memory; }

  // The level of the instance that has begun last is its highest one.
  static void note(Profile& p, const CategoryBytes& level, size_t instance, Part part, bool begins = false) {
    if (begins) p.levels.push_back({level, instance, part});
    else if (total(level) > total(p.levels.back().bytes)) p.levels.back() = {level, instance, part};
    if (total(level) > total(p.peak.bytes)) p.peak = {level, instance, part};
  }

  static void from_begin(Profile& p, size_t begin) {
    p.peak.instance -= begin;
    for (Level& level : p.levels) level.instance -= begin;
  }

  Profile forward(size_t begin, size_t end) {
    Profile p;
    p.levels.reserve(end - begin);
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
    from_begin(p, begin);
    return p;
  }

  Profile backward(size_t begin, size_t end) {
    Profile p;
    p.levels.reserve(end - begin);
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
    from_begin(p, begin);
    return p;
  }

  bool receives(size_t chunk) const { return places_.receives({place_, static_cast<int64_t>(chunk)}); }
  bool sends(size_t chunk) const { return places_.sends({place_, static_cast<int64_t>(chunk)}); }

  // Buffers to receive into are there all along, and so is an input that is kept: it lies in one. A gradient that is received is added up in
  // memory of its own.
  void keep_messages(size_t chunk, Profile& f, Profile& b) {
    if (receives(chunk)) {
      if (input_received(starts_[chunk])) {
        const CategoryBytes& input = memory(starts_[chunk]).forward.begin;
        f.peak.bytes = f.peak.bytes - input;
        for (Level& level : f.levels) level.bytes = level.bytes - input;
        f.change = f.change - input;
        b.change = b.change + input;
      }
      f.received = {};
    }
    if (sends(chunk)) {
      f.change = f.change + f.sent;
      b.change = b.change - f.sent;
      f.sent = b.received = {};
    }
  }
  int64_t receive_buffers() {
    int64_t bytes = 0;
    for (size_t c = 0; c + 1 < starts_.size(); ++c) {
      if (receives(c)) bytes += total(memory(starts_[c]).forward.begin);
      if (sends(c)) bytes += total(memory(starts_[c + 1] - 1).output_grad);
    }
    return bytes * places_.microbatches(r_.microbatches);
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
    for (MemoryCategory c : {MemoryCategory::Parameters, MemoryCategory::Gradients, MemoryCategory::Optimizer, MemoryCategory::KvCache})
      for (const PartValue& part : stage_.parts[static_cast<size_t>(c)]) add_fixed(part.name.c_str(), c, static_cast<int64_t>(part.bytes.value));
    const KernelProfile& profile = profile_of(graph_);
    if (graph_.structure.trains() && profile.weight_gradient == WeightGradient::SharedDummy) add_fixed("dummy weight gradients", MemoryCategory::Buffers, dummy_gradients());
    if (keeps_messages_) add_fixed(kReceiveBuffers, MemoryCategory::Buffers, receive_buffers());
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

  void explain(StageMemory& out, const StageMoment& moment, const std::vector<AtWork>& at_work) {
    for (size_t i = 0; i < fixed_bytes_.size(); ++i) out.culprits.push_back({fixed_names_[i], fixed_bytes_[i].first, fixed_bytes_[i].second});
    out.fixed_parts = out.culprits;
    CategoryBytes explained = fixed_;
    std::map<std::pair<std::string, MemoryCategory>, int64_t> kept;
    std::map<ClassKey, int64_t> received;
    for (const auto& [key, count] : copies_at(moment, at_work, &received)) {
      if (count <= 0) continue;
      const Segment& s = graph_.segments[static_cast<size_t>(key.first)];
      for (const SavedStorage& saved : saved_by(s, key.second)) {
        const Op& saver = s.op(saved.saver);
        const std::string block = saver.block >= 0 ? s.blocks[static_cast<size_t>(saver.block)].label : s.name;
        const int64_t bytes = m_.sizes().storages[static_cast<size_t>(key.first)][static_cast<size_t>(saved.storage)];
        const bool input = s.input >= 0 && saved.storage == s.tensor(s.input).storage;
        kept[{block, m_.category(key.first, saved.storage)}] += (input ? count - received[key] : count) * bytes;
      }
    }
    for (const auto& [key, bytes] : kept) {
      if (bytes == 0) continue;
      out.culprits.push_back({key.first + ", saved for the backward", key.second, bytes});
      explained[static_cast<size_t>(key.second)] += bytes;
    }
    for (const AtWork& work : at_work) {
      const Instance& at = instance_of(work);
      if (&work == &at_work.front()) {
        out.segment = at.key.first;
        out.layer = at.layer;
        out.at = place_of(work);
        out.of = work.of;
      }
      for (const LiveStorage& storage : m_.live(at.key, work.level.part)) {
        if (storage.bytes == 0 || (input_received(starts_[work.chunk] + work.level.instance) && storage.name == input_name(at.key.first))) continue;
        out.culprits.push_back({storage.name + " of microbatch " + std::to_string(work.of.microbatch), storage.category, storage.bytes});
        explained[static_cast<size_t>(storage.category)] += storage.bytes;
      }
    }
    for (size_t k = 0; k < explained.size(); ++k)
      if (const int64_t rest = out.at_peak[k] - explained[k]; rest != 0)
        out.culprits.push_back({"messages and what else is on its way", static_cast<MemoryCategory>(k), rest});
    if (waste_ > 0) out.culprits.push_back({"rest of the allocator's segments", MemoryCategory::Runtime, waste_});
    out.at_peak[kRuntime] += waste_;
    std::stable_sort(out.culprits.begin(), out.culprits.end(), [](const Culprit& a, const Culprit& b) { return a.bytes > b.bytes; });
    out.moment = std::string(action_label(out.of.kind)) + (out.of.microbatch >= 0 ? " of microbatch " + std::to_string(out.of.microbatch) : "");
    if (out.layer >= 0) out.moment += ", layer " + std::to_string(out.layer);
    else if (out.segment >= 0) out.moment += ", " + graph_.segments[static_cast<size_t>(out.segment)].name;
    if (out.at.op >= 0) out.moment += ": " + op_kernel_label(graph_.segments[static_cast<size_t>(out.segment)], out.at.op);
  }

  Memories& m_;
  const Report& r_;
  const StageReport& stage_;
  const int place_;
  const Graph& graph_;
  const bool pairs_;            // whether levels of instances are asked for
  const bool keeps_messages_;
  const PipelineLayout places_;
  std::vector<Instance> instances_;
  std::vector<size_t> starts_;  // of every chunk, and the end
  std::vector<int> classes_;    // of every chunk
  std::vector<size_t> firsts_;  // chunk of every class; what follows is by class
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

int64_t most_in_use(const Report& outline, Memo<MemoryTable>& memo, const std::stop_token& stop) {
  thread_local MemoKey key;
  const Binding& binding = outline.stages.front().binding;
  key.clear();
  const std::shared_ptr<const SegmentLifetimes> lifetimes = cached_lifetimes(*outline.model);
  const Structure& structure = outline.graph().structure;
  key.add(static_cast<int64_t>(lifetimes->serial()));
  for (const bool word : {structure.recompute_block, structure.recompute_groups, structure.offload_activations}) key.add(int64_t{word});  // classes of layers
  for (const Symbol symbol : lifetimes->symbols()) key.add(binding.get(symbol).value_or(-1));
  Memories memories(outline, memo.get(key, [&] { return Memories(outline).table(); }));
  // Stages that are alike differ in what is in flight, and in where a pipeline turns.
  std::map<std::pair<int, int64_t>, StageWalk> walks;
  const PipelineLayout places = pipeline_layout(outline.design.parallel);
  const bool buffers = keeps_messages(outline);
  int64_t most = 0;
  for (const StageReport& stage : outline.stages) {
    if (stop.stop_requested()) break;
    const std::pair like{stage.like, buffers ? places.messages(stage.stage) : 0};
    StageWalk& walk = walks.try_emplace(like, memories, outline.stages[static_cast<size_t>(stage.like)], stage.stage).first->second;
    most = std::max(most, walk.in_use(*moments_of(outline, stage.stage, walk)));
  }
  return most;
}

int64_t held_all_along(const Report& outline) {
  int64_t most = 0;
  for (const StageReport& stage : outline.stages) {
    if (stage.like != stage.stage) continue;
    int64_t states = 0;
    for (const StageStates::Part& part : stage.states->parts) states += part.bytes;
    most = std::max(most, states);
  }
  return most + workspace_bytes(outline, profile_of(outline.graph())) + context_bytes() + communicator_bytes(outline);
}

std::shared_ptr<const MemoryTimeline> memory_timeline(const Report& report, std::stop_token stop) {
  auto out = std::make_shared<MemoryTimeline>();
  Memories memories(report);
  for (const StageReport& stage : report.stages) {
    if (stop.stop_requested()) return nullptr;
    StageWalk walk(memories, stage, stage.stage);
    out->stages.push_back(walk.fullest(*moments_of(report, stage.stage, walk)));
    if (out->stages.back().in_use > out->stages[static_cast<size_t>(out->peak_stage)].in_use) out->peak_stage = stage.stage;
  }
  if (report.accelerator) out->capacity = report.accelerator->memory_bytes;
  out->fits = report.accelerator && out->stages[static_cast<size_t>(out->peak_stage)].in_use <= out->capacity;
  return out;
}

std::vector<ActionMemory> stage_timeline(const Report& report, int stage) {
  Memories memories(report);
  StageWalk walk(memories, report.stages[static_cast<size_t>(stage)], stage);
  std::vector<ActionMemory> out;
  walk.run(make_stage_schedule(report.design.parallel, stage, static_cast<int>(report.microbatches)),
           [&](const Action& action, const CategoryBytes& begin, const CategoryBytes& peak, const CategoryBytes& end, const PeakPlace& at) {
             out.push_back({action, begin, peak, end, at});
           });
  return out;
}

}  // namespace shardscape
