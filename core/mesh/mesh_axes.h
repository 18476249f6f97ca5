// The mesh axes and their splits, as a tree with one row per axis (kMeshAxes). Names, groups, degrees and
// ranks all follow from the rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "symbolic/expr.h"

namespace shardscape {

// kMeshAxes explains the axes. Lists of axes are sorted in this order.
enum class MeshAxis : uint8_t {
  Pp,
  Dp,
  Cp,
  Tp,
  TpKv,
  TpRep,
  TpKv2,
  TpRep2,
  TpKv3,
  TpRep3,
  TpKv4,
  TpRep4,
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
  EpLocal,
  Count  // not an axis
};
inline constexpr auto kMeshAxisCount = static_cast<size_t>(MeshAxis::Count);

using MeshAxes = std::vector<MeshAxis>;  // from major to minor

// The numbers from which the degrees of all axes follow. Numbers of splits are 0 where the mesh has no split.
struct MeshDegrees {
  int64_t tp = 1, cp = 1, dp = 1, pp = 1;
  int64_t kv_heads = 1;  // splits tp if smaller than tp
  // Further numbers of KV heads below tp, of layers with their own number.
  int64_t kv_heads2 = 0, kv_heads3 = 0, kv_heads4 = 0;
  int64_t dp_shard = 0;  // ranks of dp that shard states; splits dp if it divides dp; 0: all of dp
  int64_t ep = 1;
  int64_t etp = 0;          // tensor-parallel degree of experts; 0: tp
  int64_t ulysses = 0;      // u; splits cp
  int64_t ep_local = 0;     // el; splits ep
  int64_t mixer_heads = 0;  // uh; splits cp for state-space mixers
  int64_t context = 0;      // dcp; splits tp
  bool folds_experts() const { return etp > 0 && etp != tp; }
  int64_t shard_dp() const { return dp_shard >= 1 && dp % dp_shard == 0 ? dp_shard : dp; }
  int64_t expert_tp() const { return folds_experts() ? etp : 1; }
  int64_t expert_ep() const { return std::max<int64_t>(1, ep); }
  // The part of dp that one expert mesh covers: one copy of the states under hybrid sharding if ep (x etp)
  // fits into it, otherwise all of dp.
  int64_t expert_dp() const;
  int64_t edp() const;        // replicas of an expert
  int64_t edp_shard() const;  // those inside one expert mesh
};

// Dense: pp x dp x cp x tp. Experts: edp x ep x etp over the ranks of a stage.
enum class Mesh : uint8_t { Dense, Experts };

// Replicas: ranks along the axis hold the same parameters and process different tokens. Shards: they hold
// parts of parameters.
enum class AxisUse : uint8_t { Stages, Replicas, Shards };

// Whole: a dimension of a mesh. Outer, Inner: parts of the parent, whose coordinate is
// outer · (degree of inner) + inner. Form: the ranks of the parent, with another symbolic degree.
enum class AxisPlace : uint8_t { Whole, Form, Outer, Inner };

// A part without an own degree has the degree of the parent divided by the degree of the other part. One part
// of each split has a number. If the number does not divide the parent, the inner part has degree 1.
struct MeshAxisRow {
  using Number = int64_t (*)(const MeshDegrees&);
  using Field = int64_t MeshDegrees::*;

  MeshAxis axis;
  std::string_view name;
  AxisPlace place = AxisPlace::Whole;
  MeshAxis parent{};               // of a whole axis: the axis itself
  MeshAxis outer{};                // of an inner part: the other part, which may belong to the other mesh
  std::string_view degree{};       // as an expression
  std::optional<Number> number{};  // the degree in a DeviceMesh; optional, because sanitizers compare no
                                   // function address in a constant
  Mesh mesh = Mesh::Dense;         // inherited by parts and forms
  AxisUse use = AxisUse::Shards;   // inherited by parts and forms
  Field field = nullptr;           // of a part whose degree is a symbol: the value of the symbol
};

namespace mesh_axis_rows {

template <auto kMember>
int64_t number(const MeshDegrees& degrees) {
  return std::invoke(kMember, degrees);
}

constexpr MeshAxisRow whole(MeshAxis axis, std::string_view name, Mesh mesh, AxisUse use,
                            std::string_view degree, MeshAxisRow::Number number) {
  return {axis, name, AxisPlace::Whole, axis, {}, degree, number, mesh, use};
}
constexpr MeshAxisRow form(MeshAxis parent, MeshAxis axis, std::string_view name, std::string_view degree) {
  return {axis, name, AxisPlace::Form, parent, {}, degree};
}
constexpr MeshAxisRow outer(MeshAxis parent, MeshAxis axis, std::string_view name) {
  return {axis, name, AxisPlace::Outer, parent};
}
constexpr MeshAxisRow inner(MeshAxis parent, MeshAxis outer, MeshAxis axis, std::string_view name) {
  return {axis, name, AxisPlace::Inner, parent, outer};
}
// The part of a split that has the number. symbol: the degree of the part, with the value of the field.
template <auto kField, auto kNumber = kField>
constexpr MeshAxisRow numbered(MeshAxisRow part, std::string_view symbol) {
  part.degree = symbol;
  part.field = kField;
  part.number = number<kNumber>;
  return part;
}
constexpr MeshAxisRow with_number(MeshAxisRow part, MeshAxisRow::Number number) {
  part.number = number;
  return part;
}

constexpr auto rows() {
  using enum MeshAxis;
  using D = MeshDegrees;
  return std::array{
      whole(Pp, "pp", Mesh::Dense, AxisUse::Stages, "pp", number<&D::pp>),
      whole(Dp, "dp", Mesh::Dense, AxisUse::Replicas, "dp", number<&D::dp>),
      whole(Cp, "cp", Mesh::Dense, AxisUse::Replicas, "cp", number<&D::cp>),
      whole(Tp, "tp", Mesh::Dense, AxisUse::Shards, "tp", number<&D::tp>),
      // If KV heads are fewer than tp, each KV head is copied to tp/G adjacent ranks.
      numbered<&D::kv_heads>(outer(Tp, TpKv, "tp_kv"), "G"),
      inner(Tp, TpKv, TpRep, "tp_rep"),
      numbered<&D::kv_heads2>(outer(Tp, TpKv2, "tp_kv2"), "G2"),
      inner(Tp, TpKv2, TpRep2, "tp_rep2"),
      numbered<&D::kv_heads3>(outer(Tp, TpKv3, "tp_kv3"), "G3"),
      inner(Tp, TpKv3, TpRep3, "tp_rep3"),
      numbered<&D::kv_heads4>(outer(Tp, TpKv4, "tp_kv4"), "G4"),
      inner(Tp, TpKv4, TpRep4, "tp_rep4"),
      // dcp adjacent ranks share the context of decoded sequences.
      outer(Tp, TpOuter, "tp_outer"),
      numbered<&D::context>(inner(Tp, TpOuter, TpContext, "dcp"), "dcp"),
      // Hybrid sharding: states are sharded inside a group and replicated across groups.
      outer(Dp, DpRep, "dp_replicate"),
      numbered<&D::dp_shard, &D::shard_dp>(inner(Dp, DpRep, DpShard, "dp_shard"), "ds"),
      // Ulysses inside a ring: u adjacent ranks, which send most, exchange heads. cp/u groups of these ranks
      // form the ring.
      outer(Cp, CpRing, "cp_ring"),
      numbered<&D::ulysses>(inner(Cp, CpRing, CpUlysses, "cp_ulysses"), "u"),
      // State-space mixers: uh ranks share the heads of one of cp/uh mixer groups.
      outer(Cp, CpGroups, "cp_groups"),
      numbered<&D::mixer_heads>(inner(Cp, CpGroups, CpHeads, "cp_heads"), "uh"),
      // edp x ep covers dp x cp if experts use the tp of the dense layers. If experts have their own
      // tensor-parallel degree, edp x ep x etp covers dp x cp x tp. Both cases place ranks in the same
      // way; only the formulas differ.
      whole(Edp, "edp", Mesh::Experts, AxisUse::Replicas, "dp*cp/ep", number<&D::edp>),
      form(Edp, EdpFolded, "edp", "dp*cp*tp/(ep*etp)"),
      // Under hybrid sharding, the expert mesh lies inside each copy of the states if it fits. All parameters
      // are then copied to the same ranks (Megatron-core parallel_state: instances of experts and of dense
      // parameters share one group across instances).
      with_number(inner(Edp, DpRep, EdpShard, "edp_shard"), number<&D::edp_shard>),
      with_number(inner(EdpFolded, DpRep, EdpShardFolded, "edp_shard"), number<&D::edp_shard>),
      whole(Etp, "etp", Mesh::Experts, AxisUse::Shards, "etp", number<&D::expert_tp>),
      whole(Ep, "ep", Mesh::Experts, AxisUse::Shards, "ep", number<&D::expert_ep>),
      // Tokens are sent once per node: el ranks of a group share a node, and ep/el nodes share the experts.
      outer(Ep, EpNode, "ep_node"),
      numbered<&D::ep_local>(inner(Ep, EpNode, EpLocal, "ep_local"), "el"),
  };
}

}  // namespace mesh_axis_rows

inline constexpr auto kMeshAxes = [] {
  std::array rows = mesh_axis_rows::rows();
  for (MeshAxisRow& row : rows) {
    const MeshAxisRow& parent = rows[static_cast<size_t>(row.parent)];
    row.mesh = parent.mesh;
    row.use = parent.use;
  }
  return rows;
}();
// The splits of tp by KV heads: those of the model, then further ones of layers with their own number.
struct KvSplit {
  MeshAxis heads, copies;
  int64_t MeshDegrees::*number;
  std::string_view symbol() const { return kMeshAxes[static_cast<size_t>(heads)].degree; }  // "G2"
};
inline constexpr std::array kKvSplits{KvSplit{MeshAxis::TpKv, MeshAxis::TpRep, &MeshDegrees::kv_heads},
                                      KvSplit{MeshAxis::TpKv2, MeshAxis::TpRep2, &MeshDegrees::kv_heads2},
                                      KvSplit{MeshAxis::TpKv3, MeshAxis::TpRep3, &MeshDegrees::kv_heads3},
                                      KvSplit{MeshAxis::TpKv4, MeshAxis::TpRep4, &MeshDegrees::kv_heads4}};
// The whole axes of the expert mesh, fastest varying first.
inline constexpr std::array kExpertAxes{MeshAxis::Etp, MeshAxis::Ep, MeshAxis::Edp};

constexpr const MeshAxisRow& mesh_axis(MeshAxis axis) { return kMeshAxes[static_cast<size_t>(axis)]; }
constexpr std::string_view mesh_axis_name(MeshAxis axis) { return mesh_axis(axis).name; }  // "tp", "tp_kv"
bool contains(const MeshAxes& axes, MeshAxis axis);
constexpr bool is_expert_axis(MeshAxis axis) { return mesh_axis(axis).mesh == Mesh::Experts; }
// Whether the gradient sync reduces gradients that are Partial on the axis.
constexpr bool is_replica_axis(MeshAxis axis) { return mesh_axis(axis).use == AxisUse::Replicas; }
// Whether the axis is `whole` or lies below it in the tree.
bool is_part_of(MeshAxis axis, MeshAxis whole);
// The part of `whole` inside `outer`. Dp and DpRep yield DpShard; Edp and DpRep yield EdpShard.
std::optional<MeshAxis> inner_part(MeshAxis whole, MeshAxis outer);
// Whether groups along both axes of one mesh can have more than one rank in common: an axis and its part, or
// parts of two different splits of an axis. A placement uses only one of such axes.
bool share_ranks(MeshAxis a, MeshAxis b);
// The axes, with both parts of a split replaced by their parent.
MeshAxes merge_parts(MeshAxes axes);
// The degree as an expression, for example tp/G of tp_rep and dp·cp/ep of edp.
const Expr& mesh_axis_degree(MeshAxis axis);

}  // namespace shardscape
