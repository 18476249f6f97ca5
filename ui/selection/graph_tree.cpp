#include "ui/selection/graph_tree.h"

#include <algorithm>

#include "graph/chunk_layers.h"
#include "ui/selection/layer_sequence.h"
#include "ui/selection/step_relations.h"
#include "ui/toolkit/graph_text.h"

namespace shardscape::ui {
namespace {

// A redistribution at the end of a block is shown between the blocks, so that it stays visible while they are
// folded.
bool stands_alone(const Segment& segment, OpId id, bool backward) {
  const Op& op = segment.op(id);
  if (op.block < 0) return true;
  if (!is_redistribution(op.kind)) return false;
  const OpId first = backward ? segment.backward_begin : 0;
  const OpId end = backward ? static_cast<OpId>(segment.ops.size()) : segment.backward_begin;
  for (OpId reader = first; reader < end; ++reader)
    for (const TensorId output : op.outputs) {
      const auto& inputs = segment.op(reader).inputs;
      if (segment.op(reader).block == op.block &&
          std::find(inputs.begin(), inputs.end(), output) != inputs.end())
        return false;
    }
  return true;
}

Lane make_lane(const Segment& segment, bool backward) {
  Lane lane;
  lane.child_of.assign(segment.ops.size(), -1);
  std::vector<int> child_of_block(segment.blocks.size(), -1);
  for (size_t i = 0; i < segment.ops.size(); ++i) {
    if ((static_cast<OpId>(i) >= segment.backward_begin) != backward) continue;
    const int block = stands_alone(segment, static_cast<OpId>(i), backward) ? -1 : segment.ops[i].block;
    int child = block < 0 ? -1 : child_of_block[static_cast<size_t>(block)];
    if (child < 0) {
      child = static_cast<int>(lane.children.size());
      lane.children.push_back({block, {}});
      if (block >= 0) child_of_block[static_cast<size_t>(block)] = child;
    }
    lane.children[static_cast<size_t>(child)].ops.push_back(static_cast<OpId>(i));
    lane.child_of[i] = child;
  }
  return lane;
}

}  // namespace

GraphTree::GraphTree(std::shared_ptr<const Report> report) : report_(std::move(report)) {
  const PipelineLayout places = pipeline_layout(report_->design.parallel);
  tower_ = embedding_unit(*report_);
  // In the order of the model. If two stages hold the same layers, both show them, and links lead to the
  // stage that runs first.
  place_.assign(static_cast<size_t>(places.virtual_stages()), {-1, -1});
  for (int64_t chunk = 0; chunk < places.chunks; ++chunk)
    for (int64_t stage = 0; stage < places.stages; ++stage)
      if (StagePlace& place = place_[static_cast<size_t>(places.virtual_stage({stage, chunk}))];
          place.stage < 0)
        place = {stage, chunk};
  for (const StagePlace& place : place_) {
    // A tower on a stage of its own: the second stage begins with the embedding.
    const bool embedding = first_unit_.size() == 1 && graph().structure.vision_stage;
    first_unit_.push_back(first_unit_.empty() ? 0 : tower_ + layers_ + (embedding ? 0 : 1));
    layers_ += static_cast<int>(
        report_->stages[static_cast<size_t>(place.stage)].chunks[static_cast<size_t>(place.chunk)].layers);
  }
  for (const Segment& segment : graph().segments) {
    lanes_.push_back(make_lane(segment, false));
    lanes_.push_back(make_lane(segment, true));
  }
}

std::vector<std::pair<int, int>> GraphTree::units_of(int stage) const {
  std::vector<std::pair<int, int>> runs;
  const PipelineLayout places = pipeline_layout(report_->design.parallel);
  for (int64_t chunk = 0; chunk < places.chunks; ++chunk) {
    const auto k = static_cast<size_t>(places.virtual_stage({stage, chunk}));
    runs.push_back({first_unit_[k], k + 1 < first_unit_.size() ? first_unit_[k + 1] : units()});
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

bool GraphTree::equal_stages(int stage, int other) const {
  const auto parameters = [&](int of) { return report().stages[static_cast<size_t>(of)].parameters.value; };
  const auto here = units_of(stage), there = units_of(other);
  if (here.size() != there.size() || parameters(stage) != parameters(other)) return false;
  for (size_t chunk = 0; chunk < here.size(); ++chunk) {
    const int count = here[chunk].second - here[chunk].first;
    if (there[chunk].second - there[chunk].first != count) return false;
    for (int i = 0; i < count; ++i)
      if (segment_of(here[chunk].first + i) != segment_of(there[chunk].first + i)) return false;
  }
  return true;
}

bool GraphTree::holds(int stage, int unit) const {
  if (stage < 0 || stage >= stages()) return false;
  const auto runs = units_of(stage);
  return std::any_of(runs.begin(), runs.end(),
                     [&](const auto& run) { return unit >= run.first && unit < run.second; });
}

int GraphTree::stage_of(int unit) const {
  // An empty stage starts at the same unit as the next stage: take the last stage that starts here and is not
  // empty.
  const auto next = std::upper_bound(first_unit_.begin(), first_unit_.end(), unit);
  return static_cast<int>(place_[static_cast<size_t>(next - first_unit_.begin() - 1)].stage);
}

int GraphTree::segment_of(int unit) const { return segment_of_unit(report(), unit); }

bool GraphTree::is_layer(int unit) const {
  const Segment& of = segment(segment_of(unit));
  return of.kind == SegmentKind::Layer || of.copies != Expr(1);
}

int GraphTree::layers_like(int unit) const {
  return unit < tower_ ? static_cast<int>(report().design.model.vision_layers) : layers_;
}

NodeId GraphTree::op_node(int unit, OpId op, int stage) const {
  const int segment = segment_of(unit);
  const bool backward = op >= this->segment(segment).backward_begin;
  const Lane& in = lane(segment, backward);
  const LaneChild& child = in.children[static_cast<size_t>(in.child_of[static_cast<size_t>(op)])];
  return {NodeLevel::Op, holder(unit, stage), unit, backward, child.is_block() ? child.block : -1, op};
}

NodeId GraphTree::parent(const NodeId& id) const {
  switch (id.level) {
    case NodeLevel::Root:
    case NodeLevel::Stage: return {};
    case NodeLevel::Unit: return stage_node(id.stage);
    case NodeLevel::Block: return {NodeLevel::Unit, id.stage, id.unit};
    case NodeLevel::Op:
      if (id.block >= 0) return {NodeLevel::Block, id.stage, id.unit, id.backward, id.block};
      return {NodeLevel::Unit, id.stage, id.unit};
  }
  return {};
}

QString GraphTree::unit_name(int first, int count) const {
  if (first == tower_) return QStringLiteral("Embedding");
  if (first == units() - 1) return QStringLiteral("Head and loss");
  if (first < tower_ && !is_layer(first)) {
    const bool patches = first == 0;
    return patches ? QStringLiteral("Patches of images") : QStringLiteral("Projector");
  }
  const QString of = first < tower_ ? QStringLiteral("vision ") : QString();
  const int number = first < tower_ ? first - 1 : first - tower_ - 1;
  if (count == 1) return of + QStringLiteral("layer %1").arg(number);
  return of + QStringLiteral("layers %1 … %2").arg(number).arg(number + count - 1);
}

QString GraphTree::stage_name(int first, int count) const {
  if (count == 1) return QStringLiteral("Stage %1").arg(first);
  return count == 2 ? QStringLiteral("Stages %1 and %2").arg(first).arg(first + 1)
                    : QStringLiteral("Stages %1 to %2").arg(first).arg(first + count - 1);
}

QString GraphTree::sequence_text(int first, int count) const {
  QStringList kinds;
  for (int unit = first; unit < first + count; ++unit) kinds << qtext(segment(segment_of(unit)).name);
  return layer_sequence_text(kinds);
}

QString GraphTree::place_text(const NodeId& id) const {
  QString text;
  if (id.unit >= 0) text = unit_name(id.unit, 1) + ", ";
  if (id.level >= NodeLevel::Block)
    text += id.backward ? QStringLiteral("backward, ") : QStringLiteral("forward, ");
  return text + QStringLiteral("stage %1").arg(id.stage);
}

std::vector<OpId> GraphTree::ops_of(const NodeId& id, Passes passes) const {
  std::vector<OpId> ops;
  if (id.level == NodeLevel::Op) return {id.op};
  if (id.level < NodeLevel::Unit) return ops;
  const int segment = segment_of(id.unit);
  for (const bool backward : {false, true}) {
    if (id.level == NodeLevel::Block ? backward != id.backward : !shows(passes, backward)) continue;
    for (const LaneChild& child : lane(segment, backward).children)
      if (id.level == NodeLevel::Unit || child.block == id.block)
        ops.insert(ops.end(), child.ops.begin(), child.ops.end());
  }
  return ops;
}

}  // namespace shardscape::ui
