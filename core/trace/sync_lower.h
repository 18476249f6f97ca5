// The part of a rank's program that data parallelism adds: reductions of gradients, gathers of parameters, the optimizer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cost/sync_walk.h"
#include "trace/lower.h"
#include "trace/program_builder.h"

namespace shardscape {

class SyncLowering : private SyncWalk::Maker {
 public:
  SyncLowering(const Lowering& lowering, int stage, RankProgram& program, ProgramBuilder& builder);

  // Instances are the segments of the stage in order of execution, chunk by chunk.
  void add_instance(int segment, int32_t layer, int32_t position, int chunk);
  void plan();  // once all instances are known
  // Before the nodes of an instance: gathers its parameters where they are not whole, and those of the next one ahead.
  void enter(int microbatch, size_t instance, bool backward);
  // The same where layers of a group are made again in its backward; freed: whether it is freed behind its replay.
  void enter_replay(int microbatch, size_t instance);
  void leave_replay(size_t instance) { walk_.leave_replay(instance); }
  // What nodes that read parameters of the entered instance wait for; 0: nothing.
  uint32_t gathered() const { return gathered_; }
  // After the nodes of an instance; last_node is the last of them (0: it has none).
  void leave(int microbatch, size_t instance, bool backward, uint32_t last_node);
  // The latest nodes that produced gradients of an instance's parameters.
  void set_gradients(size_t instance, std::vector<uint32_t> nodes);
  void reduce();     // what is reduced after the last backward
  void optimize();   // and what follows it

 private:
  struct Instance {
    int32_t layer = -1, position = 0;
    std::vector<uint32_t> gradients;  // nodes
  };
  // Ops of a unit, shared by all nodes; 0 where there are none yet, as op 0 is of a segment.
  struct UnitOps {
    uint32_t forward = 0, backward = 0, behind_replay = 0;
    std::vector<uint32_t> reductions;  // inner ones, scatter, over the replicas of shards
  };

  SyncWalk::Mark gather(const std::vector<size_t>& units, SyncWalk::Turn turn, int microbatch, size_t instance, bool ahead) override;
  void scatter(const std::vector<size_t>& units, int microbatch, const std::vector<size_t>& instances) override;
  SyncWalk::Mark run(const PlacedPlan::Act& act, size_t index, int microbatch) override;
  void average_loss(int microbatch) override;
  uint32_t add_op(TraceOp op);
  uint32_t add_reduction(const GradReduction& r, const std::string& place);
  uint32_t add_collective(const std::string& name, const std::string& place, SyncOp op, const MeshAxes& axes, int64_t bytes);
  uint32_t add_number(const std::string& name, const MeshAxes& axes, int microbatch);
  std::string root_name(const SyncUnit& unit) const;
  std::string unit_suffix(const SyncUnit& unit) const;
  uint32_t update();          // the optimizer; returns its last node
  uint32_t update_on_host();
  void depend_on_gradients();
  void depend_on_reductions();
  int64_t value(const Expr& expr, const std::string& what) const;

  const Lowering& lowering_;
  const Graph& graph_;
  const StageReport& stage_;
  bool first_, last_;
  StageSync sync_;
  RankProgram& program_;
  ProgramBuilder& builder_;
  std::vector<Instance> instances_;
  std::vector<UnitOps> ops_;
  SyncWalk walk_;
  uint32_t gathered_ = 0;
  uint32_t before_ = 0;          // a node of the instance before the current one
  uint32_t left_ = 0;            // the last node of the instance at hand
  uint32_t updated_ = 0;         // the optimizer
  uint32_t last_reduction_ = 0;  // all communication is one chain: the last reduction ends after all others
  std::vector<uint32_t> act_ops_;  // of each act of the plan; 0: none yet
};

}  // namespace shardscape
