// What data parallelism adds to a stage in time: reductions of gradients, gathers of parameters, the optimizer. Plans and units
// are attached to layers as the trace attaches them.
#pragma once

#include <array>
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
  std::shared_ptr<const StageSyncParts> parts(const StageReport& stage);
  double value(const StageReport& stage, const Expr& expr);  // of these parts

 private:
  struct Known {
    SyncOp op;
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
  NodeId all_reduce(const char* name, double seconds, const std::vector<NodeId>& after);
  void optimize();

  // For those who play most microbatches without their layers: whether any but the first forwards and the last backwards gather or
  // reduce by a plan; whether the first forwards wait for parameters; whether the last backwards matter.
  bool every_microbatch() const;
  bool gathers_ahead() const { return gathers_ahead_; }
  bool ends() const { return has_units() || !acts().empty(); }
  void skip_to_last();
  // FSDP: which units are whole, those of instances and then those of roots. That is all that actions find of those before them, once
  // all these have ended.
  using Units = std::vector<bool>;
  bool has_units() const { return !parts_->sync.units.empty(); }
  Units units() const;
  void resume(const Units& whole);  // after what is played elsewhere

 private:
  struct UnitRange {  // of StageSync::units, which has those of a segment, or of a root, in a row
    size_t begin = 0, end = 0;
    bool empty() const { return begin == end; }
  };
  struct Instance {
    int segment = 0, chunk = 0;
    UnitRange units;
    int root = -1;              // FSDP: its parameters are in this root unit, that of its chunk
    NodeId last = kNoNode;      // of its latest backward
    int backwards = 0;
    bool gathered = false;
    NodeId gather = kNoNode;
    NodeId params = kNoNode;    // gather of the plan that its parameters came with
  };

  // A root unit, whichever instances of its chunk it is in: these are a range.
  struct Root {
    int segment = -1;  // as SyncUnit::segment
    Instance unit;
    size_t begin = 0, end = 0;
  };

  friend class Rehearsal;
  Root* root_around(size_t instance);
  void free_forward(Instance& at) const;
  size_t next_unit(size_t instance, bool backward) const;
  void gather(int microbatch, Instance& at, bool backward);
  void scatter(int microbatch, const Instance& at, const std::vector<NodeId>& after);
  void run(const PlacedPlan::Act& act, int microbatch);
  const std::vector<PlacedPlan::Act>& acts() const {
    static const std::vector<PlacedPlan::Act> none;
    return plan_ ? plan_->acts : none;
  }
  const PlacedPlan::Place* place_of(size_t instance) const { return plan_ && instance < plan_->places.size() ? &plan_->places[instance] : nullptr; }
  template <typename Name>  // text, or what makes it
  NodeId add(const Name& name, double seconds, int microbatch, const std::vector<NodeId>& after);
  template <typename Name>
  NodeId add(const Name& name, double seconds, int microbatch, std::initializer_list<NodeId> after);
  template <typename Name>
  Node collective_node(const Name& name, int microbatch);
  NodeId add_compute(SpanKind kind, StreamKind stream, TimeCategory category, double seconds, NodeId after, const char* name = "");
  NodeId pass(double bytes, const char* name, NodeId after);  // a kernel over states of the optimizer or gradients
  std::vector<NodeId> root_ends() const;
  double value(const Expr& expr) const { return costs_.value(stage_, expr); }

  SyncCosts& costs_;
  const Graph& graph_;
  const StageReport& stage_;      // the first one that is like it
  const int number_;
  Timeline& timeline_;
  const int microbatches_;
  std::shared_ptr<const StageSyncParts> parts_;
  std::vector<UnitRange> layer_units_;  // by segment
  std::vector<Instance> instances_;
  std::vector<Root> roots_;
  NodeId before_ = kNoNode;
  NodeId last_reduction_ = kNoNode;
  LinkShare links_;
  bool gathers_ahead_ = false;    // updated parameters, at the begin of the step
  double embedding_bytes_ = 0, mirror_bytes_ = 0;
  std::shared_ptr<const PlacedPlan> plan_;
  std::vector<double> gather_seconds_;  // by unit; less than 0: not asked for yet
  std::vector<NodeId> after_;
};

// While it lives actions of a stage are played as a try: of microbatches before the last. Then nothing has happened.
class Rehearsal {
 public:
  explicit Rehearsal(SyncPlay& sync) : sync_(sync), instances_(sync.instances_), roots_(sync.roots_), before_(sync.before_), last_reduction_(sync.last_reduction_) {}
  ~Rehearsal();
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;
  void begin(const SyncPlay::Units& whole);  // of an action

 private:
  SyncPlay& sync_;
  std::vector<SyncPlay::Instance> instances_;
  std::vector<SyncPlay::Root> roots_;
  NodeId before_, last_reduction_;
};

}  // namespace shardscape
