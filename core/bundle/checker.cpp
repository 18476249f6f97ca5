#include "bundle/checker.h"

#include <algorithm>

#include "astra_sim/bundle_simulator.h"
#include "astra_sim/implementation_use.h"
#include "bundle/bundle_files.h"
#include "bundle/bundle_reader.h"
#include "bundle/manifest.h"
#include "bundle/match_rules.h"
#include "chakra/digest.h"
#include "chakra/findings.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;

class Checker {
 public:
  Checker(const BundlePaths& paths, const std::function<void(double)>& progress, const std::stop_token& stop)
      : paths_(paths), progress_(progress), stop_(stop) {}

  CheckReport run() {
    constexpr double kReading = 0.9;  // share of the progress that reading takes
    of_ = read_bundle(
        paths_, true, findings_,
        [&](double part) {
          if (progress_) progress_(kReading * part);
        },
        stop_);
    report_.ranks = of_.files;
    report_.absent = of_.absent;
    if (!of_.traces.ranks.empty() && !stop_.stop_requested()) check_traces();
    if (stop_.stop_requested())
      findings_.error("STOPPED", -1, -1, "the check was stopped before it finished");
    report_.findings = findings_.take();
    return std::move(report_);
  }

 private:
  void check_traces() {
    count_nodes();
    check_manifest();
    check_group_ids(of_.traces, findings_);
    const std::string system = paths_.system.empty() ? "system.json" : paths_.system.string();
    for (const std::string& defect :
         implementation_defects(of_.config, collective_use(of_.traces, of_.config)))
      findings_.error("IMPLEMENTATION", -1, -1, system + ": " + defect);
    if (of_.absent > 0) return;
    check_collectives_match(of_.traces, of_.config, findings_);
    check_transfers_match(of_.traces, findings_);
    report_.finished = simulate_traces(of_.traces, of_.config, nullptr, findings_, stop_).finished &&
                       !stop_.stop_requested();
    if (progress_) progress_(1);
  }

  void count_nodes() {
    for (size_t r = 0; r < of_.traces.ranks.size(); ++r) {
      const RankTrace& trace = of_.traces.ranks[r];
      report_.bytes += trace.bytes;
      if (!trace.readable) continue;
      report_.nodes += static_cast<int64_t>(of_.traces.shapes[trace.shape].nodes.size());
      report_.collectives += of_.traces.analyses[trace.shape].collective_count;
      report_.sends += of_.traces.analyses[trace.shape].send_count;
    }
  }

  void check_manifest() {
    const auto manifest = read_manifest(paths_.folder, static_cast<int64_t>(of_.traces.ranks.size()));
    std::error_code error;
    if (!manifest && (fs::exists(paths_.folder / kManifestName, error) || error))
      findings_.warning("MANIFEST", -1, -1,
                        "manifest.json is no manifest of a bundle: the traces are not compared with it");
    if (!manifest) return;
    if (of_.absent == 0 && manifest->ranks != static_cast<int64_t>(of_.traces.ranks.size()))
      findings_.error("MANIFEST", -1, -1,
                      "manifest.json describes " + std::to_string(manifest->ranks) +
                          " ranks, but there are " + std::to_string(of_.traces.ranks.size()));
    for (size_t c = 0; c < manifest->classes.size(); ++c) {
      uint64_t digest = 0;
      for (const int64_t rank : manifest->classes[c].ranks) {
        if (rank >= static_cast<int64_t>(of_.traces.ranks.size())) return;
        const RankTrace& trace = of_.traces.ranks[static_cast<size_t>(rank)];
        digest = poly61_fold(digest, trace.digest, static_cast<uint64_t>(trace.bytes));
      }
      if (poly61_text(digest) != manifest->classes[c].digest)
        findings_.warning(
            "MANIFEST_DIGEST", -1, -1,
            "the traces of class " + std::to_string(c) + " are not those that manifest.json describes");
    }
  }

  const BundlePaths& paths_;
  const std::function<void(double)>& progress_;
  const std::stop_token& stop_;
  Findings findings_;
  CheckReport report_;
  BundleContents of_;
};

}  // namespace

bool CheckReport::ok() const {
  return (finished || absent > 0) &&
         std::none_of(findings.begin(), findings.end(), [](const Finding& f) { return f.error; });
}

CheckReport check_bundle(const BundlePaths& paths, const std::function<void(double)>& progress,
                         std::stop_token stop) {
  return Checker(paths, progress, stop).run();
}

CheckReport check_bundle(const fs::path& bundle, const std::function<void(double)>& progress,
                         std::stop_token stop) {
  return check_bundle(BundlePaths{.folder = bundle}, progress, std::move(stop));
}

int64_t finding_count(const std::vector<Finding>& findings, bool errors) {
  int64_t count = 0;
  for (const Finding& f : findings)
    if (f.error == errors) count += f.count;
  return count;
}

}  // namespace shardscape
