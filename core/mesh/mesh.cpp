#include "mesh/mesh.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace shardscape {
namespace {

constexpr std::array<std::string_view, kMeshAxisCount> kNames{
    "pp",           "dp",        "cp",      "tp",         "tp_kv",     "tp_rep",   "tp_outer", "dcp",
    "dp_replicate", "dp_shard",  "cp_ring", "cp_ulysses", "cp_groups", "cp_heads", "edp",      "edp",
    "edp_shard",    "edp_shard", "etp",     "ep",         "ep_node",   "ep_local"};

constexpr size_t index(MeshAxis axis) { return static_cast<size_t>(axis); }

bool contains(const MeshAxes& axes, MeshAxis axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

bool is_permutation(const RankOrder& order) {
  auto sorted = order.fastest_first;
  std::sort(sorted.begin(), sorted.end());
  return sorted == std::array{MeshAxis::Pp, MeshAxis::Dp, MeshAxis::Cp, MeshAxis::Tp};
}

}  // namespace

std::string_view mesh_axis_name(MeshAxis axis) { return kNames[index(axis)]; }

const Expr& mesh_axis_degree(MeshAxis axis) {
  static const std::array<Expr, kMeshAxisCount> degrees = [] {
    const Expr tp(Symbol::intern("tp")), dp(Symbol::intern("dp")), cp(Symbol::intern("cp")),
        kv_heads(Symbol::intern("G"));
    const Expr ep(Symbol::intern("ep")), local(Symbol::intern("el")), etp(Symbol::intern("etp")),
        dcp(Symbol::intern("dcp")), shard(Symbol::intern("ds")), ulysses(Symbol::intern("u"));
    const Expr heads(Symbol::intern("uh"));
    return std::array<Expr, kMeshAxisCount>{Symbol::intern("pp"),
                                            dp,
                                            cp,
                                            tp,
                                            kv_heads,
                                            tp / kv_heads,
                                            tp / dcp,
                                            dcp,
                                            dp / shard,
                                            shard,
                                            cp / ulysses,
                                            ulysses,
                                            cp / heads,
                                            heads,
                                            dp * cp / ep,
                                            dp * cp * tp / (ep * etp),
                                            shard * cp / ep,
                                            shard * cp * tp / (ep * etp),
                                            etp,
                                            ep,
                                            ep / local,
                                            local};
  }();
  return degrees[index(axis)];
}

bool is_cp_axis(MeshAxis axis) {
  return axis == MeshAxis::Cp || (axis >= MeshAxis::CpRing && axis <= MeshAxis::CpHeads);
}

bool share_ranks(MeshAxis a, MeshAxis b) {
  if (a == b) return true;
  // 0: the whole axis. 1 and 2: a part of its first or second split, whose outer and inner axes are adjacent
  // in MeshAxis. -1: another axis.
  const auto split_of = [](MeshAxis axis, MeshAxis whole, MeshAxis first, MeshAxis second) {
    const auto in = [&](MeshAxis outer) {
      return axis == outer || static_cast<int>(axis) == static_cast<int>(outer) + 1;
    };
    return axis == whole ? 0 : in(first) ? 1 : in(second) ? 2 : -1;
  };
  const auto overlap = [&](MeshAxis whole, MeshAxis first, MeshAxis second) {
    const int of_a = split_of(a, whole, first, second), of_b = split_of(b, whole, first, second);
    return of_a >= 0 && of_b >= 0 && (of_a == 0 || of_b == 0 || of_a != of_b);
  };
  return overlap(MeshAxis::Tp, MeshAxis::TpKv, MeshAxis::TpOuter) ||
         overlap(MeshAxis::Cp, MeshAxis::CpRing, MeshAxis::CpGroups);
}

bool is_replica_axis(MeshAxis axis) {
  return axis == MeshAxis::Dp || is_cp_axis(axis) ||
         (axis >= MeshAxis::Edp && axis <= MeshAxis::EdpShardFolded);
}

std::string group_name(const MeshAxes& axes) {
  const bool whole_tp = contains(axes, MeshAxis::TpKv) && contains(axes, MeshAxis::TpRep);
  const bool outer_tp = contains(axes, MeshAxis::TpOuter) && contains(axes, MeshAxis::TpContext);
  const bool whole_cp = (contains(axes, MeshAxis::CpRing) && contains(axes, MeshAxis::CpUlysses)) ||
                        (contains(axes, MeshAxis::CpGroups) && contains(axes, MeshAxis::CpHeads));
  const bool whole_ep = contains(axes, MeshAxis::EpNode) && contains(axes, MeshAxis::EpLocal);
  std::string name;
  for (MeshAxis axis : axes) {
    if ((whole_tp && axis == MeshAxis::TpRep) || (outer_tp && axis == MeshAxis::TpContext) ||
        (whole_cp && (axis == MeshAxis::CpUlysses || axis == MeshAxis::CpHeads)) ||
        (whole_ep && axis == MeshAxis::EpLocal))
      continue;
    if (!name.empty()) name += '_';
    if ((whole_tp && axis == MeshAxis::TpKv) || (outer_tp && axis == MeshAxis::TpOuter)) axis = MeshAxis::Tp;
    if (whole_cp && is_cp_axis(axis)) axis = MeshAxis::Cp;
    if (whole_ep && axis == MeshAxis::EpNode) axis = MeshAxis::Ep;
    name += mesh_axis_name(axis);
  }
  return name;
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
    const auto name = std::find(kNames.begin(), kNames.begin() + 4, text.substr(0, dash));
    if (name == kNames.begin() + 4) return false;
    order.fastest_first[i] = static_cast<MeshAxis>(name - kNames.begin());
    if (!last) text.remove_prefix(dash + 1);
  }
  if (!is_permutation(order)) return false;
  out = order;
  return true;
}

int64_t MeshDegrees::expert_dp() const {
  const int64_t wanted = std::max<int64_t>(1, ep) * (folds_experts() ? etp : 1);
  const bool fits = dp_shard >= 1 && dp % dp_shard == 0 &&
                    dp_shard * cp * (folds_experts() ? tp : 1) % wanted == 0;
  return fits ? dp_shard : dp;
}

DeviceMesh::DeviceMesh(const MeshDegrees& degrees, const RankOrder& order)
    : degrees_(degrees), order_(order) {
  if (!is_permutation(order))
    throw std::invalid_argument("rank order names a mesh axis twice: " + to_string(order));
  degree_[index(MeshAxis::Pp)] = degrees.pp;
  degree_[index(MeshAxis::Dp)] = degrees.dp;
  degree_[index(MeshAxis::Cp)] = degrees.cp;
  degree_[index(MeshAxis::Tp)] = degrees.tp;
  for (MeshAxis axis : order.fastest_first) {
    stride_[index(axis)] = ranks_;
    if (degree(axis) < 1 || __builtin_mul_overflow(ranks_, degree(axis), &ranks_)) {
      throw std::invalid_argument("degree of " + std::string(mesh_axis_name(axis)) +
                                  " out of range: " + std::to_string(degree(axis)));
    }
  }
  // The tp coordinate of a rank is kv · (tp/G) + rep, so ranks that share a KV head are adjacent.
  const bool split = degrees.kv_heads >= 1 && degrees.kv_heads < degrees.tp &&
                     degrees.tp % degrees.kv_heads == 0;
  const int64_t copies = split ? degrees.tp / degrees.kv_heads : 1;
  degree_[index(MeshAxis::TpRep)] = copies;
  degree_[index(MeshAxis::TpKv)] = degrees.tp / copies;
  stride_[index(MeshAxis::TpRep)] = stride_[index(MeshAxis::Tp)];
  stride_[index(MeshAxis::TpKv)] = stride_[index(MeshAxis::Tp)] * copies;
  // The cp coordinate of a rank is ring · u + ulysses: ranks that exchange heads send most and are adjacent.
  // It is also groups · uh + heads. The tp coordinate is outer · dcp + context.
  for (const auto& [outer, inner, wanted] :
       {std::tuple{MeshAxis::CpRing, MeshAxis::CpUlysses, degrees.ulysses},
        {MeshAxis::CpGroups, MeshAxis::CpHeads, degrees.mixer_heads},
        {MeshAxis::TpOuter, MeshAxis::TpContext, degrees.context}}) {
    const MeshAxis whole = is_cp_axis(inner) ? MeshAxis::Cp : MeshAxis::Tp;
    const int64_t neighbours = wanted > 1 && degree(whole) % wanted == 0 ? wanted : 1;
    degree_[index(inner)] = neighbours;
    degree_[index(outer)] = degree(whole) / neighbours;
    stride_[index(inner)] = stride_[index(whole)];
    stride_[index(outer)] = stride_[index(whole)] * neighbours;
  }
  const bool hybrid = degrees.dp_shard >= 1 && degrees.dp % degrees.dp_shard == 0;
  degree_[index(MeshAxis::DpShard)] = hybrid ? degrees.dp_shard : degrees.dp;
  degree_[index(MeshAxis::DpRep)] = degrees.dp / degree_[index(MeshAxis::DpShard)];
  stride_[index(MeshAxis::DpShard)] = stride_[index(MeshAxis::Dp)];
  stride_[index(MeshAxis::DpRep)] = stride_[index(MeshAxis::Dp)] * degree_[index(MeshAxis::DpShard)];
  // The expert mesh: etp varies fastest, then ep, then edp, over the ranks of a stage in rank order, one copy
  // of the states after the other.
  const bool folded = degrees.folds_experts(), copies_apart = degrees.expert_dp() < degrees.dp;
  for (MeshAxis axis : order.fastest_first)
    if (axis != MeshAxis::Pp && (axis != MeshAxis::Tp || folded))
      expert_order_.push_back(axis == MeshAxis::Dp && copies_apart ? MeshAxis::DpShard : axis);
  if (copies_apart) expert_order_.push_back(MeshAxis::DpRep);
  const int64_t covered = degrees.dp * degrees.cp * (folded ? degrees.tp : 1), etp = folded ? degrees.etp : 1;
  const int64_t ep = std::max<int64_t>(1, degrees.ep), edp = std::max<int64_t>(1, covered / (ep * etp));
  degree_[index(MeshAxis::Etp)] = etp;
  stride_[index(MeshAxis::Etp)] = 1;
  degree_[index(MeshAxis::Ep)] = ep;
  stride_[index(MeshAxis::Ep)] = etp;
  // The ep coordinate of a rank is node · el + rank inside the node.
  const int64_t local = degrees.ep_local > 1 && ep % degrees.ep_local == 0 ? degrees.ep_local : 1;
  degree_[index(MeshAxis::EpLocal)] = local;
  degree_[index(MeshAxis::EpNode)] = ep / local;
  stride_[index(MeshAxis::EpLocal)] = etp;
  stride_[index(MeshAxis::EpNode)] = etp * local;
  for (MeshAxis axis : {MeshAxis::Edp, MeshAxis::EdpFolded, MeshAxis::EdpShard, MeshAxis::EdpShardFolded}) {
    const bool in_copy = copies_apart && (axis == MeshAxis::EdpShard || axis == MeshAxis::EdpShardFolded);
    degree_[index(axis)] = in_copy ? edp / degree_[index(MeshAxis::DpRep)] : edp;
    stride_[index(axis)] = etp * ep;
  }
}

bool DeviceMesh::of_experts(MeshAxis axis) const { return axis >= MeshAxis::Edp; }

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

int64_t DeviceMesh::coordinate(int64_t rank, MeshAxis axis) const {
  return (of_experts(axis) ? expert_index(rank) : rank) / stride_[index(axis)] % degree_[index(axis)];
}

int64_t DeviceMesh::with(int64_t rank, MeshAxis axis, int64_t wanted) const {
  const int64_t shift = (wanted - coordinate(rank, axis)) * stride_[index(axis)];
  return of_experts(axis) ? at_expert_index(rank, expert_index(rank) + shift) : rank + shift;
}

std::vector<int64_t> DeviceMesh::group(int64_t rank, const MeshAxes& axes) const {
  for (MeshAxis axis : axes) rank = with(rank, axis, 0);
  std::vector<int64_t> ranks{rank}, next;
  ranks.reserve(static_cast<size_t>(group_size(axes)));
  for (MeshAxis axis : axes) {
    next.clear();
    for (int64_t first : ranks) {
      for (int64_t i = 0; i < degree(axis); ++i)
        next.push_back(of_experts(axis) ? with(first, axis, i) : first + i * stride_[index(axis)]);
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

namespace {

// Mesh axes of the same class may merge into one collective.
int merge_class(MeshAxis axis) {
  switch (axis) {
    case MeshAxis::Tp:
    case MeshAxis::TpKv:
    case MeshAxis::TpRep:
    case MeshAxis::TpOuter:
    case MeshAxis::TpContext:
    case MeshAxis::Etp:
    case MeshAxis::Ep:
    case MeshAxis::EpNode:
    case MeshAxis::EpLocal: return 1;  // tp_ep: all ranks with parts of the tokens of the same experts
    case MeshAxis::Dp:
    case MeshAxis::DpRep:
    case MeshAxis::DpShard:
    case MeshAxis::Cp:
    case MeshAxis::CpRing:
    case MeshAxis::CpUlysses:
    case MeshAxis::CpGroups:
    case MeshAxis::CpHeads: return 2;  // gradients are reduced over all of these axes at once
    default: return 10 + static_cast<int>(axis);
  }
}

}  // namespace

std::vector<MeshAxes> declared_groups(const MeshAxes& axes) {
  std::vector<MeshAxes> out;
  for (MeshAxis axis : axes) {
    if (!out.empty() && merge_class(out.back().back()) == merge_class(axis))
      out.back().push_back(axis);
    else
      out.push_back({axis});
  }
  return out;
}

}  // namespace shardscape
