// The tree that the graph view unfolds: stages, their units (vision tower, embedding, layers, head), blocks,
// ops.
#pragma once

#include <QString>
#include <memory>
#include <utility>
#include <vector>

#include "mesh/pipeline_layout.h"
#include "plan/report.h"
#include "ui/selection/node_id.h"

namespace shardscape::ui {

// A child of a unit in one direction: a block of several ops, or a single op.
struct LaneChild {
  int block = -1;
  std::vector<OpId> ops;
  bool is_block() const { return ops.size() > 1; }
};
struct Lane {
  std::vector<LaneChild> children;  // in order of execution
  std::vector<int> child_of;        // per op of the segment; -1 for the other direction
};

class GraphTree {
 public:
  explicit GraphTree(std::shared_ptr<const Report> report);  // a valid one

  const Report& report() const { return *report_; }
  const Graph& graph() const { return report_->graph(); }
  int stages() const { return static_cast<int>(report_->stages.size()); }
  int units() const { return tower_ + layers_ + 2; }
  // For each chunk of the stage: the first unit, and one past the last.
  std::vector<std::pair<int, int>> units_of(int stage) const;
  // True if the stages hold the same kinds of units in the same order, and as many parameters.
  bool equal_stages(int stage, int other) const;
  // True if the stage holds the unit. Another stage can hold the same unit.
  bool holds(int stage, int unit) const;
  int stage_of(int unit) const;     // the stage that runs the unit first
  bool is_layer(int unit) const;    // of the model or of its vision tower
  int layers_like(int unit) const;  // layers of the model, or of the tower
  int segment_of(int unit) const;
  const Segment& segment(int index) const { return graph().segments[static_cast<size_t>(index)]; }
  const Lane& lane(int segment, bool backward) const {
    return lanes_[static_cast<size_t>(2 * segment + backward)];
  }

  NodeId stage_node(int stage) const { return {NodeLevel::Stage, stage}; }
  // The node on the given stage if the stage holds the unit, else (and for -1) on the first stage that holds
  // it.
  NodeId unit_node(int unit, int stage = -1) const { return {NodeLevel::Unit, holder(unit, stage), unit}; }
  NodeId op_node(int unit, OpId op, int stage = -1) const;
  NodeId parent(const NodeId& id) const;

  QString unit_name(int first, int count) const;  // "Embedding", "layer 3", "layers 1 … 15", "Head"
  // The kinds of consecutive layers: "4 × (local, local, local, global)".
  QString sequence_text(int first, int count) const;
  QString stage_name(int first, int count) const;  // "Stage 3", "Stages 1 to 13"
  // "layer 0, forward, stage 0"
  QString place_text(const NodeId& id) const;
  // Every op below the node, each once. Of a run of equal layers, only the ops of the first layer.
  std::vector<OpId> ops_of(const NodeId& id, Passes passes) const;

 private:
  int holder(int unit, int stage) const { return stage >= 0 && holds(stage, unit) ? stage : stage_of(unit); }
  std::shared_ptr<const Report> report_;
  int layers_ = 0;
  int tower_ = 0;                  // units of the vision tower, which come first
  std::vector<int> first_unit_;    // per virtual stage, in the order of the model
  std::vector<StagePlace> place_;  // of every virtual stage
  std::vector<Lane> lanes_;        // per segment: forward, backward
};

}  // namespace shardscape::ui
