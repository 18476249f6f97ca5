#include "timing/sync_simulator.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "graph/build.h"
#include "performance/collective_time.h"
#include "performance/op_time.h"
#include "plan/bound_plan.h"
#include "plan/rank_mesh.h"
#include "plan/stage_layout.h"
#include "timing/muon_seconds.h"

namespace shardscape {
namespace {

SyncWalk::Handle handle_of(NodeId node) { return SyncWalk::Handle{node} - kNoNode; }
NodeId node_of(SyncWalk::Handle handle) { return static_cast<NodeId>(handle + kNoNode); }

// Quantized types include their scales.
double element_bytes(DType type) {
  static const auto bytes = [] {
    std::array<double, kDTypeCount> out{};
    for (size_t t = 0; t < out.size(); ++t) out[t] = number(dtype_size(static_cast<DType>(t)), {});
    return out;
  }();
  return bytes[static_cast<size_t>(type)];
}

// "reduce-scatter"
std::string words_of(CollectiveKind op) {
  std::string out(collective_kind_name(op));
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

SpanName collective_name(std::string text, Phase phase, CollectiveKind op, std::string group, DType dtype) {
  return {std::move(text), SpanCollective{phase, op, std::move(group), dtype}};
}

}  // namespace

SyncCosts::SyncCosts(const Report& report, const Machine& machine)
    : report_(report), machine_(machine), mesh_(mesh_of(report)) {}

double SyncCosts::collective(CollectiveKind op, double bytes, const MeshAxes& axes,
                             const LinkShare& concurrent) {
  for (const Known& k : known_)
    if (k.op == op && k.bytes == bytes && k.concurrent.scaleup == concurrent.scaleup &&
        k.concurrent.nic == concurrent.nic && k.axes == axes)
      return k.seconds;
  const auto [it, fresh] = spans_.try_emplace(axes);
  if (fresh) it->second = span_of(mesh_, axes, machine_.network);
  const CollectiveEstimate estimate = collective_estimate(machine_, op, bytes, it->second);
  const LinkShare one = link_share(machine_, estimate);
  LinkShare all = one;
  all += concurrent;
  known_.push_back({op, bytes, axes, concurrent, estimate.seconds * slowdown(one, all)});
  return known_.back().seconds;
}

double SyncCosts::value(const StageReport& stage, const Expr& expr) {
  for (const Value& v : values_)
    if (v.stage == stage.stage && v.expr == &expr) return v.value;
  values_.push_back({stage.stage, &expr, number(expr, stage.binding)});
  return values_.back().value;
}

double SyncCosts::all_reduce_mirrored(double bytes, int64_t stage) const {
  const int64_t other = mesh_.degree(MeshAxis::Pp) - 1 - stage;
  const GroupSpan span = shardscape::span_of(
      {mesh_.with(0, MeshAxis::Pp, stage), mesh_.with(0, MeshAxis::Pp, other)}, machine_.network);
  return collective_seconds(machine_, CollectiveKind::AllReduce, bytes, span);
}

std::shared_ptr<const StageSyncParts> SyncCosts::parts(const StageReport& stage) {
  std::shared_ptr<const StageSyncParts>& here = parts_[static_cast<size_t>(stage.shape)];
  if (here) return here;
  const Graph& graph = report_.graph();
  const StageShape& shape = report_.model->shapes[static_cast<size_t>(stage.shape)];
  CacheKey key;
  key.add(report_.model->serial);  // stands for the structure
  key.add(int64_t{stage.shape});
  const auto make = [&] {
    StageSync sync = stage_sync(graph, shape.first, shape.last, shape.has_layers);
    auto reductions = plan_grad_reduce(graph, sync.owned, shape.first, shape.last, shape.has_layers);
    auto optimizer = optimizer_cost(graph, sync.owned, sync.muon.owned, shape.first, shape.last,
                                    shape.has_layers);
    auto offloaded = offloaded_step(graph, sync.owned);
    return std::make_shared<const StageSyncParts>(
        StageSyncParts{std::move(sync), std::move(reductions), std::move(optimizer), std::move(offloaded)});
  };
  return here = report_.cache->get<StageSyncParts>(
             CacheKind::SyncParts, key, make, [](const StageSyncParts& made) {
               constexpr size_t kRow = 2000;  // bytes of one row with its expressions
               return sizeof made +
                      (made.sync.rows.size() + made.sync.units.size() + made.reductions.size()) * kRow;
             });
}

SyncSimulator::SyncSimulator(SyncCosts& costs, const StageReport& stage, int64_t microbatches,
                             Timeline& timeline)
    : costs_(costs),
      graph_(costs.report().graph()),
      stage_(costs.report().stages[static_cast<size_t>(stage.representative)]),
      number_(stage.stage),
      timeline_(timeline),
      parts_(costs.parts(stage)),
      walk_(graph_, parts_->sync,
            static_cast<int>(pipeline_layout(costs.report().design.parallel).microbatches(microbatches)),
            *this) {}

SyncSimulator::SyncSimulator(const SyncSimulator& representative, int stage)
    : costs_(representative.costs_),
      graph_(representative.graph_),
      stage_(representative.stage_),
      number_(stage),
      timeline_(representative.timeline_),
      parts_(representative.parts_),
      walk_(representative.walk_, *this),
      backwards_(representative.backwards_.size(), kNoNode),
      links_(representative.links_),
      action_seconds_(representative.action_seconds_) {}

void SyncSimulator::plan(const StageLayout& layout) {
  backwards_.assign(layout.instances.size(), kNoNode);
  walk_.plan(layout, placed_plan(costs_.report(), stage_, parts_->sync));
  action_seconds_ = std::make_shared<std::vector<double>>(walk_.actions().size(), -1);
}

void SyncSimulator::set_links(const LinkShare& links) {
  if (links == links_) return;
  links_ = links;  // the seconds of the representative's actions do not hold
  action_seconds_ = std::make_shared<std::vector<double>>(walk_.actions().size(), -1);
}

bool SyncSimulator::every_microbatch() const {
  return std::any_of(walk_.actions().begin(), walk_.actions().end(),
                     [](const PlacedPlan::PlacedAction& placed) {
                       const SyncAction& a = placed.action;
                       return a.when == SyncWhen::BeforeForward || a.when == SyncWhen::BeforeBackward ||
                              (a.when == SyncWhen::AfterGradient && a.occurrence != SyncOccurrence::Last);
                     });
}

void SyncSimulator::resume(const Units& gathered) {
  walk_.resume(gathered);
  before_ = timeline_.last(number_, StreamKind::Compute);
}

void DryRun::begin(const SyncSimulator::Units& gathered) const {
  sync_.resume(gathered);
  sync_.walk_.reset_backwards();
  std::fill(sync_.backwards_.begin(), sync_.backwards_.end(), kNoNode);
}

DryRun::~DryRun() {
  sync_.walk_.restore(std::move(walk_));
  sync_.backwards_ = std::move(backwards_);
  sync_.before_ = before_;
  sync_.last_reduction_ = last_reduction_;
}

NodeId SyncSimulator::enter(int microbatch, size_t instance, bool backward) {
  return awaited(node_of(walk_.enter(microbatch, instance, backward)));
}

NodeId SyncSimulator::launched(NodeId collective, double seconds) {
  running_.push_back({collective, seconds});
  return collective;
}

// The stream is ordered: all collectives before this one have ended too.
NodeId SyncSimulator::awaited(NodeId collective) {
  std::erase_if(running_, [&](const Running& one) { return one.node <= collective; });
  return collective;
}

double SyncSimulator::concurrent_seconds() const {
  double out = 0;
  for (const Running& one : running_) out += one.seconds;
  return out;
}

void SyncSimulator::layer_ran(double seconds) {
  if (has_units()) return running_.clear();
  size_t ended = 0;
  for (; ended < running_.size() && running_[ended].seconds <= seconds; ++ended)
    seconds -= running_[ended].seconds;
  running_.erase(running_.begin(), running_.begin() + static_cast<std::ptrdiff_t>(ended));
  if (!running_.empty()) running_.front().seconds -= seconds;
}

void SyncSimulator::begin_action() {
  if (has_units()) running_.clear();
}

void SyncSimulator::leave(int microbatch, size_t instance, bool backward, NodeId last) {
  left_ = last;
  if (last != kNoNode) before_ = last;
  if (backward) backwards_[instance] = last;
  walk_.leave(microbatch, instance, backward);
}

NodeId SyncSimulator::enter_replay(int microbatch, size_t instance) {
  return awaited(node_of(walk_.enter_replay(microbatch, instance)));
}

// One thread block reduces a single number, so the all-reduce occupies no processors that layers need.
void SyncSimulator::average_loss(int microbatch) {
  const MeshAxes axes = loss_group(graph_);
  const auto name = [&] {
    return collective_name("all-reduce of the loss", Phase::Forward, CollectiveKind::AllReduce,
                           group_name(axes), DType::FP32);
  };
  timeline_.add(collective_node(name, microbatch),
                costs_.collective(CollectiveKind::AllReduce, dtype_bytes(DType::FP32), axes), {left_});
}

// Megatron zeroes its buffers. PyTorch and DeepSpeed drop gradients, and the first backward writes new ones.
void SyncSimulator::begin() {
  overlaps_param_gather_ = costs_.report().design.parallel.overlap_param_gather && graph_.structure.overlap &&
                           parts_->sync.strategy == SyncStrategy::DistributedOptimizer;
  if (overlaps_param_gather_) {
    // Gathers of the parameters that the previous step updated, in the order of first use. The forward waits
    // for each.
    const std::vector<PlacedPlan::PlacedAction>& actions = walk_.actions();
    std::vector<size_t> gathers;
    for (size_t i = 0; i < actions.size(); ++i)
      if (actions[i].action.when == SyncWhen::AfterOptimizer && !actions[i].holders.empty())
        gathers.push_back(i);
    std::stable_sort(gathers.begin(), gathers.end(),
                     [&](size_t a, size_t b) { return actions[a].first < actions[b].first; });
    for (const size_t i : gathers) walk_.run(i, -1);
  }
  if (!graph_.structure.trains()) return;
  if (parts_->sync.strategy != SyncStrategy::DdpFlat &&
      parts_->sync.strategy != SyncStrategy::DistributedOptimizer)
    return;
  pass(value(parts_->sync.buffers) * dtype_bytes(graph_.structure.grad_dtype), "zero gradients", kNoNode);
}

void SyncSimulator::norm() {
  if (graph_.structure.clip_grad_norm)
    pass(value(parts_->offloaded.gradient_bytes), "gradient norm", reduced());
}

void SyncSimulator::reduce() {
  walk_.reduce();
  for (const GradReduction& r : parts_->reductions) {
    if (r.embedding_group) {
      embedding_bytes_ = value(r.bytes);
      paired_dtype_ = r.dtype;
    } else if (r.mirror) {
      mirror_bytes_ = value(r.bytes);
      paired_dtype_ = r.dtype;
    } else {
      const auto name = [&] {
        return collective_name("all-reduce of gradients over " + r.group(), Phase::GradReduce,
                               CollectiveKind::AllReduce, r.group(), r.dtype);
      };
      last_reduction_ = add(name, costs_.collective(CollectiveKind::AllReduce, value(r.bytes), r.axes), -1,
                            {reduced()});
    }
  }
}

NodeId SyncSimulator::reduced() const {
  return timeline_.latest({last_reduction_, timeline_.last(number_, StreamKind::Compute)});
}

NodeId SyncSimulator::all_reduce(const char* text, const SpanCollective& what, double seconds,
                                 const std::vector<NodeId>& after) {
  const auto name = [&] { return SpanName{text, what}; };
  return last_reduction_ = add(name, seconds, -1, after);
}

// Gathers of momentum one after another, then the iterations, each matrix in kernels of its own.
void SyncSimulator::orthogonalize() {
  const MuonWork& muon = parts_->sync.muon;
  if (muon.matrices.empty()) return;
  for (const MuonWork::Gather& gather : muon.gathers) {
    const auto name = [&] {
      return collective_name("all-gather of momentum", Phase::Step, CollectiveKind::AllGather,
                             group_name(gather.axes), DType::BF16);
    };
    last_reduction_ = add(name,
                          costs_.collective(CollectiveKind::AllGather,
                                            value(gather.elements) * dtype_bytes(DType::BF16), gather.axes),
                          -1, {reduced()});
  }
  add_compute(SpanKind::Optimizer, StreamKind::Compute, TimeCategory::Optimizer,
              newton_schulz_seconds(costs_.machine(), muon, stage_.binding), reduced(),
              "Newton-Schulz iterations");
}

void SyncSimulator::optimize() {
  orthogonalize();
  NodeId updated = kNoNode;
  const NodeId ready = reduced();
  if (updates_on_device(graph_.structure))
    updated = pass(value(parts_->optimizer.read_bytes) + value(parts_->optimizer.written_bytes), "", ready);
  if (graph_.structure.offload_optimizer) {
    const double rate = costs_.machine().host_gbps * 1e9;
    const NodeId stored = add_compute(SpanKind::Store, StreamKind::Host, TimeCategory::Host,
                                      value(parts_->offloaded.gradient_bytes) / rate, ready);
    updated = add_compute(SpanKind::Load, StreamKind::HostLoad, TimeCategory::Host,
                          value(parts_->offloaded.parameter_bytes) / rate,
                          timeline_.latest({stored, updated}));
  }
  before_ = updated;
  if (!overlaps_param_gather_) walk_.run_all(SyncWhen::AfterOptimizer);
}

SyncWalk::Handle SyncSimulator::gather(const std::vector<size_t>& units, SyncWalk::GatherPurpose purpose,
                                       int microbatch, size_t, bool) {
  NodeId made = kNoNode;
  for (const size_t u : units) {
    const SyncUnit& unit = parts_->sync.units[u];
    if (unit.group.shard.empty()) continue;
    gather_seconds_.resize(parts_->sync.units.size(), -1);
    double& seconds = gather_seconds_[u];
    if (seconds < 0)
      seconds = costs_.collective(CollectiveKind::AllGather,
                                  value(unit.full) * dtype_bytes(graph_.structure.dtype), unit.group.shard,
                                  links_);
    const bool forward = purpose == SyncWalk::GatherPurpose::Forward;
    const auto name = [&] {
      return collective_name(forward ? "gather of parameters" : "gather of parameters for the backward",
                             forward ? Phase::Forward : Phase::Backward, CollectiveKind::AllGather,
                             group_name(unit.group.shard), graph_.structure.dtype);
    };
    made = add(name, seconds, microbatch, {before_});
  }
  return handle_of(made);
}

void SyncSimulator::scatter(const std::vector<size_t>& units, int microbatch,
                            const std::vector<size_t>& instances, bool crosses) {
  const DType type = graph_.structure.grad_dtype;
  const double width = dtype_bytes(type);
  after_.clear();
  for (const size_t i : instances) after_.push_back(backwards_[i]);
  const auto take = [&](const SpanCollective& what, double seconds) {
    const auto name = [&] { return SpanName{words_of(what.op) + " of gradients over " + what.group, what}; };
    last_reduction_ = add(name, seconds, microbatch, after_);
    after_.assign(1, last_reduction_);
  };
  const auto over = [&](Phase phase, CollectiveKind op, const MeshAxes& axes, DType dtype, double bytes) {
    if (!axes.empty() && bytes > 0)
      take({phase, op, group_name(axes), dtype}, costs_.collective(op, bytes, axes, links_));
  };
  for (const size_t u : units) {
    const SyncUnit& unit = parts_->sync.units[u];
    if (unit.frozen) continue;
    for (const GradReduction& r : unit.inner) {
      const double bytes = value(r.bytes);
      // The stages at both ends reach the end of their backward at different times; this wait is not counted.
      if (r.pair())
        take({Phase::GradReduce, CollectiveKind::AllReduce, r.group(), r.dtype},
             costs_.all_reduce_mirrored(bytes, number_));
      else
        over(Phase::GradReduce, CollectiveKind::AllReduce, r.axes, r.dtype, bytes);
    }
    over(Phase::Backward, CollectiveKind::ReduceScatter, unit.group.shard, type, value(unit.full) * width);
    if (crosses)
      over(Phase::Backward, CollectiveKind::AllReduce, unit.group.across, type, value(unit.shard) * width);
  }
}

// Runs one action of the plan. microbatch: for gathers, and for reductions of every microbatch.
SyncWalk::Handle SyncSimulator::run(const PlacedPlan::PlacedAction& placed, size_t index, int microbatch) {
  const SyncAction& a = placed.action;
  double& seconds = (*action_seconds_)[index];
  if (seconds < 0) {
    const double bytes = static_cast<double>(a.elements) * element_bytes(a.dtype);
    const bool alone = a.when == SyncWhen::AfterBackward ||
                       (a.when == SyncWhen::AfterOptimizer && !overlaps_param_gather_);
    seconds = costs_.collective(a.op, bytes, placed.axes, alone ? LinkShare{} : links_);
  }
  const auto name = [&](const char* what) {
    return collective_name(words_of(a.op) + what + a.group, a.phase, a.op, a.group, a.dtype);
  };
  if (collective_result(a.op) == CollectiveResult::Gathered || a.when == SyncWhen::AfterOptimizer) {
    return handle_of(add([&] { return name(" of parameters over "); }, seconds, microbatch, {before_}));
  }
  after_.clear();
  for (const size_t place : placed.holders) after_.push_back(backwards_[place]);
  last_reduction_ = add([&] { return name(" of gradients over "); }, seconds,
                        a.occurrence == SyncOccurrence::Every ? microbatch : -1, after_);
  return 0;
}

template <typename Name>
Node SyncSimulator::collective_node(const Name& name, int microbatch) {
  Node node;
  node.stage = number_;
  node.stream = StreamKind::DataComm;
  node.kind = SpanKind::Collective;
  node.category = TimeCategory::DataComm;
  node.microbatch = microbatch;
  if (timeline_.has_spans()) node.name = timeline_.name(name());
  return node;
}

template <typename Name>
NodeId SyncSimulator::add(const Name& name, double seconds, int microbatch,
                          const std::vector<NodeId>& after) {
  return launched(timeline_.add(collective_node(name, microbatch), seconds, after), seconds);
}

template <typename Name>
NodeId SyncSimulator::add(const Name& name, double seconds, int microbatch,
                          std::initializer_list<NodeId> after) {
  return launched(timeline_.add(collective_node(name, microbatch), seconds, after), seconds);
}

NodeId SyncSimulator::pass(double bytes, const char* name, NodeId after) {
  const double seconds = bytes > 0 ? memory_bound_seconds(costs_.machine(), bytes) : 0;
  return add_compute(SpanKind::Optimizer, StreamKind::Compute, TimeCategory::Optimizer, seconds, after, name);
}

NodeId SyncSimulator::add_compute(SpanKind kind, StreamKind stream, TimeCategory category, double seconds,
                                  NodeId after, const char* name) {
  Node node;
  node.stage = number_;
  node.stream = stream;
  node.kind = kind;
  node.category = category;
  if (*name && timeline_.has_spans()) node.name = timeline_.name({name, std::nullopt});
  return timeline_.add(node, seconds, {after});
}

}  // namespace shardscape
