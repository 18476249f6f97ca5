// Data parallelism in time: reductions of gradients, gathers of parameters, and the optimizer of one stage.
#pragma once

#include <array>
#include <map>
#include <memory>

#include "grad_sync/sync_walk.h"
#include "timing/timeline.h"

namespace shardscape {

// The parts of a stage's gradient sync that depend only on the structure.
struct StageSyncParts {
  StageSync sync;
  std::vector<GradReduction> reductions;
  OptimizerCost optimizer;
  OffloadedStep offloaded;
};

// Costs of gradient sync of one design, shared by its stages.
class SyncCosts {
 public:
  SyncCosts(const Report& report, const Machine& machine);
  const Report& report() const { return report_; }
  const Machine& machine() const { return machine_; }
  const DeviceMesh& mesh() const { return mesh_; }
  // Seconds of a collective. bytes: full buffer. concurrent: share of the links that concurrent collectives
  // take.
  double collective(CollectiveKind op, double bytes, const MeshAxes& axes, const LinkShare& concurrent = {});
  // Over a stage and its mirror image: the first and the last stage, the second and the last but one.
  double all_reduce_mirrored(double bytes, int64_t stage) const;
  std::shared_ptr<const StageSyncParts> parts(const StageReport& stage);
  double value(const StageReport& stage, const Expr& expr);  // of the parts' expressions

 private:
  struct Known {
    CollectiveKind op;
    double bytes;
    MeshAxes axes;
    LinkShare concurrent;
    double seconds;
  };
  struct Value {
    int stage;
    const Expr* expr;
    double value;
  };
  const Report& report_;
  const Machine& machine_;
  DeviceMesh mesh_;
  std::map<MeshAxes, GroupSpan> spans_;
  std::vector<Known> known_;
  std::vector<Value> values_;
  std::array<std::shared_ptr<const StageSyncParts>, kStageShapes> parts_;  // by shape
};

class SyncSimulator : private SyncWalk::Maker {
 public:
  // microbatches: number of the simulated schedule.
  SyncSimulator(SyncCosts& costs, const StageReport& stage, int64_t microbatches, Timeline& timeline);
  // Simulates a stage of the same class as `representative`, which has its plan already.
  SyncSimulator(const SyncSimulator& representative, int stage);

  void plan(const StageLayout& layout);  // call before anything else
  // Before an instance runs: gathers its parameters if they are not gathered, and prefetches those of the
  // next instance. Returns the node that the instance waits for.
  NodeId enter(int microbatch, size_t instance, bool backward);
  void leave(int microbatch, size_t instance, bool backward, NodeId last);
  // The same for layers that are recomputed in the backward of their group.
  NodeId enter_replay(int microbatch, size_t instance);
  void leave_replay(size_t instance) { walk_.leave_replay(instance); }
  // Seconds of collectives concurrent with the next layer: collectives that have been launched and that the
  // layer does not wait for. With FSDP units, only collectives launched since the previous layer count, so
  // that an action does not depend on the progress of other actions.
  double concurrent_seconds() const;
  void layer_ran(double seconds);  // a layer has run for this long; concurrent collectives progressed
  void begin_action();
  // Mean share of the links that layers take. Concurrent collectives get the rest, and take longer.
  // Call before the first collective runs.
  void set_links(const LinkShare& links);
  const LinkShare& links() const { return links_; }
  // begin(), reduce() and norm(): the begin and the end of a step, in separate calls because some collectives
  // run over several stages.
  void begin();   // zeroes the gradient buffers
  void reduce();  // over replicas and within the stage
  void norm();    // of the gradients that the rank owns
  double embedding_bytes() const { return embedding_bytes_; }
  double mirror_bytes() const { return mirror_bytes_; }
  NodeId reduced() const;  // the node after which all reductions so far have ended
  DType paired_dtype() const { return paired_dtype_; }  // of the gradients of both
  // text: the name of the span.
  NodeId all_reduce(const char* text, const SpanCollective& what, double seconds,
                    const std::vector<NodeId>& after);
  void optimize();

  // For the steady-state simulation, which skips most layers. every_microbatch: passes other than the first
  // forward and the last backward also gather or reduce by a plan. overlaps_param_gather: the first forwards
  // wait for all-gathers of updated parameters. last_backward_has_sync: the last backwards start collectives.
  bool every_microbatch() const;
  bool overlaps_param_gather() const { return overlaps_param_gather_; }
  bool last_backward_has_sync() const { return has_units() || !walk_.actions().empty(); }
  void skip_to(int chunk, bool last) { walk_.skip_to(chunk, last); }
  // FSDP: which units are gathered. Once earlier actions have ended, nothing else of them affects an action.
  using Units = SyncWalk::Units;
  bool has_units() const { return !parts_->sync.units.empty(); }
  Units units() const { return walk_.units(); }
  void resume(const Units& gathered);  // after actions that were simulated without nodes

 private:
  void orthogonalize();
  friend class DryRun;
  // A launched collective.
  struct Running {
    NodeId node;
    double seconds;  // remaining
  };
  // launched: the collective runs concurrently with layers. awaited: a layer waits for it. Return it.
  NodeId launched(NodeId collective, double seconds);
  NodeId awaited(NodeId collective);
  SyncWalk::Handle gather(const std::vector<size_t>& units, SyncWalk::GatherPurpose purpose, int microbatch,
                          size_t instance, bool ahead) override;
  void scatter(const std::vector<size_t>& units, int microbatch, const std::vector<size_t>& instances,
               bool crosses) override;
  SyncWalk::Handle run(const PlacedPlan::PlacedAction& placed, size_t index, int microbatch) override;
  void average_loss(int microbatch) override;
  template <typename Name>  // a function that makes a SpanName
  NodeId add(const Name& name, double seconds, int microbatch, const std::vector<NodeId>& after);
  template <typename Name>
  NodeId add(const Name& name, double seconds, int microbatch, std::initializer_list<NodeId> after);
  template <typename Name>
  Node collective_node(const Name& name, int microbatch);
  NodeId add_compute(SpanKind kind, StreamKind stream, TimeCategory category, double seconds, NodeId after,
                     const char* name = "");
  // A kernel that reads or writes optimizer states or gradients.
  NodeId pass(double bytes, const char* name, NodeId after);
  double value(const Expr& expr) const { return costs_.value(stage_, expr); }

  SyncCosts& costs_;
  const Graph& graph_;
  const StageReport& stage_;  // the representative of the stage class
  const int number_;
  Timeline& timeline_;
  std::shared_ptr<const StageSyncParts> parts_;
  SyncWalk walk_;
  std::vector<NodeId> backwards_;  // by instance: the latest backward
  NodeId before_ = kNoNode;        // last compute node before the next collective
  NodeId left_ = kNoNode;          // last node of the instance that ended last; kNoNode: it has no nodes
  NodeId last_reduction_ = kNoNode;
  std::vector<Running> running_;  // in the order of their stream
  LinkShare links_;
  bool overlaps_param_gather_ = false;  // all-gathers of updated parameters run at the begin of the step
  double embedding_bytes_ = 0, mirror_bytes_ = 0;
  DType paired_dtype_ = DType::FP32;
  std::vector<double> gather_seconds_;  // by unit; below 0: not computed yet
  // Seconds of the collectives, by action of the plan; below 0: not computed yet. The stages of a class share
  // the vector.
  std::shared_ptr<std::vector<double>> action_seconds_;
  std::vector<NodeId> after_;  // scratch: nodes that the next reduction waits for
};

// A dry run of actions of a stage, for a microbatch before the last one. The destructor restores the state of
// the simulator.
class DryRun {
 public:
  explicit DryRun(SyncSimulator& sync)
      : sync_(sync),
        walk_(sync.walk_.state()),
        backwards_(sync.backwards_),
        before_(sync.before_),
        last_reduction_(sync.last_reduction_) {}
  ~DryRun();
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;
  void begin(const SyncSimulator::Units& gathered) const;  // begins an action with these gathered units

 private:
  SyncSimulator& sync_;
  SyncWalk::State walk_;
  std::vector<NodeId> backwards_;
  NodeId before_, last_reduction_;
};

}  // namespace shardscape
