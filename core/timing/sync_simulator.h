// What data parallelism adds to a stage in time: reductions of gradients, gathers of parameters, the
// optimizer.
#pragma once

#include <array>
#include <map>
#include <memory>

#include "grad_sync/sync_walk.h"
#include "timing/timeline.h"

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
  double collective(CollectiveKind op, double bytes, const MeshAxes& axes, const LinkShare& beside = {});
  double all_reduce_ends(double bytes) const;  // over the first and the last stage
  double all_reduce_pair(double bytes, int64_t stage, int64_t other) const;
  std::shared_ptr<const StageSyncParts> parts(const StageReport& stage);
  double value(const StageReport& stage, const Expr& expr);  // of these parts

 private:
  struct Known {
    CollectiveKind op;
    double bytes;
    MeshAxes axes;
    LinkShare beside;
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
  std::array<std::shared_ptr<const StageSyncParts>, 8> parts_;  // by shape
};

class SyncSimulator : private SyncWalk::Maker {
 public:
  SyncSimulator(SyncCosts& costs, const StageReport& stage, Timeline& timeline);
  SyncSimulator(const SyncSimulator& representative, int stage);  // of one that is like it, planned

  void plan(const StageLayout& layout);  // of the stage; before anything else
  // Before an instance runs: gathers its parameters where they are not whole, and those of the next one
  // ahead. Returns what it waits for.
  NodeId enter(int microbatch, size_t instance, bool backward);
  void leave(int microbatch, size_t instance, bool backward, NodeId last);
  // The same where layers of a group are made again in its backward.
  NodeId enter_replay(int microbatch, size_t instance);
  void leave_replay(size_t instance) { walk_.leave_replay(instance); }
  // Seconds of the collectives that run beside the layer that comes next: what was launched and is not behind
  // what it waits for. Of FSDP's units only what was launched since the layer before, so that an action does
  // not depend on how far others have come.
  double beside() const;
  void ran(double seconds);  // it did, for so long
  void begin_action();
  // Share of the links that layers take in the mean: what runs beside them gets the rest, and takes longer.
  void set_links(const LinkShare& links) { links_ = links; }
  // The end of a step, in three acts, as some collectives run over several stages.
  void begin();   // whole gradients start at zero, where they are buffers
  void reduce();  // over replicas and within a stage
  void norm();    // of the gradients that the rank owns
  double embedding_bytes() const { return embedding_bytes_; }
  double mirror_bytes() const { return mirror_bytes_; }
  NodeId reduced() const;  // when all that is reduced so far is
  NodeId all_reduce(const char* name, double seconds, const std::vector<NodeId>& after);
  void optimize();

  // For those who play most microbatches without their layers: whether any but the first forwards and the
  // last backwards gather or reduce by a plan; whether the first forwards wait for parameters; whether the
  // last backwards matter.
  bool every_microbatch() const;
  bool gathers_ahead() const { return gathers_ahead_; }
  bool ends() const { return has_units() || !walk_.acts().empty(); }
  void skip_to(int chunk, bool last) { walk_.skip_to(chunk, last); }
  // FSDP: which units are whole. That is all that actions find of those before them, once all these have
  // ended.
  using Units = SyncWalk::Units;
  bool has_units() const { return !parts_->sync.units.empty(); }
  Units units() const { return walk_.units(); }
  void resume(const Units& whole);  // after what is played elsewhere

 private:
  friend class DryRun;
  struct Running {
    NodeId node;
    double seconds;
  };
  NodeId launched(NodeId collective, double seconds);
  NodeId awaited(NodeId collective);
  SyncWalk::Mark gather(const std::vector<size_t>& units, SyncWalk::Turn turn, int microbatch,
                        size_t instance, bool ahead) override;
  void scatter(const std::vector<size_t>& units, int microbatch,
               const std::vector<size_t>& instances) override;
  SyncWalk::Mark run(const PlacedPlan::Act& act, size_t index, int microbatch) override;
  void average_loss(int microbatch) override;
  template <typename Name>  // text, or what makes it
  NodeId add(const Name& name, double seconds, int microbatch, const std::vector<NodeId>& after);
  template <typename Name>
  NodeId add(const Name& name, double seconds, int microbatch, std::initializer_list<NodeId> after);
  template <typename Name>
  Node collective_node(const Name& name, int microbatch);
  NodeId add_compute(SpanKind kind, StreamKind stream, TimeCategory category, double seconds, NodeId after,
                     const char* name = "");
  NodeId pass(double bytes, const char* name,
              NodeId after);  // a kernel over states of the optimizer or gradients
  double value(const Expr& expr) const { return costs_.value(stage_, expr); }

  SyncCosts& costs_;
  const Graph& graph_;
  const StageReport& stage_;  // the first one that is like it
  const int number_;
  Timeline& timeline_;
  std::shared_ptr<const StageSyncParts> parts_;
  SyncWalk walk_;
  std::vector<NodeId> backwards_;  // of each instance: the latest
  NodeId before_ = kNoNode, left_ = kNoNode;
  NodeId last_reduction_ = kNoNode;
  std::vector<Running> running_;  // in the order of their stream
  LinkShare links_;
  bool gathers_ahead_ = false;  // updated parameters, at the begin of the step
  double embedding_bytes_ = 0, mirror_bytes_ = 0;
  std::vector<double> gather_seconds_;  // by unit; less than 0: not asked for yet
  std::vector<NodeId> after_;
};

// While it lives actions of a stage are played as a try: of microbatches before the last. Then nothing has
// happened.
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
  void begin(const SyncSimulator::Units& whole) const;  // of an action

 private:
  SyncSimulator& sync_;
  SyncWalk::State walk_;
  std::vector<NodeId> backwards_;
  NodeId before_, last_reduction_;
};

}  // namespace shardscape
