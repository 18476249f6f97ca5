// From a report to the trace nodes of every stage: schedule actions walked in order, segments stamped per microbatch.
#pragma once

#include <optional>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include "parallel/mesh.h"
#include "report/report.h"
#include "simulate/op_seconds.h"
#include "trace/groups.h"
#include "trace/rank_program.h"

namespace shardscape {

// A number of the design does not fit into a trace; the message names the op and the quantity.
struct LoweringError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What all stages share. The report must be valid and outlive this.
class Lowering {
 public:
  // durations: compute nodes say how long their kernels take on the machine of the design.
  explicit Lowering(const Report& report, bool durations = false);
  const Report& report() const { return report_; }
  const DeviceMesh& mesh() const { return mesh_; }
  const std::vector<GroupRole>& roles() const { return roles_; }
  const Schedule& schedule() const { return schedule_; }
  // Role of a collective over these axes; -1 where its group has one member.
  int role_of(const MeshAxes& axes) const;
  int pair_role(bool mirror) const;  // of tied embeddings, or of mirrored stages; -1 without one
  int64_t role_size(int role) const { return static_cast<int64_t>(representatives_[static_cast<size_t>(role)].size()); }
  // Kinds of rank on one stage: 1, or the ranks of a ring where each has another part of a causal mask.
  int64_t positions() const { return positions_; }
  // 0 where ranks do not differ.
  int64_t position_of(int64_t rank) const;
  bool has_durations() const { return machine_.has_value(); }
  // 0 where durations are not wanted.
  double seconds_of(const Segment& segment, OpId op) const;        // of a ring: without its waits
  double packing_seconds(const Segment& segment, OpId op) const;   // of a collective: kernels around it
  double seconds_of_bytes(double bytes) const;                     // of a kernel bound by memory
  // Incomplete when stopped.
  RankProgram stage(int stage, bool tensors, std::stop_token stop = {}, int64_t position = 0) const;

 private:
  void add_role(const GroupRole& role);
  const OpTime& time_of(const Segment& segment, OpId op) const;
  const Report& report_;
  DeviceMesh mesh_;
  Schedule schedule_;
  int64_t positions_ = 1;
  std::optional<Machine> machine_;       // where durations are wanted
  OpSeconds seconds_;
  std::vector<GroupRole> roles_;
  std::vector<std::vector<int64_t>> representatives_;  // the groups of a rank on the first stage: equal ones are one role
};

RankProgram lower(const Report& report, int stage, bool tensors);

}  // namespace shardscape
