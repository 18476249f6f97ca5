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
#include "chakra/trace_json.h"
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

// What a bundle has besides its traces.
struct BundleContent {
  const Report& report;
  const ExportOptions& options;
  const StepWindow* window = nullptr;  // null: one step of the report
};

// Writes the traces, then the other files, and the manifest last.
std::optional<Problem> write_all(const BundleContent& of, const TraceExport& traces, ByteSink& sink,
                                 const ExportProgressFn& progress, const std::stop_token& stop,
                                 const SimCluster& cluster, TraceTotals& totals) {
  auto written = traces.write(sink, progress, stop);
  if (auto* problem = std::get_if<Problem>(&written)) return std::move(*problem);
  totals = std::move(std::get<TraceTotals>(written));
  double seconds = of.window ? of.window->seconds() : 0;
  if (!of.window) {
    const auto simulation = simulate(of.report, stop);
    if (!simulation) return stopped_problem();
    seconds = simulation->step_seconds;
  }
  const std::pair<const char*, std::string> files[] = {
      {kGroupsName, traces.groups().json()},
      {kSystemName, system_json(of.report, cluster, !of.options.durations)},
      {kNetworkName, network_yml(cluster)},
      {kMemoryName, memory_json(of.report)},
      {kReadmeName, bundle_readme(of.report, of.options, totals, seconds, of.window)},
      {kScriptName, astra_sim_script(of.options.name)},
      {kManifestName, manifest_json(of.report, of.options, cluster, totals, of.window)}};
  for (const auto& [name, text] : files)
    if (auto problem = sink.write(name, text)) return problem;
  if (stop.stop_requested()) return stopped_problem();
  return std::nullopt;
}

// Writes every trace also as JSON.
class JsonSink : public ByteSink {
 public:
  explicit JsonSink(ByteSink& files) : files_(files) {}
  std::optional<Problem> write(const std::string& name, std::string_view bytes) override {
    auto problem = files_.write(name, bytes);
    if (problem || !name.ends_with(kTraceEnding)) return problem;
    return files_.write(name.substr(0, name.size() - kTraceEnding.size()) + ".json", trace_json(bytes));
  }

 private:
  static constexpr std::string_view kTraceEnding = ".et";
  ByteSink& files_;
};

Result<ExportSummary> write_bundle(const BundleContent& of, const TraceExport& traces,
                                   const ExportProgressFn& progress, const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  const std::string groups = traces.groups().json();
  // On average, every file wastes half a disk block.
  constexpr int64_t kJsonToTrace = 8;  // bytes of JSON per byte of a trace, at most
  const int64_t needed = traces.estimate() * (of.options.json ? 1 + kJsonToTrace : 1) +
                         static_cast<int64_t>(groups.size()) + 4096 * of.report.ranks;
  auto opened = BundleFolder::open(of.options.target, of.options.replace, needed);
  if (auto* problem = std::get_if<Problem>(&opened)) return *problem;
  BundleFolder& folder = std::get<BundleFolder>(opened);
  TraceTotals totals;
  SimCluster cluster = sim_cluster(traces.lowering(), of.options.flat_network);
  {
    FolderSink sink(folder.path(), needed);
    JsonSink with_json(sink);
    ByteSink& files = of.options.json ? static_cast<ByteSink&>(with_json) : sink;
    if (auto problem = write_all(of, traces, files, progress, stop, cluster, totals)) return *problem;
  }
  if (auto problem = folder.commit()) return *problem;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return ExportSummary{folder.target(), totals.ranks,    totals.nodes,
                       totals.bytes,    elapsed.count(), std::move(cluster.substitutions)};
}

Problem overflow_problem(const LoweringError& error, const char* accepted) {
  return {ProblemCode::TraceOverflow, "design", error.what(), accepted};
}

ExportOptions with_durations(ExportOptions options) {
  options.durations = true;
  return options;
}

}  // namespace

Result<ExportSummary> export_bundle(const Report& report, const ExportOptions& options,
                                    const ExportProgressFn& progress, std::stop_token stop) {
  if (auto problem = check_options(report, options)) return *problem;
  try {
    return write_bundle({report, options}, TraceExport(report, options), progress, stop);
  } catch (const LoweringError& error) {
    return overflow_problem(error, "smaller sizes, or fewer microbatches per step");
  }
}

Result<ExportSummary> export_bundle(const StepWindow& window, const ExportOptions& wanted,
                                    const ExportProgressFn& progress, std::stop_token stop) {
  const ExportOptions options = with_durations(wanted);
  const Report& report = window.reference().report();
  if (auto problem = check_options(report, options)) return *problem;
  try {
    return write_bundle({report, options, &window}, TraceExport(window, options), progress, stop);
  } catch (const LoweringError& error) {
    return overflow_problem(error, "fewer steps");
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

int64_t estimate_bundle_bytes(const StepWindow& window, const ExportOptions& options) {
  try {
    return TraceExport(window, with_durations(options)).estimate();
  } catch (const LoweringError&) {
    return 0;
  }
}

}  // namespace shardscape
