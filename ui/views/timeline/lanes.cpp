#include "ui/views/timeline/lanes.h"

#include <algorithm>
#include <cmath>

namespace shardscape::ui {

Pass pass_of(const Span& span) {
  switch (span.kind) {
    case SpanKind::Forward: return Pass::Forward;
    case SpanKind::Recompute:
    case SpanKind::Backward:
    case SpanKind::BackwardInput: return Pass::Backward;
    case SpanKind::BackwardWeight: return Pass::WeightGradient;
    case SpanKind::Optimizer: return Pass::Optimizer;
    case SpanKind::Collective:
    case SpanKind::Send:
    case SpanKind::Receive: return Pass::Communication;
    case SpanKind::Store:
    case SpanKind::Load: return Pass::Host;
  }
  return Pass::Communication;
}

Lanes::Lanes(std::shared_ptr<const Simulation> simulation) : simulation_(std::move(simulation)) {
  stages_.resize(simulation_->stages.size());
  for (size_t s = 0; s < stages_.size(); ++s) {
    const std::vector<Span>& spans = simulation_->stages[s].spans;
    Stage& stage = stages_[s];
    int lane_of[kStreamKindCount];
    std::fill(std::begin(lane_of), std::end(lane_of), -1);
    for (const Span& span : spans) lane_of[static_cast<int>(span.stream)] = 0;
    lane_of[0] = 0;  // every stage has a compute stream
    for (int k = 0; k < kStreamKindCount; ++k)
      if (lane_of[k] == 0) {
        lane_of[k] = static_cast<int>(stage.lanes.size());
        stage.lanes.push_back({static_cast<StreamKind>(k), {}, {}});
      }
    stage.of_span.resize(spans.size());
    for (size_t i = 0; i < spans.size(); ++i) {
      const Span& span = spans[i];
      const int number = lane_of[static_cast<int>(span.stream)];
      StreamLane& lane = stage.lanes[static_cast<size_t>(number)];
      const Pass pass = pass_of(span);
      LaneItem* last = lane.items.empty() ? nullptr : &lane.items.back();
      const bool joins = last && span.stream == StreamKind::Compute && last->pass == pass &&
                         span.microbatch >= 0 && last->microbatch == span.microbatch &&
                         last->chunk == span.chunk && last->name == span.name;
      if (joins) {
        last->end = std::max(last->end, span.end);
        last->critical = last->critical || span.critical;
        if (span.kind != SpanKind::Recompute) last->kind = span.kind;
        ++last->count;
      } else {
        lane.items.push_back({span.begin, span.end, static_cast<int32_t>(lane.spans.size()), 1, pass,
                              span.kind, span.microbatch, span.chunk, span.name, span.critical, 0});
        last = &lane.items.back();
      }
      if (span.kind == SpanKind::Recompute) last->recompute += span.end - span.begin;
      lane.spans.push_back(static_cast<int32_t>(i));
      stage.of_span[i] = {number, static_cast<int32_t>(lane.items.size() - 1)};
      chunks_ = std::max(chunks_, span.chunk + 1);
      last_microbatch_ = std::max(last_microbatch_, span.microbatch);
      passes_ |= 1u << static_cast<unsigned>(pass);
    }
    for (StreamLane& lane : stage.lanes) {
      items_ += lane.items.size();
      for (LaneItem& item : lane.items) {
        recompute_ = recompute_ || item.recompute > 0;
        if (item.end > item.begin) item.recompute /= item.end - item.begin;
      }
    }
  }
}

ItemRef Lanes::of_span(int stage, int span) const {
  if (stage < 0 || stage >= stages()) return {};
  const Stage& of = stages_[static_cast<size_t>(stage)];
  if (span < 0 || span >= static_cast<int>(of.of_span.size())) return {};
  const auto [lane, item] = of.of_span[static_cast<size_t>(span)];
  return {stage, lane, item};
}

ItemRef Lanes::of_action(int stage, Pass pass, int microbatch, int chunk) const {
  if (stage < 0 || stage >= stages()) return {};
  const std::vector<LaneItem>& items = of(stage).front().items;
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].pass == pass && items[i].microbatch == microbatch && items[i].chunk == chunk)
      return {stage, 0, static_cast<int>(i)};
  return {};
}

// Merges the lanes, which have few streams and up to millions of boxes, each by begin already.
void Lanes::add_by_begin(int stage, const std::function<bool(const ItemRef&)>& only,
                         std::vector<ItemRef>& to) const {
  std::vector<ItemRef> heads;  // the next wanted box of each lane that has one
  const auto advance = [&](ItemRef& head) {
    const int count = static_cast<int>(lane(head).items.size());
    do ++head.item;
    while (head.item < count && only && !only(head));
    return head.item < count;
  };
  for (int number = 0; number < static_cast<int>(of(stage).size()); ++number)
    if (ItemRef head{stage, number, -1}; advance(head)) heads.push_back(head);
  while (!heads.empty()) {
    const auto first = std::min_element(
        heads.begin(), heads.end(),
        [this](const ItemRef& a, const ItemRef& b) { return item(a).begin < item(b).begin; });
    to.push_back(*first);
    if (!advance(*first)) heads.erase(first);
  }
}

size_t Lanes::first_after(const StreamLane& lane, double seconds) {
  return static_cast<size_t>(std::partition_point(lane.items.begin(), lane.items.end(),
                                                  [&](const LaneItem& item) { return item.end <= seconds; }) -
                             lane.items.begin());
}

ItemRef Lanes::nearest(int stage, StreamKind stream, double seconds) const {
  if (stage < 0 || stage >= stages()) return {};
  const std::vector<StreamLane>& lanes = of(stage);
  size_t number = 0;
  for (size_t i = 0; i < lanes.size(); ++i)
    if (lanes[i].stream == stream) number = i;
  const StreamLane& lane = lanes[number];
  if (lane.items.empty()) return {};
  size_t at = std::min(first_after(lane, seconds), lane.items.size() - 1);
  const auto distance = [&](size_t i) {
    return std::max({0.0, lane.items[i].begin - seconds, seconds - lane.items[i].end});
  };
  if (at > 0 && distance(at - 1) < distance(at)) --at;
  return {stage, static_cast<int>(number), static_cast<int>(at)};
}

}  // namespace shardscape::ui
