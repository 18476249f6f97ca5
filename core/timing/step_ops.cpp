#include "timing/step_ops.h"

#include <algorithm>

namespace shardscape {

StepOps::StepOps(std::shared_ptr<const Report> report, std::shared_ptr<const Simulation> simulation)
    : report_(std::move(report)),
      simulation_(std::move(simulation)),
      table_(*report_, simulation_->machine) {}

const StageLayout& StepOps::layout(int stage) {
  const StageReport& reported = report_->stages[static_cast<size_t>(stage)];
  const auto [layout, fresh] = layouts_.try_emplace(reported.representative);
  if (fresh) layout->second = stage_layout(*report_, reported);
  return layout->second;
}

const StageInstance& StepOps::instance(int stage, const SimulatedLayer& layer) {
  return layout(stage).instances[static_cast<size_t>(layer.instance)];
}

bool StepOps::runs_in(const Segment& segment, OpId op, LayerClass of, Part part) const {
  return part_of(report_->graph().structure, segment, op) == part &&
         runs(segment.op(op), of.checkpoint_policy);
}

size_t StepOps::count(int stage, const SimulatedLayer& layer) {
  const StageInstance& at = instance(stage, layer);
  const auto [count, fresh] = counts_.try_emplace({at.segment, at.of, layer.part});
  if (!fresh) return count->second;
  const Segment& segment = report_->graph().segments[static_cast<size_t>(at.segment)];
  for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id)
    count->second += time({0, 0, at.segment, id}).seconds > 0 && runs_in(segment, id, at.of, layer.part);
  return count->second;
}

std::vector<OpSpan> StepOps::of(int stage, const SimulatedLayer& layer) {
  std::vector<OpSpan> out;
  add(instance(stage, layer), layer, out);
  return out;
}

const Segment& StepOps::segment_of(int stage, const SimulatedLayer& layer) {
  return report_->graph().segments[static_cast<size_t>(instance(stage, layer).segment)];
}

double StepOps::begin_of(int stage, const SimulatedLayer& layer, OpId op) {
  const OpId runs = op < 0 ? op : timed_op(segment_of(stage, layer), op);
  const std::vector<OpSpan> ops = of(stage, layer);
  auto found = std::find_if(ops.begin(), ops.end(), [&](const OpSpan& o) { return o.op == runs; });
  if (found == ops.end())
    found = std::find_if(ops.begin(), ops.end(), [&](const OpSpan& o) { return o.op > runs; });
  return found == ops.end() ? layer.end : found->begin;
}

std::vector<OpSpan> StepOps::of(int stage, int span) {
  std::vector<OpSpan> out;
  const StageTimes& times = simulation_->stages[static_cast<size_t>(stage)];
  const Span& whole = times.spans[static_cast<size_t>(span)];
  auto layer = std::lower_bound(times.layers.begin(), times.layers.end(), whole.begin,
                                [](const SimulatedLayer& l, double begin) { return l.begin < begin; });
  for (; layer != times.layers.end() && layer->begin <= whole.end; ++layer)
    if (layer->span == span) add(instance(stage, *layer), *layer, out);
  return out;
}

void StepOps::add(const StageInstance& at, const SimulatedLayer& layer, std::vector<OpSpan>& to) {
  const Segment& segment = report_->graph().segments[static_cast<size_t>(at.segment)];
  if (has_concurrent_blocks(segment)) return add_concurrent(at, layer, to);
  const std::vector<OpTime>& times = table_.ops().ops[static_cast<size_t>(at.segment)];
  const size_t first = to.size();
  double sum = 0;
  for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id) {
    if (!runs_in(segment, id, at.of, layer.part)) continue;
    const OpTime& time = times[static_cast<size_t>(id)];
    const double seconds = (time.seconds - time.exposed) * layer.overlap.factor(time.category) +
                           time.exposed * layer.overlap.factor(time.waits);
    if (seconds <= 0) continue;
    to.push_back({0, seconds, at.segment, id, static_cast<int>(at.layer)});
    sum += seconds;
  }
  const double wait = std::max(0.0, layer.end - layer.begin - sum) /
                      static_cast<double>(std::max<size_t>(1, to.size() - first));
  double now = layer.begin;
  for (size_t i = first; i < to.size(); ++i) {
    to[i].begin = now + wait;
    now = to[i].end += to[i].begin;
  }
}

// Waits for the host and slowdowns stretch all ops alike.
void StepOps::add_concurrent(const StageInstance& at, const SimulatedLayer& layer,
                             std::vector<OpSpan>& to) const {
  const ConcurrentPart part = table_.concurrent(at.segment, at.of, layer.part);
  const double stretch = part.seconds > 0 ? (layer.end - layer.begin) / part.seconds : 0;
  for (const PlacedPartOp& op : part.ops)
    to.push_back({layer.begin + op.begin * stretch, layer.begin + op.end * stretch, at.segment, op.op,
                  static_cast<int>(at.layer), op.concurrent});
}

}  // namespace shardscape
