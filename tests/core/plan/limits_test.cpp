// Every numeric knob at both ends of its accepted range, on a dozen designs: an answer or a refusal, within
// the memory of a laptop. Each design runs in a process of its own, which prints a line per case.
#include <cmath>
#include <iostream>

#include <QtTest>

#include "base/number_text.h"
#include "design/document.h"
#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "explore/evaluation.h"
#include "explore/space.h"
#include "memory/estimate.h"
#include "support/address_space.h"
#include "support/designs.h"
#include "support/spaces.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr int64_t kMemory = int64_t{6} << 30;  // address space, of which the allocator reserves some
constexpr int kSilence = 300'000;              // milliseconds without a line: the case hangs
constexpr int64_t kMostSpans = int64_t{16} << 20, kMostCollectives = int64_t{1} << 20;
constexpr const char* kCases = "--cases";

Design with(Design d, std::initializer_list<std::pair<const char*, const char*>> settings) {
  for (const auto& [id, text] : settings)
    if (const auto problem = set_knob(d, *find_knob(id), text)) throw std::logic_error(to_string(*problem));
  return d;
}

std::vector<Design> base_designs() {
  const auto llama = [](int64_t tp, int64_t pp, int64_t dp) {
    return with(preset_design("llama3-8b", tp, pp, dp), {{"layers", "4"}, {"batch", "16"}});
  };
  return {llama(1, 1, 1),
          with(llama(2, 1, 2), {{"sync", "ddp-flat"}, {"overlap_grad_reduce", "true"}}),
          with(llama(1, 1, 4), {{"sync", "ddp-buckets"}}),
          with(llama(1, 1, 4), {{"sync", "zero-1"}}),
          with(llama(1, 1, 4), {{"sync", "zero-2"}}),
          with(llama(1, 1, 4), {{"sync", "zero-3"}, {"recompute", "full"}}),
          with(llama(1, 2, 2), {{"sync", "fsdp2"}}),
          with(llama(1, 4, 1), {{"schedule", "gpipe"}}),
          with(llama(1, 2, 1), {{"schedule", "zb-h1"}, {"offload_optimizer", "true"}}),
          with(llama(1, 2, 1), {{"virtual_stages", "2"}, {"sync", "distributed-optimizer"}}),
          with(llama(2, 1, 1), {{"mode", "decode"}}),
          with(preset_design("mixtral-8x7b", 1, 1, 4), {{"layers", "2"}, {"ep", "4"}, {"batch", "16"}}),
          with(preset_design("deepseek-v3", 2, 1, 2), {{"layers", "4"}, {"ep", "2"}, {"batch", "16"}})};
}

// Empty for a bounded answer, or for a refusal that names a knob.
std::string wrong_answer(const Design& d, const std::shared_ptr<PlanCache>& cache) {
  const auto report = estimate(d, cache);
  if (!report->valid())
    return report->problems.empty() || report->problems.front().where.empty() ? "refused without a knob" : "";
  if (memory_in_use(*report, report->memory->peak_stage) < 0) return "negative memory";
  const auto step = simulate(*report);
  if (!std::isfinite(step->step_seconds) || step->step_seconds < 0) return "no finite step";
  int64_t spans = 0, collectives = 0;
  for (const StageTimes& stage : step->stages) spans += static_cast<int64_t>(stage.spans.size());
  for (const StageReport& stage : report->stages) {
    Wide count = 0;
    for (const CollectiveValue& row : stage.collectives)
      if (row.phase == Phase::Step) count += row.count.value;
    collectives = std::max(collectives, static_cast<int64_t>(std::min<Wide>(count, Wide{1} << 62)));
  }
  if (spans > kMostSpans) return std::to_string(spans) + " spans";
  if (collectives > kMostCollectives) return std::to_string(collectives) + " collectives";
  return {};
}

std::string end_text(const Knob& knob, bool high) {
  const int64_t value = high ? knob.max : knob.min;
  return knob.type == KnobType::Decimal ? thousandths_text(value) : std::to_string(value);
}

// Prints a line before and after each case of the design that standard input contains.
int print_cases() {
  const AddressSpace limit(kMemory);
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const auto base = design_from_json(text, "standard input");
  if (std::holds_alternative<Problem>(base)) return 1;
  for (const Knob& knob : knobs()) {
    if (knob.type != KnobType::Integer && knob.type != KnobType::Decimal) continue;
    for (const bool high : {false, true}) {
      Design d = std::get<Design>(base);
      std::cout << "case " << knob.id << " " << end_text(knob, high) << std::endl;
      if (set_knob(d, knob, end_text(knob, high))) {
        std::cout << "the end of the range is refused" << std::endl;
        continue;
      }
      std::cout << wrong_answer(d, std::make_shared<PlanCache>()) << std::endl;
    }
  }
  return 0;
}

}  // namespace

class LimitsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void knobsAtTheirEnds_data() {
    QTest::addColumn<int>("base");
    const auto bases = base_designs();
    for (size_t i = 0; i < bases.size(); ++i)
      QTest::newRow(qPrintable(QString("design %1").arg(i))) << static_cast<int>(i);
  }

  void knobsAtTheirEnds() {
    QFETCH(int, base);
    const Design d = base_designs()[static_cast<size_t>(base)];
    QVERIFY2(first_error(d).empty(), first_error(d).c_str());
    QProcess process;
    process.start(QCoreApplication::applicationFilePath(), {kCases});
    process.write(QByteArray::fromStdString(to_json(d)));
    process.closeWriteChannel();
    QByteArray now = "nothing";
    int cases = 0;
    while (process.canReadLine() || process.waitForReadyRead(kSilence))
      while (process.canReadLine()) {
        const QByteArray line = process.readLine().trimmed();
        if (line.startsWith("case ")) {
          now = line;
          ++cases;
        } else {
          QVERIFY2(line.isEmpty(), now + ": " + line);
        }
      }
    process.waitForFinished(kSilence);
    QVERIFY2(process.state() == QProcess::NotRunning, now + " hangs");
    QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0,
             now + " ends the program: " + process.readAllStandardError());
    QVERIFY2(cases > 200, QByteArray::number(cases));
  }

  // DeepSpeed gathers updated parameters in pieces of the bucket.
  void gathersOfAStepAreBounded_data() {
    QTest::addColumn<QByteArray>("sync");
    for (const char* sync : {"zero-0", "zero-1", "zero-2"}) QTest::newRow(sync) << QByteArray(sync);
  }
  void gathersOfAStepAreBounded() {
    QFETCH(QByteArray, sync);
    Design d = with(preset_design("llama3-8b", 1, 1, 4), {{"layers", "2"}, {"batch", "16"}});
    set_knob(d, *find_knob("sync"), sync.toStdString());
    set_knob(d, *find_knob("zero_allgather_bucket_size"), "1");
    const auto refused = estimate(d);
    QVERIFY(!refused->valid());
    const Problem& problem = refused->problems.back();
    QCOMPARE(problem.code, ProblemCode::TooManyCollectives);
    QCOMPARE(problem.where, std::string("zero_allgather_bucket_size"));
    QCOMPARE(Evaluator().evaluate(d).reason, problem.where);
    QCOMPARE(problem.fixes.size(), size_t{1});
    const std::string least = problem.fixes.front().settings.front().second;
    set_knob(d, *find_knob("zero_allgather_bucket_size"), least);
    QVERIFY(wrong_answer(d, std::make_shared<PlanCache>()).empty() && estimate(d)->valid());
    d.parallel.zero.allgather_bucket_size -= 1;
    QVERIFY(!estimate(d)->valid());
  }

  // All layouts of many numbers of ranks: the space is made at once, or refused.
  void layoutsOfManyRanks() {
    SpaceSpec spec;
    spec.base = small_gpt();
    for (const char* id : {"tp", "pp", "cp", "dp"}) spec.dimensions.emplace_back(id, "all");
    spec.gpus = "1..4096";
    const auto some = made(spec);
    QVERIFY(some->size() > 4096);
    for (Wide i : {Wide{0}, some->size() / 2, some->size() - 1}) {
      const ParallelSpec p = some->design_at(i).parallel;
      QVERIFY(p.tp * p.cp * p.pp * p.dp <= 4096);
      QVERIFY(some->index_of(some->values_at(i)) == i);
    }
    spec.gpus = "1..65536";
    const auto all = Space::make(spec);
    const auto* problem = std::get_if<Problem>(&all);
    QVERIFY(!problem || problem->code == ProblemCode::SpaceTooLarge ||
            problem->code == ProblemCode::TooManyValues);
  }
};

// With --cases: the cases of the design that standard input contains.
int main(int argc, char** argv) {
  QCoreApplication application(argc, argv);
  if (application.arguments().contains(kCases)) return print_cases();
  LimitsTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "limits_test.moc"
