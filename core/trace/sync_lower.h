// The part of a rank's program that data parallelism adds: reductions of gradients, gathers of parameters, the optimizer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cost/sync_model.h"
#include "trace/lower.h"
#include "trace/program_builder.h"

namespace shardscape {

class SyncLowering {
 public:
  SyncLowering(const Lowering& lowering, int stage, RankProgram& program, ProgramBuilder& builder);

  // Instances are the segments of the stage in order of execution, chunk by chunk.
  void add_instance(int segment, int32_t layer, int32_t position, int chunk);
  void plan();  // once all instances are known
  // Before the nodes of an instance: gathers its parameters where they are not whole, and those of the next one ahead.
  void enter(int microbatch, size_t instance, bool backward);
  // The same where layers of a group are made again in its backward; freed: whether it is freed behind its replay.
  void enter_replay(int microbatch, size_t instance);
  void leave_replay(size_t instance);
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
    int segment = 0, chunk = 0;
    std::vector<size_t> units;  // indices into sync_.units, of its own; none where it is in the root
    int root = -1;              // FSDP: its parameters are in this root unit, that of its chunk
    int32_t layer = -1, position = 0;
    std::vector<uint32_t> gradients;
    int backwards = 0;    // microbatches whose backward of it has ended
    uint32_t gather = 0;  // of the latest gather for it; 0: its parameters are not gathered
    int again = -1;       // the latest microbatch that it was gathered for in the backward
    std::vector<size_t> before_forward, before_backward, after_gradient;  // indices into plan_.actions
    std::vector<size_t> params;                                           // of the plan, that it computes with
  };
  // Ops of a unit, shared by all nodes; 0 where there are none yet, as op 0 is of a segment.
  struct UnitOps {
    uint32_t forward = 0, backward = 0, behind_replay = 0;
    std::vector<uint32_t> reductions;  // inner ones, scatter, over the replicas of shards
  };

  // A root unit, whichever instances of its chunk it is in: these are a range.
  struct Root {
    int segment = -1;  // as SyncUnit::segment
    Instance unit;
    size_t begin = 0, end = 0;
  };

  Root* root_around(size_t instance);
  void free_forward(Instance& at) const;
  std::vector<const Instance*> root_parts() const;
  size_t next_unit(size_t instance, bool backward) const;
  void gather(int microbatch, Instance& at, bool backward);
  void scatter(int microbatch, const std::vector<size_t>& units, const std::vector<const Instance*>& instances);
  void run(const SyncAction& action, size_t index, int microbatch);
  uint32_t add_op(TraceOp op);
  uint32_t add_reduction(const GradReduction& r, const std::string& place);
  uint32_t add_collective(const std::string& name, const std::string& place, SyncOp op, const MeshAxes& axes, int64_t bytes);
  uint32_t add_number(const std::string& name, const MeshAxes& axes, int microbatch);
  std::string root_name(const SyncUnit& unit) const;
  std::string unit_suffix(const SyncUnit& unit) const;
  const MeshAxes& axes_of(const std::string& group) const;
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
  std::vector<Root> roots_;
  uint32_t gathered_ = 0;
  uint32_t before_ = 0;          // a node of the instance before the current one
  uint32_t last_reduction_ = 0;  // all communication is one chain: the last reduction ends after all others
  SyncPlan plan_;                // of all policies but FSDP
  std::vector<size_t> holders_;        // instance of each parameter of the plan, then of each reused module
  std::vector<uint32_t> param_gather_; // latest gather of each parameter of the plan
  std::vector<uint32_t> action_ops_;   // of each action of the plan; 0: none yet
};

}  // namespace shardscape
