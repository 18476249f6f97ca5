#include "bundle/step_gap.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/units.h"
#include "plan/rank_mesh.h"

namespace shardscape {
namespace {

constexpr double kSecondsPerCycle = 1e-9;

bool is_compute(TimeCategory category) {
  switch (category) {
    case TimeCategory::MatrixProducts:
    case TimeCategory::Attention:
    case TimeCategory::MemoryBound:
    case TimeCategory::Optimizer: return true;
    case TimeCategory::TensorComm:
    case TimeCategory::ContextComm:
    case TimeCategory::ExpertComm:
    case TimeCategory::PipelineComm:
    case TimeCategory::DataComm:
    case TimeCategory::Host:
    case TimeCategory::Bubble: break;
  }
  return false;
}

std::string percent(double ratio) {
  const double off = 100 * (ratio - 1);
  if (std::abs(off) < 0.5) return "equal within 0.5 %";
  return significant(std::round(std::abs(off) * 10) / 10) + " % " + (off < 0 ? "shorter" : "longer");
}

// One cause: seconds that the simulated step is longer (> 0) or shorter.
struct Cause {
  double seconds;
  std::string text;
};

std::string compute_cause(const StepGap& gap) {
  if (gap.launches) return "durations include waits for the host";
  if (gap.durations) return "durations are those of kernels without concurrent communication";
  return std::string("ASTRA-sim's roofline runs every kernel at the peak or at the full memory rate") +
         (gap.quantized ? "; quantized products have scaled num_ops" : "") +
         (gap.coarse ? "; it takes the larger of all FLOPs and all bytes of merged nodes" : "") +
         "; --durations writes the estimated seconds";
}

std::string communication_cause(const StepGap& gap) {
  return std::string(
             "ASTRA-sim runs one collective or message of a rank at a time and level after level, knows no "
             "protocols, and its collectives occupy no processors") +
         (gap.coarse ? "; merged nodes may hide more communication" : "");
}

std::string host_cause(const StepGap& gap) {
  return std::string("ASTRA-sim does not know waits for the host") +
         (gap.launches ? " beyond durations" : "; --durations --host-launches adds launches");
}

}  // namespace

StepGap step_gap(const Report& report, const ExportOptions& options, const Simulation& own) {
  StepGap out;
  out.own_step = own.step_seconds;
  for (const StageTimes& times : own.stages)
    out.own_host = std::max(out.own_host, times.seconds[static_cast<size_t>(TimeCategory::Host)]);
  out.durations = options.durations;
  out.launches = options.launches;
  out.quantized = is_quantized(report.graph().structure.compute);
  out.coarse = options.granularity != Granularity::Op;
  return out;
}

StepGap step_gap(const Report& report, const ExportOptions& options, const Simulation& own,
                 const SimulationReport& simulated) {
  const auto last = std::max_element(
      simulated.ranks.begin(), simulated.ranks.end(),
      [](const SimulatedRank& a, const SimulatedRank& b) { return a.end < b.end; });
  const int64_t stage = mesh_of(report).coordinate(last - simulated.ranks.begin(), MeshAxis::Pp);
  const StageTimes& times = own.stages[static_cast<size_t>(stage)];
  StepGap out = step_gap(report, options, own);
  out.simulated_step = static_cast<double>(last->end) * kSecondsPerCycle;
  out.simulated_compute = static_cast<double>(last->compute) * kSecondsPerCycle;
  out.simulated_exposed = out.simulated_step - out.simulated_compute;
  for (int c = 0; c < kTimeCategoryCount; ++c)
    if (is_compute(static_cast<TimeCategory>(c))) out.own_compute += times.seconds[static_cast<size_t>(c)];
  out.own_host = times.seconds[static_cast<size_t>(TimeCategory::Host)];
  out.own_exposed = out.own_step - out.own_compute - out.own_host;
  return out;
}

std::string gap_text(const StepGap& gap) {
  std::string out = "a simulated step takes " + format_seconds(gap.simulated_step) + ", the estimated step " +
                    format_seconds(gap.own_step) + ": " + percent(gap.simulated_step / gap.own_step) + "\n";
  const auto instead = [](const char* what, double simulated, double own) {
    return std::string(what) + format_seconds(simulated) + " instead of " + format_seconds(own) + ": ";
  };
  std::vector<Cause> causes{
      {gap.simulated_compute - gap.own_compute,
       instead("compute takes ", gap.simulated_compute, gap.own_compute) + compute_cause(gap)},
      {gap.simulated_exposed - gap.own_exposed,
       instead("communication and waits take ", gap.simulated_exposed, gap.own_exposed) +
           communication_cause(gap)}};
  if (gap.own_host > 0)
    causes.push_back({-gap.own_host, "the estimated step waits " + format_seconds(gap.own_host) +
                                         " for the host: " + host_cause(gap)});
  std::sort(causes.begin(), causes.end(),
            [](const Cause& a, const Cause& b) { return std::abs(a.seconds) > std::abs(b.seconds); });
  for (const Cause& cause : causes) {
    if (std::abs(cause.seconds) < 0.002 * gap.own_step) continue;
    out += std::string("  ") + (cause.seconds < 0 ? "-" : "+") + format_seconds(std::abs(cause.seconds)) +
           "  " + cause.text + "\n";
  }
  return out;
}

std::string gap_causes_text(const StepGap& gap) {
  return "  compute: " + compute_cause(gap) + "\n  communication and waits: " + communication_cause(gap) +
         "\n" + (gap.own_host > 0 ? "  host: " + host_cause(gap) + "\n" : "");
}

}  // namespace shardscape
