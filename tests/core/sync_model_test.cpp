// The step model's expressions of every gradient sync policy against the planner's numbers, and what they do to memory.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QtTest>
#include <random>

#include "cost/sync_model.h"
#include "report/report.h"
#include "support/trace_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr std::array kOffered{SyncStrategy::DdpFlat, SyncStrategy::DdpBuckets, SyncStrategy::DistributedOptimizer, SyncStrategy::Fsdp1};

Design random_design(std::mt19937& random, SyncStrategy sync) {
  const auto pick = [&](std::initializer_list<int64_t> from) {
    return *(from.begin() + std::uniform_int_distribution<size_t>(0, from.size() - 1)(random));
  };
  const char* preset = pick({0, 1}) != 0 ? "llama3-8b" : "gpt3-175b";
  const int64_t pp = pick({1, 2, 3});
  Design d = trace_design(preset, pick({1, 2, 4, 16}), pp, pick({1, 2, 3, 5, 8}), pick({0, 1}) != 0, pick({1, 2, 5}), pp + pick({0, 1, 3}));
  d.parallel.sync = sync;
  // Without replicas the group of gradients is that of the attention's own collectives, which are not the plan's.
  if (d.parallel.dp > 1) d.parallel.cp = pick({1, 1, 2, 4});
  d.parallel.overlap_grad_reduce = pick({0, 1}) != 0;
  d.model.tied_embeddings = pick({0, 1}) != 0;
  d.workload.dtype = pick({0, 1}) != 0 ? DType::BF16 : DType::FP32;
  d.workload.grad_dtype = pick({0, 1}) != 0 ? DType::BF16 : DType::FP32;
  if (pick({0, 1}) != 0) d.parallel.schedule = ScheduleKind::GPipe;
  return d;
}

// Which phase of the step the root is gathered in depends on the pipeline schedule, so forward and backward are added up.
using Row = std::tuple<bool, std::string, DType>;  // inside the passes; op
using Rows = std::map<Row, std::pair<Wide, Wide>>;
bool in_pass(Phase phase) { return phase == Phase::Forward || phase == Phase::Backward; }

Rows reported(const StageReport& stage) {
  Rows out;
  for (const CollectiveValue& c : stage.collectives) {
    if (c.group != "dp" && c.group != "dp_cp") continue;
    auto& [count, elements] = out[{in_pass(c.phase), c.op, c.dtype}];
    count += c.count.value;
    elements += c.elements.value;
  }
  return out;
}

Rows planned(const Report& report, const StageReport& stage) {
  const Graph& graph = report.graph();
  std::vector<int> layers;
  for (const StageChunk& chunk : stage.chunks)
    for (int64_t i = 0; i < chunk.layers; ++i)
      layers.push_back(graph.layer_kind(chunk.first_layer + i, report.design.model));
  const SyncInput input = sync_input(graph, stage.binding, stage.stage == 0, stage.stage + 1 == static_cast<int>(report.stages.size()), layers);
  const auto plan = plan_sync(input, sync_policy(graph.structure, report.microbatches));
  Rows out;
  for (const auto& [key, total] : sync_totals(std::get<SyncPlan>(plan), report.microbatches)) {
    auto& [count, elements] = out[{in_pass(key.phase), std::string(sync_op_name(key.op)), key.dtype}];
    count += total.count;
    elements += total.elements;
  }
  return out;
}

int64_t memory(const Report& report, MemoryCategory category) {
  return static_cast<int64_t>(report.stages.front().memory[static_cast<size_t>(category)].value);
}

}  // namespace

class SyncModelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void expressions_equal_the_plan_data();
  void expressions_equal_the_plan();
  void designs_equal_recordings_data();
  void designs_equal_recordings();
  void states_are_sharded();
  void units_are_gathered_two_at_a_time();
  void without_replicas_nothing_changes();
  void virtual_stages_are_refused();
};

void SyncModelTest::expressions_equal_the_plan_data() {
  QTest::addColumn<int>("sync");
  for (const SyncStrategy s : kOffered) QTest::addRow("%d", static_cast<int>(s)) << static_cast<int>(s);
}

void SyncModelTest::expressions_equal_the_plan() {
  QFETCH(int, sync);
  std::mt19937 random(29);
  int compared = 0;
  for (int round = 0; round < 150; ++round) {
    const auto report = make_report(random_design(random, static_cast<SyncStrategy>(sync)));
    if (!report->valid()) continue;
    for (const StageReport& stage : report->stages) {
      const Rows expected = planned(*report, stage), found = reported(stage);
      QVERIFY(expected == found);
      compared += !expected.empty();
    }
  }
  QVERIFY(compared > 50);
}

// Not the planner on recorded lists, but whole designs: order and packing of parameters come from blocks and profiles.
void SyncModelTest::designs_equal_recordings_data() {
  QTest::addColumn<QString>("recording");
  QTest::addColumn<int>("sync");
  QTest::addColumn<bool>("overlap");
  const auto flat = static_cast<int>(SyncStrategy::DdpFlat), sharded = static_cast<int>(SyncStrategy::DistributedOptimizer);
  QTest::newRow("flat buffer in buckets") << "M_llama3-8B_flash_dp8_ddp_overlap" << flat << true;
  QTest::newRow("distributed optimizer") << "M_llama3-8B_flash_dp8_distopt" << sharded << false;
  QTest::newRow("distributed optimizer in buckets") << "M_llama3-8B_flash_dp8_distopt_overlap" << sharded << true;
}

void SyncModelTest::designs_equal_recordings() {
  QFETCH(QString, recording);
  QFETCH(int, sync);
  QFETCH(bool, overlap);
  QFile file(QString(SHARDSCAPE_TEST_DATA "/sync/%1.json").arg(recording));
  QVERIFY(file.open(QIODevice::ReadOnly));
  const QJsonArray total = QJsonDocument::fromJson(file.readAll())["totals"][0].toArray();
  Design d = trace_design("llama3-8b", 1, 1, 8, false, 1, 2);
  d.parallel.sync = static_cast<SyncStrategy>(sync);
  d.parallel.overlap_grad_reduce = overlap;
  const auto report = trace_report(d);
  QString found;
  for (const CollectiveValue& c : report->stages.front().collectives)
    if (c.group == "dp" && c.phase != Phase::ParamGather)
      found += QString("%1|%2 %3 x %4")
                   .arg(QString::fromUtf8(phase_name(c.phase).data()), QString::fromStdString(c.op))
                   .arg(static_cast<int64_t>(c.count.value))
                   .arg(static_cast<int64_t>(c.elements.value));
  QCOMPARE(found, QString("%1 %2 x %3").arg(total[0].toString().section('|', 0, 1)).arg(total[1].toInteger()).arg(total[2].toInteger()));
}

void SyncModelTest::states_are_sharded() {
  Design d = trace_design("llama3-8b", 1, 1, 8, false, 1, 4);
  const auto whole = trace_report(d);
  d.parallel.sync = SyncStrategy::DistributedOptimizer;
  const auto states = trace_report(d);
  d.parallel.sync = SyncStrategy::Fsdp1;
  const auto all = trace_report(d);
  // All sizes are multiples of 8, so nothing is padded.
  QCOMPARE(memory(*states, MemoryCategory::Optimizer) * 8, memory(*whole, MemoryCategory::Optimizer));
  QCOMPARE(memory(*states, MemoryCategory::Parameters), memory(*whole, MemoryCategory::Parameters));
  QCOMPARE(memory(*states, MemoryCategory::Gradients), memory(*whole, MemoryCategory::Gradients));
  // 4 bytes of parameter, 4 of gradient, 8 of moments (Rajbhandari et al., arXiv 1910.02054, section 5.3), over dp.
  const auto parameters = static_cast<int64_t>(whole->stages.front().parameters.value);
  QCOMPARE(memory(*all, MemoryCategory::Optimizer), parameters * 8 / 8);
  QVERIFY(memory(*all, MemoryCategory::Parameters) > parameters * 4 / 8);
}

void SyncModelTest::units_are_gathered_two_at_a_time() {
  Design d = trace_design("llama3-8b", 1, 1, 8, false, 1, 4);
  d.parallel.sync = SyncStrategy::Fsdp1;
  const auto r = trace_report(d);
  const StageSync sync = stage_sync(r->graph(), true, true, true);
  const Binding& binding = r->stages.front().binding;
  const auto number = [&](const Expr& e) { return static_cast<int64_t>(std::get<Wide>(evaluate(e, binding))); };
  QCOMPARE(sync.units.size(), size_t{2});
  const int64_t root = number(sync.units[0].full), layer = number(sync.units[1].full);
  QCOMPARE(root + 4 * layer, static_cast<int64_t>(r->stages.front().parameters.value));
  QCOMPARE(number(sync.gathered), root + 2 * layer);
  QCOMPARE(number(sync.unreduced), root + layer);
}

void SyncModelTest::without_replicas_nothing_changes() {
  Design d = trace_design("llama3-8b", 2, 1, 1, false, 2, 2);
  const auto plain = trace_report(d);
  for (const SyncStrategy s : kOffered) {
    d.parallel.sync = s;
    const auto r = trace_report(d);
    QVERIFY(r->model == plain->model);  // one structure
    QCOMPARE(r->problems.size(), s == SyncStrategy::DdpFlat ? size_t{0} : size_t{1});
  }
}

void SyncModelTest::virtual_stages_are_refused() {
  Design d = trace_design("llama3-8b", 1, 2, 2, false, 4, 8);
  d.parallel.virtual_stages = 2;
  d.parallel.sync = SyncStrategy::DistributedOptimizer;
  QVERIFY(make_report(d)->valid());
  d.parallel.sync = SyncStrategy::Fsdp1;
  const auto r = make_report(d);
  QVERIFY(!r->valid());
  QCOMPARE(r->problems.front().where, std::string("sync"));
  QVERIFY(!r->problems.front().fixes.empty());
}

QTEST_APPLESS_MAIN(SyncModelTest)
#include "sync_model_test.moc"
