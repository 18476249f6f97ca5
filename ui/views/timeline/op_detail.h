// The ops inside boxes of the timeline, computed when the zoom shows them.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "timing/step_ops.h"
#include "ui/views/timeline/lanes.h"

namespace shardscape::ui {

// An op in its box, in seconds since the start of the step.
using PlacedOp = OpSpan;

// Collectives next to compute (OpSpan::concurrent) have the lower third of a box. The height of the other
// ops.
double height_of_compute(const std::vector<PlacedOp>& ops, double height);

class OpDetail {
 public:
  void setStep(std::shared_ptr<const Report> report, std::shared_ptr<const Lanes> lanes);
  // The first call for a box may take some milliseconds.
  const std::vector<PlacedOp>& of(const ItemRef& ref);
  bool known(const ItemRef& ref) const { return known_.count(ref) > 0; }
  // The ops that run between the times `from` and `to`.
  std::vector<PlacedOp> placed(const ItemRef& ref, double from, double to);
  std::vector<PlacedOp> placed(const ItemRef& ref) { return of(ref); }
  static bool has_ops(const LaneItem& item) {
    return item.pass == Pass::Forward || item.pass == Pass::Backward || item.pass == Pass::WeightGradient;
  }

 private:
  std::shared_ptr<const Report> report_;
  std::shared_ptr<const Lanes> lanes_;
  std::unique_ptr<StepOps> ops_;
  std::map<ItemRef, std::vector<PlacedOp>> known_;
  size_t kept_ = 0;  // number of cached ops
};

}  // namespace shardscape::ui
