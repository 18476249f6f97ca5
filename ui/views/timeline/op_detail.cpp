#include "ui/views/timeline/op_detail.h"

#include <algorithm>

namespace shardscape::ui {
namespace {
constexpr size_t kMostOps = 1 << 20;  // the cache's limit, more than many screens show
}

double height_of_compute(const std::vector<PlacedOp>& ops, double height) {
  const bool split = std::any_of(ops.begin(), ops.end(), [](const PlacedOp& op) { return op.concurrent; });
  return split ? height * 2 / 3 : height;
}

void OpDetail::setStep(std::shared_ptr<const Report> report, std::shared_ptr<const Lanes> lanes) {
  report_ = std::move(report);
  lanes_ = std::move(lanes);
  ops_.reset();
  known_.clear();
  kept_ = 0;
}

const std::vector<PlacedOp>& OpDetail::of(const ItemRef& ref) {
  static const std::vector<PlacedOp> none;
  if (!report_ || !lanes_ || !ref.valid() || !has_ops(lanes_->item(ref))) return none;
  if (const auto it = known_.find(ref); it != known_.end()) return it->second;
  if (!ops_) ops_ = std::make_unique<StepOps>(report_, lanes_->shared_simulation());
  if (kept_ > kMostOps) {
    known_.clear();
    kept_ = 0;
  }
  std::vector<PlacedOp>& out = known_[ref];
  const StreamLane& lane = lanes_->lane(ref);
  const LaneItem& item = lanes_->item(ref);
  for (int32_t i = 0; i < item.count; ++i) {
    const std::vector<PlacedOp> more = ops_->of(ref.stage, lane.spans[static_cast<size_t>(item.first + i)]);
    out.insert(out.end(), more.begin(), more.end());
  }
  kept_ += out.size();
  return out;
}

std::vector<PlacedOp> OpDetail::placed(const ItemRef& ref, double from, double to) {
  std::vector<PlacedOp> out;
  for (const PlacedOp& op : of(ref))
    if (op.end > from && op.begin < to) out.push_back(op);
  return out;
}

}  // namespace shardscape::ui
