// Results for a design do not depend on earlier computations: a cache that other designs have filled, in any
// order, gives the same results as an empty cache.
#include <QtTest>

#include <algorithm>
#include <numeric>
#include <random>

#include "bundle/trace_export.h"
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

// Report with memory and time, timeline, and the digests of the traces of one rank of every class.
std::string answer(const Design& design, const std::shared_ptr<PlanCache>& cache) {
  const auto report = estimate(design, cache);
  if (!report->valid()) return report->problems.front().what;
  const auto step = simulate(*report);
  StepOps ops(report, step);
  std::string out = with_time(estimate_json(*report, {}, fragmentation(*report), &ops), *report, *step);
  const Lowering lowering(*report, true);
  for (const StageReport& stage : report->stages)
    if (stage.representative == stage.stage) {
      const RankProgram program = lowering.stage(stage.stage, true);
      out += " " + std::to_string(program.nodes.size()) + " nodes, " + std::to_string(program.deps.size());
      for (const uint32_t dep : program.deps) out += "," + std::to_string(dep);
      for (const TraceOp& op : program.ops)
        out += ";" + op.name + " " + std::to_string(op.num_ops) + " " + std::to_string(op.seconds);
    }
  return out;
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
  while (out.size() < 60)
    if (const auto design = repaired(random_design(random), random)) out.push_back(*design);
  return out;
}

}  // namespace

class HistoryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void relativesAreEnough();
  void answersDoNotDependOnWhatWasAskedBefore();
  void searchesDoNotDependOnWhatWasAskedBefore();
};

void HistoryTest::relativesAreEnough() { QVERIFY(relatives().size() >= 8); }

void HistoryTest::answersDoNotDependOnWhatWasAskedBefore() {
  const std::vector<Design> all = designs();
  std::vector<std::string> alone;
  for (const Design& design : all) alone.push_back(answer(design, std::make_shared<PlanCache>()));
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
                                                 .arg(QString::fromStdString(command_flags(all[i])),
                                                      QString::fromStdString(after.substr(at, 120)),
                                                      QString::fromStdString(alone[i].substr(at, 120)))));
    }
  }
}

void HistoryTest::searchesDoNotDependOnWhatWasAskedBefore() {
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
      QVERIFY2(text(shared.evaluate(all[i], options)) == alone[i], command_flags(all[i]).c_str());
  }
}

QTEST_APPLESS_MAIN(HistoryTest)
#include "history_test.moc"
