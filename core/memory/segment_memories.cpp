#include "memory/segment_memories.h"

#include <algorithm>
#include <numeric>

#include "grad_sync/stage_gradients.h"
#include "grad_sync/sync_params.h"
#include "grad_sync/sync_plan.h"
#include "graph/build.h"
#include "graph/carried_tensors.h"
#include "graph/stage_symbols.h"
#include "graph/structure_fields.h"
#include "model/library.h"

namespace shardscape {
namespace {

// Lifetimes, together with the graph that they refer to.
struct Lifetimes {
  std::shared_ptr<const Graph> graph;
  SegmentLifetimes of;
};

// One dummy gradient per weight shape of matrix products. For experts, the shape is that of one expert's
// weight.
std::vector<Dummy> dummy_gradients_of(const Segment& s, const Binding& binding) {
  std::vector<Dummy> out;
  for (const FlatParam& flat : flat_params(s)) {
    const Tensor& t = s.tensor(flat.param->tensor);
    const bool product = std::any_of(s.ops.begin(), s.ops.end(), [&](const Op& op) {
      return op.grad == GradRole::Weight && op.kind == OpKind::Einsum &&
             s.tensor(op.outputs[0]).gradient_of == flat.param->tensor;
    });
    if (!product || flat.vector) continue;
    const bool experts = t.axes.front() == Axis::Experts;
    const Expr columns = flat.columns, rows = flat.rows;
    const auto number = [&](const Expr& e) {
      const auto v = evaluate(e, binding);
      return std::holds_alternative<Wide>(v) ? static_cast<int64_t>(std::get<Wide>(v)) : int64_t{0};
    };
    const int64_t local = experts ? number(local_size(t, 0)) : 1;
    const int64_t elements = number(flat.elements()) / std::max<int64_t>(local, 1);
    out.push_back({number(rows), number(columns), allocated_bytes(elements * dtype_bytes(t.dtype))});
  }
  return out;
}

bool tied_to(const Param& param, const Segment& other) {
  return !param.tied.empty() && std::any_of(other.params.begin(), other.params.end(),
                                            [&](const Param& p) { return p.tied == param.tied; });
}

}  // namespace

const KernelProfile& profile_of(const Graph& graph) {
  return *ModelLibrary::instance().profile(graph.structure.profile);
}

bool has_shared_dummies(const Graph& graph) {
  return graph.structure.trains() && !graph.structure.separate_weight_gradients &&
         profile_of(graph).weight_gradient == WeightGradient::SharedDummy;
}

std::shared_ptr<const SegmentLifetimes> cached_lifetimes(const Report& report) {
  Structure read = members_with<&StructureUses::lifetimes>(report.graph().structure);
  // Of the policy of gradient sync, lifetimes depend only on whether FSDP shards the gradients.
  read.sync = is_fsdp(read.sync) ? SyncStrategy::Fsdp1 : SyncStrategy::DdpFlat;
  const auto make = [&] {
    auto out = std::make_shared<Lifetimes>(
        Lifetimes{report.model->graph, {*report.model->graph, profile_of(report.graph())}});
    out->of.set_serial(report.cache->next_serial());
    return out;
  };
  const auto found = report.cache->get<Lifetimes>(
      CacheKind::Lifetimes, key_of(read), make,
      [](const Lifetimes& made) { return bytes_of(made.graph->segments.all()) / 4; });
  return {found, &found->of};
}

SegmentMemories::SegmentMemories(const Report& report, std::shared_ptr<const MemoryTable> table,
                                 MemoryPool pool)
    : report_(report), lifetimes_(cached_lifetimes(report)), table_(std::move(table)), pool_(pool) {
  if (table_) return;
  own_.sizes = lifetimes_->sizes(report.stages.front().binding);
  if (pool == MemoryPool::Eager) add_new_gradients();
  keep_pool(report, pool, own_.sizes);
}

void SegmentMemories::add_new_gradients() {
  const AllocatedGradients of = allocated_gradients(report_);
  if (of.bytes == 0) return;
  const Graph& graph = report_.graph();
  for (size_t i = 0; i < graph.segments.size(); ++i) {
    const Segment& s = graph.segments[i];
    std::vector<int64_t>& new_gradients = own_.sizes.new_gradients.emplace_back(own_.sizes.gradients[i]);
    for (size_t p = 0; p < new_gradients.size(); ++p) {
      const auto head = static_cast<size_t>(graph.head());
      const bool later = of.tied && i < head && tied_to(s.params[p], graph.segments[head]);
      const bool none = later || s.params[p].gradient < 0;
      new_gradients[p] = none ? 0
                              : new_gradients[p] / dtype_bytes(s.tensor(s.params[p].tensor).dtype) * of.bytes;
    }
  }
}

AllocatedGradients allocated_gradients(const Report& report) {
  const Structure& s = report.graph().structure;
  // Either all stages with the embedding also have the head, or none has.
  AllocatedGradients out{0, report.stages.front().first && report.stages.front().last};
  switch (gradient_life(report.graph())) {
    case GradientLife::UntilOptimizer:
      out.bytes = dtype_bytes(is_deepspeed(s.sync) ? s.dtype : s.grad_dtype);
      break;
    case GradientLife::UntilReduced: out.bytes = dtype_bytes(unreduced_dtype(s)); break;
    case GradientLife::Always:
    case GradientLife::InBuckets: break;
  }
  return out;
}

int64_t SegmentMemories::new_gradient_bytes(int segment) const {
  if (sizes().new_gradients.empty()) return 0;
  const std::vector<int64_t>& of = sizes().new_gradients[static_cast<size_t>(segment)];
  return std::accumulate(of.begin(), of.end(), int64_t{0});
}

std::vector<int64_t> SegmentMemories::carried_gradients() const {
  std::vector<int64_t> out;
  for (const auto& made : made_carried(report_.graph())) {
    const bool trained = made && made->grad >= 0;
    const auto segment = static_cast<size_t>(trained ? made->segment : 0);
    out.push_back(trained ? sizes().storages[segment][static_cast<size_t>(
                                report_.graph().segments[segment].tensor(made->grad).storage)]
                          : 0);
  }
  return out;
}

const Footprint& SegmentMemories::of(ClassKey key) {
  if (table_) return table_->footprints.at(key);
  const auto [it, fresh] = own_.footprints.try_emplace(key);
  if (fresh) it->second = made(key, nullptr);
  return it->second;
}

Footprint SegmentMemories::made(ClassKey key, SegmentLifetimes::LiveBlocks* live) const {
  Footprint out;
  const Segment& s = report_.graph().segments[static_cast<size_t>(key.first)];
  out.memory = lifetimes_->memory(key.first, key.second, own_.sizes, live);
  for (const SavedStorage& saved : saved_by(s, key.second))
    out.saved.add(own_.sizes.storages[static_cast<size_t>(key.first)][static_cast<size_t>(saved.storage)], 1);
  return out;
}

const std::vector<LiveStorage>& SegmentMemories::live(ClassKey key, Part part) {
  const auto it = live_.find({key, part});
  return it != live_.end()
             ? it->second
             : live_.emplace(std::pair{key, part}, lifetimes_->live(key.first, key.second, sizes(), part))
                   .first->second;
}

AllocatorSegments SegmentMemories::live_segments(ClassKey key, Part part) {
  if (table_) return of(key).live[static_cast<size_t>(part)];
  AllocatorSegments out;
  for (const LiveStorage& storage : live(key, part)) out.add(storage.bytes, 1);
  return out;
}

std::vector<Dummy> SegmentMemories::dummies(int segment) const {
  return table_ ? table_->dummies[static_cast<size_t>(segment)]
                : dummy_gradients_of(report_.graph().segments[static_cast<size_t>(segment)],
                                     report_.stages.front().binding);
}

std::shared_ptr<const MemoryTable> SegmentMemories::table() {
  const Graph& graph = report_.graph();
  auto out = std::make_shared<MemoryTable>();
  for (int s = 0; s < static_cast<int>(graph.segments.size()); ++s) {
    const Segment& segment = graph.segments[static_cast<size_t>(s)];
    std::vector<LayerClass> classes{{end_policy(segment)}};
    if (segment.kind == SegmentKind::Layer) classes = layer_classes(graph.structure);
    for (const LayerClass as : classes) {
      SegmentLifetimes::LiveBlocks live;
      Footprint of = made({s, as.checkpoint_policy}, &live);
      for (size_t part = 0; part < live.size(); ++part)
        for (const int64_t bytes : live[part]) of.live[part].add(bytes, 1);
      out->footprints.emplace(ClassKey{s, as.checkpoint_policy}, of);
    }
    out->dummies.emplace_back();
    if (has_shared_dummies(graph))
      out->dummies.back() = dummy_gradients_of(segment, report_.stages.front().binding);
  }
  out->sizes = own_.sizes;
  return out;
}

}  // namespace shardscape
