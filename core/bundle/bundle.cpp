#include "bundle/bundle.h"

#include <chrono>

#include "astra_sim/config_files.h"
#include "bundle/astra_command.h"
#include "bundle/bundle_files.h"
#include "bundle/bundle_folder.h"
#include "bundle/bundle_readme.h"
#include "bundle/manifest.h"
#include "bundle/sink.h"
#include "bundle/trace_export.h"
#include "timing/simulation.h"

namespace shardscape {
namespace {

std::optional<Problem> check_options(const Report& report, const ExportOptions& options) {
  if (!report.valid()) {
    for (const Problem& problem : report.problems)
      if (problem.severity == Severity::Error) return problem;
    return Problem{ProblemCode::DesignNotComputed, "design", "the report contains no computed design",
                   "a design without errors"};
  }
  const std::string& name = options.name;
  if (name.empty() || name.size() > 200 || name[0] == '.' || name.find('/') != std::string::npos)
    return Problem{ProblemCode::TraceNameInvalid, "name", "\"" + name + "\" cannot be the name of the traces",
                   "a file name of at most 200 characters without '/', not starting with '.'"};
  if (!report.accelerator)
    return Problem{ProblemCode::UnknownAccelerator, "accelerator", "the accelerator is not in the catalogue",
                   "the id of an accelerator"};
  return std::nullopt;
}

// Writes the traces, then the other files, and the manifest last.
std::optional<Problem> write_all(const Report& report, const ExportOptions& options,
                                 const TraceExport& traces, ByteSink& sink, const ExportProgressFn& progress,
                                 const std::stop_token& stop, const SimCluster& cluster,
                                 TraceTotals& totals) {
  auto written = traces.write(sink, progress, stop);
  if (auto* problem = std::get_if<Problem>(&written)) return std::move(*problem);
  totals = std::move(std::get<TraceTotals>(written));
  const auto simulation = simulate(report, stop);
  if (!simulation) return stopped_problem();
  const std::pair<const char*, std::string> files[] = {
      {kGroupsName, traces.groups().json()},
      {kSystemName, system_json(report, cluster, !options.durations)},
      {kNetworkName, network_yml(cluster)},
      {kMemoryName, memory_json(report)},
      {kReadmeName, bundle_readme(report, options, totals, simulation->step_seconds)},
      {kScriptName, astra_sim_script(options.name)},
      {kManifestName, manifest_json(report, options, cluster, totals)}};
  for (const auto& [name, text] : files)
    if (auto problem = sink.write(name, text)) return problem;
  if (stop.stop_requested()) return stopped_problem();
  return std::nullopt;
}

}  // namespace

Result<ExportSummary> export_bundle(const Report& report, const ExportOptions& options,
                                    const ExportProgressFn& progress, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  if (auto problem = check_options(report, options)) return *problem;
  try {
    const TraceExport traces(report, options);
    const std::string groups = traces.groups().json();
    // On average, every file wastes half a disk block.
    const int64_t needed = traces.estimate() + static_cast<int64_t>(groups.size()) + 4096 * report.ranks;
    auto opened = BundleFolder::open(options.target, options.replace, needed);
    if (auto* problem = std::get_if<Problem>(&opened)) return *problem;
    BundleFolder& folder = std::get<BundleFolder>(opened);
    TraceTotals totals;
    SimCluster cluster = sim_cluster(traces.lowering(), options.flat_network);
    {
      FolderSink sink(folder.path(), needed);
      if (auto problem = write_all(report, options, traces, sink, progress, stop, cluster, totals))
        return *problem;
    }
    if (auto problem = folder.commit()) return *problem;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return ExportSummary{folder.target(), totals.ranks,    totals.nodes,
                         totals.bytes,    elapsed.count(), std::move(cluster.substitutions)};
  } catch (const LoweringError& error) {
    return Problem{ProblemCode::TraceOverflow, "design", error.what(),
                   "smaller sizes, or fewer microbatches per step"};
  }
}

int64_t estimate_bundle_bytes(const Report& report, const ExportOptions& options) {
  if (!report.valid()) return 0;
  try {
    return TraceExport(report, options).estimate();
  } catch (const LoweringError&) {
    return 0;
  }
}

}  // namespace shardscape
