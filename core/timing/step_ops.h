// The ops of a simulated step: the begin and end of every op inside a simulated layer.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "plan/stage_layout.h"
#include "timing/layer_seconds.h"

namespace shardscape {

// Times in seconds since the step began. Where the host launches more slowly than the layer computes, the
// wait is spread evenly over the ops.
struct OpSpan {
  double begin = 0, end = 0;
  int segment = 0, op = 0, layer = -1;  // segment and op of the graph; layer of the model
  bool concurrent = false;  // a collective next to the compute of the layer (timing/concurrent_ops.h)
};

class StepOps {
 public:
  // The simulation must be the report's own.
  StepOps(std::shared_ptr<const Report> report, std::shared_ptr<const Simulation> simulation);
  // The ops of all layers of a span, by begin, with their simulated length. Empty for a span without layers
  // or with hidden layers.
  std::vector<OpSpan> of(int stage, int span);
  // The ops of one layer.
  std::vector<OpSpan> of(int stage, const SimulatedLayer& layer);
  // An upper bound of the number of ops.
  size_t count(int stage, const SimulatedLayer& layer);
  const StageInstance& instance(int stage, const SimulatedLayer& layer);
  const OpTime& time(const OpSpan& op) const {
    return table_.ops().ops[static_cast<size_t>(op.segment)][static_cast<size_t>(op.op)];
  }
  // The begin of an op in a simulated layer. If the op takes no time, the begin of the next op that does, at
  // most the end of the layer.
  double begin_of(int stage, const SimulatedLayer& layer, OpId op);
  const Segment& segment_of(int stage, const SimulatedLayer& layer);
  const Report& report() const { return *report_; }
  const Simulation& simulation() const { return *simulation_; }

 private:
  const StageLayout& layout(int stage);
  bool runs_in(const Segment& segment, OpId op, LayerClass of, Part part) const;
  void add(const StageInstance& at, const SimulatedLayer& layer, std::vector<OpSpan>& to);
  void add_concurrent(const StageInstance& at, const SimulatedLayer& layer, std::vector<OpSpan>& to) const;

  std::shared_ptr<const Report> report_;
  std::shared_ptr<const Simulation> simulation_;
  LayerTable table_;
  std::map<int, StageLayout> layouts_;                          // by StageReport::representative
  std::map<std::tuple<int, LayerClass, Part>, size_t> counts_;  // by segment
};

}  // namespace shardscape
