// The device mesh: all ranks laid out along named axes, and the arithmetic between ranks and coordinates.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "symbolic/expr.h"

namespace shardscape {

// TpKv x TpRep refine Tp where KV heads are fewer than tp: each KV head then lives on tp/G ranks.
// TpOuter x TpContext refine Tp where dcp neighbours share the context of decoded sequences.
// DpRep x DpShard refine Dp under hybrid sharding: states are sharded inside a group of neighbours, replicated across groups.
// CpRing x CpUlysses refine Cp where Ulysses runs inside a ring: u neighbours exchange heads, cp/u such groups form the ring.
// CpGroups x CpHeads refine Cp where mixers scan under it: uh ranks share the heads of one of cp/uh mixer groups. Both splits of Cp are over
// the same ranks, so a placement uses one of them at a time.
// Experts have a mesh of their own over the ranks of a stage: Edp x Ep covers dp x cp where experts are split over tp as
// everything else is; EdpFolded x Ep x Etp covers dp x cp x tp where their tensor parallelism has a degree of its own.
// Under hybrid sharding the mesh of experts lies inside each copy of the states, if it fits: DpRep x EdpShard (or EdpShardFolded)
// refine edp, so that copies are the same ranks for all parameters (Megatron-core parallel_state: the instances of experts and of
// the rest share one group across).
// EpNode x EpLocal refine Ep where tokens are sent once per node: el ranks of a group share a node, ep/el nodes share the experts.
enum class MeshAxis : uint8_t {
  Pp, Dp, Cp, Tp, TpKv, TpRep, TpOuter, TpContext, DpRep, DpShard, CpRing, CpUlysses, CpGroups, CpHeads,
  Edp, EdpFolded, EdpShard, EdpShardFolded, Etp, Ep, EpNode, EpLocal
};
inline constexpr int kMeshAxisCount = 22;
std::string_view mesh_axis_name(MeshAxis axis);  // "tp", "tp_kv"
// tp; G for tp_kv; tp/G for tp_rep; tp/dcp for tp_outer; dcp for dcp; ds for dp_shard; dp/ds for dp_replicate; cp/u for cp_ring; u for
// cp_ulysses; cp/uh for cp_groups; uh for cp_heads; edp·ds/dp for edp_shard; ep/el for ep_node; el for ep_local
const Expr& mesh_axis_degree(MeshAxis axis);
bool is_cp_axis(MeshAxis axis);                  // cp or a part of it
// Whether one rank's neighbours along both overlap: an axis and its parts, or parts of two ways to split it.
bool share_ranks(MeshAxis a, MeshAxis b);
// Along it lie replicas of parameters that saw other tokens: gradients that are Partial on it are summed by the gradient sync.
bool is_replica_axis(MeshAxis axis);

using MeshAxes = std::vector<MeshAxis>;          // major to minor
std::string group_name(const MeshAxes& axes);    // "tp"; {TpKv, TpRep} is "tp" too, and so with the parts of cp and ep
// The axes cut into the groups that one collective may run over: {dp, tp_kv, tp_rep} is {dp} and {tp_kv, tp_rep}.
std::vector<MeshAxes> declared_groups(const MeshAxes& axes);
Expr group_size(const MeshAxes& axes);

// Order of axes from fastest to slowest varying rank: the default is tp, cp, dp, pp.
struct RankOrder {
  std::array<MeshAxis, 4> fastest_first{MeshAxis::Tp, MeshAxis::Cp, MeshAxis::Dp, MeshAxis::Pp};
  friend bool operator==(const RankOrder&, const RankOrder&) = default;
};
std::string to_string(const RankOrder& order);  // "tp-cp-dp-pp"
bool parse_rank_order(std::string_view text, RankOrder& out);

struct MeshDegrees {
  int64_t tp = 1, cp = 1, dp = 1, pp = 1;
  int64_t kv_heads = 1;  // splits tp where it is smaller
  int64_t dp_shard = 0;  // splits dp where it divides it; 0: dp as a whole shards
  int64_t ep = 1;
  int64_t etp = 0;       // 0: as tp
  int64_t ulysses = 1;   // splits cp
  int64_t ep_local = 1;  // splits ep
  int64_t mixer_heads = 1;  // splits cp for mixers
  int64_t context = 1;   // splits tp
  bool folds_experts() const { return etp > 0 && etp != tp; }
  // How much of dp the mesh of experts covers at a time: of hybrid sharding one copy where ep (x etp) fits into it, otherwise all.
  int64_t expert_dp() const;
};

class DeviceMesh {
 public:
  DeviceMesh(const MeshDegrees& degrees, const RankOrder& order);
  int64_t ranks() const { return ranks_; }
  int64_t degree(MeshAxis axis) const;
  int64_t coordinate(int64_t rank, MeshAxis axis) const;
  // The rank whose coordinate along axis is replaced.
  int64_t with(int64_t rank, MeshAxis axis, int64_t coordinate) const;
  // Ranks that differ from this one along the axes only, ascending in (axes major to minor) coordinates.
  std::vector<int64_t> group(int64_t rank, const MeshAxes& axes) const;
  int64_t group_size(const MeshAxes& axes) const;

 private:
  bool of_experts(MeshAxis axis) const;
  // Rank counted among those that differ from it along the axes of the expert mesh only, and back.
  int64_t expert_index(int64_t rank) const;
  int64_t at_expert_index(int64_t rank, int64_t index) const;

  MeshDegrees degrees_;
  RankOrder order_;
  std::vector<MeshAxis> expert_order_;                        // what the expert mesh covers, fastest first
  std::array<int64_t, kMeshAxisCount> degree_{}, stride_{};   // of Edp .. Ep: strides of the expert index
  int64_t ranks_ = 1;
};

}  // namespace shardscape
