#include "simulate/stage_profiles.h"

#include <algorithm>
#include <set>
#include <utility>

namespace shardscape {
namespace {

constexpr auto kGradients = static_cast<size_t>(MemoryCategory::Gradients);
constexpr auto kBuffers = static_cast<size_t>(MemoryCategory::Buffers);

ActionTerms<int64_t> totals(const ActionTerms<CategoryBytes>& p) {
  ActionTerms<int64_t> out{total(p.peak), total(p.change), total(p.received), total(p.sent), {}};
  for (const CategoryBytes& level : p.levels) out.levels.push_back(total(level));
  return out;
}

// A message is a buffer, whatever the segment makes of it.
CategoryBytes on_the_way(const CategoryBytes& bytes) {
  CategoryBytes out{};
  out[kBuffers] = total(bytes);
  return out;
}

CategoryBytes of_gradients(int64_t bytes) {
  CategoryBytes out{};
  out[kGradients] = bytes;
  return out;
}

// The level of the instance that has begun last is its highest one.
template <typename Profile, typename Level>
void note(Profile& p, const Level& here, bool begins = false) {
  if (begins) p.levels.push_back(here);
  else if (total(here.bytes) > total(p.levels.back().bytes)) p.levels.back() = here;
  if (total(here.bytes) > total(p.peak.bytes)) p.peak = here;
}

template <typename Profile>
void from_begin(Profile& p, size_t begin) {
  p.peak.instance -= begin;
  for (auto& level : p.levels) level.instance -= begin;
}

}  // namespace

StageProfiles::StageProfiles(Memories& memories, const StageReport& stage, int at)
    : m_(memories), r_(memories.report()), stage_(stage), place_(at), graph_(r_.graph()), pairs_(runs_pairs(r_.design.parallel)), keeps_messages_(shardscape::keeps_messages(r_)),
      places_(pipeline_layout(r_.design.parallel)), layout_(stage_layout(r_, stage)), gradients_(memories, stage, layout_) {
  place();
  for (size_t c = 0; c + 1 < starts_.size(); ++c) {
    const auto like = std::find_if(firsts_.begin(), firsts_.end(), [&](size_t other) { return alike(other, c); });
    classes_.push_back(static_cast<int>(like - firsts_.begin()));
    if (like != firsts_.end()) continue;
    firsts_.push_back(c);
    Profile& f = forwards_.emplace_back(forward(starts_[c], starts_[c + 1]));
    backwards_.emplace_back();
    const auto make = [&](size_t index, const GradientTurn& turn) {
      Profile& b = backwards_.back()[index];
      b = backward(starts_[c], starts_[c + 1], turn, index == kSplit);
      if (keeps_messages_) keep_backward(c, f, b);
    };
    for (const GradientTurn& turn : turns()) make(turn_index(turn), turn);
    if (graph_.structure.split_backward) make(kSplit, {});
    if (keeps_messages_) keep_forward(c, f);
    add_terms(starts_[c], starts_[c + 1]);
  }
}

void StageProfiles::place() {
  for (const StageInstance& i : layout_.instances) instances_.push_back({{i.segment, i.of.keeps}, i.layer, i.of.offloaded, i.group, i.ends_group});
  for (const StageRange& chunk : layout_.chunks) starts_.push_back(chunk.first);
  starts_.push_back(instances_.size());
}

bool StageProfiles::alike(size_t a, size_t b) const {
  if (keeps_messages_ && (receives(a) != receives(b) || sends(a) != sends(b))) return false;
  const auto at = [&](size_t chunk) { return instances_.begin() + static_cast<std::ptrdiff_t>(starts_[chunk]); };
  return std::equal(at(a), at(a + 1), at(b), at(b + 1), [&](const Instance& x, const Instance& y) {
    return x.key == y.key && x.offloaded == y.offloaded && x.ends_group == y.ends_group && x.group - starts_[a] == y.group - starts_[b];
  });
}

bool StageProfiles::input_received(size_t instance) const {
  const Instance& i = instances_[instance];
  const auto chunk = static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), instance) - starts_.begin() - 1);
  return keeps_messages_ && instance == starts_[chunk] && receives(chunk) && !i.offloaded && m_.lifetimes().keeps_input(i.key.first, i.key.second);
}

StageProfiles::Profile StageProfiles::forward(size_t begin, size_t end) {
  Profile p;
  p.levels.reserve(end - begin);
  p.peak.instance = begin;
  CategoryBytes stored{};  // on its way to the host
  for (size_t i = begin; i < end; ++i) {
    const SegmentMemory& s = memory(i);
    const bool ends = kind(i) == SegmentKind::Head;
    if (i == begin && kind(i) != SegmentKind::Embedding) p.received = on_the_way(s.forward.begin);
    note(p, Level{p.change + s.forward.peak, i, Part::Forward, {}}, true);
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

StageProfiles::Profile StageProfiles::backward(size_t begin, size_t end, const GradientTurn& turn, bool split) {
  Profile p;
  p.levels.reserve(end - begin);
  p.peak.part = Part::Backward;
  CategoryBytes replayed{};
  // Gradients that come and go: what is there beside them as units are reduced, and then is in p.change.
  GradientBytes gradients;
  const auto apply = [&](const GradientSteps::Changes& changes, const CategoryBytes* beside, size_t at) {
    for (const GradientSteps::Change& change : changes) {
      (change.reduced ? gradients.reduced : gradients.whole) += change.bytes;
      p.change[kGradients] += change.bytes;
      if (beside) note(p, Level{p.change + *beside, at, Part::Backward, gradients, true});
    }
  };
  const bool comes = gradients_.comes(turn);
  apply(gradients_.begin_pass(turn), nullptr, end);
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
        note(p, Level{own + part.peak, j, j < i ? Part::ReplayInGroup : Part::Replay, gradients}, std::exchange(begins, false));
        replayed = replayed - (part.begin - again.kept) + (part.end - again.kept);
      }
    const CategoryBytes survivors = s.backward.begin - s.kept - s.output_grad;
    const CategoryBytes& peak = split ? s.input_backward.peak : comes ? s.first_backward.peak : s.backward.peak;
    GradientBytes then = gradients;
    then.whole += peak[kGradients];
    note(p, Level{p.change - s.kept + replayed - survivors + peak, i, split ? Part::InputBackward : comes ? Part::FirstBackward : Part::Backward, then}, begins);
    if (comes) apply({{i, false, gradients_.whole(i)}}, nullptr, i);
    replayed = replayed - survivors;
    p.change = p.change - s.kept;
    CategoryBytes passing = replayed + s.backward.end;
    if (input_received(i)) passing = passing + s.forward.begin;  // which was none of what the forward has added
    if (split) {  // what waits lies beside the gradient of the input
      p.change = p.change + waiting(i, i + 1);
      note(p, Level{p.change + passing, i, Part::InputBackward, {}, true});
    }
    apply(gradients_.end(i, turn), &passing, i);
    if (i > begin) continue;
    apply(gradients_.end_pass({begin, end}, turn), &passing, i);
    if (kind(i) != SegmentKind::Embedding) p.sent = on_the_way(s.backward.end);
  }
  from_begin(p, begin);
  return p;
}

// Buffers to receive into are there all along, and so is an input that is kept: it lies in one. A gradient that is received is added up in
// memory of its own.
void StageProfiles::keep_forward(size_t chunk, Profile& f) {
  if (receives(chunk)) {
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

// f: the forward as it is without such buffers.
void StageProfiles::keep_backward(size_t chunk, const Profile& f, Profile& b) {
  if (receives(chunk) && input_received(starts_[chunk])) b.change = b.change + memory(starts_[chunk]).forward.begin;
  if (!sends(chunk)) return;
  b.change = b.change - f.sent;
  b.received = {};
}

// What the gradients of weights still read once that of the input is made.
CategoryBytes StageProfiles::waiting(size_t begin, size_t end) const {
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

ActionTerms<CategoryBytes> StageProfiles::terms(const Profile& p) const {
  ActionTerms<CategoryBytes> out{p.peak.bytes, p.change, {}, {}, {}};
  if (r_.stages.size() > 1) {
    out.received = p.received;
    out.sent = p.sent;
  }
  if (pairs_)
    for (const Level& level : p.levels) out.levels.push_back(level.bytes);
  return out;
}

// Of the backwards that there are.
std::vector<GradientTurn> StageProfiles::turns() const {
  std::vector<GradientTurn> out{{}};
  if (!gradients_.come_and_go()) return out;
  const int64_t count = places_.microbatches(r_.microbatches);
  if (count == 1) out.push_back({true, true, true});
  if (count > 1) out.insert(out.end(), {{true, true, false}, {true, false, true}});
  if (count > 2) out.push_back({true, false, false});
  return out;
}

void StageProfiles::add_terms(size_t begin, size_t end) {
  ChunkTerms<CategoryBytes>& of = terms_.emplace_back();
  ChunkTerms<int64_t>& sums = totals_.emplace_back();
  of.forward = terms(forwards_.back());
  of.waiting = waiting(begin, end);
  of.begun = of_gradients(gradients_.begun({begin, end}).all());
  of.ended = of_gradients(gradients_.ended({begin, end}).all());
  for (const GradientTurn& turn : turns()) {
    const size_t t = turn_index(turn);
    of.backward[t] = terms(backwards_.back()[t]);
    sums.backward[t] = totals(of.backward[t]);
    if (!graph_.structure.split_backward) continue;
    of.weights[t] = weights(begin, end, turn);
    sums.weights[t] = {total(of.weights[t].come), total(of.weights[t].reduced), total(of.weights[t].change)};
  }
  if (graph_.structure.split_backward) {
    of.backward[kSplit] = terms(backwards_.back()[kSplit]);
    sums.backward[kSplit] = totals(of.backward[kSplit]);
  }
  sums.forward = totals(of.forward);
  sums.waiting = total(of.waiting);
  sums.begun = total(of.begun);
  sums.ended = total(of.ended);
}

WeightTerms<CategoryBytes> StageProfiles::weights(size_t begin, size_t end, const GradientTurn& turn) const {
  int64_t now = 0, most = 0;
  const auto apply = [&](const GradientSteps::Changes& changes) {
    for (const GradientSteps::Change& change : changes) most = std::max(most, now += change.bytes);
  };
  apply(gradients_.begin_pass(turn));
  for (size_t i = end; i-- > begin && gradients_.comes(turn);) apply({{i, false, gradients_.whole(i)}});
  const int64_t come = most;
  most = now;
  for (size_t i = end; i-- > begin;) apply(gradients_.end(i, turn));
  apply(gradients_.end_pass({begin, end}, turn));
  return {of_gradients(come), of_gradients(most), of_gradients(now)};
}

}  // namespace shardscape
