// The device mesh: all ranks laid out along named axes, and the arithmetic between ranks and coordinates.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "symbolic/expr.h"

namespace shardscape {

// TpKv x TpRep refine Tp where KV heads are fewer than tp: each KV head then lives on tp/G ranks. CpRing x CpUlysses refine
// Cp where Ulysses runs inside a ring: u neighbours exchange heads, cp/u such groups form the ring.
enum class MeshAxis : uint8_t { Pp, Dp, Cp, Tp, TpKv, TpRep, CpRing, CpUlysses };
inline constexpr int kMeshAxisCount = 8;
std::string_view mesh_axis_name(MeshAxis axis);  // "tp", "tp_kv"
const Expr& mesh_axis_degree(MeshAxis axis);     // tp; G for tp_kv; tp/G for tp_rep; cp/u for cp_ring; u for cp_ulysses
bool is_cp_axis(MeshAxis axis);                  // cp or a part of it

using MeshAxes = std::vector<MeshAxis>;          // major to minor
std::string group_name(const MeshAxes& axes);    // "tp"; {TpKv, TpRep} is "tp" too, and so with the parts of cp
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
  int64_t ulysses = 1;   // splits cp
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
  MeshDegrees degrees_;
  std::array<int64_t, kMeshAxisCount> degree_{}, stride_{};
  int64_t ranks_ = 1;
};

}  // namespace shardscape
