#include "memory/graph_capture.h"

#include <algorithm>

#include "graph/op_traits.h"

namespace shardscape {
namespace {

bool is_norm(OpKind kind) {
  return kind == OpKind::RmsNorm || kind == OpKind::LayerNorm || kind == OpKind::UnitNorm;
}

bool is_forward(const Op& op) { return op.phase == Phase::Forward && op.grad == GradRole::None; }

// By storage: whether it is in the pool of graphs.
std::vector<bool> captured_storages(const Segment& s, const GraphCapture& capture) {
  std::vector<bool> out(s.storages.size(), false);
  const auto mark = [&](TensorId id) {
    if (id >= 0) out[static_cast<size_t>(s.tensor(id).storage)] = true;
  };
  for (OpId id = 0; id < static_cast<OpId>(s.ops.size()); ++id) {
    if (!capture.captures(id)) continue;
    for (const TensorId result : s.op(id).outputs) mark(result);
    if (!is_forward(s.op(id))) continue;
    for (const TensorId input : s.op(id).inputs) mark(input);
  }
  return out;
}

}  // namespace

bool captures_graphs(const Design& design) {
  return trains(design) && design.workload.cuda_graphs != CudaGraphs::None;
}

GraphCapture::GraphCapture(const Report& report, const Segment& segment)
    : s_(segment),
      graphs_(report.design.workload.cuda_graphs),
      flex_(report.design.parallel.dispatcher == Dispatcher::Flex),
      overlaps_shared_experts_(report.design.parallel.shared_expert_overlap) {
  const auto forwards = [&](auto is) {
    const auto found = std::find_if(s_.ops.begin(), s_.ops.end(),
                                    [&](const Op& op) { return is_forward(op) && is(op); });
    return static_cast<OpId>(found - s_.ops.begin());
  };
  router_ = forwards([](const Op& op) {
    return op.modules.has(RecomputeModule::Moe) || op.modules.has(RecomputeModule::Mlp) ||
           op.modules.has(RecomputeModule::SharedExperts);
  });
  dispatch_ = forwards(
      [](const Op& op) { return op.kind == OpKind::Dispatch || op.kind == OpKind::DispatchNodes; });
  // The norm in front of the router belongs to the router's module.
  const OpId end = static_cast<OpId>(s_.ops.size());
  if (router_ < end && !s_.op(router_).inputs.empty() && s_.op(router_).inputs[0] >= 0) {
    const OpId norm = s_.tensor(s_.op(router_).inputs[0]).producer;
    if (norm >= 0 && norm < router_ && is_norm(s_.op(norm).kind)) router_ = norm;
  }
}

bool GraphCapture::captures(Module module) const {
  switch (graphs_) {
    case CudaGraphs::None: return false;
    case CudaGraphs::Attention: return module == Module::Attention;
    case CudaGraphs::Router: return module == Module::Router;
    case CudaGraphs::AttentionRouter: return module != Module::Rest;
    case CudaGraphs::Layer: return s_.kind == SegmentKind::Layer;
    case CudaGraphs::Iteration: return true;
  }
  return false;
}

GraphCapture::Module GraphCapture::module_of(OpId id) const {
  const Op& op = s_.op(id);
  if (s_.kind != SegmentKind::Layer || graphs_ == CudaGraphs::Layer || (!is_forward(op) && op.forward < 0))
    return Module::Rest;
  const OpId of = forward_of(s_, id);
  if (of < router_) return Module::Attention;
  if (dispatch_ == static_cast<OpId>(s_.ops.size())) return Module::Rest;
  const bool shared = s_.op(of).modules.has(RecomputeModule::SharedExperts) && !overlaps_shared_experts_;
  return shared || of < dispatch_ + (flex_ ? 0 : 1) ? Module::Router : Module::Rest;
}

void keep_pool(const Report& report, MemoryPool pool, SegmentSizes& sizes) {
  if (!captures_graphs(report.design)) return;
  const Graph& graph = report.graph();
  const bool graphs = pool == MemoryPool::Graphs;
  for (size_t i = 0; i < graph.segments.size(); ++i) {
    const Segment& s = graph.segments[i];
    const GraphCapture capture(report, s);
    const std::vector<bool> captured = captured_storages(s, capture);
    for (size_t storage = 0; storage < captured.size(); ++storage)
      if (captured[storage] != graphs) sizes.storages[i][storage] = 0;
    for (size_t op = 0; op < s.ops.size(); ++op)
      if (capture.captures(static_cast<OpId>(op)) != graphs) sizes.workspaces[i][op] = 0;
    for (size_t p = 0; p < s.params.size(); ++p) {
      const TensorId gradient = s.params[p].gradient;
      const OpId maker = gradient >= 0 ? s.tensor(gradient).producer : -1;
      if ((maker >= 0 && capture.captures(maker)) != graphs) sizes.gradients[i][p] = 0;
    }
  }
}

}  // namespace shardscape
