#include "machine/network.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace shardscape {
namespace {

constexpr std::array<std::string_view, kCollectiveAlgorithmCount> kAlgorithms{"auto", "ring", "tree", "halving-doubling", "hierarchical", "in-network", "direct"};

// Ranks at multiples of a stride.
struct Step {
  int64_t stride, degree;
};

// Few enough for any group: an axis of experts takes parts of three mesh axes at most.
struct Steps {
  std::array<Step, 32> items;
  int count = 0;
  void add(int64_t stride, int64_t degree) {
    if (degree > 1) items[static_cast<size_t>(count++)] = {stride, degree};
  }
  Step* begin() { return items.data(); }
  Step* end() { return items.data() + count; }
};

// How one group lies on blocks of ranks (domains or pods).
struct Lie {
  int64_t fewest = 1, touched = 1, fullest = 1;
};
bool slower(const Lie& a, const Lie& b) {
  if (a.fewest != b.fewest) return a.fewest < b.fewest;
  return a.touched != b.touched ? a.touched > b.touched : a.fullest > b.fullest;
}
bool wider(const Lie& a, const Lie& b) { return a.touched > b.touched; }

// Of ranks' blocks, ascending.
Lie lie_of(const std::vector<int64_t>& blocks) {
  Lie lie{static_cast<int64_t>(blocks.size()), 0, 0};
  for (size_t first = 0, next = 0; first < blocks.size(); first = next) {
    while (next < blocks.size() && blocks[next] == blocks[first]) ++next;
    const auto inside = static_cast<int64_t>(next - first);
    lie.fewest = std::min(lie.fewest, inside);
    lie.fullest = std::max(lie.fullest, inside);
    ++lie.touched;
  }
  return lie;
}

GroupSpan to_span(int64_t ranks, const Lie& lie, int64_t pods) {
  GroupSpan span{ranks, lie.fewest, 0, 0, pods};
  if (lie.fewest != lie.fullest) {
    span.touched = lie.touched;
    span.fullest = lie.fullest;
  }
  return span;
}

int64_t stride_of(const DeviceMesh& mesh, MeshAxis axis) { return mesh.degree(axis) > 1 ? mesh.with(0, axis, 1) : 0; }

// The mesh axes as they are laid out, fastest first; those that the mesh of experts covers only, or all.
Steps plain_steps(const DeviceMesh& mesh, bool of_experts) {
  const int64_t experts = mesh.degree(MeshAxis::EdpFolded) * mesh.degree(MeshAxis::Ep) * mesh.degree(MeshAxis::Etp);
  const bool with_tp = !of_experts || experts == mesh.degree(MeshAxis::Dp) * mesh.degree(MeshAxis::Cp) * mesh.degree(MeshAxis::Tp);
  // Copies of hybrid sharding that experts stay inside of come last, wherever they lie.
  const bool copies_apart = of_experts && mesh.degree(MeshAxis::EdpShard) < mesh.degree(MeshAxis::Edp);
  Steps steps;
  for (MeshAxis axis : {copies_apart ? MeshAxis::DpShard : MeshAxis::Dp, MeshAxis::Cp}) steps.add(stride_of(mesh, axis), mesh.degree(axis));
  if (with_tp) steps.add(stride_of(mesh, MeshAxis::Tp), mesh.degree(MeshAxis::Tp));
  if (!of_experts) steps.add(stride_of(mesh, MeshAxis::Pp), mesh.degree(MeshAxis::Pp));
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.stride < b.stride; });
  if (copies_apart) steps.add(stride_of(mesh, MeshAxis::DpRep), mesh.degree(MeshAxis::DpRep));
  return steps;
}

// The part of the mesh axes that an axis of experts covers. False where it is no product of parts.
bool add_expert_axis(const DeviceMesh& mesh, MeshAxis axis, Steps& out) {
  const int64_t etp = mesh.degree(MeshAxis::Etp);
  const int64_t low = axis == MeshAxis::Etp                                 ? 1
                      : axis == MeshAxis::Ep || axis == MeshAxis::EpLocal ? etp
                      : axis == MeshAxis::EpNode                          ? etp * mesh.degree(MeshAxis::EpLocal)
                                                                          : etp * mesh.degree(MeshAxis::Ep);
  const int64_t high = low * mesh.degree(axis);
  int64_t at = 1;
  for (const Step& digit : plain_steps(mesh, true)) {
    const int64_t end = at * digit.degree, from = std::max(low, at), to = std::min(high, end);
    if (from < to) {
      if (from % at != 0 || to % from != 0 || end % to != 0) return false;
      out.add(digit.stride * (from / at), to / from);
    }
    at = end;
  }
  return true;
}

// The group's steps, fastest first, neighbouring ones merged. False where it is no product.
bool group_steps(const DeviceMesh& mesh, const MeshAxes& axes, Steps& out) {
  for (MeshAxis axis : axes) {
    if (mesh.degree(axis) == 1) continue;
    if (axis < MeshAxis::Edp) out.add(stride_of(mesh, axis), mesh.degree(axis));
    else if (!add_expert_axis(mesh, axis, out)) return false;
  }
  std::sort(out.begin(), out.end(), [](const Step& a, const Step& b) { return a.stride < b.stride; });
  Steps merged;
  for (const Step& step : out) {
    if (merged.count > 0 && merged.end()[-1].stride * merged.end()[-1].degree == step.stride) merged.end()[-1].degree *= step.degree;
    else merged.add(step.stride, step.degree);
  }
  out = merged;
  return true;
}

// What of the mesh is not the group's: where groups begin.
Steps rest_of(const DeviceMesh& mesh, Steps group) {
  Steps rest;
  int64_t at = 1;
  for (const Step& step : group) {
    rest.add(at, step.stride / at);
    at = step.stride * step.degree;
  }
  rest.add(at, mesh.ranks() / at);
  return rest;
}

// Of the worst group on blocks of that many ranks. group: fastest first.
Lie worst_lie(const DeviceMesh& mesh, Steps group, int64_t block, bool (*worse)(const Lie&, const Lie&)) {
  Lie lie;
  bool odd = false;
  Steps inner;
  int64_t apart = 1;
  for (const Step& step : group) {
    const int64_t reach = step.stride * step.degree;
    if (step.stride % block == 0) {  // every coordinate in blocks of its own
      lie.touched *= step.degree;
      apart *= step.degree;
      continue;
    }
    inner.add(step.stride, step.degree);
    if (block % reach == 0) {  // all in one block
      lie.fewest *= step.degree;
    } else if (block % step.stride == 0 && reach % block == 0) {
      lie.fewest *= block / step.stride;
      lie.touched *= reach / block;
    } else {
      odd = true;
    }
  }
  lie.fullest = lie.fewest;
  if (!odd) return lie;

  // Some groups straddle edges of blocks. Ranks count in units of the largest step that all of the group and the edges share;
  // groups that begin at equal distances behind an edge lie alike.
  int64_t unit = block;
  for (const Step& step : inner) unit = std::gcd(unit, step.stride);
  const int64_t size = block / unit;
  static thread_local std::vector<char> reached, next;
  reached.assign(static_cast<size_t>(block), 0);
  reached[0] = 1;
  for (const Step& step : rest_of(mesh, group)) {
    const int64_t turns = std::min(step.degree, block / std::gcd(block, step.stride));
    next.assign(static_cast<size_t>(block), 0);
    for (int64_t begin = 0; begin < block; ++begin) {
      if (!reached[static_cast<size_t>(begin)]) continue;
      for (int64_t i = 0; i < turns; ++i) next[static_cast<size_t>((begin + i * step.stride) % block)] = 1;
    }
    reached.swap(next);
  }
  // The slowest step repeats itself: of many periods three and the remainder tell the rest.
  Step& last = inner.end()[-1];
  const int64_t period = size / std::gcd(size, last.stride / unit), kept = 3 * period + last.degree % period;
  const int64_t dropped = last.degree > kept + period ? (last.degree - kept) / period : 0;
  if (dropped > 0) last.degree = kept;

  const auto lie_from = [&](int64_t begin, int64_t last_degree) {
    static thread_local std::vector<int64_t> blocks;  // first the ranks, ascending as steps do
    blocks.assign(1, begin);
    for (const Step& step : inner) {
      const int64_t degree = &step == &last ? last_degree : step.degree;
      const size_t before = blocks.size();
      for (int64_t i = 1; i < degree; ++i)
        for (size_t k = 0; k < before; ++k) blocks.push_back(blocks[k] + i * (step.stride / unit));
    }
    for (int64_t& block_of : blocks) block_of /= size;
    return lie_of(blocks);
  };
  bool first = true;
  for (int64_t begin = 0; begin < size; ++begin) {
    if (std::none_of(reached.begin() + begin * unit, reached.begin() + (begin + 1) * unit, [](char c) { return c != 0; })) continue;
    Lie one = lie_from(begin, last.degree);
    if (dropped > 0) one.touched += dropped * (one.touched - lie_from(begin, last.degree - period).touched);
    one.touched *= apart;
    if (first || worse(one, lie)) lie = one;
    first = false;
  }
  return lie;
}

}  // namespace

std::string_view algorithm_name(CollectiveAlgorithm algorithm) { return kAlgorithms[static_cast<size_t>(algorithm)]; }

GroupSpan span_of(const std::vector<int64_t>& ranks, int64_t domain, int64_t pod) {
  if (ranks.size() <= 1) return {};
  static thread_local std::vector<int64_t> blocks;
  const auto lie = [&](int64_t block) {
    blocks.clear();
    for (int64_t rank : ranks) blocks.push_back(rank / block);
    std::sort(blocks.begin(), blocks.end());
    return lie_of(blocks);
  };
  return to_span(static_cast<int64_t>(ranks.size()), lie(domain), pod > 0 ? lie(pod).touched : 1);
}

GroupSpan span_of(const DeviceMesh& mesh, const MeshAxes& axes, int64_t domain, int64_t pod) {
  const int64_t ranks = mesh.group_size(axes);
  if (ranks <= 1) return {};
  Steps group;
  if (group_steps(mesh, axes, group)) {
    int64_t pods = 1;
    if (pod > 0 && pod < mesh.ranks()) pods = worst_lie(mesh, group, pod, wider).touched;
    return to_span(ranks, worst_lie(mesh, group, domain, slower), pods);
  }
  GroupSpan worst;
  int64_t pods = 1;
  const auto lie = [](const GroupSpan& s) { return Lie{s.per_domain, s.domains(), s.fullest > 0 ? s.fullest : s.per_domain}; };
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    if (std::any_of(axes.begin(), axes.end(), [&](MeshAxis axis) { return mesh.coordinate(rank, axis) != 0; })) continue;
    const GroupSpan span = span_of(mesh.group(rank, axes), domain, pod);
    if (rank == 0 || slower(lie(span), lie(worst))) worst = span;
    pods = std::max(pods, span.pods);
  }
  worst.pods = pods;
  return worst;
}

GroupSpan span_of(const DeviceMesh& mesh, const MeshAxes& axes, const Network& network) {
  return span_of(mesh, axes, network.domain, network.oversubscription > 1 ? network.pod : 0);
}

GroupSpan span_of(const std::vector<int64_t>& ranks, const Network& network) {
  return span_of(ranks, network.domain, network.oversubscription > 1 ? network.pod : 0);
}

}  // namespace shardscape
