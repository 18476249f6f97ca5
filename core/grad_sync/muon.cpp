#include "grad_sync/muon.h"

#include <algorithm>
#include <string>

#include "grad_sync/grad_plan.h"
#include "grad_sync/sync_params.h"

namespace shardscape {
namespace {

// ZeRO-1 and ZeRO-2: see muon.h.
bool partitions(SyncStrategy sync) { return sync == SyncStrategy::Zero1 || sync == SyncStrategy::Zero2; }
bool shares_matrices(SyncStrategy sync) {
  return sync == SyncStrategy::DistributedOptimizer || partitions(sync);
}

bool splits_experts(const Tensor& t) { return t.axes.front() == Axis::Experts; }

}  // namespace

bool is_muon_matrix(const Structure& structure, const Segment& segment, const Param& param) {
  if (!structure.muon || segment.kind != SegmentKind::Layer || param.gradient < 0) return false;
  const Tensor& t = segment.tensor(param.tensor);
  const bool routes = std::any_of(t.axes.begin(), t.axes.end(),
                                  [](Axis axis) { return axis == Axis::Routes || axis == Axis::AllRoutes; });
  if (routes || t.axes.size() < (splits_experts(t) ? 3U : 2U)) return false;
  return std::any_of(segment.ops.begin(), segment.ops.end(), [&](const Op& op) {
    return op.phase == Phase::Forward && op.kind == OpKind::Einsum &&
           std::find(op.inputs.begin(), op.inputs.end(), param.tensor) != op.inputs.end();
  });
}

std::vector<MuonMatrices> muon_matrices(const Graph& graph, ModelStart first, bool last, bool has_layers) {
  std::vector<MuonMatrices> out;
  const Structure& s = graph.structure;
  if (!s.muon) return out;
  for (const StageParam& p : trained_params(graph, first, last, has_layers)) {
    if (!is_muon_matrix(s, *p.segment, *p.param)) continue;
    const Tensor& t = p.segment->tensor(p.param->tensor);
    const FlatParam flat = flat_param(*p.segment, *p.param);
    const Expr experts = splits_experts(t) ? local_size(t, 0) : Expr(1);
    MuonMatrices made{flat.rows / experts, flat.columns, p.count * experts,
                      replica_group(s, p.segment->tensor(p.param->gradient))};
    if (shares_matrices(s.sync) && !made.replicas.shard.empty())
      made.ranks = group_size(s, made.replicas.shard);
    const auto same = std::find_if(out.begin(), out.end(), [&](const MuonMatrices& m) {
      return m.rows == made.rows && m.columns == made.columns && m.replicas == made.replicas;
    });
    if (same == out.end())
      out.push_back(std::move(made));
    else
      same->count += made.count;
  }
  return out;
}

MuonWork muon_work(const Graph& graph, ModelStart first, bool last, bool has_layers) {
  MuonWork out;
  out.matrices = muon_matrices(graph, first, last, has_layers);
  std::vector<ReplicaGroup> groups;
  for (const MuonMatrices& m : out.matrices)
    if (std::find(groups.begin(), groups.end(), m.replicas) == groups.end()) groups.push_back(m.replicas);
  const auto derive = [&](const std::string& name, DerivedRule rule, const Expr& a, const Expr& b) {
    const Symbol symbol = Symbol::intern(name);
    out.derived.push_back({symbol, rule, a, b});
    return Expr(symbol);
  };
  int shapes = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    Expr elements, flops, ranks(1);
    for (const MuonMatrices& m : out.matrices) {
      if (!(m.replicas == groups[g])) continue;
      const Expr small = derive("Mn" + std::to_string(shapes++), DerivedRule::Min, m.rows, m.columns);
      elements += m.elements();
      flops += Expr(kNewtonSchulzSteps) *
               (Expr(4) * small * m.elements() + Expr(2) * m.count * small * small * small);
      ranks = m.ranks;
    }
    if (ranks == Expr(1)) {
      out.owned += elements;
      out.flops += flops;
      continue;
    }
    const std::string number = std::to_string(g);
    const Expr share = derive("Mo" + number, DerivedRule::CeilDiv, elements, ranks);
    out.owned += share;
    out.flops += derive("Mf" + number, DerivedRule::CeilDiv, flops, ranks);
    if (!partitions(graph.structure.sync)) out.gathers.push_back({groups[g].shard, share * ranks});
  }
  return out;
}

}  // namespace shardscape
