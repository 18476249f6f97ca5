#include "bundle/bundle.h"

#include <chrono>

#include "astra_sim/config_files.h"
#include "base/partial.h"
#include "base/units.h"
#include "bundle/astra_command.h"
#include "bundle/bundle_files.h"
#include "bundle/bundle_readme.h"
#include "bundle/bundle_target.h"
#include "bundle/compact_bundle.h"
#include "bundle/export_settings.h"
#include "bundle/manifest.h"
#include "bundle/sink.h"
#include "bundle/trace_export.h"
#include "chakra/trace_json.h"
#include "timing/machine_of.h"
#include "timing/simulation.h"

namespace shardscape {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kCompactTables = int64_t{1} << 20;  // bytes of the other files of a compact bundle, ample

// Granularity, steps and part.
std::optional<Problem> check_shape(const Report& report, const ExportOptions& options) {
  if (options.steps < 1)
    return Problem{ProblemCode::ValueTooSmall, "steps", "a trace has at least one step", "1 or more"};
  if (options.tensors && (options.granularity != Granularity::Op || options.steps > 1))
    return Problem{ProblemCode::ConflictingFlags, "tensors",
                   "names of tensors are per op and per step, but the traces have " +
                       (options.steps > 1 ? grouped(options.steps) + " steps"
                                          : "one node per " + granularity_unit(options.granularity)),
                   "one step with granularity op, or no names of tensors"};
  const auto beyond = [](const IndexRanges& ranges, int64_t count) {
    return !ranges.empty() && ranges.back().last >= count;
  };
  if (beyond(options.part.ranks, report.ranks) ||
      beyond(options.part.stages, static_cast<int64_t>(report.stages.size())))
    return Problem{ProblemCode::ValueTooLarge, "part", "the part names ranks or stages that the design lacks",
                   "ranks below " + grouped(report.ranks)};
  return std::nullopt;
}

std::optional<Problem> check_options(const Report& report, const ExportOptions& options) {
  if (!report.valid()) {
    for (const Problem& problem : report.problems)
      if (problem.severity == Severity::Error) return problem;
    return Problem{ProblemCode::DesignNotComputed, "design", "the report contains no computed design",
                   "a design without errors"};
  }
  if (auto problem = check_trace_name(options.name)) return problem;
  if (!report.accelerator)
    return Problem{ProblemCode::UnknownAccelerator, "accelerator", "the accelerator is not in the catalogue",
                   "the id of an accelerator"};
  return check_shape(report, options);
}

// The network in the terms of each simulator.
struct Networks {
  SimCluster cluster;
  std::vector<PacketNetwork> packets;
};

Result<Networks> networks_of(const Lowering& lowering, const ExportOptions& options) {
  Networks out{sim_cluster(lowering, options.flat_network), {}};
  for (const PacketBackend backend : options.networks) {
    auto made = packet_network(backend, machine_of(lowering.report().design).network, lowering.mesh().ranks(),
                               out.cluster);
    if (auto* problem = std::get_if<Problem>(&made)) return std::move(*problem);
    out.packets.push_back(std::move(std::get<PacketNetwork>(made)));
  }
  return out;
}

// What a bundle has besides its traces.
struct BundleContent {
  const Report& report;
  const ExportOptions& options;
  const Networks& networks;
  const StepWindow* window = nullptr;  // null: one step of the report
};

// The files besides traces and groups, the manifest last. traces: lines of the README; "": of the totals.
BundleTexts texts_of(const BundleContent& of, const TraceTotals& totals, double seconds,
                     const std::string& traces = "") {
  const std::string lines = traces.empty() ? trace_lines(totals, of.options.part, of.report.ranks) : traces;
  const auto& [cluster, packets] = of.networks;
  BundleTexts texts{{kSystemName, system_json(of.report, cluster, !of.options.durations)},
                    {kNetworkName, network_yml(cluster)},
                    {kMemoryName, memory_json(of.report)}};
  for (const PacketNetwork& network : packets)
    for (const PacketFile& file : network.files) texts.emplace_back(file.name, file.text);
  texts.emplace_back(kReadmeName, bundle_readme(of.report, of.options, lines, seconds, of.window));
  texts.emplace_back(kScriptName, astra_sim_script(of.options.name));
  texts.emplace_back(kManifestName,
                     manifest_json(of.report, of.options, cluster, packets, totals, of.window));
  return texts;
}

// Writes the traces, then the other files, and the manifest last.
std::optional<Problem> write_all(const BundleContent& of, const TraceExport& traces, ByteSink& sink,
                                 const ExportProgressFn& progress, const std::stop_token& stop,
                                 TraceTotals& totals) {
  auto written = traces.write(sink, progress, stop);
  if (auto* problem = std::get_if<Problem>(&written)) return std::move(*problem);
  totals = std::move(std::get<TraceTotals>(written));
  double seconds = of.window ? of.window->seconds() : 0;
  if (!of.window) {
    const auto simulation = simulate(of.report, stop);
    if (!simulation) return stopped_problem();
    seconds = simulation->step_seconds;
  }
  BundleTexts texts = texts_of(of, totals, seconds);
  if (of.options.compact) {
    ExportOptions options = of.options;
    options.part = {.ranks = {{0, 0}}};
    const BundleTexts of_part = texts_of({of.report, options, of.networks, of.window}, totals, seconds,
                                         kTraceLines);
    texts = compact_texts(of.options.name, traces, totals, texts, of_part);
  } else {
    texts.emplace(texts.begin(), kGroupsName, traces.groups().json());
  }
  for (const auto& [name, text] : texts)
    if (auto problem = sink.write(name, text)) return problem;
  if (stop.stop_requested()) return stopped_problem();
  return std::nullopt;
}

// Writes every trace also as JSON.
class JsonSink : public ByteSink {
 public:
  explicit JsonSink(ByteSink& files) : files_(files) {}
  bool ordered() const override { return files_.ordered(); }
  std::optional<Problem> write(const std::string& name, std::string_view bytes) override {
    auto problem = files_.write(name, bytes);
    if (problem || !name.ends_with(kTraceEnding)) return problem;
    return files_.write(name.substr(0, name.size() - kTraceEnding.size()) + ".json", trace_json(bytes));
  }

 private:
  static constexpr std::string_view kTraceEnding = ".et";
  ByteSink& files_;
};

// Writes everything into a sink and describes it.
Result<ExportSummary> write_into(ByteSink& sink, const BundleContent& of, const TraceExport& traces,
                                 const ExportProgressFn& progress, const std::stop_token& stop) {
  TraceTotals totals;
  JsonSink with_json(sink);
  ByteSink& files = of.options.json ? static_cast<ByteSink&>(with_json) : sink;
  if (auto problem = write_all(of, traces, files, progress, stop, totals)) return *problem;
  ExportSummary summary;
  summary.ranks = totals.ranks;
  summary.nodes = totals.nodes;
  summary.bytes = totals.bytes;
  summary.substitutions = of.networks.cluster.substitutions;
  for (const PacketNetwork& network : of.networks.packets)
    for (const std::string& text : network.substitutions)
      summary.packet_substitutions.push_back({topology_name(network.backend), text});
  return summary;
}

int64_t bytes_of(const std::vector<PacketNetwork>& networks) {
  int64_t bytes = 0;
  for (const PacketNetwork& network : networks)
    for (const PacketFile& file : network.files) bytes += static_cast<int64_t>(file.text.size());
  return bytes;
}

Result<ExportSummary> write_bundle(const Report& report, const ExportOptions& options,
                                   const StepWindow* window, const TraceExport& traces,
                                   const ExportProgressFn& progress, const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  if (traces.ranks() == 0)
    return Problem{ProblemCode::FlagValueInvalid, "part", "no rank is both among the ranks and in the stages",
                   "ranks of the named stages"};
  if (auto problem = traces.memory_problem()) return *std::move(problem);
  const auto networks = networks_of(traces.lowering(), options);
  if (const auto* problem = std::get_if<Problem>(&networks)) return *problem;
  const BundleContent of{report, options, std::get<Networks>(networks), window};
  // On average, every file wastes half a disk block.
  const int64_t others = options.compact
                             ? kCompactTables
                             : static_cast<int64_t>(traces.groups().json().size()) + 4096 * traces.ranks();
  constexpr int64_t kJsonToTrace = 8;  // bytes of JSON per byte of a trace, at most
  const int64_t needed = traces.estimate(stop) * (options.json ? 1 + kJsonToTrace : 1) + others +
                         bytes_of(of.networks.packets);
  if (stop.stop_requested()) return stopped_problem();
  auto written = write_target({.target = options.target,
                               .replace = options.replace,
                               .bytes_needed = needed,
                               .settings = window ? "" : export_settings(report, options),
                               .resume = options.resume,
                               .keep_partial = options.keep_partial},
                              [&](ByteSink& sink) { return write_into(sink, of, traces, progress, stop); });
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (auto* summary = std::get_if<ExportSummary>(&written)) {
    summary->seconds = elapsed.count();
    if (options.compact && fs::is_directory(summary->target))
      summary->stored_bytes = bytes_below(summary->target);
  }
  return written;
}

Problem overflow_problem(const LoweringError& error, const char* accepted) {
  return {ProblemCode::TraceOverflow, "design", error.what(), accepted};
}

ExportOptions with_durations(ExportOptions options) {
  options.durations = true;
  return options;
}

}  // namespace

std::optional<Problem> check_trace_name(const std::string& name) {
  if (!name.empty() && name.size() <= 200 && name[0] != '.' && name.find('/') == std::string::npos)
    return std::nullopt;
  return Problem{ProblemCode::TraceNameInvalid, "name", "\"" + name + "\" cannot be the name of the traces",
                 "a file name of at most 200 characters without '/', not starting with '.'"};
}

Result<ExportSummary> export_bundle(const Report& report, const ExportOptions& options,
                                    const ExportProgressFn& progress, std::stop_token stop) {
  if (auto problem = check_options(report, options)) return *problem;
  try {
    return write_bundle(report, options, nullptr, TraceExport(report, options), progress, stop);
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
    return write_bundle(report, options, &window, TraceExport(window, options), progress, stop);
  } catch (const LoweringError& error) {
    return overflow_problem(error, "fewer steps");
  }
}

int64_t estimate_bundle_bytes(const Report& report, const ExportOptions& options,
                              const std::stop_token& stop) {
  if (!report.valid()) return 0;
  try {
    const TraceExport traces(report, options);
    return traces.memory_problem() ? 0 : traces.estimate(stop);
  } catch (const LoweringError&) {
    return 0;
  }
}

int64_t estimate_bundle_bytes(const StepWindow& window, const ExportOptions& options,
                              const std::stop_token& stop) {
  try {
    return TraceExport(window, with_durations(options)).estimate(stop);
  } catch (const LoweringError&) {
    return 0;
  }
}

}  // namespace shardscape
