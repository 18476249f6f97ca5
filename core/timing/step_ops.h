// The ops of a step in time, for those who look closer than at layers.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "plan/stage_layout.h"
#include "timing/layer_seconds.h"

namespace shardscape {

// Seconds since the step began. Where the host launches more slowly than the layer computes, ops wait for it
// in equal parts.
struct OpSpan {
  double begin = 0, end = 0;
  int segment = 0, op = 0, layer = -1;  // into the graph; the layer of the model
};

class StepOps {
 public:
  // The simulation is that of the report.
  StepOps(std::shared_ptr<const Report> report, std::shared_ptr<const Simulation> simulation);
  // Of a span, in order: the ops of its layers, as long as the play had them. None where it has no layers, or
  // they are hidden.
  std::vector<OpSpan> of(int stage, int span);
  // Of one of its layers.
  std::vector<OpSpan> of(int stage, const SimulatedLayer& layer);
  // No fewer than these.
  size_t count(int stage, const SimulatedLayer& layer);
  const StageInstance& instance(int stage, const SimulatedLayer& layer);
  const OpTime& time(const OpSpan& op) const {
    return table_.ops().ops[static_cast<size_t>(op.segment)][static_cast<size_t>(op.op)];
  }
  // When an op of a played layer begins; what runs after it where it takes no time, until the layer ends.
  double begin_of(int stage, const SimulatedLayer& layer, OpId op);
  const Segment& segment_of(int stage, const SimulatedLayer& layer);
  const Report& report() const { return *report_; }
  const Simulation& simulation() const { return *simulation_; }

 private:
  const StageLayout& layout(int stage);
  bool runs_in(const Segment& segment, OpId op, LayerClass of, Part part) const;
  void add(const StageInstance& at, const SimulatedLayer& layer, std::vector<OpSpan>& to);

  std::shared_ptr<const Report> report_;
  std::shared_ptr<const Simulation> simulation_;
  LayerTable table_;
  std::map<int, StageLayout> layouts_;                          // by StageReport::like
  std::map<std::tuple<int, LayerClass, Part>, size_t> counts_;  // by segment
  std::map<int, std::vector<OpId>> kernels_;                    // by segment
};

}  // namespace shardscape
