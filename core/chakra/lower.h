// Lowering: from a report to the trace nodes of every stage. Walks the schedule's actions in order and adds
// the nodes of the segments of each action, per microbatch.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include "chakra/forward_scale.h"
#include "chakra/groups.h"
#include "chakra/rank_program.h"
#include "grad_sync/muon.h"
#include "mesh/mesh.h"
#include "plan/report.h"
#include "timing/op_seconds.h"

namespace shardscape {

// A number of the design does not fit into a trace. The message names the op and the quantity.
struct LoweringError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The times of compute nodes in a simulator.
enum class TraceTimes : uint8_t {
  Roofline,   // num_ops and tensor_size on the roofline of the simulator, which has one peak for all types
  Durations,  // the seconds of kernels on the machine of the design
  Launches    // Durations, and waits for the host where it launches kernels more slowly than they run
};

// Data shared by all stages. The report must be valid and outlive this object.
class Lowering {
 public:
  explicit Lowering(const Report& report, TraceTimes times = TraceTimes::Roofline);
  // With durations. The mesh has the splits of all designs that share the traces.
  Lowering(std::shared_ptr<const Report> report, const DeviceMesh& mesh);
  const Report& report() const { return report_; }
  const DeviceMesh& mesh() const { return mesh_; }
  const std::vector<GroupRole>& roles() const { return roles_; }
  // Lowerings of designs that share the traces number their group roles alike: one adds those of all others,
  // and the others take its list.
  void add_roles(const Lowering& other);
  void take_roles(const Lowering& other);
  const Schedule& schedule() const { return schedule_; }
  // Group role of a collective over these axes; -1 if its group has one member.
  int role_of(const MeshAxes& axes) const;
  // Role of the pair of mirrored stages (mirror), or of tied embeddings; -1: no such pair.
  int pair_role(bool mirror) const;
  int64_t role_size(int role) const {
    return static_cast<int64_t>(representatives_[static_cast<size_t>(role)].size());
  }
  // Number of rank classes per stage: 1, or the ring size if ranks of a ring compute different parts of a
  // causal mask.
  int64_t positions() const { return positions_; }
  // Rank class of a rank within its stage; 0 if there is only one.
  int64_t position_of(int64_t rank) const;
  bool has_durations() const { return machine_.has_value(); }
  // Only with durations.
  TimeCategory category_of(const Segment& segment, OpId op) const { return time_of(segment, op).category; }
  // Seconds of a kernel, of a ring without exposed waits; 0 without durations.
  double seconds_of(const Segment& segment, OpId op) const;
  double packing_seconds(const Segment& segment, OpId op) const;  // packing kernels around a collective
  // Seconds that the host needs to launch these ops of a segment in order; 0 without TraceTimes::Launches.
  double launch_seconds(const Segment& segment, const std::vector<OpId>& ops) const;
  // num_ops of an op with this many FLOPs. Roofline: an op in a narrower type than the storage type, whose
  // peak the simulator has, counts as many FLOPs as the simulator's peak does in the seconds of the op's own
  // peak.
  int64_t roofline_ops(const Op& op, int64_t flops) const;
  double seconds_of_bytes(double bytes) const;  // a memory-bound kernel
  double newton_schulz_seconds(const MuonWork& muon, const Binding& stage) const;
  // The program of a stage's rank class. Incomplete if stopped.
  RankProgram stage(int stage, bool tensors, std::stop_token stop = {}, int64_t position = 0,
                    const ForwardParts& parts = {}) const;

 private:
  Lowering(const Report& report, const DeviceMesh& mesh, TraceTimes times);
  void add_role(const GroupRole& role);
  const OpTime& time_of(const Segment& segment, OpId op) const;
  std::shared_ptr<const Report> owned_;
  const Report& report_;
  DeviceMesh mesh_;
  Schedule schedule_;
  int64_t positions_ = 1;
  const TraceTimes times_;
  std::optional<Machine> machine_;  // only with durations
  OpSeconds seconds_;
  std::vector<GroupRole> roles_;
  // By role: the group of rank 0. Axes with equal groups are one role.
  std::vector<std::vector<int64_t>> representatives_;
};

RankProgram lower(const Report& report, int stage, bool tensors);

}  // namespace shardscape
