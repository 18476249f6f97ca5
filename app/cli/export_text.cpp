#include "app/cli/export_text.h"

#include <algorithm>

#include "base/units.h"
#include "bundle/simulator_facts.h"
#include "bundle/step_gap.h"
#include "chakra/lower.h"
#include "chakra/tracked_memory.h"
#include "memory/memory_timeline.h"

namespace shardscape {
namespace {

std::string step_text(const Report& report, const ExportOptions& options, const ExportSummary& summary,
                      const std::stop_token& stop) {
  const auto own = simulate(report, stop);
  if (!own || report.ranks < 2) return {};
  if (summary.nodes > kMostSimulatedNodes)
    return "the estimated step takes " + format_seconds(own->step_seconds) + ". The bundle has more than " +
           grouped(kMostSimulatedNodes) + " nodes and is not simulated now; shardscape-cli simulate " +
           options.target.string() + " does it. Why its step differs:\n" +
           gap_causes_text(step_gap(report, options, *own));
  const auto result = simulate_bundle(options.target, {}, stop);
  const auto* simulated = std::get_if<SimulationReport>(&result);
  if (!simulated || !simulated->finished) return {};
  return gap_text(step_gap(report, options, *own, *simulated));
}

// Of the stage with most memory.
std::string memory_text(const Report& report, const std::stop_token& stop) {
  const auto memory = memory_timeline(report, stop);
  if (!memory) return {};
  const StageMemory& stage = memory->stages[static_cast<size_t>(memory->peak_stage)];
  const TrackedMemory tracked = track_memory(Lowering(report).stage(stage.stage, true, stop));
  return "tensors of stage " + std::to_string(stage.stage) +
         ": a simulator that follows them sees a peak of " + format_bytes(tracked.peak) +
         "; the estimated peak is " + format_bytes(stage.allocated) +
         " with workspaces and receive buffers, which traces cannot carry\n";
}

}  // namespace

std::string simulator_text(const Report& report, const ExportOptions& options, const ExportSummary& summary,
                           std::stop_token stop) {
  std::string out = step_text(report, options, summary, stop);
  if (options.tensors) out += memory_text(report, stop);
  for (const std::string& fact : simulator_facts(report, options)) out += "note: " + fact + "\n";
  return out;
}

}  // namespace shardscape
