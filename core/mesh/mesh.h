// The device mesh lays out all ranks along named axes, and converts between ranks and coordinates.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "symbolic/expr.h"

namespace shardscape {

// The axes of the mesh. Some axes refine another axis as an outer and an inner part:
// - TpKv x TpRep = Tp, if KV heads are fewer than tp: each KV head is copied to tp/G ranks.
// - TpOuter x TpContext = Tp, if dcp adjacent ranks share the context of decoded sequences.
// - DpRep x DpShard = Dp, for hybrid sharding: states are sharded inside a group and replicated across
//   groups.
// - CpRing x CpUlysses = Cp, for Ulysses inside a ring: u adjacent ranks exchange heads, and cp/u groups of
//   such ranks form the ring.
// - CpGroups x CpHeads = Cp, for state-space mixers: uh ranks share the heads of one of cp/uh mixer groups.
//   Both splits of Cp cover the same ranks, so a placement uses only one of them.
// - EpNode x EpLocal = Ep, if tokens are sent once per node: el ranks of a group share a node, and ep/el
//   nodes share the experts.
//
// Experts have their own mesh over the ranks of a stage. Edp x Ep covers dp x cp if experts use the tp of the
// dense layers. EdpFolded x Ep x Etp covers dp x cp x tp if experts have their own tensor-parallel degree.
//
// Under hybrid sharding, the expert mesh lies inside each copy of the states if it fits. DpRep x EdpShard (or
// EdpShardFolded) then refines edp, so that all parameters are copied to the same ranks (Megatron-core
// parallel_state: instances of experts and of dense parameters share one group across instances).
enum class MeshAxis : uint8_t {
  Pp,
  Dp,
  Cp,
  Tp,
  TpKv,
  TpRep,
  TpOuter,
  TpContext,
  DpRep,
  DpShard,
  CpRing,
  CpUlysses,
  CpGroups,
  CpHeads,
  Edp,
  EdpFolded,
  EdpShard,
  EdpShardFolded,
  Etp,
  Ep,
  EpNode,
  EpLocal
};
inline constexpr int kMeshAxisCount = 22;
std::string_view mesh_axis_name(MeshAxis axis);  // "tp", "tp_kv"
// The degree as an expression: tp, dp, cp and pp by name; G for tp_kv; tp/G for tp_rep; tp/dcp for tp_outer;
// dcp for dcp; ds for dp_shard; dp/ds for dp_replicate; cp/u for cp_ring; u for cp_ulysses; cp/uh for
// cp_groups; uh for cp_heads; dp·cp/ep for edp; edp·ds/dp for edp_shard; ep/el for ep_node; el for ep_local.
const Expr& mesh_axis_degree(MeshAxis axis);
bool is_cp_axis(MeshAxis axis);  // cp or one of its parts
// Whether groups along both axes can have more than one rank in common: an axis and its part, or parts of two
// different splits of an axis. A placement uses only one of such axes.
bool share_ranks(MeshAxis a, MeshAxis b);
// Whether ranks along the axis hold the same parameters but process different tokens. The gradient sync
// reduces gradients that are Partial on such an axis.
bool is_replica_axis(MeshAxis axis);

using MeshAxes = std::vector<MeshAxis>;  // from major to minor
// "tp"; {TpKv, TpRep} is also "tp", and likewise for the parts of cp and ep.
std::string group_name(const MeshAxes& axes);
// Splits the axes into groups that one collective can span: {dp, tp_kv, tp_rep} yields {dp} and {tp_kv,
// tp_rep}.
std::vector<MeshAxes> declared_groups(const MeshAxes& axes);
Expr group_size(const MeshAxes& axes);

// The order of mesh axes from the fastest to the slowest varying in the rank number. The default is tp, cp,
// dp, pp.
struct RankOrder {
  std::array<MeshAxis, 4> fastest_first{MeshAxis::Tp, MeshAxis::Cp, MeshAxis::Dp, MeshAxis::Pp};
  friend bool operator==(const RankOrder&, const RankOrder&) = default;
};
std::string to_string(const RankOrder& order);  // "tp-cp-dp-pp"
bool parse_rank_order(std::string_view text, RankOrder& out);

struct MeshDegrees {
  int64_t tp = 1, cp = 1, dp = 1, pp = 1;
  int64_t kv_heads = 1;  // splits tp if smaller than tp
  int64_t dp_shard = 0;  // ranks of dp that shard states; splits dp if it divides dp; 0: all of dp
  int64_t ep = 1;
  int64_t etp = 0;          // tensor-parallel degree of experts; 0: tp
  int64_t ulysses = 1;      // u; splits cp
  int64_t ep_local = 1;     // el; splits ep
  int64_t mixer_heads = 1;  // uh; splits cp for state-space mixers
  int64_t context = 1;      // dcp; splits tp
  bool folds_experts() const { return etp > 0 && etp != tp; }
  // The part of dp that one expert mesh covers: one copy of the states under hybrid sharding if ep (x etp)
  // fits into it, otherwise all of dp.
  int64_t expert_dp() const;
};

class DeviceMesh {
 public:
  DeviceMesh(const MeshDegrees& degrees, const RankOrder& order);
  int64_t ranks() const { return ranks_; }
  int64_t degree(MeshAxis axis) const;
  int64_t coordinate(int64_t rank, MeshAxis axis) const;
  // The rank with this coordinate along the axis and the same coordinates along all other axes of its mesh.
  int64_t with(int64_t rank, MeshAxis axis, int64_t coordinate) const;
  // The ranks that differ from this rank only along the axes, ascending in coordinates (axes from major to
  // minor).
  std::vector<int64_t> group(int64_t rank, const MeshAxes& axes) const;
  int64_t group_size(const MeshAxes& axes) const;

 private:
  bool of_experts(MeshAxis axis) const;
  // The index of a rank among the ranks that the expert mesh covers, and the inverse function.
  int64_t expert_index(int64_t rank) const;
  int64_t at_expert_index(int64_t rank, int64_t index) const;

  MeshDegrees degrees_;
  RankOrder order_;
  std::vector<MeshAxis> expert_order_;  // axes that the expert mesh covers, fastest first
  std::array<int64_t, kMeshAxisCount> degree_{}, stride_{};  // from Edp on: strides of the expert index
  int64_t ranks_ = 1;
};

}  // namespace shardscape
