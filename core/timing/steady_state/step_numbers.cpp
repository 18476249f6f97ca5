#include "timing/steady_state/step_numbers.h"

#include "design/expert_nodes.h"
#include "design/fields.h"
#include "graph/structure_fields.h"
#include "timing/machine_of.h"
#include "timing/steady_state/steady_simulation.h"

namespace shardscape {
namespace {

void add_to(CacheKey& key, const GroupSpan& span) {
  const auto& [ranks, per_domain, domain_count, most_per_domain, pods, leaf_switches, crosses_rails, torus,
               max_ctas] = span;
  for (const int64_t word : {ranks, per_domain, domain_count, most_per_domain, pods, leaf_switches,
                             int64_t{crosses_rails}, max_ctas})
    key.add(word);
  for (const auto& [side_ranks, reach] : torus) {
    key.add(side_ranks);
    key.add(reach);
  }
}

std::shared_ptr<const LayerTable> shared_table(const Report& report, const Machine& machine) {
  CacheKey key;
  const Binding& binding = report.stages.front().binding;
  const std::shared_ptr<const OpReads> reads = op_reads(report);
  key.add(reads->serial);
  add_fields<&StructureUses::layer_classes>(key, report.graph().structure);
  for (const Symbol symbol : reads->symbols) key.add(binding.get(symbol).value_or(-1));
  add_fields<&FieldUses::layer_seconds>(key, report.design);
  key.add(int64_t{moves_tokens_in_place(report.design)});  // within one node it is not part of the structure
  key.add(report.ring_position.value_or(-1));
  add_to(key, machine);
  const DeviceMesh mesh = device_mesh(report.design);
  for (const MeshAxes& axes : reads->groups) add_to(key, span_of(mesh, axes, machine.network));
  const auto make = [&] {
    auto made = std::make_shared<LayerTable>(report, machine);
    made->fill_all();
    return made;
  };
  return report.cache->get<LayerTable>(CacheKind::LayerSeconds, key, make,
                                       [](const LayerTable& made) { return made.bytes(); });
}

}  // namespace

StepNumbers step_numbers(const Report& plan, const std::stop_token& stop) {
  const Machine machine = machine_of(plan.design);
  LayerTable table(shared_table(plan, machine));
  StepNumbers out = steady_simulation(plan, machine, table, stop);
  if (out.step_seconds == 0) return out;
  const StepRates rates = step_rates(plan, machine, out.step_seconds);
  out.tokens_per_second = rates.tokens_per_second;
  out.model_tflops = rates.model_tflops;
  out.mfu = rates.mfu;
  return out;
}

}  // namespace shardscape
