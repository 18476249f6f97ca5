// Checks virtual stages: requirements of interleaved 1F1B on schedule, layers and microbatches.
#include "base/number_text.h"
#include "base/units.h"
#include "design/limits.h"
#include "design/validate/checks.h"
#include "mesh/pipeline_layout.h"

namespace shardscape {
namespace {

constexpr int64_t kLongestListOffered = 64;  // length of a list in a fix

// A list of layers for pp x v virtual stages fits no other number of virtual stages.
Fix without_interleaving(const Design& d) {
  Fix fix = set_to("virtual_stages", 1);
  return d.parallel.stage_layers.empty() ? fix : both(std::move(fix), set_to("stage_layers", std::string()));
}

std::vector<int64_t> choices(int64_t layers, int64_t pp) {
  return layers % pp == 0 ? divisors(layers / pp) : std::vector<int64_t>{1};
}

void check_layers(Checks& checks) {
  const Design& d = checks.design;
  const int64_t layers = d.model.layers, pp = d.parallel.pp, v = d.parallel.virtual_stages,
                parts = layers + d.parallel.ends_counted_as_layers();
  // Another check reports more stages than layers.
  if (!d.parallel.stage_layers.empty() || !checks.in_range({"layers"}) || pp > parts || parts % (pp * v) == 0)
    return;
  if (checks.record_first("virtual_stages")) return;
  const std::vector<int64_t> accepted = choices(parts, pp);
  int64_t below = 0, above = 0;
  for (int64_t c : accepted) {
    if (c > 1 && c < v) below = c;
    if (c > v && above == 0) above = c;
  }
  std::vector<Fix> fixes;
  offer(fixes, "virtual_stages", below);
  offer(fixes, "virtual_stages", above);
  const auto account = [](bool embedding, bool loss) {
    return both(set_to("account_for_embedding_in_pipeline_split", embedding ? "true" : "false"),
                set_to("account_for_loss_in_pipeline_split", loss ? "true" : "false"));
  };
  if ((layers + 2) % (pp * v) == 0) fixes.push_back(account(true, true));
  if ((layers + 1) % (pp * v) == 0) fixes.push_back(account(false, true));
  fixes.push_back(without_interleaving(d));
  if (pp * v <= layers && pp * v <= kLongestListOffered)
    fixes.push_back(set_to("stage_layers", list_text(layers_per_virtual_stage(d))));
  checks.error(ProblemCode::LayersIndivisibleByVirtualStages, "virtual_stages",
               grouped(layers) + " layers" + ends_counted_text(d) +
                   " do not split evenly over pp x virtual stages = " + grouped(pp) + " x " + grouped(v),
               or_list(accepted) + ", or a list of layers for all " + grouped(pp * v) + " virtual stages",
               std::move(fixes));
}

void check_microbatch_groups(Checks& checks) {
  const Design& d = checks.design;
  if (!checks.in_range({"batch", "microbatch", "dp"})) return;
  const int64_t pp = d.parallel.pp, slots = d.workload.microbatch * d.parallel.dp,
                m = d.workload.batch / slots;
  if (d.workload.batch % slots != 0 || m % pp == 0) return;
  if (checks.record_first("batch")) return;
  std::vector<Fix> fixes;
  offer(fixes, "batch", m / pp * pp * slots);
  if (m / pp + 1 <= kMaxBatch / slots / pp) offer(fixes, "batch", (m / pp + 1) * pp * slots);
  fixes.push_back(without_interleaving(d));
  checks.error(ProblemCode::MicrobatchesIndivisibleByPp, "batch",
               "interleaved stages take microbatches in groups of pp = " + grouped(pp) +
                   ", but m = B / (b dp) = " + grouped(m),
               "m that is a multiple of " + grouped(pp), std::move(fixes));
}

}  // namespace

void check_interleaving(Checks& checks) {
  const Design& d = checks.design;
  if (!checks.in_range({"virtual_stages", "pp"}) || d.parallel.virtual_stages == 1) return;
  if (d.parallel.pp == 1) {
    if (checks.record_first("virtual_stages")) return;
    checks.error(ProblemCode::VirtualStagesWithoutPipeline, "virtual_stages",
                 "virtual stages need a pipeline, but pp = 1", "1, or pp of at least 2",
                 {without_interleaving(d)});
    return;
  }
  const ScheduleKind kind = d.parallel.schedule;
  if (!schedule_traits(kind).interleaves && chunk_layout(kind) != ChunkLayout::Vee) {
    if (checks.record_first("virtual_stages")) return;
    const std::string name = schedule_label(kind);
    checks.error(ProblemCode::VirtualStagesWithOtherSchedule, "virtual_stages",
                 grouped(d.parallel.virtual_stages) +
                     " virtual stages need interleaved 1F1B, but the schedule is " + name,
                 "1 with " + name + ", or the schedule 1f1b",
                 {set_to("schedule", "1f1b"), without_interleaving(d)});
  }
  check_layers(checks);
  if (kind == ScheduleKind::OneFOneB) check_microbatch_groups(checks);
}

}  // namespace shardscape
