#include "grad_sync/sync_model.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "pipeline/schedule.h"

namespace shardscape {
namespace {

Symbol symbol(const std::string& name) { return Symbol::intern(name); }
const Expr& microbatches() {
  static const Expr m(symbol("m"));
  return m;
}

// Suffix of a group's symbols: "" for the first group, then x, xx, ...
std::string suffix(size_t group) { return std::string(group, 'x'); }

// Symbols of a kind of collective: number of collectives, and their elements.
struct KindSymbols {
  std::string count, elements;
};
KindSymbols kind_symbols(const SyncKind& kind, size_t group) {
  const std::string letters = kind.across                     ? "a"
                              : !kind.gathers()               ? "b"
                              : kind.phase == Phase::Forward  ? "gf"
                              : kind.phase == Phase::Backward ? "gb"
                              : kind.quantized                ? "gq"
                                                              : "gu";
  return {"n" + letters + suffix(group), "P" + letters + suffix(group)};
}

DType gathered_or_reduced(const SyncPolicy& policy, const SyncKind& kind) {
  return kind.gathers() ? policy.gathered_dtype(kind.quantized) : policy.grad_dtype;
}

// Whether the schedule determines the number of gathers, because FSDP units stay gathered across microbatches
// of a chunk.
bool needs_schedule(const Structure& s) {
  return is_fsdp(s.sync) && (s.stays_after_backward ? s.reshards : s.interleaved);
}

std::vector<StageParam> sharded_frozen(const Graph& graph, ModelStart first, bool last, bool has_layers) {
  std::vector<StageParam> out = stage_params(graph, first, last, has_layers);
  std::erase_if(
      out, [&](const StageParam& p) { return !is_sharded_frozen(graph.structure, *p.segment, *p.param); });
  return out;
}

class StageSyncBuilder {
 public:
  StageSyncBuilder(const Graph& graph, ModelStart first, bool last, bool has_layers)
      : graph_(graph),
        s_(graph.structure),
        groups_(replica_groups(graph)),
        policy_(sync_policy(graph.structure)),
        ends_(first.embedding != last),
        separate_roots_(first && last && graph.structure.layout == ChunkLayout::Vee),
        params_(trained_params(graph, first, last, has_layers)),
        frozen_(sharded_frozen(graph, first, last, has_layers)),
        segments_(stage_segments(graph, first, last, has_layers)),
        muon_(muon_work(graph, first, last, has_layers)) {
    sync_.strategy = s_.sync;
    sync_.frozen_elements = elements_of(frozen_);
  }

  StageSync build() {
    if (is_fsdp(s_.sync)) {
      make_units();
    } else {
      for (size_t g = 0; g < groups_.size(); ++g) reduce_group(g);
      if (s_.sync == SyncStrategy::Zero3) sync_.gathered = Expr(symbol("Pg"));
    }
    sync_.muon = std::move(muon_);
    sync_.derived.insert(sync_.derived.end(), sync_.muon.derived.begin(), sync_.muon.derived.end());
    if (s_.offload_part) sync_.derived.push_back(offloaded_blocks(symbol("Ph"), sync_.owned));
    return std::move(sync_);
  }

 private:
  std::vector<StageParam> in_group(const std::vector<StageParam>& params, size_t group) const {
    std::vector<StageParam> out;
    for (const StageParam& p : params)
      if (replica_group(s_, *p.segment, *p.param) == groups_[group]) out.push_back(p);
    return out;
  }

  static Expr elements_of(const std::vector<StageParam>& params) {
    Expr out;
    for (const StageParam& p : params) out += p.count * local_elements(p.segment->tensor(p.param->tensor));
    return out;
  }

  Expr shard_symbol(const std::string& name, const Expr& elements, const Expr& replicas) {
    sync_.derived.push_back({symbol(name), DerivedRule::CeilDiv, elements, replicas});
    return Expr(symbol(name));
  }

  const std::vector<FlatParam>& flats(const Segment& segment) {
    const auto [at, fresh] = flats_.try_emplace(&segment);
    if (fresh) at->second = flat_params(segment);
    return at->second;
  }

  DType dtype(const SyncKind& kind) const { return gathered_or_reduced(policy_, kind); }

  // Policies without units: flat buffers, buckets and DeepSpeed's stages.
  void reduce_group(size_t g) {
    const ReplicaGroup& group = groups_[g];
    const std::vector<StageParam> params = in_group(params_, g);
    const Expr elements = elements_of(params);
    const Expr frozen = elements_of(in_group(frozen_, g));
    if (!frozen.is_zero()) sync_.frozen += group.axes.empty() ? frozen : Expr(symbol("Pz" + suffix(g)));
    if (elements.is_zero() && (frozen.is_zero() || group.axes.empty())) return;
    if (group.axes.empty()) {
      sync_.owned += elements;
      sync_.buffers += elements;
      return;
    }
    const bool planned = needs_plan(s_), flat = !planned && s_.sync == SyncStrategy::DistributedOptimizer;
    const bool sharded = shards_states(s_.sync) || sync_kinds(policy_).back().gathers();
    const Expr owned = flat && group.shard.empty() ? elements
                       : flat                      ? shard_symbol("Pd" + suffix(g), elements, group.size(s_))
                       : sharded                   ? Expr(symbol("Po" + suffix(g)))
                                                   : elements;
    sync_.owned += owned;
    sync_.buffers += s_.sync == SyncStrategy::DistributedOptimizer ? owned * group.size(s_) : elements;
    for (const SyncKind& kind : sync_kinds(policy_)) {
      const MeshAxes& axes = kind.across ? group.across : kind.whole ? group.axes : group.shard;
      if (axes.empty()) continue;
      const bool none = kind.gathers() && policy_.quantized_dtype &&
                        std::none_of(params.begin(), params.end(), [&](const StageParam& p) {
                          return p.param->quantized == kind.quantized;
                        });
      if (none) continue;
      SyncRow row{kind.phase,  kind.op, axes,
                  dtype(kind), Expr(1), kind.across ? owned : flat ? owned * group.size(s_) : elements};
      if (planned) {
        const KindSymbols symbols = kind_symbols(kind, g);
        row.count = Expr(symbol(symbols.count));
        const bool padded = kind.across || collective_result(kind.op) != CollectiveResult::Whole;
        row.elements = padded                                     ? Expr(symbol(symbols.elements))
                       : kind.occurrence == SyncOccurrence::Every ? microbatches() * elements
                                                                  : elements;
      }
      sync_.rows.push_back(std::move(row));
    }
  }

  // Rows per shard under per-parameter sharding (FSDP2): one symbol for each number of rows in the graph.
  Expr row_symbol(const Expr& rows, const ReplicaGroup& group) {
    if (row_kinds_.empty())
      for (const Segment& segment : graph_.segments)
        for (const FlatParam& p : flats(segment)) {
          if (p.param->gradient < 0 && !is_sharded_frozen(s_, segment, *p.param)) continue;
          std::pair kind{p.rows, replica_group(s_, segment, *p.param)};
          if (std::find(row_kinds_.begin(), row_kinds_.end(), kind) == row_kinds_.end())
            row_kinds_.push_back(std::move(kind));
        }
    const auto at = std::find(row_kinds_.begin(), row_kinds_.end(), std::pair{rows, group}) -
                    row_kinds_.begin();
    const Symbol name = symbol("Rs" + std::to_string(at));
    if (std::none_of(sync_.derived.begin(), sync_.derived.end(),
                     [&](const DerivedSymbol& d) { return d.symbol == name; }))
      sync_.derived.push_back({name, DerivedRule::CeilDiv, rows, group.size(s_)});
    return Expr(name);
  }

  Expr shard_of(const std::vector<StageParam>& params, const std::string& name, const SyncUnit& unit) {
    if (unit.group.shard.empty()) return unit.elements;
    if (has_flat_units(s_.sync)) return shard_symbol(name, unit.elements, unit.group.size(s_));
    Expr out;
    for (const StageParam& p : params)
      for (const FlatParam& flat : flats(*p.segment))
        if (flat.param == p.param) out += p.count * row_symbol(flat.rows, unit.group) * flat.columns;
    return out;
  }

  // Adds the units of one group's parameters in a layer, or in a root: trained ones, then frozen ones.
  void make_units_of(const std::vector<StageParam>& params, bool root, int segment, size_t g,
                     const Expr& count) {
    std::vector<StageParam> frozen = params, trained = params;
    std::erase_if(trained, [](const StageParam& p) { return p.param->gradient < 0; });
    std::erase_if(frozen, [](const StageParam& p) { return p.param->gradient >= 0; });
    make_unit(std::move(trained), root, segment, g, count, false);
    make_unit(std::move(frozen), root, segment, g, count, true);
  }

  void make_unit(std::vector<StageParam> params, bool root, int segment, size_t g, const Expr& count,
                 bool frozen) {
    for (StageParam& p : params)
      if (p.segment->kind != SegmentKind::Tower) p.count = Expr(1);  // a root has all layers of the tower
    params = in_group(params, g);
    if (params.empty()) return;
    SyncUnit unit;
    unit.root = root;
    unit.frozen = frozen;
    unit.segment = segment;
    unit.group = groups_[g];
    unit.count = count;
    unit.elements = elements_of(params);
    const bool stays_gathered = root || !s_.reshards;
    unit.freed = s_.stays_after_backward
                     ? (stays_gathered ? UnitFreed::AfterLastBackward : UnitFreed::AfterForwardOnly)
                 : !stays_gathered ? UnitFreed::AfterForward
                 : s_.sync == SyncStrategy::Fsdp1 && !s_.reshards && !s_.every_microbatch
                     ? UnitFreed::AfterLastBackward
                     : UnitFreed::AfterBackward;
    // Shard symbols: Pr for the root, Ph for a separate head, Pl (one kind) or Pl0, Pl1, ... (several kinds)
    // for layers.
    const std::string name = (root && segment == graph_.head() ? "h"
                              : root                           ? "r"
                              : graph_.one_kind()              ? "l"
                                                               : "l" + std::to_string(segment - 1)) +
                             suffix(g);
    unit.shard = shard_of(params, (frozen ? "Pz" : "P") + name, unit);
    unit.full = unit.shard * unit.group.size(s_);
    if (!frozen) {
      unit.inner = reductions_of(graph_, params, root && ends_);
      unit.reductions = s_.every_microbatch ? microbatches() * count : count;
      unit.crossings = crosses_once_a_step(s_.sync) ? count : unit.reductions;
    }
    // Number of gathers of a unit that stays gathered: one for each forward that finds the unit freed, and
    // one for each backward in flight except the first.
    static const Expr in_flight{symbol("nf")};
    if (unit.freed == UnitFreed::AfterForward) unit.forward = unit.backward = microbatches() * count;
    if (unit.freed == UnitFreed::AfterLastBackward) unit.forward = count;
    if (unit.freed == UnitFreed::AfterForwardOnly ||
        (unit.freed == UnitFreed::AfterBackward && s_.interleaved)) {
      unit.forward = Expr(symbol("ngf_" + name));
      unit.backward = Expr(symbol("ngb_" + name));
    } else if (unit.freed == UnitFreed::AfterBackward) {
      unit.forward = (microbatches() - in_flight + Expr(1)) * count;
      unit.backward = (in_flight - Expr(1)) * count;
    }
    // The replay of a recompute group runs its layers one by one. Each unit except the last one is freed and
    // gathered again. The last one stays gathered, because the backward of the last layer follows.
    if (s_.recompute_groups &&
        (unit.freed == UnitFreed::AfterForward || unit.freed == UnitFreed::AfterForwardOnly))
      unit.backward += microbatches() * Expr(layers_followed_symbol(graph_, segment - 1));
    (frozen ? sync_.frozen : sync_.owned) += count * unit.shard;
    rows_of(unit);
    sync_.units.push_back(std::move(unit));
  }

  void rows_of(const SyncUnit& unit) {
    if (unit.group.axes.empty()) return;
    const auto row = [&](Phase phase, CollectiveKind op, const MeshAxes& axes, const Expr& count,
                         const Expr& each) {
      if (!count.is_zero() && !axes.empty())
        sync_.rows.push_back({phase, op, axes,
                              collective_result(op) == CollectiveResult::Gathered ? s_.dtype : s_.grad_dtype,
                              count, count * each});
    };
    row(Phase::Forward, CollectiveKind::AllGather, unit.group.shard, unit.forward, unit.full);
    row(Phase::Backward, CollectiveKind::AllGather, unit.group.shard, unit.backward, unit.full);
    row(Phase::Backward, CollectiveKind::ReduceScatter, unit.group.shard, unit.reductions, unit.full);
    row(Phase::Backward, CollectiveKind::AllReduce, unit.group.across, unit.crossings, unit.shard);
  }

  void make_units() {
    std::map<int, std::vector<StageParam>> roots;
    std::vector<StageParam> all = params_;
    all.insert(all.end(), frozen_.begin(), frozen_.end());
    for (const StageParam& p : all)
      if (p.segment->kind != SegmentKind::Layer)
        roots[!separate_roots_ ? -1 : p.segment->kind == SegmentKind::Head ? graph_.head() : 0].push_back(p);
    for (const auto& [segment, root] : roots)
      for (size_t g = 0; g < groups_.size(); ++g) make_units_of(root, true, segment, g, Expr(1));
    for (const SyncUnit& unit : sync_.units) {
      if (!unit.group.axes.empty()) sync_.gathered += unit.full;
      if (!unit.frozen) sync_.unreduced += unit.full;
    }
    const bool several = std::count_if(segments_.begin(), segments_.end(),
                                       [&](const StageSegment& s) { return is_layer(s); }) > 1;
    Expr largest;
    size_t kind = 0;
    for (const StageSegment& part : segments_) {
      if (!is_layer(part)) continue;
      std::vector<StageParam> params;
      for (const StageParam& p : all)
        if (p.segment == &graph_.segments[static_cast<size_t>(part.segment)]) params.push_back(p);
      const size_t before = sync_.units.size();
      for (size_t g = 0; g < groups_.size(); ++g) make_units_of(params, false, part.segment, g, part.count);
      Expr full, sharded;
      for (size_t u = before; u < sync_.units.size(); ++u) {
        if (!sync_.units[u].frozen) full += sync_.units[u].full;
        if (!sync_.units[u].group.axes.empty()) sharded += sync_.units[u].full;
      }
      const std::string index = several ? std::to_string(kind) : "";
      Expr held = part.count;
      if (s_.reshards && !s_.stays_after_backward) {
        sync_.derived.push_back(
            {symbol("Lg" + index), DerivedRule::Min, Expr(s_.recompute_groups ? 3 : 2), part.count});
        held = Expr(symbol("Lg" + index));
      }
      sync_.gathered += held * sharded;
      if (kind > 0) {
        sync_.derived.push_back({symbol("Pm" + index), DerivedRule::Max, largest, full});
        full = Expr(symbol("Pm" + index));
      }
      largest = full;
      ++kind;
    }
    sync_.unreduced += largest;
  }

  bool is_layer(const StageSegment& part) const {
    return graph_.segments[static_cast<size_t>(part.segment)].kind == SegmentKind::Layer;
  }

  const Graph& graph_;
  const Structure& s_;
  std::vector<ReplicaGroup> groups_;
  SyncPolicy policy_;
  bool ends_;                       // tied parameters live on the other end of the pipeline too
  bool separate_roots_;             // embedding and head are in two chunks of this stage
  std::vector<StageParam> params_;  // trained
  std::vector<StageParam> frozen_;  // sharded without gradients
  std::vector<StageSegment> segments_;
  MuonWork muon_;
  std::vector<std::pair<Expr, ReplicaGroup>> row_kinds_;
  std::map<const Segment*, std::vector<FlatParam>> flats_;
  StageSync sync_;
};

int64_t number(const Binding& binding, const char* name) {
  const auto value = binding.get(symbol(name));
  if (!value) throw std::invalid_argument(std::string(name) + " has no value yet");
  return *value;
}

// Elements of a group's parameters that a rank owns once gradients are reduced: its part of the gather of
// updated parameters, or of the scatter.
int64_t owned_of(const SyncPlan& plan, const SyncInput& input, int group) {
  const SyncGroup& replicas = input.groups[static_cast<size_t>(group)];
  int64_t gathered = 0, scattered = 0, whole = 0;
  for (const SyncAction& a : plan.actions) {
    if (a.replicas != group) continue;
    if (a.when == SyncWhen::AfterOptimizer) gathered += a.elements;
    if (collective_result(a.op) == CollectiveResult::Shard) scattered += a.elements;
  }
  for (const SyncParam& p : input.params)
    if (p.group == group && !p.frozen) whole += p.elements();
  return gathered > 0 ? gathered / replicas.size : scattered > 0 ? scattered / replicas.size : whole;
}

// By chunk: gathers in forwards and in backwards of a unit that is freed by backwards only (backward_frees),
// or by forwards only. The walk visits the whole schedule; only reports need these numbers, searches do not.
using ChunkGathers = std::vector<std::pair<int64_t, int64_t>>;
ChunkGathers chunk_gathers(const ParallelSpec& parallel, int stage, int microbatches, int chunks,
                           bool backward_frees) {
  ChunkGathers out(static_cast<size_t>(chunks));
  std::vector<char> gathered(static_cast<size_t>(chunks));
  for (const Action& a : make_stage_schedule(parallel, stage, microbatches)) {
    const bool backward = a.kind == ActionKind::Backward || a.kind == ActionKind::BackwardInput;
    if (!backward && a.kind != ActionKind::Forward) continue;
    const auto c = static_cast<size_t>(a.chunk);
    if (!gathered[c]) ++(backward ? out[c].second : out[c].first);
    gathered[c] = backward != backward_frees;
  }
  return out;
}

void bind_chunk_gathers(Binding& binding, const Graph& graph, const ParallelSpec& parallel, ModelStart first,
                        bool last, const std::vector<std::vector<int>>& chunks) {
  const auto stage = static_cast<int>(number(binding, "p")), v = static_cast<int>(chunks.size()),
             m = static_cast<int>(number(binding, "m"));
  const ChunkGathers gathers = chunk_gathers(parallel, stage, m, v, !graph.structure.stays_after_backward);
  const auto kinds = static_cast<size_t>(graph.kinds());
  const auto set = [&](const std::string& name, int64_t forward, int64_t backward) {
    for (size_t g = 0; g < replica_groups(graph).size(); ++g) {
      binding.set(symbol("ngf_" + name + suffix(g)), forward);
      binding.set(symbol("ngb_" + name + suffix(g)), backward);
    }
  };
  if (first || last) {
    const auto& root = first ? gathers.front() : gathers.back();
    set("r", root.first, root.second);
  }
  for (size_t kind = 0; kind < kinds; ++kind) {
    int64_t forward = 0, backward = 0;
    for (size_t c = 0; c < chunks.size(); ++c) {
      const int64_t layers = std::count(chunks[c].begin(), chunks[c].end(), static_cast<int>(kind));
      forward += layers * gathers[c].first;
      backward += layers * gathers[c].second;
    }
    set(kinds == 1 ? "l" : "l" + std::to_string(kind), forward, backward);
  }
}

}  // namespace

bool needs_plan(const Structure& s) {
  if (!s.dp && !s.cp && !s.edp) return false;
  return !is_fsdp(s.sync) && (s.overlap || s.interleaved || gathered_weight_type(s) != s.dtype ||
                              s.sync == SyncStrategy::DdpBuckets || is_deepspeed(s.sync));
}

StageSync stage_sync(const Graph& graph, ModelStart first, bool last, bool has_layers) {
  if (!graph.structure.trains()) return {};
  return StageSyncBuilder(graph, first, last, has_layers).build();
}

SyncPolicy sync_policy(const Structure& structure) {
  SyncPolicy policy;
  policy.strategy = structure.sync;
  policy.param_dtype = structure.dtype;
  if (const DType type = gathered_weight_type(structure); type != structure.dtype)
    policy.quantized_dtype = type;
  policy.grad_dtype = structure.grad_dtype;
  policy.overlap = structure.overlap;
  policy.every_microbatch = structure.every_microbatch;
  policy.sharding = structure.reshards ? FsdpSharding::FullShard : FsdpSharding::ShardGradOp;
  policy.stays_after_backward = structure.stays_after_backward;
  policy.recompute = structure.sync == SyncStrategy::Zero3 && structure.recompute == Recompute::Full;
  // Without overlap, the single buffer is padded to the group size as in Megatron-LM. Megatron-core also
  // aligns it; sizes that are multiples of 128 are the same.
  if (!structure.overlap) policy.param_alignment = policy.bucket_alignment = 1;
  return policy;
}

SyncPolicy sync_policy(const Structure& structure, const ParallelSpec& parallel, int64_t microbatches) {
  constexpr int64_t kMegabyte = int64_t{1} << 20;
  SyncPolicy policy = sync_policy(structure);
  policy.microbatches = microbatches;
  policy.bucket_elements = parallel.ddp_bucket_size;
  policy.bucket_bytes = parallel.bucket_cap_mb * kMegabyte;
  policy.first_bucket_bytes = parallel.first_bucket_mb * kMegabyte;
  policy.zero = parallel.zero;
  return policy;
}

Result<StagePlan> stage_plan(const SyncBasis& basis, const Structure& structure, const Binding& binding,
                             const ParallelSpec& parallel, ModelStart first, bool last,
                             const std::vector<std::vector<int>>& chunks) {
  StagePlan out;
  out.input = sync_input(basis, binding, first, last, chunks, &out.holders);
  auto planned = plan_sync(out.input, sync_policy(structure, parallel, number(binding, "m")));
  if (auto* problem = std::get_if<Problem>(&planned)) return std::move(*problem);
  out.plan = std::get<SyncPlan>(std::move(planned));
  return out;
}

PlacedPlan place_plan(const SyncBasis& basis, StagePlan plan) {
  PlacedPlan out;
  std::map<std::string, MeshAxes> groups;
  for (const SyncBasis::Group& g : basis.groups) {
    groups.emplace(group_name(g.replicas.shard), g.replicas.shard);
    groups.emplace(group_name(g.replicas.across), g.replicas.across);
    groups.emplace(group_name(g.replicas.axes), g.replicas.axes);
  }
  const size_t params = plan.input.params.size();
  std::map<int, std::vector<size_t>> reused;  // by parameter
  for (size_t i = 0; i < plan.input.reused.size(); ++i)
    reused[plan.input.reused[i].param].push_back(plan.holders[params + i]);
  for (const size_t place : plan.holders) out.places.resize(std::max(out.places.size(), place + 1));
  for (SyncAction& a : plan.plan.actions) {
    PlacedPlan::PlacedAction& placed = out.actions.emplace_back();
    const auto add = [](std::vector<size_t>& to, size_t place) {
      if (to.empty() || to.back() != place) to.push_back(place);
    };
    placed.first = a.parts.empty() ? 0 : a.parts.front().param;
    int before = -1;
    for (const SyncPart& part : a.parts) {
      if (std::exchange(before, part.param) == part.param) continue;
      placed.first = std::min(placed.first, part.param);
      const size_t place = plan.holders[static_cast<size_t>(part.param)];
      add(placed.holders, place);
      add(placed.readers, place);
      if (const auto found = reused.find(part.param); found != reused.end())
        for (const size_t other : found->second) add(placed.readers, other);
    }
    for (std::vector<size_t>* places : {&placed.holders, &placed.readers}) {
      std::sort(places->begin(), places->end());
      places->erase(std::unique(places->begin(), places->end()), places->end());
    }
    const auto group = groups.find(a.group);
    if (group == groups.end())
      throw std::logic_error("the plan of gradient sync names the group " + a.group +
                             ", which is not in the graph");
    placed.axes = group->second;
    a.parts = std::vector<SyncPart>();  // frees the parts: there may be thousands
    const SyncAction& issued = placed.action = std::move(a);
    if (issued.param < 0) continue;
    PlacedPlan::Place& at = out.places[plan.holders[static_cast<size_t>(issued.param)]];
    if (issued.when == SyncWhen::BeforeForward) at.before_forward.push_back(out.actions.size() - 1);
    if (issued.when == SyncWhen::BeforeBackward) at.before_backward.push_back(out.actions.size() - 1);
    if (issued.when == SyncWhen::AfterGradient) at.after_gradient.push_back(out.actions.size() - 1);
  }
  return out;
}

PlanTotals plan_totals(const Structure& structure, const StagePlan& planned) {
  const SyncPolicy policy = sync_policy(structure);
  const SyncInput& input = planned.input;
  PlanTotals out;
  out.gathered = planned.plan.gathered;
  for (size_t g = 0; g < input.groups.size(); ++g) {
    PlanTotals::Group& group = out.groups.emplace_back();
    group.owned = owned_of(planned.plan, input, static_cast<int>(g));
    for (const SyncParam& p : input.params)
      if (p.frozen && p.group == static_cast<int>(g))
        group.frozen += (p.elements() + input.groups[g].size - 1) / input.groups[g].size;
    group.reduces = !input.groups[g].name.empty();
    group.crosses = !input.groups[g].across.empty();
    group.sums = !input.groups[g].whole_name().empty();
    for (const SyncKind& kind : sync_kinds(policy)) {
      PlanTotals::Kind& sums = group.kinds.emplace_back();
      const std::string over = kind.across  ? input.groups[g].across
                               : kind.whole ? input.groups[g].whole_name()
                                            : input.groups[g].name;
      const DType dtype = gathered_or_reduced(policy, kind);
      for (const SyncAction& a : planned.plan.actions) {
        if (over.empty() || a.replicas != static_cast<int>(g) || a.phase != kind.phase || a.op != kind.op ||
            a.dtype != dtype || a.group != over)
          continue;
        ++sums.count[static_cast<size_t>(a.occurrence)];
        sums.elements[static_cast<size_t>(a.occurrence)] += a.elements;
      }
    }
  }
  return out;
}

void bind_plan(Binding& binding, const Structure& structure, const ParallelSpec& parallel,
               const PlanTotals& totals) {
  const int64_t m = number(binding, "m");
  const std::vector<SyncKind> kinds = sync_kinds(sync_policy(structure));
  const auto in_step = [m](const PlanTotals::ByOccurrence& sums) {
    int64_t out = 0;
    for (size_t i = 0; i < kSyncOccurrences; ++i)
      out += sync_occurrences(static_cast<SyncOccurrence>(i), m) * sums[i];
    return out;
  };
  for (size_t g = 0; g < totals.groups.size(); ++g) {
    const PlanTotals::Group& group = totals.groups[g];
    for (size_t k = 0; k < kinds.size(); ++k) {
      if (!(kinds[k].across ? group.crosses : kinds[k].whole ? group.sums : group.reduces)) continue;
      const KindSymbols symbols = kind_symbols(kinds[k], g);
      binding.set(symbol(symbols.count), in_step(group.kinds[k].count));
      binding.set(symbol(symbols.elements), in_step(group.kinds[k].elements));
    }
    binding.set(symbol("Po" + suffix(g)), group.owned);
    binding.set(symbol("Pz" + suffix(g)), group.frozen);
  }
  if (is_deepspeed(structure.sync)) {
    binding.set(symbol("Pg"), totals.gathered);
    binding.set(symbol("Zb"), parallel.zero.reduce_bucket_size);
  }
}

std::optional<Problem> bind_sync(Binding& binding, const Graph& graph, const ParallelSpec& parallel,
                                 ModelStart first, bool last, const std::vector<std::vector<int>>& chunks) {
  if (needs_plan(graph.structure)) {
    auto planned = stage_plan(sync_basis(graph), graph.structure, binding, parallel, first, last, chunks);
    if (auto* problem = std::get_if<Problem>(&planned)) return std::move(*problem);
    bind_plan(binding, graph.structure, parallel, plan_totals(graph.structure, std::get<StagePlan>(planned)));
  }
  if (needs_schedule(graph.structure)) bind_chunk_gathers(binding, graph, parallel, first, last, chunks);
  return std::nullopt;
}

std::vector<MeshAxes> norm_groups(const Graph& graph) {
  return graph.structure.clip_grad_norm ? norm_axes(graph) : std::vector<MeshAxes>{};
}

MeshAxes loss_group(const Graph& graph) {
  return graph.structure.average_loss ? replica_groups(graph).front().axes : MeshAxes{};
}

}  // namespace shardscape
