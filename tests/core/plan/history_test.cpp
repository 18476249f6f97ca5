// The numbers of a design do not depend on earlier computations. A design after random others, with the cache
// that those filled, equals the same design in a fresh process: report, timeline, traces and a small search.
#include <QtTest>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <numeric>
#include <random>

#include "bundle/trace_export.h"
#include "design/document.h"
#include "design/knobs/command_flags.h"
#include "explore/search.h"
#include "memory/estimate.h"
#include "report/memory_report.h"
#include "report/time_report.h"
#include "report/timeline_json.h"
#include "support/designs.h"
#include "support/evaluation_text.h"
#include "support/random_designs.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

class NoFiles : public ByteSink {
 public:
  std::optional<Problem> write(const std::string&, std::string_view) override { return std::nullopt; }
};

// The digests of all traces, with tensors and durations.
std::string trace_digests(const Report& report) {
  ExportOptions options;
  options.tensors = options.durations = true;
  NoFiles sink;
  const auto totals = TraceExport(report, options).write(sink, {}, {});
  if (const Problem* problem = std::get_if<Problem>(&totals)) return problem->what;
  std::string out;
  for (const FileClass& of : std::get<TraceTotals>(totals).classes)
    out += std::to_string(of.stage) + "." + std::to_string(of.position) + ": " + std::to_string(of.digest) +
           "\n";
  return out;
}

// A search around the design.
std::string search_text(const Design& design) {
  SpaceSpec spec;
  spec.base = design;
  spec.dimensions = {{"microbatch", "1,2"}, {"recompute", "none,full"}};
  auto space = Space::make(spec);
  if (const Problem* problem = std::get_if<Problem>(&space)) return problem->what;
  const auto result = search(std::get<0>(std::move(space)), {});
  if (const Problem* problem = std::get_if<Problem>(&result)) return problem->what;
  return result_json(std::get<SearchResult>(result));
}

// Report with memory and time, timeline with all ops, digests of the traces, and a search.
std::string answer(const Design& design, const std::shared_ptr<PlanCache>& cache) {
  const auto report = estimate(design, cache);
  if (!report->valid()) return report->problems.front().what;
  const auto step = simulate(*report);
  StepOps ops(report, step);
  return with_time(estimate_json(*report, {}, fragmentation(*report), &ops), *report, *step) +
         timeline_file(report, step, design.name, TimelineOps::All).json + trace_digests(*report) +
         search_text(design);
}

// The answer of this program in a process of its own (see main).
constexpr const char* kAnswer = "--answer";
std::string fresh_answer(const Design& design) {
  QProcess process;
  process.start(QCoreApplication::applicationFilePath(), {kAnswer});
  process.write(QByteArray::fromStdString(to_json(design)));
  process.closeWriteChannel();
  if (!process.waitForFinished(600'000) || process.exitCode() != 0) return "the process failed";
  return process.readAllStandardOutput().toStdString();
}
int print_answer() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const auto design = design_from_json(text, "standard input");
  if (std::holds_alternative<Problem>(design)) return 1;
  std::cout << answer(std::get<Design>(design), std::make_shared<PlanCache>());
  return 0;
}

// The same model under the schedules and policies whose structures have the same segments.
std::vector<Design> relatives() {
  std::vector<Design> out;
  for (const ScheduleKind schedule : {ScheduleKind::OneFOneB, ScheduleKind::ZbH1, ScheduleKind::ZbV,
                                      ScheduleKind::ZbAuto, ScheduleKind::DualPipeV})
    for (const SyncStrategy sync :
         {SyncStrategy::DdpFlat, SyncStrategy::DistributedOptimizer, SyncStrategy::Fsdp2})
      for (const int64_t offloaded : {0, 2}) {
        Design d = preset_design("llama3-8b", 1, 4, 2);
        d.model.layers = 16;
        d.workload.batch = 32;
        d.parallel.schedule = schedule;
        d.parallel.sync = sync;
        d.workload.offload_activations = offloaded;
        if (first_error(d).empty()) out.push_back(d);
      }
  return out;
}

std::vector<Design> designs() {
  std::vector<Design> out = relatives();
  std::mt19937 random(7);
  while (out.size() < 40)
    if (const auto design = repaired(random_design(random), random)) out.push_back(*design);
  return out;
}

}  // namespace

class HistoryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void relativesAreEnough();
  void answersEqualThoseOfAFreshProcess();
  void evaluationsDoNotDependOnEarlierOnes();
};

void HistoryTest::relativesAreEnough() { QVERIFY(relatives().size() >= 8); }

void HistoryTest::answersEqualThoseOfAFreshProcess() {
  const std::vector<Design> all = designs();
  std::vector<std::string> alone;
  for (const Design& design : all) {
    alone.push_back(fresh_answer(design));
    for (const char* part : {"\"time\"", "\"traceEvents\"", "\n0.0: ", "\"enumerated\""})
      QVERIFY2(alone.back().find(part) != std::string::npos,
               (std::string(part) + " is missing: " + command_line(design)).c_str());
  }
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (const bool reversed : {false, true}) {
    if (reversed) std::reverse(order.begin(), order.end());
    const auto shared = std::make_shared<PlanCache>();
    for (const size_t i : order) {
      const std::string after = answer(all[i], shared);
      const auto differs = std::mismatch(after.begin(), after.end(), alone[i].begin(), alone[i].end());
      const auto at = static_cast<size_t>(differs.first - after.begin());
      QVERIFY2(after == alone[i], qPrintable(QString("%1\nafter others: %2\nalone: %3")
                                                 .arg(QString::fromStdString(command_line(all[i])),
                                                      QString::fromStdString(after.substr(at, 120)),
                                                      QString::fromStdString(alone[i].substr(at, 120)))));
    }
  }
}

void HistoryTest::evaluationsDoNotDependOnEarlierOnes() {
  const std::vector<Design> all = designs();
  const EvaluationOptions options{0, true, true};
  std::vector<std::string> alone;
  for (const Design& design : all) alone.push_back(text(Evaluator().evaluate(design, options)));
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937 random(3);
  for (int round = 0; round < 3; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    Evaluator shared;
    for (const size_t i : order)
      QVERIFY2(text(shared.evaluate(all[i], options)) == alone[i], command_line(all[i]).c_str());
  }
}

// With --answer: prints the answer of the design that standard input contains.
int main(int argc, char** argv) {
  QCoreApplication application(argc, argv);
  if (application.arguments().contains(kAnswer)) return print_answer();
  HistoryTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "history_test.moc"
