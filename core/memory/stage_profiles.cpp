#include "memory/stage_profiles.h"

#include <algorithm>
#include <utility>

#include "graph/carried_tensors.h"

namespace shardscape {
namespace {

constexpr auto kGradientsKept = static_cast<size_t>(MemoryCategory::Gradients);
constexpr auto kBuffersKept = static_cast<size_t>(MemoryCategory::Buffers);

ActionTerms<int64_t> totals(const ActionTerms<CategoryBytes>& p) {
  ActionTerms<int64_t> out{total(p.peak), total(p.change), total(p.received), total(p.sent), {}};
  for (const CategoryBytes& level : p.levels) out.levels.push_back(total(level));
  return out;
}

// A message in transit counts as a buffer, whatever its category inside the segment.
CategoryBytes as_message(const CategoryBytes& bytes) {
  CategoryBytes out{};
  out[kBuffersKept] = total(bytes);
  return out;
}

CategoryBytes of_gradients(int64_t bytes) {
  CategoryBytes out{};
  out[kGradientsKept] = bytes;
  return out;
}

// Records a peak. There is one level per instance: the highest value while the instance runs.
template <typename Profile, typename Level>
void note(Profile& p, const Level& here, bool begins = false) {
  if (begins)
    p.levels.push_back(here);
  else if (total(here.bytes) > total(p.levels.back().bytes))
    p.levels.back() = here;
  if (total(here.bytes) > total(p.peak.bytes)) p.peak = here;
}

template <typename Profile>
void relative_to_chunk(Profile& p, size_t begin) {
  p.peak.instance -= begin;
  for (auto& level : p.levels) level.instance -= begin;
}

}  // namespace

StageProfiles::StageProfiles(SegmentMemories& memories, const StageReport& stage, int at)
    : m_(memories),
      r_(memories.report()),
      stage_(stage),
      place_(at),
      graph_(r_.graph()),
      overlaps_passes_(overlaps_passes(r_.design.parallel)),
      holds_messages_(shardscape::holds_messages(r_)),
      holds_outputs_(holds_outputs(r_)),
      places_(pipeline_layout(r_.design.parallel)),
      program_(stage_program(r_, stage)),
      instances_(program_.layout().instances),
      gradients_(memories, stage, program_.layout()),
      carried_(memories.carried_gradients()) {
  for (const StageRange& chunk : program_.layout().chunks) starts_.push_back(chunk.first);
  starts_.push_back(instances_.size());
  for (size_t c = 0; c + 1 < starts_.size(); ++c) {
    const auto representative = std::find_if(firsts_.begin(), firsts_.end(),
                                             [&](size_t other) { return same_class(other, c); });
    classes_.push_back(static_cast<int>(representative - firsts_.begin()));
    if (representative != firsts_.end()) continue;
    firsts_.push_back(c);
    Profile& f = forwards_.emplace_back(forward(c));
    backwards_.emplace_back();
    const auto make = [&](size_t index, const AccumulationStep& accumulation) {
      Profile& b = backwards_.back()[index];
      b = backward(c, accumulation, index == kSplit);
      if (holds_outputs_) hold_backward_messages(c, f, b);
    };
    for (const AccumulationStep& accumulation : accumulations())
      make(accumulation_index(accumulation), accumulation);
    if (graph_.structure.split_backward) make(kSplit, {});
    if (holds_outputs_) hold_forward_messages(c, f);
    add_terms(c);
  }
}

bool StageProfiles::same_class(size_t a, size_t b) const {
  if (holds_outputs_ && (receives(a) != receives(b) || sends(a) != sends(b))) return false;
  if (carried_gradients(a, false) != carried_gradients(b, false) ||
      carried_gradients(a, true) != carried_gradients(b, true))
    return false;
  const auto at = [&](size_t chunk) {
    return instances_.begin() + static_cast<std::ptrdiff_t>(starts_[chunk]);
  };
  return std::equal(at(a), at(a + 1), at(b), at(b + 1), [&](const StageInstance& x, const StageInstance& y) {
    return x.segment == y.segment && x.of == y.of && x.ends_group == y.ends_group &&
           x.group - starts_[a] == y.group - starts_[b];
  });
}

bool StageProfiles::input_received(size_t instance) const {
  const auto chunk = static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), instance) -
                                         starts_.begin() - 1);
  return holds_messages_ && instance == starts_[chunk] && receives(chunk) && !offloaded(instance) &&
         m_.lifetimes().saves_input(key(instance).first, key(instance).second);
}

bool StageProfiles::input_shared(size_t instance) const {
  if (std::find(starts_.begin(), starts_.end(), instance) != starts_.end()) return false;
  return !offloaded(instance - 1) && !offloaded(instance) && m_.of(key(instance - 1)).memory.saves_output;
}

CategoryBytes StageProfiles::shared_input(size_t instance, bool saved) const {
  CategoryBytes out{};
  const int segment = key(instance).first;
  const bool saves = m_.of(key(instance)).memory.saves_input;
  if (!input_shared(instance) || (saved && !saves)) return out;
  const Segment& s = graph_.segments[static_cast<size_t>(segment)];
  const StorageId input = s.tensor(s.input).storage;
  const auto category = saves ? static_cast<size_t>(m_.category(segment, input)) : kBuffersKept;
  out[category] = m_.sizes().storages[static_cast<size_t>(segment)][static_cast<size_t>(input)];
  return out;
}

CategoryBytes StageProfiles::carried_gradients(size_t chunk, bool end) const {
  CategoryBytes out{};
  if (carried_.empty() || !(end ? sends(chunk) : receives(chunk))) return out;
  const StageChunk& of = stage_.chunks[chunk];
  const bool of_tower = end ? stage_.first.tower_alone() : stage_.first.embedding_alone();
  const int across = of_tower
                         ? carried_by_tower(graph_)
                         : carried_across(graph_, r_.design.model, of.first_layer + (end ? of.layers : 0));
  for (size_t i = 0; i < carried_.size(); ++i)
    if (across >> i & 1) out[kBuffersKept] += carried_[i];
  return out;
}

CategoryBytes StageProfiles::carried_change(size_t instance) const {
  CategoryBytes out{};
  for (const Carried& carried : graph_.segments[static_cast<size_t>(key(instance).first)].carried) {
    const int64_t bytes = carried_[static_cast<size_t>(carried.index)];
    if (carried.in_grad >= 0 && carried.out_grad < 0) out[kBuffersKept] += bytes;
    if (carried.out_grad >= 0 && carried.in_grad < 0) out[kBuffersKept] -= bytes;
  }
  return out;
}

StageProfiles::Profile StageProfiles::forward(size_t chunk) {
  const size_t begin = starts_[chunk], end = starts_[chunk + 1];
  Profile p;
  p.levels.reserve(end - begin);
  p.peak.instance = begin;
  for (const Event& event : program_.pass(ActionKind::Forward, chunk)) {
    const size_t i = event.instance;
    const SegmentMemory& s = memory(i);
    if (event.kind == EventKind::Drop) p.change = p.change - s.saved;
    if (event.kind != EventKind::Run) continue;
    if (i == begin && receives_stream(i)) p.received = as_message(s.forward.begin);
    note(p, Level{p.change - shared_input(i, false) + s.forward.peak, i, Part::Forward, {}}, true);
    p.change = p.change - shared_input(i, true) + s.saved;
    if (i + 1 == end && kind(i) != SegmentKind::Head) p.sent = as_message(s.forward.end - s.saved);
  }
  relative_to_chunk(p, begin);
  return p;
}

// Reads the events of a backward pass and adds the effect of each to the profile.
class StageProfiles::BackwardReader {
 public:
  BackwardReader(StageProfiles& of, size_t chunk, const AccumulationStep& accumulation, bool split)
      : of_(of),
        chunk_(chunk),
        begin_(of.starts_[chunk]),
        end_(of.starts_[chunk + 1]),
        accumulation_(accumulation),
        split_(split),
        allocates_gradients_(of.gradients_.allocates_gradients(accumulation)) {}

  Profile read(std::span<const Event> events) {
    p_.levels.reserve(end_ - begin_);
    p_.peak.part = Part::Backward;
    apply(of_.gradients_.begin_pass(accumulation_), nullptr, end_);
    if (end_ > begin_) {
      const size_t last = end_ - 1;
      if (of_.kind(last) != SegmentKind::Head) p_.received = as_message(of_.memory(last).output_grad);
      p_.peak.instance = last;
      p_.change = p_.change + of_.carried_gradients(chunk_, true);
      p_.received = p_.received + of_.carried_gradients(chunk_, true);
    }
    for (const Event& event : events) {
      if (event.kind == EventKind::Load) p_.change = p_.change + of_.memory(event.instance).saved;
      if (event.kind == EventKind::Gather && event.part == LayerPart::Backward) begins_ = true;
      if (event.kind != EventKind::Run) continue;
      if (event.part == LayerPart::Replay) replay(event);
      if (event.part == LayerPart::Backward) backward(event.instance);
    }
    relative_to_chunk(p_, begin_);
    return std::move(p_);
  }

 private:
  void apply(const GradientSteps::Changes& changes, const CategoryBytes* present, size_t at) {
    for (const GradientSteps::Change& change : changes) {
      (change.reduced ? gradients_.reduced : gradients_.whole) += change.bytes;
      p_.change[kGradientsKept] += change.bytes;
      if (present) note(p_, Level{p_.change + *present, at, Part::Backward, gradients_, true});
    }
  }

  void replay(const Event& event) {
    const SegmentMemory& layer = of_.memory(event.instance);
    const bool in_group = event.instance < event.cause;
    const SegmentPart& part = in_group ? layer.replay_in_group : layer.replay;
    const CategoryBytes own = p_.change + replayed_ - part.begin + of_.memory(event.cause).output_grad;
    note(p_,
         Level{own + part.peak, event.instance, in_group ? Part::ReplayInGroup : Part::Replay, gradients_},
         std::exchange(begins_, false));
    replayed_ = replayed_ - (part.begin - layer.saved) + (part.end - layer.saved);
  }

  void backward(size_t i) {
    const SegmentMemory& s = of_.memory(i);
    const CategoryBytes survivors = s.backward.begin - s.saved - s.output_grad;
    const CategoryBytes& peak = split_                 ? s.input_backward.peak
                                : allocates_gradients_ ? s.first_backward.peak
                                                       : s.backward.peak;
    const Part part = split_                 ? Part::InputBackward
                      : allocates_gradients_ ? Part::FirstBackward
                                             : Part::Backward;
    GradientBytes then = gradients_;
    then.whole += peak[kGradientsKept];
    note(p_, Level{p_.change - s.saved + replayed_ - survivors + peak, i, part, then}, begins_);
    if (allocates_gradients_) apply({{i, false, of_.gradients_.whole(i)}}, nullptr, i);
    replayed_ = replayed_ - survivors;
    p_.change = p_.change - s.saved + of_.shared_input(i, true) + of_.carried_change(i);
    CategoryBytes present = replayed_ + s.backward.end;
    if (of_.input_received(i))
      present = present + s.forward.begin;  // the change of the forward did not include it
    // Tensors that the deferred weight gradient reads exist together with the input gradient.
    if (split_) {
      p_.change = p_.change + of_.deferred_bytes(i, i + 1);
      note(p_, Level{p_.change + present, i, Part::InputBackward, {}, true});
    }
    apply(of_.gradients_.end(i, accumulation_), &present, i);
    if (i > begin_) return;
    apply(of_.gradients_.end_pass({begin_, end_}, accumulation_), &present, i);
    if (of_.receives_stream(i)) p_.sent = as_message(s.backward.end) + of_.carried_gradients(chunk_, false);
    p_.change = p_.change - of_.carried_gradients(chunk_, false);
  }

  StageProfiles& of_;
  const size_t chunk_, begin_, end_;
  const AccumulationStep& accumulation_;
  const bool split_, allocates_gradients_;  // allocates_gradients_: this backward allocates gradients
  Profile p_;
  CategoryBytes replayed_{};
  // Gradients with lifetimes inside the step, allocated since the pass began. They are part of the change.
  GradientBytes gradients_;
  bool begins_ = true;  // the next level is the first of its instance
};

StageProfiles::Profile StageProfiles::backward(size_t chunk, const AccumulationStep& accumulation,
                                               bool split) {
  const auto kind = split ? ActionKind::BackwardInput : ActionKind::Backward;
  return BackwardReader(*this, chunk, accumulation, split).read(program_.pass(kind, chunk));
}

// Receive buffers are permanent, so a saved input in a receive buffer adds nothing. A received gradient is
// accumulated in memory of its own.
void StageProfiles::hold_forward_messages(size_t chunk, Profile& f) {
  if (holds_messages_ && receives(chunk)) {
    if (input_received(starts_[chunk])) {
      const CategoryBytes& input = memory(starts_[chunk]).forward.begin;
      f.peak.bytes = f.peak.bytes - input;
      for (Level& level : f.levels) level.bytes = level.bytes - input;
      f.change = f.change - input;
    }
    f.received = {};
  }
  if (!sends(chunk)) return;
  f.change = f.change + f.sent;
  f.sent = {};
}

// f: the profile of the forward without permanent buffers.
void StageProfiles::hold_backward_messages(size_t chunk, const Profile& f, Profile& b) {
  if (receives(chunk) && input_received(starts_[chunk]))
    b.change = b.change + memory(starts_[chunk]).forward.begin;
  if (!sends(chunk)) return;
  b.change = b.change - f.sent;
  if (holds_messages_) b.received = {};
}

// Bytes that the deferred weight gradients still read after the input gradient.
CategoryBytes StageProfiles::deferred_bytes(size_t begin, size_t end) const {
  CategoryBytes out{};
  for (size_t i = begin; i < end; ++i) {
    const auto& [segment, checkpoint_policy] = key(i);
    const Segment& s = graph_.segments[static_cast<size_t>(segment)];
    const auto category = static_cast<size_t>(s.kind == SegmentKind::Head ? MemoryCategory::Logits
                                                                          : MemoryCategory::Activations);
    for (const SavedStorage& saved : deferred_in(s, checkpoint_policy))
      out[category] += m_.sizes().storages[static_cast<size_t>(segment)][static_cast<size_t>(saved.storage)];
  }
  return out;
}

ActionTerms<CategoryBytes> StageProfiles::terms(const Profile& p) const {
  ActionTerms<CategoryBytes> out{p.peak.bytes, p.change, {}, {}, {}};
  if (r_.stages.size() > 1) {
    out.received = p.received;
    out.sent = p.sent;
  }
  if (overlaps_passes_)
    for (const Level& level : p.levels) out.levels.push_back(level.bytes);
  return out;
}

// The accumulation steps that occur among the backwards of a step.
std::vector<AccumulationStep> StageProfiles::accumulations() const {
  std::vector<AccumulationStep> out{{}};
  if (!gradients_.are_transient()) return out;
  const int64_t count = places_.microbatches(r_.microbatches);
  if (count == 1) out.push_back({true, true, true});
  if (count > 1) out.insert(out.end(), {{true, true, false}, {true, false, true}});
  if (count > 2) out.push_back({true, false, false});
  return out;
}

void StageProfiles::add_terms(size_t chunk) {
  const size_t begin = starts_[chunk], end = starts_[chunk + 1];
  ChunkTerms<CategoryBytes>& of = terms_.emplace_back();
  ChunkTerms<int64_t>& sums = totals_.emplace_back();
  of.forward = terms(forwards_.back());
  of.deferred = deferred_bytes(begin, end);
  of.begun = of_gradients(gradients_.begun({begin, end}).all());
  of.ended = of_gradients(gradients_.ended({begin, end}).all());
  for (const AccumulationStep& accumulation : accumulations()) {
    const size_t t = accumulation_index(accumulation);
    of.backward[t] = terms(backwards_.back()[t]);
    sums.backward[t] = totals(of.backward[t]);
    if (!graph_.structure.split_backward) continue;
    of.weights[t] = weights(chunk, accumulation);
    sums.weights[t] = {total(of.weights[t].allocated), total(of.weights[t].reduced),
                       total(of.weights[t].change)};
  }
  if (graph_.structure.split_backward) {
    of.backward[kSplit] = terms(backwards_.back()[kSplit]);
    sums.backward[kSplit] = totals(of.backward[kSplit]);
  }
  sums.forward = totals(of.forward);
  sums.deferred = total(of.deferred);
  sums.begun = total(of.begun);
  sums.ended = total(of.ended);
}

WeightTerms<CategoryBytes> StageProfiles::weights(size_t chunk, const AccumulationStep& accumulation) const {
  int64_t now = 0, most = 0;
  const auto apply = [&](const GradientSteps::Changes& changes) {
    for (const GradientSteps::Change& change : changes) most = std::max(most, now += change.bytes);
  };
  const std::span<const Event> events = program_.pass(ActionKind::BackwardWeight, chunk);
  apply(gradients_.begin_pass(accumulation));
  for (const Event& event : events)
    if (event.kind == EventKind::Run && gradients_.allocates_gradients(accumulation))
      apply({{event.instance, false, gradients_.whole(event.instance)}});
  const int64_t allocated = most;
  most = now;
  for (const Event& event : events)
    if (event.kind == EventKind::Release) apply(gradients_.end(event.instance, accumulation));
  apply(gradients_.end_pass(program_.layout().chunks[chunk], accumulation));
  return {of_gradients(allocated), of_gradients(most), of_gradients(now)};
}

}  // namespace shardscape
