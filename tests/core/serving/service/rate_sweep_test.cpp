// Latency against load: the rates, the knee, and what has no rate.
#include <QtTest>
#include <atomic>

#include "serving/service/rate_sweep.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design one_gpu() { return preset_design("llama3-8b", 1, 1, 1); }

ServiceSpec short_spec() {
  ServiceSpec spec;
  spec.source.requests = 200;
  spec.source.output_len = 32;
  return spec;
}

std::shared_ptr<const RateSweep> swept(const ServiceSpec& spec, std::vector<double> rates = {}) {
  const auto made = sweep_rates(one_gpu(), spec, std::move(rates));
  if (const auto* problem = std::get_if<Problem>(&made)) qFatal("%s", to_string(*problem).c_str());
  return std::get<0>(made);
}

std::shared_ptr<const ServiceRun> run_at(ServiceSpec spec, double rate) {
  spec.source.rate = rate;
  return std::get<0>(run_service(one_gpu(), spec));
}

}  // namespace

class RateSweepTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Every point is the run at its rate; rates are sorted and distinct.
  void points_are_runs() {
    const ServiceSpec spec = short_spec();
    const auto sweep = swept(spec, {8, 2, 8, 4});
    QCOMPARE(sweep->points.size(), size_t{3});
    for (size_t i = 0; i < 3; ++i) {
      const RatePoint& point = sweep->points[i];
      QCOMPARE(point.rate, double(2 << i));
      const auto run = run_at(spec, point.rate);
      QCOMPARE(point.results.ttft.p99, run->results.ttft.p99);
      QCOMPARE(point.results.tpot.p50, run->results.tpot.p50);
      QVERIFY(point.keeps_limits);
    }
    QVERIFY(!sweep->knee);
  }
  // The usual rates go from a tenth of the throughput to beyond it. There the queue grows.
  void usual_rates_pass_the_throughput() {
    ServiceSpec spec = short_spec();
    const auto sweep = swept(spec);
    QCOMPARE(sweep->points.size(), size_t{12});
    spec.source.arrivals = ArrivalKind::AllAtOnce;
    const double most = std::get<0>(run_service(one_gpu(), spec))->results.requests_per_second;
    QVERIFY(std::abs(sweep->points.front().rate / (0.1 * most) - 1) < 0.01);
    QVERIFY(std::abs(sweep->points.back().rate / (1.2 * most) - 1) < 0.01);
    QVERIFY(sweep->points.back().results.ttft.p99 > 3 * sweep->points.front().results.ttft.p99);
    for (size_t i = 1; i < sweep->points.size(); ++i)
      QVERIFY(sweep->points[i].rate > sweep->points[i - 1].rate);
  }
  // All rates up to the knee keep the limits; the next one does not, and is near.
  void the_knee_is_the_largest_rate_within_the_limits() {
    ServiceSpec spec = short_spec();
    spec.limits.tpot = 0.015;
    const auto sweep = swept(spec);
    QVERIFY(sweep->points.size() > 12);
    QVERIFY(sweep->knee && *sweep->knee + 1 < sweep->points.size());
    for (size_t i = 0; i <= *sweep->knee; ++i) QVERIFY(sweep->points[i].results.tpot.p99 <= 0.015);
    const RatePoint& over = sweep->points[*sweep->knee + 1];
    QVERIFY(over.results.tpot.p99 > 0.015);
    const double step = sweep->points.back().rate / 12;
    QVERIFY(over.rate - sweep->points[*sweep->knee].rate < 0.1 * step);
  }
  void limits_that_no_rate_keeps_have_no_knee() {
    ServiceSpec spec = short_spec();
    spec.limits.ttft = 1e-6;
    const auto sweep = swept(spec, {1, 2});
    QVERIFY(!sweep->knee);
    QVERIFY(!sweep->points.front().keeps_limits);
    spec.limits.ttft = 1e6;
    QCOMPARE(swept(spec, {1, 2})->knee, std::optional<size_t>(1));
  }
  void a_rate_needs_drawn_arrivals_data() {
    QTest::addColumn<QByteArray>("where");
    for (const char* where : {"trace", "users", "rate", "requests"})
      QTest::newRow(where) << QByteArray(where);
  }
  void a_rate_needs_drawn_arrivals() {
    QFETCH(QByteArray, where);
    ServiceSpec spec = short_spec();
    std::vector<double> rates;
    if (where == "trace") spec.source.trace = "requests.csv";
    if (where == "users") spec.source.users = 4;
    if (where == "rate") rates = {1, 0};
    if (where == "requests") spec.engine.max_model_len = 100;  // refuses all, so there is no throughput
    const auto made = sweep_rates(one_gpu(), spec, rates);
    const auto* problem = std::get_if<Problem>(&made);
    QVERIFY(problem);
    QCOMPARE(QByteArray::fromStdString(problem->where), where);
  }
  void a_problem_of_the_design_is_one_of_the_sweep() {
    Design design = one_gpu();
    design.parallel.tp = 3;
    const auto made = sweep_rates(design, short_spec(), {1, 2});
    QVERIFY(std::holds_alternative<Problem>(made));
  }
  void a_stopped_sweep_ends() {
    std::stop_source stop;
    std::atomic<int> calls = 0;
    const auto made = sweep_rates(one_gpu(), short_spec(), {1, 2, 3, 4, 5, 6, 7, 8}, stop.get_token(), {},
                                  [&](size_t, size_t of) {
                                    QCOMPARE(of, size_t{8});
                                    ++calls;
                                    stop.request_stop();
                                  });
    QVERIFY(std::get<0>(made)->points.empty());
    QVERIFY(calls >= 1);
  }
};

QTEST_APPLESS_MAIN(RateSweepTest)
#include "rate_sweep_test.moc"
