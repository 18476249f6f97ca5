#include "hardware/network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace shardscape {
namespace {

constexpr std::array<std::string_view, kCollectiveAlgorithmCount> kAlgorithms{
    "auto", "ring", "tree", "halving-doubling", "hierarchical", "in-network", "direct"};

// `degree` ranks at distances of `stride`.
struct Step {
  int64_t stride, degree;
};

// A fixed capacity suffices: an expert axis covers parts of at most three mesh axes.
struct Steps {
  std::array<Step, 32> items;
  int count = 0;
  void add(int64_t stride, int64_t degree) {
    if (degree > 1) items[static_cast<size_t>(count++)] = {stride, degree};
  }
  Step* begin() { return items.data(); }
  Step* end() { return items.data() + count; }
};

// The placement of one group on blocks of consecutive ranks (domains, nodes, leaf switches or pods).
struct BlockPlacement {
  // Fewest ranks of the group in a block; number of blocks; most ranks in a block.
  int64_t fewest = 1, blocks = 1, most = 1;
  bool positions_differ = false;  // whether ranks have different positions in their blocks
};
bool slower(const BlockPlacement& a, const BlockPlacement& b) {
  if (a.fewest != b.fewest) return a.fewest < b.fewest;
  return a.blocks != b.blocks ? a.blocks > b.blocks : a.most > b.most;
}
bool more_blocks(const BlockPlacement& a, const BlockPlacement& b) { return a.blocks > b.blocks; }
bool more_ranks_per_block(const BlockPlacement& a, const BlockPlacement& b) { return a.most > b.most; }

// The placement of ranks on blocks of `block` consecutive ranks. ranks: ascending.
BlockPlacement placement_on_blocks(const std::vector<int64_t>& ranks, int64_t block) {
  BlockPlacement placement{static_cast<int64_t>(ranks.size()), 0, 0};
  for (size_t first = 0, next = 0; first < ranks.size(); first = next) {
    const int64_t begin = ranks[first] / block * block;
    while (next < ranks.size() && ranks[next] < begin + block) ++next;
    const auto inside = static_cast<int64_t>(next - first);
    placement.positions_differ |= placement.blocks > 0 && inside != placement.most;
    for (size_t i = 0; i < next - first && !placement.positions_differ; ++i)
      placement.positions_differ = ranks[first + i] % block != ranks[i] % block;
    placement.fewest = std::min(placement.fewest, inside);
    placement.most = std::max(placement.most, inside);
    ++placement.blocks;
  }
  return placement;
}

// Whether a group crosses rails on nodes larger than domains: its ranks have different positions in their
// nodes, or several of its domains share a node and only NICs connect them.
bool crosses_rails(const BlockPlacement& on_nodes, const BlockPlacement& on_domains) {
  return on_nodes.positions_differ || on_nodes.most > on_domains.most;
}

GroupSpan to_span(int64_t ranks, const BlockPlacement& placement, int64_t pods, int64_t leaf_switches) {
  GroupSpan span{ranks, placement.fewest, 0, 0, pods, leaf_switches, placement.positions_differ};
  if (placement.fewest != placement.most) {
    span.domain_count = placement.blocks;
    span.most_per_domain = placement.most;
  }
  return span;
}

// Adds the parts of mesh axes that an expert axis covers. Returns false if the axis is no product of
// parts.
bool add_expert_axis(const DeviceMesh& mesh, MeshAxis axis, Steps& out) {
  const int64_t low = mesh.stride(axis), high = low * mesh.degree(axis);
  int64_t at = 1;
  for (const MeshAxis covered : mesh.expert_order()) {
    const Step digit{mesh.stride(covered), mesh.degree(covered)};
    const int64_t end = at * digit.degree, from = std::max(low, at), to = std::min(high, end);
    if (from < to) {
      if (from % at != 0 || to % from != 0 || end % to != 0) return false;
      out.add(digit.stride * (from / at), to / from);
    }
    at = end;
  }
  return true;
}

// The steps of a group, fastest first, with adjacent steps merged. Returns false if the group is no product.
bool group_steps(const DeviceMesh& mesh, const MeshAxes& axes, Steps& out) {
  for (MeshAxis axis : axes) {
    if (mesh.degree(axis) == 1) continue;
    if (!is_expert_axis(axis))
      out.add(mesh.stride(axis), mesh.degree(axis));
    else if (!add_expert_axis(mesh, axis, out))
      return false;
  }
  std::sort(out.begin(), out.end(), [](const Step& a, const Step& b) { return a.stride < b.stride; });
  Steps merged;
  for (const Step& step : out) {
    if (merged.count > 0 && merged.end()[-1].stride * merged.end()[-1].degree == step.stride)
      merged.end()[-1].degree *= step.degree;
    else
      merged.add(step.stride, step.degree);
  }
  out = merged;
  return true;
}

// The steps that the group does not cover. They lead to the first ranks of all groups.
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

// The placement of the worst group on blocks of `block` ranks. group: fastest first.
BlockPlacement worst_placement(const DeviceMesh& mesh, Steps group, int64_t block,
                               bool (*worse)(const BlockPlacement&, const BlockPlacement&)) {
  BlockPlacement placement;
  bool straddles = false;
  Steps inner;
  int64_t separate_blocks = 1;
  for (const Step& step : group) {
    const int64_t reach = step.stride * step.degree;
    if (step.stride % block == 0) {  // every coordinate has its own blocks
      placement.blocks *= step.degree;
      separate_blocks *= step.degree;
      continue;
    }
    inner.add(step.stride, step.degree);
    if (block % reach == 0) {  // all coordinates are in one block
      placement.fewest *= step.degree;
    } else if (block % step.stride == 0 && reach % block == 0) {
      placement.fewest *= block / step.stride;
      placement.blocks *= reach / block;
    } else {
      straddles = true;
    }
  }
  placement.most = placement.fewest;
  if (!straddles) return placement;

  // Some groups straddle block edges. Ranks are counted in units of the greatest common divisor of the block
  // size and the strides. Groups that start in the same unit of a block have the same placement.
  int64_t unit = block;
  for (const Step& step : inner) unit = std::gcd(unit, step.stride);
  const int64_t size = block / unit;
  std::vector<char> reached, next;
  reached.assign(static_cast<size_t>(block), 0);
  reached[0] = 1;
  for (const Step& step : rest_of(mesh, group)) {
    const int64_t positions = std::min(step.degree, block / std::gcd(block, step.stride));
    next.assign(static_cast<size_t>(block), 0);
    for (int64_t begin = 0; begin < block; ++begin) {
      if (!reached[static_cast<size_t>(begin)]) continue;
      for (int64_t i = 0; i < positions; ++i)
        next[static_cast<size_t>((begin + i * step.stride) % block)] = 1;
    }
    reached.swap(next);
  }
  // The slowest step is periodic: the placement over three periods and the remainder determines the placement
  // over all periods.
  Step& last = inner.end()[-1];
  const int64_t period = size / std::gcd(size, last.stride / unit),
                simulated = 3 * period + last.degree % period;
  const int64_t skipped_periods = last.degree > simulated + period ? (last.degree - simulated) / period : 0;
  if (skipped_periods > 0) last.degree = simulated;

  const auto placement_from = [&](int64_t begin, int64_t last_degree) {
    std::vector<int64_t> ranks;  // ascending, because steps are
    ranks.assign(1, begin);
    for (const Step& step : inner) {
      const int64_t degree = &step == &last ? last_degree : step.degree;
      const size_t before = ranks.size();
      for (int64_t i = 1; i < degree; ++i)
        for (size_t k = 0; k < before; ++k) ranks.push_back(ranks[k] + i * (step.stride / unit));
    }
    return placement_on_blocks(ranks, size);
  };
  bool first = true, positions_differ = false;
  for (int64_t begin = 0; begin < size; ++begin) {
    if (std::none_of(reached.begin() + begin * unit, reached.begin() + (begin + 1) * unit,
                     [](char c) { return c != 0; }))
      continue;
    BlockPlacement one = placement_from(begin, last.degree);
    if (skipped_periods > 0)
      one.blocks += skipped_periods * (one.blocks - placement_from(begin, last.degree - period).blocks);
    one.blocks *= separate_blocks;
    positions_differ |= one.positions_differ;
    if (first || worse(one, placement)) placement = one;
    first = false;
  }
  placement.positions_differ = positions_differ;
  return placement;
}

// The extent of a group on a torus. group: steps, fastest first. A step that does not divide a dimension
// evenly counts with its full reach.
TorusSides sides_of(const TorusEdges& torus, Steps group) {
  TorusSides out{};
  int64_t low = 1;
  for (size_t i = 0; i < torus.size(); ++i) {
    const int64_t high = low * torus[i].ranks;
    for (const Step& step : group) {
      const int64_t from = std::max(step.stride, low), to = std::min(step.stride * step.degree, high);
      if (from >= to) continue;
      out[i].ranks = std::min(torus[i].ranks, out[i].ranks * ((to + from - 1) / from));
      out[i].reach = std::min(torus[i].ranks, (to + low - 1) / low);
    }
    out[i].reach = std::max(out[i].reach, out[i].ranks);
    low = high;
  }
  return out;
}

// The extent of arbitrary ranks on the torus of the first rank's domain. `reach` follows from the mean
// distance between adjacent coordinates.
TorusSides sides_of(const Network& network, const std::vector<int64_t>& ranks) {
  TorusSides out{};
  int64_t low = 1;
  for (size_t i = 0; i < network.torus.size(); ++i) {
    const TorusEdge& edge = network.torus[i];
    if (edge.ranks < 2) continue;
    std::vector<int64_t> at;
    for (const int64_t rank : ranks)
      if (rank / network.domain == ranks.front() / network.domain)
        at.push_back(rank % network.domain / low % edge.ranks);
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    low *= edge.ranks;
    const auto n = static_cast<int64_t>(at.size());
    if (n < 2) continue;
    int64_t apart = at.back() - at.front();
    // The shorter way round a ring; on a line, the number of pairs that share a link.
    if (n == 2) apart = std::min(apart, edge.ranks - apart);
    out[i] = {n, std::clamp((apart * n + n - 2) / (n - 1), n, edge.ranks)};
  }
  return out;
}

}  // namespace

bool is_torus(const Network& network) {
  return network.links == ScaleupLinks::Torus2 || network.links == ScaleupLinks::Torus3;
}

int64_t divisor_at_most(int64_t number, int64_t limit) {
  int64_t d = std::max<int64_t>(1, std::min(number, limit));
  while (number % d != 0) --d;
  return d;
}

TorusEdges torus_edges(ScaleupLinks links, int64_t ranks, int64_t wrap) {
  TorusEdges out{};
  const int dimensions = links == ScaleupLinks::Torus3 ? 3 : links == ScaleupLinks::Torus2 ? 2 : 0;
  bool whole = true;
  for (int left = dimensions; left > 0; --left) {
    TorusEdge& edge = out[static_cast<size_t>(dimensions - left)];
    const auto near = static_cast<int64_t>(
        std::floor(std::pow(static_cast<double>(ranks), 1.0 / left) + 1e-9));
    edge.ranks = left == 1 ? ranks : divisor_at_most(ranks, near);
    edge.closed = edge.ranks > 2 && (wrap <= 0 || edge.ranks % wrap == 0);
    whole &= edge.closed;
    ranks /= edge.ranks;
  }
  for (TorusEdge& edge : out) edge.closed &= whole || wrap <= 0 || dimensions < 3;
  return out;
}

TorusSides neighbours(const Network& network, int64_t ranks) {
  Steps group;
  group.add(1, std::min(ranks, network.domain));
  return sides_of(network.torus, group);
}

namespace {

// The limit of the communicator of a group. Gradients and parameters are reduced and gathered over dp, also
// together with cp. Groups of experts and groups over the whole mesh have communicators without a limit.
int64_t max_ctas_of(const CtaLimits& limits, const MeshAxes& axes) {
  const auto has = [&](std::initializer_list<MeshAxis> any) {
    return std::any_of(axes.begin(), axes.end(),
                       [&](MeshAxis axis) { return std::find(any.begin(), any.end(), axis) != any.end(); });
  };
  const bool dp = has({MeshAxis::Dp, MeshAxis::DpRep, MeshAxis::DpShard}),
             cp = has({MeshAxis::Cp, MeshAxis::CpRing, MeshAxis::CpUlysses}), tp = has({MeshAxis::Tp});
  if (has({MeshAxis::Pp}) || (tp && (dp || cp))) return 0;
  if (dp) return limits.dp;
  return cp ? limits.cp : tp ? limits.tp : 0;
}

}  // namespace

std::string_view algorithm_name(CollectiveAlgorithm algorithm) {
  return kAlgorithms[static_cast<size_t>(algorithm)];
}

GroupSpan span_of(const std::vector<int64_t>& ranks, int64_t domain, int64_t pod, int64_t leaf,
                  int64_t node) {
  if (ranks.size() <= 1) return {};
  std::vector<int64_t> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  const auto blocks = [&](int64_t block) {
    return block > 0 ? placement_on_blocks(sorted, block).blocks : 1;
  };
  BlockPlacement placement = placement_on_blocks(sorted, domain);
  if (node > domain) placement.positions_differ = crosses_rails(placement_on_blocks(sorted, node), placement);
  return to_span(static_cast<int64_t>(ranks.size()), placement, blocks(pod), blocks(leaf));
}

GroupSpan span_of(const DeviceMesh& mesh, const MeshAxes& axes, int64_t domain, int64_t pod, int64_t leaf,
                  int64_t node) {
  const int64_t ranks = mesh.group_size(axes);
  if (ranks <= 1) return {};
  Steps group;
  if (group_steps(mesh, axes, group)) {
    const auto blocks = [&](int64_t block) {
      return block > 0 && block < mesh.ranks() ? worst_placement(mesh, group, block, more_blocks).blocks : 1;
    };
    BlockPlacement placement = worst_placement(mesh, group, domain, slower);
    if (node > domain)
      placement.positions_differ = crosses_rails(worst_placement(mesh, group, node, more_ranks_per_block),
                                                 placement);
    return to_span(ranks, placement, blocks(pod), blocks(leaf));
  }
  GroupSpan worst;
  int64_t pods = 1, leaf_switches = 1;
  bool positions_differ = false;
  const auto placement = [](const GroupSpan& s) {
    return BlockPlacement{s.per_domain, s.domains(),
                          s.most_per_domain > 0 ? s.most_per_domain : s.per_domain};
  };
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    if (std::any_of(axes.begin(), axes.end(),
                    [&](MeshAxis axis) { return mesh.coordinate(rank, axis) != 0; }))
      continue;
    const GroupSpan span = span_of(mesh.group(rank, axes), domain, pod, leaf, node);
    if (rank == 0 || slower(placement(span), placement(worst))) worst = span;
    pods = std::max(pods, span.pods);
    leaf_switches = std::max(leaf_switches, span.leaf_switches);
    positions_differ |= span.crosses_rails;
  }
  worst.pods = pods;
  worst.leaf_switches = leaf_switches;
  worst.crosses_rails = positions_differ;
  return worst;
}

GroupSpan span_of(const DeviceMesh& mesh, const MeshAxes& axes, const Network& network) {
  GroupSpan span = span_of(mesh, axes, network.domain, network.oversubscription > 1 ? network.pod : 0,
                           network.hop.spine_us > 0 ? network.leaf : 0, network.node);
  span.max_ctas = max_ctas_of(network.max_ctas, axes);
  if (!is_torus(network) || span.per_domain < 2) return span;
  Steps group;
  span.torus = group_steps(mesh, axes, group) ? sides_of(network.torus, group)
                                              : sides_of(network, mesh.group(0, axes));
  return span;
}

GroupSpan span_of(const std::vector<int64_t>& ranks, const Network& network) {
  GroupSpan span = span_of(ranks, network.domain, network.oversubscription > 1 ? network.pod : 0,
                           network.hop.spine_us > 0 ? network.leaf : 0, network.node);
  if (is_torus(network) && span.per_domain > 1) span.torus = sides_of(network, ranks);
  return span;
}

}  // namespace shardscape
