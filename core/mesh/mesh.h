// The device mesh lays out all ranks along named axes, and converts between ranks and coordinates.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/mesh_axes.h"

namespace shardscape {

// "dp_cp". Both parts of a split print as their parent: {TpKv, TpRep} is also "tp".
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

class DeviceMesh {
 public:
  DeviceMesh(const MeshDegrees& degrees, const RankOrder& order);
  int64_t ranks() const { return ranks_; }
  int64_t degree(MeshAxis axis) const;
  // The distance of ranks with adjacent coordinates; along an expert axis the distance in the order of ranks
  // that expert_order() yields.
  int64_t stride(MeshAxis axis) const;
  // The dense axes that the expert mesh covers, fastest varying first: the common refinement of both meshes.
  const std::vector<MeshAxis>& expert_order() const { return expert_order_; }
  int64_t coordinate(int64_t rank, MeshAxis axis) const;
  // The rank with this coordinate along the axis and the same coordinates along all other axes of its mesh.
  int64_t with(int64_t rank, MeshAxis axis, int64_t coordinate) const;
  // The ranks that differ from this rank only along the axes, ascending in coordinates (axes from major to
  // minor).
  std::vector<int64_t> group(int64_t rank, const MeshAxes& axes) const;
  int64_t group_size(const MeshAxes& axes) const;

 private:
  void add_axis(MeshAxis axis, int64_t degree, int64_t stride);
  void add_parts(const MeshDegrees& degrees);
  // The index of a rank among the ranks that the expert mesh covers, and the inverse function.
  int64_t expert_index(int64_t rank) const;
  int64_t at_expert_index(int64_t rank, int64_t index) const;

  std::vector<MeshAxis> expert_order_;
  std::array<int64_t, kMeshAxisCount> degree_{}, stride_{};
  int64_t ranks_ = 1;
};

}  // namespace shardscape
