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

  // Instances are the segments of the stage in order of execution.
  void add_instance(int segment, int32_t layer, int32_t position);
  // Before the nodes of an instance: gathers its parameters where they are not whole, and those of the next one ahead.
  void enter(int microbatch, size_t instance, bool backward);
  // What nodes that read parameters of the entered instance wait for; 0: nothing.
  uint32_t gathered() const { return gathered_; }
  // After the nodes of an instance; last_node is the last of them (0: it has none).
  void leave(size_t instance, bool backward, uint32_t last_node);
  // The latest nodes that produced gradients of an instance's parameters.
  void set_gradients(size_t instance, std::vector<uint32_t> nodes);
  void reduce();     // what is reduced after the last backward
  void optimize();   // and what follows it

 private:
  struct Instance {
    int unit = -1;  // index into sync_.units; -1: not FSDP
    int32_t layer = -1, position = 0;
    std::vector<uint32_t> gradients;
    int backwards = 0;    // microbatches whose backward of it has ended
    uint32_t gather = 0;  // of the latest gather for it; 0: its parameters are not gathered
  };
  // Ops of a unit, shared by all nodes; 0 where there are none yet, as op 0 is of a segment.
  struct UnitOps {
    uint32_t forward = 0, backward = 0, scatter = 0;
    std::vector<uint32_t> inner;
  };

  bool is_root(size_t instance) const;
  size_t next_unit(size_t instance, bool backward) const;
  void gather(int microbatch, Instance& at, bool backward);
  void scatter(std::vector<const Instance*> instances);
  void plan_buckets();
  void reduce_buckets(size_t instance);
  uint32_t add_op(TraceOp op);
  uint32_t add_gather(int64_t shard, const std::string& number);
  uint32_t add_reduction(const GradReduction& r, const std::string& place);
  uint32_t update();          // the optimizer; returns its last node
  uint32_t update_on_host();
  void depend_on_gradients();
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
  Instance root_;                // the root unit, whichever instances it is in
  uint32_t gathered_ = 0;
  uint32_t before_ = 0;          // a node of the instance before the current one
  uint32_t last_reduction_ = 0;  // all communication is one chain: the last reduction ends after all others
  SyncPlan plan_;                // with buckets only
  std::vector<size_t> holders_;  // instance of each parameter of the plan
};

}  // namespace shardscape
