// Checks that the modules and layers to recompute exist.
#include <algorithm>

#include "base/number_text.h"
#include "base/units.h"
#include "design/validate/checks.h"
#include "model/library.h"

namespace shardscape {

RecomputeModules modules_in(const std::string& architecture) {
  const ModelLibrary& library = ModelLibrary::instance();
  RecomputeModules out;
  const Architecture* known = library.architecture(architecture);
  if (!known) return out;
  for (const SectionTemplate& kind : known->kinds)
    for (const OpLine& line : kind.lines) {
      const BlockTemplate* block = library.block(line.callee);
      if (!block) {
        out = out | modules_of(line.callee, {}, true);
        continue;
      }
      out = out | block->modules;
      for (const OpLine& op : block->ops) out = out | modules_of(op.callee, block->modules, true);
      for (const auto& [op, modules] : block->op_modules) out = out | modules;
    }
  return out;
}

std::string module_names(RecomputeModules modules) {
  std::string out;
  for (int i = 0; i < kRecomputeModuleCount; ++i)
    if (const auto module = static_cast<RecomputeModule>(i); modules.has(module))
      out += (out.empty() ? "" : ",") + std::string(recompute_module_name(module));
  return out;
}

namespace {

void check_modules(Checks& checks) {
  const WorkloadSpec& w = checks.design.workload;
  if (w.recompute != Recompute::Selective || checks.first_only) return;  // only notes follow
  const std::string usual = module_names(WorkloadSpec{}.recompute_modules);
  Fix none = set_to("recompute", std::string("none"));
  if (w.recompute_modules != WorkloadSpec{}.recompute_modules)
    none = both(std::move(none), set_to("recompute_modules", usual));
  const RecomputeModules there = modules_in(checks.design.model.architecture);
  if (there == RecomputeModules{}) return;  // another check reports an unknown architecture
  const RecomputeModules useful = w.recompute_modules & there,
                         missing{static_cast<uint16_t>(w.recompute_modules.bits & ~there.bits)};
  const std::string accepted = "any of " + module_names(there);
  if (w.recompute_modules == RecomputeModules{}) {
    checks.note(ProblemCode::RecomputeNothing, "recompute_modules",
                "selective recompute has no effect: no module is chosen", accepted,
                {set_to("recompute_modules", usual), none});
  } else if (missing != RecomputeModules{}) {
    checks.note(ProblemCode::RecomputeModulesAbsent, "recompute_modules",
                "the layers of this model have no " + module_names(missing), accepted,
                {useful == RecomputeModules{} ? none : set_to("recompute_modules", module_names(useful))});
  }
}

void check_recomputed_layers(Checks& checks) {
  if (!checks.in_range({"recompute", "recompute_method", "recompute_num_layers"})) return;
  const Design& d = checks.design;
  const WorkloadSpec& w = d.workload;
  const int64_t number = w.recompute_num_layers;
  if (w.recompute != Recompute::Full || checks.first_only ||
      !checks.in_range({"layers", "pp", "virtual_stages"}))
    return;
  const std::vector<int64_t> chunks = layers_per_virtual_stage(d);
  const int64_t most = chunks.empty() ? 0 : *std::max_element(chunks.begin(), chunks.end());
  if (most < 1 || number <= most) return;
  checks.note(ProblemCode::RecomputeLayersExceedStage, "recompute_num_layers",
              grouped(number) + " layers are more than " + grouped(most) +
                  ", the most that a virtual stage holds; the rest has no effect",
              "1 to " + grouped(most), {set_to("recompute_num_layers", most)});
}

// Distributed checkpoints are split along the sequence.
void check_checkpoints(Checks& checks) {
  const Design& d = checks.design;
  if (!d.workload.distribute_saved_activations || !checks.in_range({"tp", "cp", "seq", "recompute"})) return;
  if (d.workload.recompute != Recompute::Full || d.parallel.tp == 1 || d.parallel.sequence_parallel)
    return;  // nothing to split
  const Fix off = set_to("distribute_saved_activations", std::string("false"));
  const int64_t parts = d.parallel.tp * d.parallel.cp, seq = d.workload.seq;
  if (seq % parts == 0) return;
  std::vector<Fix> fixes{off};
  offer(fixes, "seq", seq >= parts ? seq / parts * parts : parts);
  checks.error(ProblemCode::CheckpointsIndivisible, "distribute_saved_activations",
               "checkpoints of " + grouped(seq) + " tokens do not split into " + grouped(parts) + " parts",
               "a sequence length that is a multiple of " + grouped(parts) + ", or off", std::move(fixes));
}

}  // namespace

void check_recompute(Checks& checks) {
  check_modules(checks);
  check_recomputed_layers(checks);
  check_checkpoints(checks);
}

}  // namespace shardscape
