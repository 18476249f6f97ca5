#include "bundle/bundle_simulation.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "astra_sim/nanoseconds.h"
#include "base/json_text.h"
#include "base/units.h"
#include "bundle/bundle_reader.h"

namespace shardscape {
namespace {

constexpr double kSecondsPerCycle = 1e-9;

const SimulatedRank& last_rank(const SimulationReport& report) {
  return *std::max_element(report.ranks.begin(), report.ranks.end(),
                           [](const SimulatedRank& a, const SimulatedRank& b) { return a.end < b.end; });
}

// The problem with a configuration, with the path of its file. A file that cannot be read is the cause of all
// others.
Problem config_problem(Problem problem, const BundlePaths& paths, Findings& findings) {
  for (const Finding& f : findings.take())
    if (f.code == "CONFIG_FILE" && f.error)
      return {ProblemCode::NotSimulated, paths.folder.string(), f.message,
              "configuration files as shardscape-cli export writes them"};
  for (const auto& [name, given] : {std::pair{"system.json", &paths.system},
                                    {"network.yml", &paths.network},
                                    {"memory.json", &paths.memory}})
    if (problem.where == name) problem.where = (given->empty() ? paths.folder / name : *given).string();
  return problem;
}

}  // namespace

int64_t SimulationReport::cycles() const { return ranks.empty() ? 0 : last_rank(*this).end; }

bool SimulationReport::ok() const { return finished && finding_count(findings, true) == 0; }

Result<SimulationReport> simulate_bundle(const std::filesystem::path& bundle,
                                         const std::function<void(double)>& progress, std::stop_token stop) {
  return simulate_bundle(BundlePaths{.folder = bundle}, progress, std::move(stop));
}

Result<SimulationReport> simulate_bundle(const BundlePaths& paths,
                                         const std::function<void(double)>& progress, std::stop_token stop,
                                         const SpanVisit& visit) {
  Findings findings;
  const BundleContents of = read_bundle(paths, false, findings, progress, stop);
  if (of.absent > 0)
    return Problem{ProblemCode::NotSimulated, paths.folder.string(),
                   "the bundle is a part: it has traces of " + grouped(of.files) + " of " +
                       grouped(of.files + of.absent) + " ranks, and a simulation needs all of them",
                   "a bundle of all ranks; the traces of all parts in one folder"};
  SimulationReport report;
  if (!of.traces.ranks.empty() && !stop.stop_requested()) {
    auto network = SimNetwork::make(of.config, collective_use(of.traces, of.config));
    if (auto* problem = std::get_if<Problem>(&network))
      return config_problem(std::move(*problem), paths, findings);
    for (const RankTrace& trace : of.traces.ranks)
      if (trace.readable) report.nodes += static_cast<int64_t>(of.traces.shapes[trace.shape].nodes.size());
    BundleSimulation simulation = simulate_traces(of.traces, of.config, &std::get<SimNetwork>(network),
                                                  findings, stop, visit);
    if (std::any_of(simulation.ranks.begin(), simulation.ranks.end(),
                    [](const SimulatedRank& rank) { return rank.end >= kForever; }))
      return Problem{
          ProblemCode::NetworkInvalid, paths.folder.string(),
          "the step takes more than 36 years: a latency, a bandwidth, a size or a duration is absurd",
          "numbers of a real machine"};
    report.finished = simulation.finished;
    report.ranks = std::move(simulation.ranks);
  }
  report.findings = findings.take();
  return report;
}

std::string simulation_text(const SimulationReport& report) {
  std::string text;
  for (const Finding& f : report.findings)
    if (f.error) text += "error " + f.code + finding_place(f) + ": " + f.message + "\n";
  if (report.finished && !report.ok())
    text += "the simulator aborts or hangs because of these errors; without them:\n";
  if (!report.finished) return text + "not every rank finishes; shardscape-cli check shows the reasons\n";
  const SimulatedRank& last = last_rank(report);
  const auto first = std::min_element(
      report.ranks.begin(), report.ranks.end(),
      [](const SimulatedRank& a, const SimulatedRank& b) { return a.end < b.end; });
  return text + grouped(static_cast<Wide>(report.ranks.size())) + " ranks, " + grouped(report.nodes) +
         " nodes\n" + "the step takes " + grouped(last.end) + " cycles of 1 ns, " +
         format_seconds(static_cast<double>(last.end) * kSecondsPerCycle) + "; the first rank ends after " +
         grouped(first->end) + "\nthe last rank computes for " + grouped(last.compute) +
         " cycles; exposed communication and waits take " + grouped(last.end - last.compute) + "\n";
}

std::string simulation_json(const SimulationReport& report) {
  nlohmann::ordered_json j;
  j["ok"] = report.ok();
  j["finished"] = report.finished;
  j["nodes"] = report.nodes;
  if (report.finished) {
    const SimulatedRank& last = last_rank(report);
    j["cycles"] = last.end;
    j["seconds"] = static_cast<double>(last.end) * kSecondsPerCycle;
    j["compute_cycles"] = last.compute;
    j["exposed_cycles"] = last.end - last.compute;
    for (const SimulatedRank& rank : report.ranks) j["rank_cycles"].push_back(rank.end);
  }
  j["errors"] = nlohmann::ordered_json::array();
  for (const Finding& f : report.findings)
    if (f.error) {
      j["errors"].push_back({{"code", f.code}});
      if (f.rank >= 0) j["errors"].back()["rank"] = f.rank;
      if (f.node >= 0) j["errors"].back()["node"] = f.node;
      j["errors"].back()["message"] = f.message;
    }
  return json_document(j);
}

}  // namespace shardscape
