#include "mesh/mesh_axes.h"

namespace shardscape {
namespace {

// Whether the rows have the order of the enumerators.
constexpr bool rows_follow_enumerators() {
  for (size_t i = 0; i < kMeshAxes.size(); ++i)
    if (kMeshAxes[i].axis != static_cast<MeshAxis>(i)) return false;
  return kMeshAxes.size() == kMeshAxisCount;
}
static_assert(rows_follow_enumerators(), "every axis has a row, in the order of MeshAxis");

constexpr bool is_whole_expert_axis(MeshAxis axis) {
  return std::find(kExpertAxes.begin(), kExpertAxes.end(), axis) != kExpertAxes.end();
}

// Exactly one of the parts of a split has a number, and an axis is split by rows below its own.
constexpr bool well_formed(const MeshAxisRow& row) {
  const bool part = row.place == AxisPlace::Outer || row.place == AxisPlace::Inner;
  if (row.name.empty() || (row.field != nullptr) != (part && !row.degree.empty()) ||
      (row.field != nullptr && !row.number))
    return false;
  switch (row.place) {
    case AxisPlace::Whole:
      return row.parent == row.axis && row.number && !row.degree.empty() &&
             is_expert_axis(row.axis) == is_whole_expert_axis(row.axis);
    case AxisPlace::Form: return row.parent < row.axis && !row.number && !row.degree.empty();
    case AxisPlace::Outer: {
      const auto inside = std::count_if(kMeshAxes.begin(), kMeshAxes.end(), [&](const MeshAxisRow& other) {
        return other.place == AxisPlace::Inner && other.parent == row.parent && other.outer == row.axis;
      });
      return row.parent < row.axis && inside == 1;
    }
    case AxisPlace::Inner: {
      const MeshAxisRow& outer = mesh_axis(row.outer);
      return row.parent < row.axis && row.outer < row.axis && outer.place == AxisPlace::Outer &&
             row.number.has_value() != outer.number.has_value() &&
             std::none_of(kMeshAxes.begin(), kMeshAxes.begin() + static_cast<int>(row.axis),
                          [&](const MeshAxisRow& above) { return above.parent == row.outer; });
    }
  }
  return false;
}
static_assert(std::all_of(kMeshAxes.begin(), kMeshAxes.end(), well_formed),
              "well_formed says what holds for the row of each place");

MeshAxis parent_of(MeshAxis axis) { return mesh_axis(axis).parent; }

// The other part of the only split that an outer part refines.
const MeshAxisRow& inside(const MeshAxisRow& outer) {
  return mesh_axis(*inner_part(outer.parent, outer.axis));
}

Expr degree_of(const MeshAxisRow& row) {
  if (!row.degree.empty()) return std::get<Expr>(Expr::parse(row.degree));
  const MeshAxisRow& other = row.place == AxisPlace::Inner ? mesh_axis(row.outer) : inside(row);
  return degree_of(mesh_axis(row.parent)) / degree_of(other);
}

}  // namespace

bool contains(const MeshAxes& axes, MeshAxis axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

bool is_part_of(MeshAxis axis, MeshAxis whole) {
  while (axis != whole && axis != parent_of(axis)) axis = parent_of(axis);
  return axis == whole;
}

std::optional<MeshAxis> inner_part(MeshAxis whole, MeshAxis outer) {
  for (const MeshAxisRow& row : kMeshAxes)
    if (row.place == AxisPlace::Inner && row.parent == whole && row.outer == outer) return row.axis;
  return std::nullopt;
}

bool share_ranks(MeshAxis a, MeshAxis b) {
  if (is_part_of(a, b) || is_part_of(b, a)) return true;
  while (a != parent_of(a) && !is_part_of(b, parent_of(a))) a = parent_of(a);
  if (a == parent_of(a)) return false;  // different whole axes
  while (parent_of(b) != parent_of(a)) b = parent_of(b);
  return inner_part(parent_of(a), a) != b && inner_part(parent_of(b), b) != a;
}

MeshAxes merge_parts(MeshAxes axes) {
  // A parent is above its parts, so it is merged further by a later row.
  for (auto row = kMeshAxes.rbegin(); row != kMeshAxes.rend(); ++row) {
    if (row->place != AxisPlace::Inner || !contains(axes, row->axis) || !contains(axes, row->outer)) continue;
    std::replace(axes.begin(), axes.end(), row->outer, row->parent);
    std::erase(axes, row->axis);
  }
  return axes;
}

const Expr& mesh_axis_degree(MeshAxis axis) {
  static const std::array<Expr, kMeshAxisCount> degrees = [] {
    std::array<Expr, kMeshAxisCount> out;
    for (const MeshAxisRow& row : kMeshAxes) out[static_cast<size_t>(row.axis)] = degree_of(row);
    return out;
  }();
  return degrees[static_cast<size_t>(axis)];
}

int64_t MeshDegrees::expert_dp() const {
  const int64_t wanted = expert_ep() * expert_tp();
  const bool fits = dp_shard >= 1 && dp % dp_shard == 0 &&
                    dp_shard * cp * (folds_experts() ? tp : 1) % wanted == 0;
  return fits ? dp_shard : dp;
}

int64_t MeshDegrees::edp() const {
  return std::max<int64_t>(1, dp * cp * (folds_experts() ? tp : 1) / (expert_ep() * expert_tp()));
}

int64_t MeshDegrees::edp_shard() const { return edp() / (dp / expert_dp()); }

}  // namespace shardscape
