// Limits of percentiles: the text, its mistakes, and what keeps them.
#include <QtTest>
#include <algorithm>
#include <random>

#include "serving/service/service_spec.h"

using namespace shardscape;

namespace {

ServiceLevel level_of(const std::string& text) {
  const auto read = parse_service_level(text, "slo");
  if (const auto* problem = std::get_if<Problem>(&read)) qFatal("%s", to_string(*problem).c_str());
  return std::get<0>(read);
}

}  // namespace

class ServiceLevelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void parts() {
    const ServiceLevel level = level_of(" P99 TTFT < 2s,p50 e2e<=1.5 min, mean queueing<10ms ");
    const std::vector<LatencyTarget> wanted{{LatencyFigure::P99, Latency::Ttft, 2},
                                            {LatencyFigure::P50, Latency::E2e, 90},
                                            {LatencyFigure::Mean, Latency::Queueing, 0.01}};
    QVERIFY(level.targets == wanted);
    QCOMPARE(level_text(level), std::string("p99 ttft<2 s, p50 e2e<90 s, mean queueing<10 ms"));
    QVERIFY(!level_of("  ").any());
  }
  // Any figures of any latencies, in any order, are read as they are written.
  void texts_are_read_back() {
    std::mt19937 random(7);
    for (int i = 0; i < 200; ++i) {
      ServiceLevel level;
      for (int of = 0; of < 25; ++of)
        if (random() % 4 == 0)
          level.targets.push_back({static_cast<LatencyFigure>(of / 5), static_cast<Latency>(of % 5),
                                   static_cast<double>(1 + random() % 5000) / 1000});
      std::shuffle(level.targets.begin(), level.targets.end(), random);
      QCOMPARE(level_text(level_of(level_text(level))), level_text(level));
      QCOMPARE(level_of(level_text(level)).targets.size(), level.targets.size());
    }
  }
  void mistakes_name_the_part_data() {
    QTest::addColumn<std::string>("text");
    QTest::addColumn<std::string>("what");
    QTest::addColumn<std::string>("accepted");
    const char* const rows[][3] = {
        {"p99 ttft 2s", "\"p99 ttft 2s\" has no sign <", "p99 ttft<2s"},
        {"p99 ttft<2s, ttft<1s", "\"ttft<1s\" needs a percentile", "mean, p50, p90, p95 or p99"},
        {"p98 ttft<2s", "no percentile \"p98\"", "mean, p50, p90, p95 or p99"},
        {"p99 latency<2s", "no latency \"latency\"", "ttft, tpot, itl, e2e or queueing"},
        {"p99 ttft<2", "\"p99 ttft<2\": \"2\" has no unit", "50 ms"},
        {"p99 ttft<", "\"p99 ttft<\" has no time", "p99 ttft<2s"},
        {"p99 ttft<-1s", "is not a time", "50 ms"},
        {"p99 ttft<2s,,p50 tpot<1s", "empty", "p99 ttft<2s"},
        {"p99 ttft<2s, p99 ttft<3s", "\"p99 ttft<3s\" is a second limit", "one limit"}};
    for (const auto& row : rows)
      QTest::newRow(row[0]) << std::string(row[0]) << std::string(row[1]) << std::string(row[2]);
  }
  void mistakes_name_the_part() {
    QFETCH(std::string, text);
    QFETCH(std::string, what);
    QFETCH(std::string, accepted);
    ServiceSpec spec;
    const auto problem = set_setting(spec, *find_setting("slo"), text);
    QVERIFY(problem);
    QCOMPARE(problem->code, ProblemCode::EngineSettingInvalid);
    QCOMPARE(problem->where, std::string("slo"));
    QVERIFY2(problem->what.find(what) != std::string::npos, problem->what.c_str());
    QVERIFY2(problem->accepted.find(accepted) != std::string::npos, problem->accepted.c_str());
    QVERIFY(spec == ServiceSpec{});
  }
  void figures_decide() {
    ServiceResults results;
    results.ttft = {10, 1, 0.5, 1.5, 1.8, 3};
    results.itl = {10, 0.02, 0.01, 0.03, 0.04, 0.09};
    QVERIFY(keeps_level(results, level_of("mean ttft<1s, p95 ttft<1.8s, p99 itl<90ms, p99 tpot<1us")));
    QVERIFY(!keeps_level(results, level_of("p95 ttft<1.8s, p99 ttft<2.9s")));
    QVERIFY(keeps_level(results, {}));
    QVERIFY(!worst_target(results, level_of("p50 ttft<1s")));
    const auto worst = worst_target(results, level_of("p99 ttft<2s, p99 itl<10ms, p50 ttft<400ms"));
    QVERIFY(worst && worst->latency == Latency::Itl);
  }
  // Limits of a request are p99 of the level; percentiles limit requests where no limit is given.
  void limits_and_percentiles_are_one_level() {
    ServiceSpec spec;
    spec.limits.ttft = 2;
    spec.level = level_of("p50 tpot<40ms, p99 tpot<60ms, mean e2e<3s, p99 itl<1s");
    QCOMPARE(level_text(promised_level(spec)),
             std::string("p50 tpot<40 ms, p99 tpot<60 ms, mean e2e<3 s, p99 itl<1 s, p99 ttft<2 s"));
    const RequestLimits limits = request_limits(spec);
    QCOMPARE(limits.ttft, std::optional<double>(2));
    QCOMPARE(limits.tpot, std::optional<double>(0.06));
    QVERIFY(!limits.e2e);
    QVERIFY(!promised_level(ServiceSpec{}).any() && !request_limits(ServiceSpec{}).any());
  }
};

QTEST_APPLESS_MAIN(ServiceLevelTest)
#include "service_level_test.moc"
