#include "plan/op_work.h"

#include <vector>

#include "model/parallel_loop.h"
#include "plan/stage_transfers.h"

namespace shardscape {

FlopsRow& OpWork::flops_row(Phase phase, OpKind kind, DType compute) {
  return flops.try_emplace({phase, kind, compute}, FlopsRow{kind, phase, compute, {}, {}}).first->second;
}

void OpWork::collective(Phase phase, CommOp op, const std::string& group, const Expr& size, DType dtype,
                        const Expr& count, const Expr& elements) {
  CollectiveRow& row = collectives
                           .try_emplace({phase, op, group, dtype},
                                        CollectiveRow{phase, op, group, size, dtype, {}, {}, {}})
                           .first->second;
  row.count += count;
  row.elements += elements;
  row.bytes += elements * dtype_size(dtype);
}

void OpWork::count(const Graph& graph, const Segment& segment, const Op& op) {
  if (is_collective(op.kind)) {
    const Tensor& t = segment.tensor(op.inputs[0]);
    const Expr elements = collective_elements(segment, op);
    const MeshAxes& group = redistribution(op).group;
    const auto send = [&](CommOp comm, const Expr& messages) {
      collective(op.phase, comm, group_name(group), group_size(graph.structure, group), t.dtype, messages,
                 elements);
    };
    if (!is_ring(op.kind)) return send(collective_of(op.kind), Expr(1));
    for (const CommOp end : {CommOp::send(), CommOp::receive()}) send(end, ring_messages(op));
  } else if (!op.flops.is_zero()) {
    FlopsRow& row = flops_row(op.phase, op.kind, op.compute);
    row.counted += op.flops;
    row.useful += op.useful_flops;
  }
}

void OpWork::add(const OpWork& other, const Expr& times) {
  for (const auto& [key, of] : other.flops) {
    FlopsRow& row = flops_row(of.phase, of.kind, of.compute);
    row.counted += times * of.counted;
    row.useful += times * of.useful;
  }
  for (const auto& [key, of] : other.collectives)
    collective(of.phase, of.op, of.group, of.group_size, of.dtype, times * of.count, times * of.elements);
}

namespace {

// Ops that run in the same classes of layers run equally often. Their work is summed first and multiplied
// once.
OpWork work_of_kind(const Graph& graph, int kind) {
  const Segment& segment = graph.segments[static_cast<size_t>(kind) + 1];
  const std::vector<LayerClass> classes = layer_classes(graph.structure);
  std::map<std::vector<bool>, OpWork> by_classes;  // empty: in every layer
  for (const Op& op : segment.ops) {
    std::vector<bool> in;
    if (op.scope != OpScope::Always)
      for (LayerClass of : classes) in.push_back(runs(op, of.checkpoint_policy));
    by_classes[in].count(graph, segment, op);
  }
  OpWork out;
  for (const auto& [in, work] : by_classes) {
    Expr times = in.empty() ? Expr(stage_layers_symbol(graph, kind)) : Expr();
    for (size_t i = 0; i < in.size(); ++i)
      if (in[i]) times += Expr(layer_count_symbol(graph, kind, classes[i]));
    out.add(work, chunk_microbatches(graph.structure) * times);
  }
  return out;
}

}  // namespace

OpWork work_of_layers(const Graph& graph) {
  std::vector<OpWork> kinds(static_cast<size_t>(graph.kinds()));
  parallel_loop(kinds.size(),
                [&](size_t kind) { kinds[kind] = work_of_kind(graph, static_cast<int>(kind)); });
  OpWork out;
  for (const OpWork& kind : kinds) out.add(kind, Expr(1));
  return out;
}

}  // namespace shardscape
