#include "mesh/mesh.h"

#include <algorithm>
#include <stdexcept>

namespace shardscape {
namespace {

constexpr size_t index(MeshAxis axis) { return static_cast<size_t>(axis); }

// The whole axes of the dense mesh in ascending order.
constexpr auto kDenseAxes = [] {
  decltype(RankOrder::fastest_first) out{};
  size_t count = 0;
  for (const MeshAxisRow& row : kMeshAxes)
    if (row.place == AxisPlace::Whole && row.mesh == Mesh::Dense) out.at(count++) = row.axis;
  if (count != out.size()) throw std::logic_error("a rank order has another number of axes");
  return out;
}();

bool is_permutation(const RankOrder& order) {
  return std::is_permutation(kDenseAxes.begin(), kDenseAxes.end(), order.fastest_first.begin());
}

// Whether one collective may span both axes: gradients are reduced over dp and cp at once, and tp_ep has all
// ranks with parts of the tokens of the same experts.
bool merge(MeshAxis a, MeshAxis b) {
  const AxisUse use = mesh_axis(a).use;
  return use == mesh_axis(b).use && (use == AxisUse::Shards || is_expert_axis(a) == is_expert_axis(b));
}

}  // namespace

std::string group_name(const MeshAxes& axes) {
  std::string name;
  for (MeshAxis axis : merge_parts(axes)) {
    if (!name.empty()) name += '_';
    name += mesh_axis_name(axis);
  }
  return name;
}

std::vector<MeshAxes> declared_groups(const MeshAxes& axes) {
  std::vector<MeshAxes> out;
  for (MeshAxis axis : axes) {
    if (!out.empty() && merge(out.back().back(), axis))
      out.back().push_back(axis);
    else
      out.push_back({axis});
  }
  return out;
}

Expr group_size(const MeshAxes& axes) {
  Expr size = 1;
  for (MeshAxis axis : axes) size = size * mesh_axis_degree(axis);
  return size;
}

std::string to_string(const RankOrder& order) {
  std::string text;
  for (MeshAxis axis : order.fastest_first) {
    if (!text.empty()) text += '-';
    text += mesh_axis_name(axis);
  }
  return text;
}

bool parse_rank_order(std::string_view text, RankOrder& out) {
  RankOrder order;
  for (size_t i = 0; i < order.fastest_first.size(); ++i) {
    const size_t dash = text.find('-');
    const bool last = i + 1 == order.fastest_first.size();
    if ((dash == std::string_view::npos) != last) return false;
    const auto axis = std::find_if(kDenseAxes.begin(), kDenseAxes.end(), [&](MeshAxis known) {
      return mesh_axis_name(known) == text.substr(0, dash);
    });
    if (axis == kDenseAxes.end()) return false;
    order.fastest_first[i] = *axis;
    if (!last) text.remove_prefix(dash + 1);
  }
  if (!is_permutation(order)) return false;
  out = order;
  return true;
}

DeviceMesh::DeviceMesh(const MeshDegrees& degrees, const RankOrder& order) {
  if (!is_permutation(order))
    throw std::invalid_argument("rank order names a mesh axis twice: " + to_string(order));
  for (MeshAxis axis : order.fastest_first) {
    add_axis(axis, mesh_axis(axis).number.value()(degrees), ranks_);
    if (degree(axis) < 1 || __builtin_mul_overflow(ranks_, degree(axis), &ranks_)) {
      throw std::invalid_argument("degree of " + std::string(mesh_axis_name(axis)) +
                                  " out of range: " + std::to_string(degree(axis)));
    }
  }
  // The expert mesh lies over the ranks of a stage in rank order, one copy of the states after the other.
  const bool copies_apart = degrees.expert_dp() < degrees.dp;
  for (MeshAxis axis : order.fastest_first)
    if (axis != MeshAxis::Pp && (axis != MeshAxis::Tp || degrees.folds_experts()))
      expert_order_.push_back(axis == MeshAxis::Dp && copies_apart ? MeshAxis::DpShard : axis);
  if (copies_apart) expert_order_.push_back(MeshAxis::DpRep);
  int64_t index = 1;
  for (MeshAxis axis : kExpertAxes) {
    add_axis(axis, mesh_axis(axis).number.value()(degrees), index);
    index *= degree(axis);
  }
  add_parts(degrees);
}

void DeviceMesh::add_axis(MeshAxis axis, int64_t degree, int64_t stride) {
  degree_[index(axis)] = degree;
  stride_[index(axis)] = stride;
}

void DeviceMesh::add_parts(const MeshDegrees& degrees) {
  for (const MeshAxisRow& row : kMeshAxes) {
    const int64_t whole = degree(row.parent), apart = stride(row.parent);
    if (row.place == AxisPlace::Form) add_axis(row.axis, whole, apart);
    if (row.place != AxisPlace::Inner) continue;
    const MeshAxisRow& outer = mesh_axis(row.outer);
    const int64_t number = (row.number ? row : outer).number.value()(degrees);
    const bool divides = number >= 1 && whole % number == 0;
    const int64_t inside = !divides ? 1 : row.number ? number : whole / number;
    add_axis(row.axis, inside, apart);
    if (outer.parent == row.parent) add_axis(row.outer, whole / inside, apart * inside);
  }
}

int64_t DeviceMesh::expert_index(int64_t rank) const {
  int64_t out = 0, stride = 1;
  for (MeshAxis axis : expert_order_) {
    out += coordinate(rank, axis) * stride;
    stride *= degree(axis);
  }
  return out;
}

int64_t DeviceMesh::at_expert_index(int64_t rank, int64_t at) const {
  for (MeshAxis axis : expert_order_) {
    rank = with(rank, axis, at % degree(axis));
    at /= degree(axis);
  }
  return rank;
}

int64_t DeviceMesh::degree(MeshAxis axis) const { return degree_[index(axis)]; }
int64_t DeviceMesh::stride(MeshAxis axis) const { return stride_[index(axis)]; }

int64_t DeviceMesh::coordinate(int64_t rank, MeshAxis axis) const {
  return (is_expert_axis(axis) ? expert_index(rank) : rank) / stride_[index(axis)] % degree_[index(axis)];
}

int64_t DeviceMesh::with(int64_t rank, MeshAxis axis, int64_t wanted) const {
  const int64_t shift = (wanted - coordinate(rank, axis)) * stride_[index(axis)];
  return is_expert_axis(axis) ? at_expert_index(rank, expert_index(rank) + shift) : rank + shift;
}

std::vector<int64_t> DeviceMesh::group(int64_t rank, const MeshAxes& axes) const {
  for (MeshAxis axis : axes) rank = with(rank, axis, 0);
  std::vector<int64_t> ranks{rank}, next;
  ranks.reserve(static_cast<size_t>(group_size(axes)));
  for (MeshAxis axis : axes) {
    next.clear();
    for (int64_t first : ranks) {
      for (int64_t i = 0; i < degree(axis); ++i)
        next.push_back(is_expert_axis(axis) ? with(first, axis, i) : first + i * stride_[index(axis)]);
    }
    ranks.swap(next);
  }
  return ranks;
}

int64_t DeviceMesh::group_size(const MeshAxes& axes) const {
  int64_t size = 1;
  for (MeshAxis axis : axes) size *= degree(axis);
  return size;
}

}  // namespace shardscape
