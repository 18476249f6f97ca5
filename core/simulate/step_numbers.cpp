#include "simulate/step_numbers.h"

#include "design/expert_nodes.h"
#include "simulate/brief_play.h"
#include "simulate/machine_of.h"

namespace shardscape {
namespace {

std::shared_ptr<const LayerTable> shared_table(const Report& report, const Machine& machine, Memo<LayerTable>& memo) {
  thread_local MemoKey key;
  key.clear();
  const Binding& binding = report.stages.front().binding;
  const std::shared_ptr<const OpReads> reads = op_reads(report.graph());
  const Structure& structure = report.graph().structure;
  key.add(static_cast<int64_t>(reads->serial));
  for (const bool word : {structure.split_backward, structure.recompute_block, structure.recompute_groups}) key.add(int64_t{word});  // parts and classes of layers
  for (const Symbol symbol : reads->symbols) key.add(binding.get(symbol).value_or(-1));
  key.add(int64_t{report.design.parallel.tp_comm_overlap});
  key.add(int64_t{permutes_as_it_sends(report.design)});  // on one node no part of the structure
  key.add(report.ring_position.value_or(-1));
  add_to(key, machine);
  const DeviceMesh mesh = device_mesh(report.design);
  for (const MeshAxes& axes : reads->groups) {
    const GroupSpan span = span_of(mesh, axes, machine.network);
    for (const int64_t word : {span.ranks, span.per_domain, span.touched, span.fullest, span.pods, span.leaves, int64_t{span.unlike}}) key.add(word);
    for (const TorusSide& side : span.torus) {
      key.add(side.ranks);
      key.add(side.reach);
    }
  }
  return memo.get(key, [&] {
    auto made = std::make_shared<LayerTable>(report, machine);
    made->make_all();
    return made;
  });
}

}  // namespace

StepMemo::StepMemo() = default;
StepMemo::~StepMemo() = default;

StepNumbers step_numbers(Report& outline, StepMemo& memo, const std::stop_token& stop) {
  thread_local std::pair<ClusterSpec, int64_t> of{{}, 0};
  thread_local Machine machine;
  if (of.second != outline.ranks || of.first != outline.design.cluster) {
    machine = machine_of(outline.design);
    of = {outline.design.cluster, outline.ranks};
  }
  LayerTable table(shared_table(outline, machine, memo.layers));
  const int64_t microbatches = outline.microbatches;
  StepNumbers out;
  try {
    out = brief_play(outline, machine, table, memo.starts, stop);
  } catch (...) {
    outline.microbatches = microbatches;  // the outline serves other designs too
    throw;
  }
  outline.microbatches = microbatches;
  if (out.step_seconds == 0) return out;
  const StepRates rates = step_rates(outline, machine, out.step_seconds);
  out.tokens_per_second = rates.tokens_per_second;
  out.model_tflops = rates.model_tflops;
  out.mfu = rates.mfu;
  return out;
}

}  // namespace shardscape
