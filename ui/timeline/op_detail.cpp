#include "ui/timeline/op_detail.h"

#include <algorithm>
#include <limits>

namespace shardscape::ui {

void OpDetail::setStep(std::shared_ptr<const Report> report, std::shared_ptr<const Lanes> lanes) {
  report_ = std::move(report);
  lanes_ = std::move(lanes);
  known_.clear();
}

OpDetail::Key OpDetail::key_of(const ItemRef& ref) const {
  const LaneItem& item = lanes_->item(ref);
  const ActionKind kind = item.pass == Pass::Forward          ? ActionKind::Forward
                          : item.pass == Pass::WeightGradient ? ActionKind::BackwardWeight
                          : item.kind == SpanKind::BackwardInput ? ActionKind::BackwardInput
                                                                 : ActionKind::Backward;
  return {ref.stage, item.chunk, kind};
}

bool OpDetail::known(const ItemRef& ref) const { return known_.count(key_of(ref)) > 0; }

const std::vector<OpSpan>& OpDetail::of(const ItemRef& ref) {
  static const std::vector<OpSpan> none;
  if (!report_ || !lanes_ || !ref.valid() || !has_ops(lanes_->item(ref))) return none;
  const Key key = key_of(ref);
  if (const auto it = known_.find(key); it != known_.end()) return it->second;
  return known_[key] = action_ops(*report_, ref.stage, {key.kind, lanes_->item(ref).microbatch, key.chunk});
}

std::vector<PlacedOp> OpDetail::placed(const ItemRef& ref) {
  return placed(ref, -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity());
}

std::vector<PlacedOp> OpDetail::placed(const ItemRef& ref, double from, double to) {
  std::vector<PlacedOp> out;
  const std::vector<OpSpan>& ops = of(ref);
  if (ops.empty()) return out;
  const StreamLane& lane = lanes_->lane(ref);
  const LaneItem& item = lanes_->item(ref);
  // What runs before the layers' ops do (the gather of a message) has no op: ops end where the action does.
  double busy = 0;
  for (int32_t i = 0; i < item.count; ++i) {
    const Span& span = lanes_->span(ref.stage, lane.spans[static_cast<size_t>(item.first + i)]);
    busy += span.end - span.begin;
  }
  double clock = -std::max(0.0, busy - ops.back().end);  // busy seconds so far
  size_t next = 0;
  const double slack = 1e-9 * (busy + 1e-6);
  for (int32_t i = 0; i < item.count && next < ops.size(); ++i) {
    const Span& span = lanes_->span(ref.stage, lane.spans[static_cast<size_t>(item.first + i)]);
    const double end = clock + (span.end - span.begin);
    for (; next < ops.size() && ops[next].begin < end - slack; ++next) {
      const OpSpan& op = ops[next];
      const PlacedOp placed{span.begin + (op.begin - clock), std::min(span.begin + (op.end - clock), item.end), op.segment, op.op, op.layer};
      if (placed.end > from && placed.begin < to) out.push_back(placed);
    }
    clock = end;
  }
  return out;
}

}  // namespace shardscape::ui
