#include "ui/views/timeline/flows.h"

#include <algorithm>

namespace shardscape::ui {

std::vector<Flow> flows_of(const Lanes& lanes, const ItemRef& ref) {
  constexpr size_t kMost = 64;
  std::vector<Flow> flows;
  const auto add = [&](int stage, int index) {
    const Span& span = lanes.span(stage, index);
    if (span.waits_span < 0 || flows.size() >= kMost) return;
    Flow flow{lanes.of_span(span.waits_stage, span.waits_span), lanes.of_span(stage, index),
              lanes.span(span.waits_stage, span.waits_span).end, span.begin};
    flow.from.member = flow.to.member = ref.member;
    if (flow.from.valid() && flow.from != flow.to && (flow.from == ref || flow.to == ref))
      flows.push_back(flow);
  };
  const LaneItem& item = lanes.item(ref);
  for (int32_t i = 0; i < item.count; ++i)
    add(ref.stage, lanes.lane(ref).spans[static_cast<size_t>(item.first + i)]);
  for (int stage = 0; stage < lanes.stages(); ++stage) {
    const std::vector<Span>& spans = lanes.simulation().stages[static_cast<size_t>(stage)].spans;
    for (size_t i = 0; i < spans.size(); ++i)
      if (spans[i].waits_stage == ref.stage && spans[i].waits_span >= 0) {
        const ItemRef awaited = lanes.of_span(ref.stage, spans[i].waits_span);
        if (awaited.lane == ref.lane && awaited.item == ref.item) add(stage, static_cast<int>(i));
      }
  }
  return flows;
}

}  // namespace shardscape::ui
