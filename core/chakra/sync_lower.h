// The part of a rank's program that data parallelism adds: reductions of gradients, gathers of parameters,
// the optimizer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chakra/lower.h"
#include "chakra/program_builder.h"
#include "grad_sync/sync_walk.h"
#include "plan/stage_layout.h"

namespace shardscape {

class SyncLowering : private SyncWalk::Maker {
 public:
  SyncLowering(const Lowering& lowering, int stage, RankProgram& program, ProgramBuilder& builder);

  // Sets the layout of the stage. Call it before anything else.
  void plan(const StageLayout& layout);
  // Call before the nodes of an instance. Gathers the instance's parameters unless they are gathered, and
  // prefetches the parameters of the next instance. Returns the gather that nodes wait for if they read
  // parameters of the instance; 0: none.
  uint32_t enter(int microbatch, size_t instance, bool backward);
  // The same for a layer that is recomputed in the backward of its group.
  uint32_t enter_replay(int microbatch, size_t instance);
  void leave_replay(size_t instance) { walk_.leave_replay(instance); }
  // The gather that enter or enter_replay returned last; 0: none.
  uint32_t gathered() const { return gathered_; }
  // Call after the nodes of an instance. last_node: the last one; 0: the instance has no nodes.
  void leave(int microbatch, size_t instance, bool backward, uint32_t last_node);
  // Sets the latest nodes that produced gradients of an instance's parameters, and the gradients.
  void set_gradients(size_t instance, std::vector<uint32_t> nodes, std::vector<NamedTensor> tensors);
  // The next node reads the gradients of these instances and adds them to a buffer.
  void add_to_buffer(const StageRange& instances);
  // The last node of the optimizer; 0: none.
  uint32_t optimizer() const { return updated_; }
  // Sharded gradients, as reductions leave them.
  const std::vector<NamedTensor>& shards() const { return shards_; }
  // Reductions after the last backward.
  void reduce();
  // The optimizer and the gathers of updated parameters.
  void optimize();

 private:
  struct Instance {
    int32_t layer = -1, position = 0;
    std::vector<uint32_t> gradients;     // nodes
    std::vector<NamedTensor> tensors{};  // the gradients that these nodes made
  };
  // Ops of a unit, shared by its nodes. 0: not made yet (op 0 always belongs to a segment).
  struct UnitOps {
    uint32_t forward = 0, backward = 0, after_replay = 0;
    // Reductions inside a replica, scatter, all-reduce of shards across groups.
    std::vector<uint32_t> reductions;
  };

  SyncWalk::Handle gather(const std::vector<size_t>& units, SyncWalk::GatherPurpose purpose, int microbatch,
                          size_t instance, bool ahead) override;
  void scatter(const std::vector<size_t>& units, int microbatch, const std::vector<size_t>& instances,
               bool crosses) override;
  SyncWalk::Handle run(const PlacedPlan::PlacedAction& placed, size_t index, int microbatch) override;
  void average_loss(int microbatch) override;
  uint32_t add_op(TraceOp op);
  uint32_t add_reduction(const GradReduction& r, const std::string& place);
  uint32_t add_collective(const std::string& name, const std::string& place, CollectiveKind op,
                          const MeshAxes& axes, int64_t bytes);
  uint32_t add_number(const std::string& name, const MeshAxes& axes, int microbatch);
  std::string root_name(const SyncUnit& unit) const;
  std::string unit_suffix(const SyncUnit& unit) const;
  uint32_t update();  // returns the last node of the optimizer
  uint32_t update_on_host(uint32_t device);
  uint32_t update_on_device();
  void orthogonalize();
  void depend_on_gradients();
  void depend_on_reductions();
  int64_t value(const Expr& expr, const std::string& what) const;
  void read_gradients(uint32_t node, const std::vector<size_t>& instances);
  void write_shard(uint32_t node, const SyncUnit& unit, size_t instance);

  const Lowering& lowering_;
  const Graph& graph_;
  const StageReport& stage_;
  ModelStart first_;
  bool last_;
  StageSync sync_;
  RankProgram& program_;
  ProgramBuilder& builder_;
  std::vector<Instance> instances_;
  std::vector<UnitOps> ops_;
  const int64_t pool_;  // bytes of gathered parameters; 0 without tensors
  SyncWalk walk_;
  uint32_t gathered_ = 0;
  uint32_t before_ = 0;   // last node of the previous instance
  uint32_t left_ = 0;     // last node of this instance
  uint32_t updated_ = 0;  // last node of the optimizer
  // All communication is one chain, so the last reduction ends after all other reductions.
  uint32_t last_reduction_ = 0;
  std::vector<NamedTensor> shards_;
  std::vector<uint32_t> action_ops_;  // by action of the plan; 0: not made yet
};

}  // namespace shardscape
