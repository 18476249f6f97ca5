#include "chakra/state_tensors.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_set>
#include <utility>

#include "chakra/bound_segment.h"
#include "chakra/node_tensors.h"
#include "chakra/segment_tensors.h"
#include "grad_sync/stage_gradients.h"
#include "memory/gradient_steps.h"
#include "plan/stage_program.h"

namespace shardscape {
namespace {

// Bytes by name.
using Tensors = std::map<std::string, int64_t>;

// Parameters and gradients that ops read by name.
// accumulated: also gradients that the first backward makes, if the optimizer reads them whole.
void collect(const RankProgram& program, bool accumulated, Tensors& parameters, Tensors& gradients) {
  std::set<std::pair<uint32_t, int32_t>> seen;  // op and layer
  for (const TraceNode& node : program.nodes) {
    if (!seen.insert({node.op, node.layer}).second) continue;
    const TraceOp& op = program.ops[node.op];
    const auto add = [&](Tensors& to, const TraceTensor& tensor) {
      NamedTensor named = named_tensor(program, node, tensor);
      to.emplace(std::move(named.name), named.bytes);
    };
    for (const TraceTensor& t : op.inputs) {
      if (t.use == TensorUse::Parameter) add(parameters, t);
      if (t.use == TensorUse::Gradient) add(gradients, t);
    }
    for (const TraceTensor& t : op.outputs)
      if (accumulated && t.use == TensorUse::Accumulated) add(gradients, t);
  }
}

int64_t bytes_of(const Tensors& tensors) {
  int64_t out = 0;
  for (const auto& [name, bytes] : tensors) out += bytes;
  return out;
}

int64_t bytes_of(const StageReport& stage, MemoryCategory category) {
  int64_t out = 0;
  for (const PartValue& part : stage.parts[static_cast<size_t>(category)])
    out += static_cast<int64_t>(part.bytes.value);
  return out;
}

// Bytes of gradients that exist during the whole step. ZeRO-2's bucket and shards count, although they first
// appear in a backward.
int64_t fixed_gradients(const Report& report, const StageReport& stage) {
  const Graph& graph = report.graph();
  if (gradient_life(graph) == GradientLife::Always) return bytes_of(stage, MemoryCategory::Gradients);
  const StageGradients of = stage_gradients(graph, stage.first, stage.last, stage.layers > 0, stage.binding,
                                            *report.cache);
  return of.always + of.shards + of.bucket;
}

// Bytes of gradients that the optimizer step copies.
int64_t copied_gradients(const Report& report, const StageReport& stage) {
  if (!copies_gradients(report.design)) return 0;
  const SegmentMemories memories(report);
  const GradientSteps steps(memories, stage, stage_program(report, stage).layout());
  return std::accumulate(steps.copies().begin(), steps.copies().end(), int64_t{0});
}

// A simulator holds a tensor that no node reads to the end, so outputs that no node reads are left out. Where
// nodes read the output of some nodes of an op only, the others do not make it: no layer reads the gradient
// of the stream that enters a frozen embedding.
void drop_unread(RankProgram& program) {
  std::unordered_set<std::string> read;
  for (size_t i = 0; i < program.nodes.size(); ++i)
    for (NamedTensor& t : node_tensors(program, i).inputs) read.insert(std::move(t.name));
  std::vector<std::vector<bool>> used(program.ops.size());
  for (size_t op = 0; op < program.ops.size(); ++op) used[op].resize(program.ops[op].outputs.size());
  const auto for_each_output = [&](const auto& seen) {
    for (size_t i = 0; i < program.nodes.size(); ++i) {
      const TraceNode& node = program.nodes[i];
      const std::vector<TraceTensor>& outputs = program.ops[node.op].outputs;
      for (size_t t = 0; t < outputs.size(); ++t) seen(i, t, named_tensor(program, node, outputs[t]));
    }
  };
  for_each_output([&](size_t node, size_t t, const NamedTensor& tensor) {
    if (read.contains(tensor.name)) used[program.nodes[node].op][t] = true;
  });
  std::vector<bool> partly(program.ops.size());
  for_each_output([&](size_t node, size_t t, const NamedTensor& tensor) {
    const uint32_t op = program.nodes[node].op;
    TraceTensor& output = program.ops[op].outputs[t];
    if (output.use != TensorUse::Plain || !used[op][t] || read.contains(tensor.name)) return;
    output.use = TensorUse::Passed;
    partly[op] = true;
  });
  for_each_output([&](size_t node, size_t t, const NamedTensor& tensor) {
    TraceNode& of = program.nodes[node];
    const bool passed = program.ops[of.op].outputs[t].use == TensorUse::Passed;
    if (partly[of.op] && passed && read.contains(tensor.name)) of.flags |= kPassesOutput;
  });
  for (size_t op = 0; op < program.ops.size(); ++op) {
    size_t t = 0;
    std::erase_if(program.ops[op].outputs, [&](const TraceTensor&) { return !used[op][t++]; });
  }
}

}  // namespace

void add_states(RankProgram& program, const Report& report, const StageReport& stage,
                const SyncLowering& sync) {
  const Graph& graph = report.graph();
  Tensors parameters, gradients;
  const GradientLife life = gradient_life(graph);
  collect(program, life == GradientLife::UntilOptimizer, parameters, gradients);
  const uint32_t reader = sync.optimizer() != 0 ? sync.optimizer()
                                                : static_cast<uint32_t>(program.nodes.size());
  std::vector<NamedTensor>& inputs = program.extra[reader - 1].inputs;
  for (const Tensors* tensors : {&parameters, &gradients})
    for (const auto& [name, bytes] : *tensors) inputs.push_back({name, bytes});
  inputs.insert(inputs.end(), sync.shards().begin(), sync.shards().end());
  const auto rest = [&](const char* name, int64_t bytes) {
    if (bytes > 0) inputs.push_back({name, bytes});
  };
  const int64_t pool = gathered_bytes(report, stage);
  if (pool > 0) inputs.push_back({gathered_tensor(pool).name, pool});
  rest("parameters", bytes_of(stage, MemoryCategory::Parameters) - pool - bytes_of(parameters));
  if (graph.structure.trains()) {
    rest("gradients",
         fixed_gradients(report, stage) - (life == GradientLife::Always ? bytes_of(gradients) : 0));
    rest("optimizer.state", bytes_of(stage, MemoryCategory::Optimizer));
  }
  rest("caches", bytes_of(stage, MemoryCategory::KvCache));
  if (const int64_t copies = copied_gradients(report, stage); copies > 0 && reader > 1) {
    inputs.push_back({"optimizer.gradients", copies});
    program.extra[reader - 2].outputs.push_back(inputs.back());
  }
  drop_unread(program);
}

}  // namespace shardscape
