#include "memory/memory_timeline.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <type_traits>
#include <utility>

#include "grad_sync/grad_plan.h"
#include "memory/fixed_bytes.h"
#include "memory/memory_keys.h"
#include "memory/peak_text.h"
#include "memory/runtime_memory.h"
#include "memory/stage_profiles.h"
#include "pipeline/peak_candidates.h"
#include "plan/bound_plan.h"

namespace shardscape {
namespace {

constexpr auto kGradients = static_cast<size_t>(MemoryCategory::Gradients);
constexpr auto kBuffers = static_cast<size_t>(MemoryCategory::Buffers);
constexpr auto kRuntime = static_cast<size_t>(MemoryCategory::Runtime);

// The peak of a stage: bytes above FixedBytes, and the allocator blocks at the peak without those of
// FixedBytes.
struct StagePeak {
  FixedBuffers buffers;
  int64_t bytes = 0;
  AllocatorSegments blocks;
};

// Bytes that the allocator has reserved but not allocated at a peak.
int64_t waste(const FixedBytes& fixed, AllocatorSegments blocks) {
  for (const auto& [category, bytes] : fixed.blocks)
    if (category != MemoryCategory::Runtime) blocks.add(bytes, 1);
  return blocks.waste();
}

class StageTimeline : StageProfiles {
 public:
  // at: the stage's place in the pipeline, which differs from the place of its representative.
  StageTimeline(SegmentMemories& memories, const StageReport& stage, int at, int64_t graph_pool = 0)
      : StageProfiles(memories, stage, at),
        buffers_(fixed_buffers(graph_pool)),
        fixed_(fixed_bytes(r_, stage_, buffers_)) {}

  // Calls seen(action, begin, peak, end, place of the peak).
  template <typename Seen>
  void run(const std::vector<Action>& actions, const Seen& seen) {
    CategoryBytes now = fixed_.sums;
    const std::vector<AccumulationStep> accumulations = gradients_.are_transient()
                                                            ? accumulation_steps(actions)
                                                            : std::vector<AccumulationStep>(actions.size());
    for (size_t i = 0; i < actions.size(); ++i) {
      const Action& a = actions[i];
      const CategoryBytes begin = now;
      const bool pair = a.overlapped && a.kind == ActionKind::Forward;
      PeakCandidate candidate{static_cast<int>(i),
                              a,
                              pair ? std::optional(actions[i + 1]) : std::nullopt,
                              accumulations[pair ? i + 1 : i],
                              {}};
      int step = -1;
      const CategoryBytes peak = apply(candidate, terms_, now, &step);
      const std::vector<RunningPass> running = running_passes(candidate, step);
      const auto at = [&](const Action& action) {
        const auto it = std::find_if(running.begin(), running.end(),
                                     [&](const RunningPass& w) { return w.of == action; });
        return it == running.end() ? PeakPlace{} : place_of(*it);
      };
      seen(a, begin, peak, now, at(a));
      if (pair) {
        ++i;
        seen(actions[i], now, peak, now, at(actions[i]));
      }
    }
  }

  // The first peak candidate with the largest peak; most: the bytes of that peak.
  const PeakCandidate& fullest(const std::vector<PeakCandidate>& candidates, int64_t& most) const {
    const PeakCandidate* out = nullptr;
    const int64_t fixed = total(fixed_.sums);
    for (const PeakCandidate& candidate : candidates) {
      int64_t now = level_before(candidate, totals_, fixed);
      const int64_t peak = apply(candidate, totals_, now);
      if (out && peak <= most) continue;
      out = &candidate;
      most = peak;
    }
    return *out;
  }

  StagePeak peak(const std::vector<PeakCandidate>& candidates) {
    int64_t most = 0;
    const PeakCandidate& candidate = fullest(candidates, most);
    return {buffers_, most - total(fixed_.sums), blocks(candidate, running_passes(candidate))};
  }

  StageMemory fullest(const std::vector<PeakCandidate>& candidates) {
    StageMemory out;
    out.stage = stage_.stage;
    out.fixed = fixed_.sums;
    int64_t most = 0;
    const PeakCandidate& candidate = fullest(candidates, most);
    const std::vector<RunningPass> running_passes = this->running_passes(candidate);
    CategoryBytes now = level_before(candidate, terms_, fixed_.sums);
    out.at_peak = apply(candidate, terms_, now);
    out.action_index = candidate.index;
    out.action = candidate.action;
    waste_ = waste(fixed_, blocks(candidate, running_passes));
    out.allocated = most - out.at_peak[kRuntime];
    explain(out, candidate, running_passes);
    out.reserved = out.allocated + waste_;
    out.in_use = total(out.at_peak);
    return out;
  }

  // Bytes of the segments of the pool, for the memories of MemoryPool::Graphs.
  int64_t pool(const std::vector<PeakCandidate>& candidates) {
    int64_t most = 0;
    const PeakCandidate& candidate = fullest(candidates, most);
    return most - total(fixed_.sums) + buffers_.received +
           blocks(candidate, running_passes(candidate)).waste();
  }

  const std::vector<int>& classes() const { return classes_; }  // class of every chunk
  bool gradients_come_and_go() const { return gradients_.are_transient(); }

 private:
  // A pass that runs at the peak: one action, or each of an overlapped forward and backward.
  struct RunningPass {
    size_t chunk = 0;
    Level level;
    Action of{};
  };

  size_t class_of(const Action& action) const {
    return static_cast<size_t>(classes_[static_cast<size_t>(action.chunk)]);
  }
  // Copies of gradients in the optimizer step.
  template <typename Bytes>
  Bytes copies() const {
    const std::vector<int64_t>& all = gradients_.copies();
    const int64_t bytes = std::accumulate(all.begin(), all.end(), int64_t{0});
    if constexpr (std::is_same_v<Bytes, int64_t>) {
      return bytes;
    } else {
      Bytes out{};
      out[kBuffers] = bytes;
      return out;
    }
  }
  // The peak of an action or of an overlapped pair. step: the layer step of the pair with the peak. now:
  // bytes before the action; afterwards bytes after the action.
  template <typename Bytes>
  Bytes apply(const PeakCandidate& candidate, const std::vector<ChunkTerms<Bytes>>& classes, Bytes& now,
              int* step = nullptr) const {
    const ChunkTerms<Bytes>& of = classes[class_of(candidate.action)];
    if (!candidate.concurrent) {
      Bytes peak = apply_action(candidate.action, candidate.accumulation, of, now);
      if (candidate.action.kind != ActionKind::Optimizer) return peak;
      peak = peak + copies<Bytes>();
      // Frees the gradients.
      for (const int representative : classes_)
        now = now - classes[static_cast<size_t>(representative)].ended;
      return peak;
    }
    const ChunkTerms<Bytes>& b = classes[class_of(*candidate.concurrent)];
    int at = -1;
    const Bytes peak = apply_pair(
        of.forward, b.backward[backward_index(*candidate.concurrent, candidate.accumulation)], now, at);
    if (step) *step = at;
    return peak;
  }

  // The passes that run at a peak candidate.
  std::vector<RunningPass> running_passes(const PeakCandidate& candidate) const {
    int step = -1;
    int64_t now = candidate.concurrent ? level_before(candidate, totals_, total(fixed_.sums)) : 0;
    if (candidate.concurrent) apply(candidate, totals_, now, &step);
    return running_passes(candidate, step);
  }
  // step: for an overlapped pair, the step that apply() returns.
  std::vector<RunningPass> running_passes(const PeakCandidate& candidate, int step) const {
    const Action& a = candidate.action;
    const auto chunk = [](const Action& action) { return static_cast<size_t>(action.chunk); };
    const auto backward = [&](const Action& action) -> const Profile& {
      return backwards_[class_of(action)][backward_index(action, candidate.accumulation)];
    };
    std::vector<RunningPass> out;
    if (candidate.concurrent) {
      const auto add = [&](const Action& action, const std::vector<Level>& levels) {
        if (step >= 0 && static_cast<size_t>(step) < levels.size())
          out.push_back({chunk(action), levels[static_cast<size_t>(step)], action});
      };
      add(a, forwards_[class_of(a)].levels);
      add(*candidate.concurrent, backward(*candidate.concurrent).levels);
    } else if (a.kind == ActionKind::Forward) {
      out.push_back({chunk(a), forwards_[class_of(a)].peak, a});
    } else if (a.kind == ActionKind::Backward || a.kind == ActionKind::BackwardInput) {
      out.push_back({chunk(a), backward(a).peak, a});
    }
    return out;
  }
  // Bytes of the gradients with lifetimes inside the step, at a peak candidate.
  GradientBytes gradients_at(const PeakCandidate& candidate,
                             const std::vector<RunningPass>& running_passes) const {
    GradientBytes out;
    const auto add = [&](int64_t times, const GradientBytes& bytes) {
      out.whole += times * bytes.whole;
      out.reduced += times * bytes.reduced;
    };
    for (size_t of = 0; of < firsts_.size(); ++of) {
      const StageRange range{starts_[firsts_[of]], starts_[firsts_[of] + 1]};
      add(candidate.before[of].begun, gradients_.begun(range));
      add(candidate.before[of].ended, gradients_.ended(range));
    }
    for (const RunningPass& work : running_passes) add(1, work.level.gradients);
    return out;
  }

  // Offloaded instances whose saved tensors are on the device while the instance of the pass runs.
  std::vector<size_t> offloaded_on_device(const RunningPass& work) const {
    std::set<size_t> out;
    for (const Event& event : program_.pass(work.of)) {
      if (event.kind == EventKind::Drop) out.erase(event.instance);
      if (event.kind == EventKind::Load) out.insert(event.instance);
      if (event.kind != EventKind::Run) continue;
      if (event.instance == instance_of(work)) break;
      if (!offloaded(event.instance) || event.part == LayerPart::Replay) continue;
      if (event.part == LayerPart::Forward) out.insert(event.instance);
      if (event.part == LayerPart::Backward) out.erase(event.instance);
    }
    out.erase(instance_of(work));
    return {out.begin(), out.end()};
  }

  // Microbatches whose saved tensors an instance holds. received: its saved input is not a tensor of its own.
  struct SavedCopies {
    size_t instance = 0;
    int64_t count = 0;
    bool received = false;
  };
  // The running microbatch counts with the layers before the running instance: a forward has run these
  // layers, a backward has not used them yet. by_chunk: every chunk is counted; otherwise the first chunk of
  // every class has the copies of all chunks of its class.
  std::vector<SavedCopies> saved_copies_at(const PeakCandidate& candidate,
                                           const std::vector<RunningPass>& running_passes,
                                           bool by_chunk) const {
    std::vector<SavedCopies> copies;
    const std::vector<int32_t> in_flight = by_chunk ? in_flight_before(candidate) : std::vector<int32_t>{};
    for (size_t k = 0; k < (by_chunk ? classes_.size() : firsts_.size()); ++k) {
      const auto counts = [&](size_t chunk) {
        return by_chunk ? chunk == k : static_cast<size_t>(classes_[chunk]) == k;
      };
      const int64_t held = (by_chunk ? in_flight[k] : candidate.before[k].in_flight) +
                           (candidate.action.kind == ActionKind::Forward &&
                            counts(static_cast<size_t>(candidate.action.chunk)));
      const size_t first = by_chunk ? firsts_[static_cast<size_t>(classes_[k])] : firsts_[k];
      for (size_t i = starts_[first]; i < starts_[first + 1]; ++i) {
        if (offloaded(i)) continue;
        const size_t place = i - starts_[first];
        const int64_t count = held - std::count_if(running_passes.begin(), running_passes.end(),
                                                   [&](const RunningPass& w) {
                                                     return counts(w.chunk) && place >= w.level.instance;
                                                   });
        copies.push_back(
            {starts_[by_chunk ? k : first] + place, count, input_received(i) || input_shared(i)});
      }
    }
    for (const RunningPass& work : running_passes)
      for (const size_t i : offloaded_on_device(work)) copies.push_back({i, 1, false});
    return copies;
  }
  // Microbatches in flight in every chunk before the action of the candidate.
  std::vector<int32_t> in_flight_before(const PeakCandidate& candidate) const {
    const ParallelSpec& parallel = r_.design.parallel;
    const int microbatches = representative_microbatches(parallel, static_cast<int>(r_.microbatches));
    return in_flight_by_chunk(make_stage_schedule(parallel, place_, microbatches, r_.cache.get()),
                              classes_.size(), candidate.index);
  }

  StorageId input_of(int segment) const {
    const Segment& s = graph_.segments[static_cast<size_t>(segment)];
    return s.tensor(s.input).storage;
  }
  size_t instance_of(const RunningPass& work) const { return starts_[work.chunk] + work.level.instance; }
  PeakPlace place_of(const RunningPass& work) {
    const SegmentMemory& memory = m_.of(key(instance_of(work))).memory;
    const Part runs = work.level.part;
    const SegmentPart& part = runs == Part::Forward         ? memory.forward
                              : runs == Part::Backward      ? memory.backward
                              : runs == Part::FirstBackward ? memory.first_backward
                              : runs == Part::InputBackward ? memory.input_backward
                              : runs == Part::Replay        ? memory.replay
                                                            : memory.replay_in_group;
    return {static_cast<int64_t>(starts_[work.chunk] + work.level.instance), runs,
            work.level.after_run ? -1 : part.peak_op, work.level.after_run};
  }

  // Allocator blocks at a peak candidate, without those that are always allocated.
  AllocatorSegments blocks(const PeakCandidate& candidate, const std::vector<RunningPass>& running_passes) {
    AllocatorSegments segments;
    std::map<ClassKey, int64_t> saved;
    for (const SavedCopies& one : saved_copies_at(candidate, running_passes, false))
      saved[key(one.instance)] += one.count;
    for (const auto& [key, count] : saved)
      if (count > 0) segments.add(m_.of(key).saved, count);
    for (const RunningPass& work : running_passes)
      if (!work.level.after_run) segments.add(m_.live_segments(key(instance_of(work)), work.level.part), 1);
    const GradientBytes gradients = gradients_at(candidate, running_passes);
    for (const int64_t bytes : {gradients.whole, gradients.reduced})
      if (bytes > 0) segments.add(bytes, 1);
    if (candidate.action.kind == ActionKind::Optimizer)
      for (const int64_t bytes : gradients_.copies()) segments.add(bytes, 1);
    return segments;
  }

  int64_t receive_buffers() {
    int64_t bytes = 0;
    for (size_t c = 0; c + 1 < starts_.size(); ++c) {
      if (receives(c)) bytes += total(memory(starts_[c]).forward.begin);
      if (sends(c)) bytes += total(memory(starts_[c + 1] - 1).output_grad);
    }
    return bytes * places_.microbatches(r_.microbatches);
  }

  // Names of gradients as in the report.
  struct GradientNames {
    std::string whole, reduced;
  };
  GradientNames gradient_names() const {
    const std::vector<PartValue>& parts = stage_.parts[kGradients];
    if (parts.empty() || !gradients_.are_transient()) return {};
    const std::string &first = parts.front().name, &last = parts.back().name;
    return gradients_.always() > 0 ? GradientNames{first, ""} : GradientNames{last, first};
  }

  FixedBuffers fixed_buffers(int64_t graph_pool) {
    FixedBuffers out{gradients_.are_transient(), gradients_.always(), 0, 0, graph_pool};
    if (has_shared_dummies(graph_)) out.dummy_gradients = dummy_gradients();
    if (holds_messages_) out.received = receive_buffers();
    return out;
  }

  int64_t dummy_gradients() {
    std::set<int> segments;
    for (const StageInstance& i : instances_) segments.insert(i.segment);
    std::set<std::pair<int64_t, int64_t>> shapes;
    int64_t bytes = 0;
    for (int index : segments)
      for (const Dummy& dummy : m_.dummies(index))
        if (shapes.insert({dummy.rows, dummy.columns}).second) bytes += dummy.bytes;
    return bytes;
  }

  // Saved tensors at the peak, by block and by layer.
  std::vector<MemoryContributor> saved_contributors(const PeakCandidate& candidate,
                                                    const std::vector<RunningPass>& running_passes) {
    std::map<ClassKey, std::vector<SavedCopies>> copies;
    const bool by_chunk = firsts_.size() < classes_.size();
    for (const SavedCopies& one : saved_copies_at(candidate, running_passes, by_chunk))
      if (one.count > 0) copies[key(one.instance)].push_back(one);
    std::map<std::pair<std::string, MemoryCategory>, std::map<int64_t, int64_t>> saved_bytes;
    for (const auto& [key, of_class] : copies) {
      const Segment& s = graph_.segments[static_cast<size_t>(key.first)];
      for (const SavedStorage& saved : saved_by(s, key.second)) {
        const Op& op = s.op(saved.saver);
        const std::string& block = op.block < 0 ? s.name : s.blocks[static_cast<size_t>(op.block)].label;
        const int64_t bytes = m_.sizes().storages[static_cast<size_t>(key.first)]
                                                 [static_cast<size_t>(saved.storage)];
        const bool input = s.input >= 0 && saved.storage == s.tensor(s.input).storage;
        std::map<int64_t, int64_t>& layers = saved_bytes[{block, m_.category(key.first, saved.storage)}];
        for (const SavedCopies& one : of_class)
          if (bytes > 0 && !(input && one.received))
            layers[instances_[one.instance].layer] += one.count * bytes;
      }
    }
    std::vector<MemoryContributor> out;
    for (const auto& [key, layers] : saved_bytes) {
      MemoryContributor made{key.first + ", saved for the backward", key.second};
      for (const auto& [layer, bytes] : layers) {
        made.bytes += bytes;
        made.layers.push_back({layer, bytes});
      }
      if (!layers.empty()) out.push_back(std::move(made));
    }
    return out;
  }

  void explain(StageMemory& out, const PeakCandidate& candidate,
               const std::vector<RunningPass>& running_passes) {
    for (size_t i = 0; i < fixed_.blocks.size(); ++i)
      out.contributors.push_back(
          {fixed_.names[i].first, fixed_.blocks[i].first, fixed_.blocks[i].second, fixed_.names[i].second});
    out.fixed_parts = out.contributors;
    CategoryBytes explained = fixed_.sums;
    for (MemoryContributor& saved : saved_contributors(candidate, running_passes)) {
      explained[static_cast<size_t>(saved.category)] += saved.bytes;
      out.contributors.push_back(std::move(saved));
    }
    const GradientBytes gradients = gradients_at(candidate, running_passes);
    // Gradients that a weight-gradient pass allocates are whole gradients.
    for (const auto& [name, bytes] :
         {std::pair{gradient_names().reduced, gradients.reduced},
          {gradient_names().whole, out.at_peak[kGradients] - fixed_.sums[kGradients] - gradients.reduced}}) {
      if (bytes == 0) continue;
      out.contributors.push_back({name, MemoryCategory::Gradients, bytes});
      explained[kGradients] += bytes;
    }
    for (const RunningPass& work : running_passes) {
      const StageInstance& at = instances_[instance_of(work)];
      if (&work == &running_passes.front()) {
        out.segment = at.segment;
        out.layer = at.layer;
        out.at = place_of(work);
        out.action = work.of;
      }
      if (work.level.after_run) continue;
      for (const LiveStorage& storage : m_.live(key(instance_of(work)), work.level.part)) {
        const size_t i = instance_of(work);
        if (storage.bytes == 0 ||
            ((input_received(i) || input_shared(i)) && storage.storage == input_of(at.segment)))
          continue;
        out.contributors.push_back({storage.name + " of microbatch " + std::to_string(work.of.microbatch),
                                    storage.category,
                                    storage.bytes,
                                    PartKind::Other,
                                    {{at.layer, storage.bytes}}});
        explained[static_cast<size_t>(storage.category)] += storage.bytes;
      }
    }
    if (const int64_t bytes = copies<int64_t>();
        candidate.action.kind == ActionKind::Optimizer && bytes > 0) {
      out.contributors.push_back(
          {"copies of gradients in the optimizer step", MemoryCategory::Buffers, bytes});
      explained[kBuffers] += bytes;
    }
    for (size_t k = 0; k < explained.size(); ++k)
      if (const int64_t rest = out.at_peak[k] - explained[k]; rest != 0)
        out.contributors.push_back(
            {"messages in transit and other buffers", static_cast<MemoryCategory>(k), rest});
    if (waste_ > 0)
      out.contributors.push_back({"unused bytes of allocator segments", MemoryCategory::Runtime, waste_});
    out.at_peak[kRuntime] += waste_;
    std::stable_sort(
        out.contributors.begin(), out.contributors.end(),
        [](const MemoryContributor& a, const MemoryContributor& b) { return a.bytes > b.bytes; });
    out.peak_text = peak_text(out, graph_);
  }

  const FixedBuffers buffers_;
  const FixedBytes fixed_;
  int64_t waste_ = 0;
};

std::shared_ptr<const std::vector<PeakCandidate>> peak_candidates_of(const Report& report, int stage,
                                                                     const StageTimeline& timeline) {
  return stage_peak_candidates(report.design.parallel, stage, static_cast<int>(report.microbatches),
                               timeline.classes(), timeline.gradients_come_and_go(), *report.cache);
}

// Bytes of the memory pool of a stage's CUDA graphs. captured: the memories of that pool.
int64_t graph_pool(const Report& report, StageTimeline& captured, int stage) {
  return captured.pool(*peak_candidates_of(report, stage, captured));
}
int64_t graph_pool(const Report& report, SegmentMemories& captured, const StageReport& stage) {
  if (!captures_graphs(report.design)) return 0;
  StageTimeline timeline(captured, stage, stage.stage);
  return graph_pool(report, timeline, stage.stage);
}

// The peaks of all stages of a bound plan. Null when stopped. table: the memory of the bound graph. captured:
// its memory in the pool of CUDA graphs; null without graphs.
std::shared_ptr<const std::vector<StagePeak>> stage_peaks(const Report& plan,
                                                          std::shared_ptr<const MemoryTable> table,
                                                          std::shared_ptr<const MemoryTable> captured,
                                                          const std::stop_token& stop) {
  const bool graphs = captured != nullptr;
  SegmentMemories memories(plan, std::move(table));
  std::optional<SegmentMemories> of_graphs;
  if (graphs) of_graphs.emplace(plan, std::move(captured), MemoryPool::Graphs);
  // Stages of one class differ in the microbatches in flight. With receive buffers, they also differ in the
  // number of messages: in a V-shaped pipeline, two chunks of one stage are neighbours.
  using Timelines = std::map<std::pair<int, int64_t>, StageTimeline>;
  Timelines eager, pools;
  const PipelineLayout places = pipeline_layout(plan.design.parallel);
  const bool buffers = holds_outputs(plan);
  auto out = std::make_shared<std::vector<StagePeak>>();
  for (const StageReport& stage : plan.stages) {
    if (stop.stop_requested()) return nullptr;
    const auto timeline = [&](Timelines& of, SegmentMemories& from) -> StageTimeline& {
      const std::pair key{stage.representative, buffers ? places.messages(stage.stage) : 0};
      const StageReport& representative = plan.stages[static_cast<size_t>(stage.representative)];
      return of.try_emplace(key, from, representative, stage.stage).first->second;
    };
    StageTimeline& own = timeline(eager, memories);
    out->push_back(own.peak(*peak_candidates_of(plan, stage.stage, own)));
    if (graphs) out->back().buffers.graph_pool = graph_pool(plan, timeline(pools, *of_graphs), stage.stage);
  }
  return out;
}

}  // namespace

int64_t most_in_use(const Report& plan, const std::stop_token& stop) {
  const CacheKey key = memory_key(plan);
  const auto table = [&](MemoryPool pool) {
    CacheKey of = key;
    of.add(static_cast<int64_t>(pool));
    return plan.cache->get<MemoryTable>(
        CacheKind::MemoryTable, of, [&] { return SegmentMemories(plan, {}, pool).table(); }, bytes_of_table);
  };
  const auto find = [&] {
    return stage_peaks(plan, table(MemoryPool::Eager),
                       captures_graphs(plan.design) ? table(MemoryPool::Graphs) : nullptr, stop);
  };
  std::shared_ptr<const std::vector<StagePeak>> peaks;
  if (gradient_life(plan.graph()) == GradientLife::Always && !holds_outputs(plan) &&
      !copies_gradients(plan.design)) {
    CacheKey shared = key;
    add_stages(shared, plan);
    peaks = plan.cache->get<std::vector<StagePeak>>(
        CacheKind::StagePeaks, shared, find,
        [](const std::vector<StagePeak>& made) { return sizeof made + made.size() * sizeof(StagePeak); });
  } else {
    peaks = find();
  }
  int64_t most = 0;
  FixedBytes fixed;
  const StageReport* fixed_of = nullptr;  // representative and buffers that `fixed` belongs to
  FixedBuffers buffers;
  for (size_t s = 0; peaks && s < peaks->size(); ++s) {
    const StagePeak& peak = (*peaks)[s];
    const StageReport& stage = plan.stages[static_cast<size_t>(plan.stages[s].representative)];
    if (std::exchange(fixed_of, &stage) != &stage || !(buffers == peak.buffers)) {
      buffers = peak.buffers;
      fixed = fixed_bytes(plan, stage, buffers);
    }
    most = std::max(most, total(fixed.sums) + peak.bytes + waste(fixed, peak.blocks));
  }
  return most;
}

int64_t always_allocated(const Report& plan) {
  int64_t most = 0;
  for (const StageReport& stage : plan.stages) {
    if (stage.representative != stage.stage) continue;
    int64_t states = 0;
    for (const StageStates::Part& part : stage.states->parts)
      if (part.category != MemoryCategory::Gradients || gradient_life(plan.graph()) == GradientLife::Always)
        states += part.bytes;
    most = std::max(most, states);
  }
  return most + workspace_bytes(plan, profile_of(plan.graph())) + context_bytes() + communicator_bytes(plan);
}

std::shared_ptr<const MemoryTimeline> memory_timeline(const Report& report, std::stop_token stop) {
  auto out = std::make_shared<MemoryTimeline>();
  SegmentMemories memories(report), captured(report, {}, MemoryPool::Graphs);
  for (const StageReport& stage : report.stages) {
    if (stop.stop_requested()) return nullptr;
    StageTimeline timeline(memories, stage, stage.stage, graph_pool(report, captured, stage));
    out->stages.push_back(timeline.fullest(*peak_candidates_of(report, stage.stage, timeline)));
    if (out->stages.back().in_use > out->stages[static_cast<size_t>(out->peak_stage)].in_use)
      out->peak_stage = stage.stage;
  }
  if (report.accelerator) out->capacity = report.accelerator->memory_bytes;
  out->fits = report.accelerator && out->stages[static_cast<size_t>(out->peak_stage)].in_use <= out->capacity;
  return out;
}

std::vector<ActionMemory> stage_timeline(const Report& report, int stage) {
  SegmentMemories memories(report);
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  SegmentMemories captured(report, {}, MemoryPool::Graphs);
  StageTimeline timeline(memories, of, stage, graph_pool(report, captured, of));
  std::vector<ActionMemory> out;
  timeline.run(make_stage_schedule(report.design.parallel, stage, static_cast<int>(report.microbatches),
                                   report.cache.get()),
               [&](const Action& action, const CategoryBytes& begin, const CategoryBytes& peak,
                   const CategoryBytes& end, const PeakPlace& at) {
                 out.push_back({action, begin, peak, end, at});
               });
  return out;
}

}  // namespace shardscape
