// Work that needs more memory than there is says so before it starts. The tests lower the limit of their own
// address space.
#include <sys/resource.h>
#include <unistd.h>

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "base/memory_limit.h"
#include "bundle/bundle.h"
#include "explore/search.h"
#include "memory/estimate.h"
#include "plan/step_memory.h"
#include "serving/requests/request_simulation.h"
#include "serving/service/service.h"
#include "support/address_space.h"
#include "support/designs.h"
#include "support/request_cases.h"
#include "support/spaces.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr int64_t kSmall = int64_t{200} << 20;

Design long_step() {
  Design d = tiny_design();
  d.workload.microbatch = 1;
  d.workload.batch = 1 << 20;
  return d;
}

}  // namespace

class MemoryLimitTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void freeMemoryFollowsTheLimits() {
    const int64_t before = free_memory();
    QVERIFY(before > kSmall && before < int64_t{1} << 50);
    const AddressSpace limit(kSmall);
    QVERIFY(free_memory() <= kSmall);
  }

  void needs() {
    const MemoryNeed need{"reading a file", Wide{1} << 60, "sample", "a smaller sample"};
    const auto problem = memory_short(need);
    QVERIFY(problem && problem->code == ProblemCode::MemoryShort);
    QCOMPARE(problem->where, std::string("sample"));
    QVERIFY(problem->what.starts_with("reading a file takes some 1.00 EiB of memory, of which "));
    QVERIFY(!memory_short({"a small table", 1 << 20, "sample", ""}));
  }

  void steps() {
    const Design d = long_step();
    QVERIFY(step_memory(d) > 2 * kSmall);
    const AddressSpace limit(kSmall);
    const auto report = estimate(d);
    QVERIFY(!report->valid());
    QCOMPARE(report->problems.back().code, ProblemCode::MemoryShort);
    QCOMPARE(report->problems.back().where, std::string("batch"));
  }

  // The estimate grows with everything that a simulation stores.
  void longerStepsTakeMore() {
    Design d = tiny_design();
    d.parallel.pp = 2;
    d.workload.batch = 64;
    const Wide first = step_memory(d);
    Design other = d;
    other.workload.batch = 128;
    QVERIFY(step_memory(other) == 2 * first);
    other = d;
    other.parallel.schedule = ScheduleKind::ZbH1;
    QVERIFY(step_memory(other) > first);
    other.parallel.schedule = ScheduleKind::GPipe;
    QVERIFY(step_memory(other) > first);
    other = d;
    other.workload.recompute = Recompute::Full;
    QVERIFY(step_memory(other) > first);
  }

  void searches_data() {
    QTest::addColumn<QByteArray>("where");
    for (const char* where : {"sample", "top", "budget"}) QTest::newRow(where) << QByteArray(where);
  }
  void searches() {
    QFETCH(QByteArray, where);
    SpaceSpec spec = small_space("64");
    for (const char* id : {"vocab_multiple", "nic_bandwidth"}) spec.dimensions.emplace_back(id, "1..2000");
    const auto space = made(spec);
    SearchOptions options;
    constexpr int64_t kMany = 100'000'000;
    if (where == "sample") options.result.sample = kMany;
    if (where == "top") options.result.top = kMany;
    if (where == "budget") options.guided = Guided{1, kMany};
    const AddressSpace limit(kSmall);
    const auto result = search(space, options);
    const auto* problem = std::get_if<Problem>(&result);
    QVERIFY(problem && problem->code == ProblemCode::MemoryShort);
    QCOMPARE(problem->where, where.toStdString());
  }

  void requests() {
    ServiceSpec spec;
    spec.source.requests = 10'000'000;
    const AddressSpace limit(kSmall);
    const auto run = run_service(tiny_design(), spec);
    const auto* problem = std::get_if<Problem>(&run);
    QVERIFY(problem && problem->code == ProblemCode::MemoryShort);
    QCOMPARE(problem->where, std::string("requests"));
  }

  // One answer of three million tokens has as many steps, of which each takes some 70 bytes.
  void steps_of_engines() {
    const Workload one = workload({request(0, 10, 3'000'000)});
    ServiceSetup setup;
    setup.engine.max_model_len = 4'000'000;
    LinearClock clock;
    const AddressSpace limit(kSmall);
    const auto kept = simulate_requests(one, setup, clock);
    const auto* problem = std::get_if<Problem>(&kept);
    QVERIFY(problem && problem->code == ProblemCode::MemoryShort);
    QCOMPARE(problem->where, std::string("requests"));
    setup.keep_steps = false;
    QVERIFY(std::holds_alternative<RequestSimulation>(simulate_requests(one, setup, clock)));
  }

  void exports() {
    Design d = long_step();
    d.workload.batch = 1 << 17;
    const auto report = estimate(d);
    QVERIFY(report->valid());
    QTemporaryDir folder;
    ExportOptions options;
    options.target = folder.filePath("bundle").toStdString();
    const AddressSpace limit(kSmall);
    const auto written = export_bundle(*report, options);
    const auto* problem = std::get_if<Problem>(&written);
    QVERIFY(problem && problem->code == ProblemCode::MemoryShort);
    QCOMPARE(problem->where, std::string("batch"));
    QVERIFY(!QFile::exists(folder.filePath("bundle")));
    QCOMPARE(estimate_bundle_bytes(*report, options), int64_t{0});
  }
};

QTEST_GUILESS_MAIN(MemoryLimitTest)
#include "memory_limit_test.moc"
