// What data parallelism adds to a stage in time: reductions of gradients, gathers of parameters, the optimizer. Plans and units
// are attached to layers as the trace attaches them.
#pragma once

#include <map>
#include <memory>

#include "cost/sync_model.h"
#include "simulate/timeline.h"

namespace shardscape {

// What of a stage's sync follows from the structure alone.
struct StageSyncParts {
  StageSync sync;
  std::vector<GradReduction> reductions;
  OptimizerCost optimizer;
  OffloadedStep offloaded;
};

// Of one design, shared by its stages.
class SyncCosts {
 public:
  SyncCosts(const Report& report, const Machine& machine);
  const Report& report() const { return report_; }
  const Machine& machine() const { return machine_; }
  const DeviceMesh& mesh() const { return mesh_; }
  // beside: what other collectives take of the links meanwhile.
  double collective(SyncOp op, double bytes, const MeshAxes& axes, const LinkShare& beside = {});
  double all_reduce_ends(double bytes) const;    // over the first and the last stage
  double all_reduce_pair(double bytes, int64_t stage, int64_t other) const;
  std::shared_ptr<const StageSyncParts> parts(const StageReport& stage) const;

 private:
  const Report& report_;
  const Machine& machine_;
  DeviceMesh mesh_;
  std::map<MeshAxes, GroupSpan> spans_;
};

class SyncPlay {
 public:
  SyncPlay(SyncCosts& costs, const StageReport& stage, Timeline& timeline);

  // The segments of the stage in order of execution, chunk by chunk.
  void add_instance(int segment, bool layer, int chunk);
  void plan();  // once all instances are known
  // Before an instance runs: gathers its parameters where they are not whole, and those of the next one ahead. Returns what
  // it waits for.
  NodeId enter(int microbatch, size_t instance, bool backward);
  void leave(int microbatch, size_t instance, bool backward, NodeId last);
  // The same where layers of a group are made again in its backward.
  NodeId enter_replay(int microbatch, size_t instance);
  void leave_replay(size_t instance);
  // The end of a step, in three acts, as some collectives run over several stages.
  // Share of the links that layers take in the mean: what runs beside them gets the rest, and takes longer.
  void set_links(const LinkShare& links) { links_ = links; }
  void begin();                                     // whole gradients start at zero, where they are buffers
  void reduce();                                    // over replicas and within a stage
  void norm();                                      // of the gradients that the rank owns
  double embedding_bytes() const { return embedding_bytes_; }
  double mirror_bytes() const { return mirror_bytes_; }
  NodeId reduced() const;                           // when all that is reduced so far is
  NodeId all_reduce(const std::string& name, double seconds, const std::vector<NodeId>& after);
  void optimize();

 private:
  struct Instance {
    int segment = 0, chunk = 0;
    std::vector<size_t> units;
    int root = -1;              // FSDP: its parameters are in this root unit, that of its chunk
    NodeId last = kNoNode;      // of its latest backward
    int backwards = 0;
    bool gathered = false;
    NodeId gather = kNoNode;
    std::vector<size_t> before_forward, before_backward, after_gradient, params;
  };

  // A root unit, whichever instances of its chunk it is in: these are a range.
  struct Root {
    int segment = -1;  // as SyncUnit::segment
    Instance unit;
    size_t begin = 0, end = 0;
  };

  Root* root_around(size_t instance);
  void free_forward(Instance& at) const;
  size_t next_unit(size_t instance, bool backward) const;
  void gather(int microbatch, Instance& at, bool backward);
  void scatter(int microbatch, const Instance& at, const std::vector<NodeId>& after);
  void run(const SyncAction& action, int microbatch);
  NodeId add(const std::string& name, double seconds, int microbatch, const std::vector<NodeId>& after);
  NodeId add_compute(SpanKind kind, StreamKind stream, TimeCategory category, double seconds, NodeId after, const char* name = "");
  NodeId pass(double bytes, const char* name, NodeId after);  // a kernel over states of the optimizer or gradients
  std::vector<NodeId> root_ends() const;
  const MeshAxes& axes_of(const std::string& group) const;
  double value(const Expr& expr) const { return number(expr, stage_.binding); }

  SyncCosts& costs_;
  const Graph& graph_;
  const StageReport& stage_;
  Timeline& timeline_;
  const int microbatches_;
  std::shared_ptr<const StageSyncParts> parts_;
  std::vector<Instance> instances_;
  std::vector<Root> roots_;
  NodeId before_ = kNoNode;
  NodeId last_reduction_ = kNoNode;
  LinkShare links_;
  bool gathers_ahead_ = false;    // updated parameters, at the begin of the step
  double embedding_bytes_ = 0, mirror_bytes_ = 0;
  SyncPlan plan_;
  std::vector<size_t> holders_;
  std::vector<NodeId> param_gather_;
};

}  // namespace shardscape
