#include "memory/fixed_bytes.h"

#include "memory/runtime_memory.h"
#include "memory/segment_memories.h"
#include "plan/bound_plan.h"

namespace shardscape {

FixedBytes fixed_bytes(const Report& report, const StageReport& stage, const FixedBuffers& buffers) {
  FixedBytes out;
  if (stage.states)
    for (const StageStates::Part& part : stage.states->parts)
      if (part.category != MemoryCategory::Gradients || !buffers.transient_gradients)
        out.add("", part.category, part.bytes);
  for (MemoryCategory c : {MemoryCategory::Parameters, MemoryCategory::Gradients, MemoryCategory::Optimizer,
                           MemoryCategory::KvCache})
    for (const PartValue& part : stage.parts[static_cast<size_t>(c)])
      if (c != MemoryCategory::Gradients || !buffers.transient_gradients)
        out.add(part.name.c_str(), c, static_cast<int64_t>(part.bytes.value), part.kind);
  const std::vector<PartValue>& gradients = stage.parts[static_cast<size_t>(MemoryCategory::Gradients)];
  out.add(gradients.empty() ? "" : gradients.back().name.c_str(), MemoryCategory::Gradients,
          buffers.gradients, gradients.empty() ? PartKind::Other : gradients.back().kind);
  out.add("dummy weight gradients", MemoryCategory::Buffers, buffers.dummy_gradients);
  out.add("receive buffers", MemoryCategory::Buffers, buffers.received, PartKind::ReceiveBuffers);
  out.add("memory pool of CUDA graphs", MemoryCategory::Activations, buffers.graph_pool);
  out.add("workspace of matrix products", MemoryCategory::Buffers,
          workspace_bytes(report, profile_of(report.graph())));
  out.add("CUDA context", MemoryCategory::Runtime, context_bytes());
  out.add("communicators", MemoryCategory::Runtime, communicator_bytes(report));
  return out;
}

}  // namespace shardscape
