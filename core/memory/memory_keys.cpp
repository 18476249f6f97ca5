#include "memory/memory_keys.h"

#include "graph/chunk_layers.h"
#include "graph/structure_fields.h"
#include "pipeline/peak_candidates.h"
#include "plan/bound_plan.h"
#include "plan/stage_layout.h"

namespace shardscape {

CacheKey memory_key(const Report& plan) {
  CacheKey key;
  const Binding& binding = plan.stages.front().binding;
  const std::shared_ptr<const SegmentLifetimes> lifetimes = cached_lifetimes(plan);
  key.add(lifetimes->serial());
  const AllocatedGradients allocated = allocated_gradients(plan);
  key.add(allocated.bytes);
  key.add(int64_t{allocated.tied});
  add_fields<&StructureUses::layer_classes>(key, plan.graph().structure);
  for (const Symbol symbol : lifetimes->symbols()) key.add(binding.get(symbol).value_or(-1));
  if (captures_graphs(plan.design))
    key.add(static_cast<int64_t>(plan.design.workload.cuda_graphs) << 2 |
            int64_t{plan.design.parallel.shared_expert_overlap} << 1 |
            int64_t{plan.design.parallel.dispatcher == Dispatcher::Flex});
  return key;
}

void add_stages(CacheKey& key, const Report& plan) {
  const ParallelSpec& parallel = plan.design.parallel;
  const CacheKey schedule = schedule_key(parallel);
  for (const int64_t word : schedule.words()) key.add(word);
  key.add(int64_t{representative_microbatches(parallel, static_cast<int>(plan.microbatches))});
  key.add(static_cast<int64_t>(tower_instances(plan.graph(), plan.design.model).size()));
  key.add(int64_t{plan.graph().structure.vision_recompute} << 1 |
          int64_t{plan.graph().structure.vision_stage});
  for (const StageReport& stage : plan.stages) {
    key.add(int64_t{stage.representative});
    if (stage.representative != stage.stage) continue;
    for (const StageChunk& chunk : stage.chunks) {
      key.add(chunk.layers);
      for (const ChunkLayer& layer :
           chunk_layers(plan.graph(), plan.design, chunk.first_layer, chunk.layers)) {
        const auto policy = static_cast<int64_t>(layer.checkpoint_policy);
        key.add((int64_t{layer.segment} << 16) + (policy << 1) + int64_t{layer.offloaded});
        key.add((layer.begin << 32) + layer.end);
      }
    }
  }
}

size_t bytes_of_table(const MemoryTable& table) {
  size_t out = sizeof table + table.footprints.size() * (sizeof(Footprint) + 64);
  for (const auto* lists :
       {&table.sizes.storages, &table.sizes.workspaces, &table.sizes.gradients, &table.sizes.new_gradients})
    for (const std::vector<int64_t>& list : *lists) out += sizeof list + list.size() * sizeof(int64_t);
  return out;
}

}  // namespace shardscape
