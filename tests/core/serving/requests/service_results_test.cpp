// Percentiles, latencies, throughput and goodput.
#include <QtTest>

#include "serving/requests/service_results.h"
#include "support/request_cases.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

bool close(double a, double b) { return std::abs(a - b) < 1e-12; }

}  // namespace

class ServiceResultsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // numpy.percentile([4, 1, 3, 2], [50, 90, 95, 99]): 2.5, 3.7, 3.85, 3.97.
  void percentiles_interpolate_as_numpy() {
    const Distribution d = distribution(std::vector<double>{4, 1, 3, 2});
    QCOMPARE(d.count, int64_t{4});
    QVERIFY(close(d.mean, 2.5) && close(d.p50, 2.5) && close(d.p90, 3.7) && close(d.p95, 3.85) &&
            close(d.p99, 3.97));
    const Distribution one = distribution(std::vector<double>{7});
    QVERIFY(one.mean == 7 && one.p50 == 7 && one.p99 == 7);
    QCOMPARE(distribution(std::vector<double>{}).count, int64_t{0});
  }

  void gaps_count_once_per_token() {
    const std::vector<TokenGap> gaps{{3, 2}, {1, 5}, {2, 3}, {1, 1}};
    std::vector<double> each;
    for (const TokenGap& gap : gaps) each.insert(each.end(), static_cast<size_t>(gap.chunks), gap.seconds);
    const Distribution a = distribution(gaps), b = distribution(each);
    QCOMPARE(a.count, b.count);
    QVERIFY(close(a.mean, b.mean) && close(a.p50, b.p50) && close(a.p90, b.p90) && close(a.p95, b.p95) &&
            close(a.p99, b.p99));
  }

  // Steps of one second. The first request: arrives at 1, prompt until 2, tokens at 2, 3, 4. The second
  // arrives at 1.5, starts at 2, gets tokens at 3 and 4. The third has one token at 11.
  void figures_follow_their_definitions() {
    EngineSettings settings;
    settings.async_scheduling = false;
    settings.num_gpu_blocks = 11;
    settings.max_model_len = 100;
    const Workload w = workload(
        {request(1, 20, 3), request(1.5, 30, 2), request(10, 16, 1), request(10, 99, 2)});
    LinearClock clock(1, 0, 0);
    const RequestSimulation run = simulated(w, settings, clock);
    const ServiceResults r = service_results(w, run);
    QCOMPARE(r.finished, int64_t{3});
    QCOMPARE(r.refused, int64_t{1});
    QVERIFY(close(r.seconds, 10));  // from 1 to 11
    QCOMPARE(r.ttft.count, int64_t{3});
    QVERIFY(close(r.ttft.mean, (1 + 1.5 + 1) / 3));
    QVERIFY(close(r.e2e.mean, (3 + 2.5 + 1) / 3));
    QVERIFY(close(r.queueing.mean, 0.5 / 3));
    QCOMPARE(r.tpot.count, int64_t{2});
    QVERIFY(close(r.tpot.mean, 1));
    QCOMPARE(r.itl.count, int64_t{3});
    QVERIFY(close(r.itl.mean, 1));
    QVERIFY(close(r.requests_per_second, 0.3));
    QVERIFY(close(r.input_per_second, 6.6));
    QVERIFY(close(r.output_per_second, 0.6));
    // Blocks: 2, then 4 in two steps, then 1 in the last.
    QVERIFY(close(r.mean_cache, (2 + 4 + 4 + 1) / 4.0 / 10));
    QVERIFY(close(r.peak_cache, 0.4));
    QVERIFY(close(service_results(w, run, {1.2, {}, {}}).goodput, 0.2));
    QVERIFY(close(service_results(w, run, {{}, {}, 2.7}).goodput, 0.2));
    QVERIFY(close(service_results(w, run, {1.2, {}, 2.7}).goodput, 0.1));
    QVERIFY(close(service_results(w, run, {{}, 0.9, {}}).goodput, 0.1));
    QVERIFY(close(service_results(w, run, {{}, 1.1, {}}).goodput, 0.3));
  }

  void hits_and_preemptions_are_counted() {
    Workload w = workload({request(0, 32, 1), request(5, 32, 1)});
    w.tokens_per_hash = 16;
    w.hashes = {1, 2};
    w.requests[0].hashes = w.requests[1].hashes = 2;
    LinearClock clock;
    QVERIFY(close(service_results(w, simulated(w, {}, clock)).prefix_hits, 0.25));
    EngineSettings settings;
    settings.num_gpu_blocks = 5;
    settings.block_size = 4;
    const Workload pair = workload({request(0, 7, 8), request(0, 7, 8)});
    QCOMPARE(service_results(pair, simulated(pair, settings, clock)).preemptions, int64_t{1});
  }
};

QTEST_APPLESS_MAIN(ServiceResultsTest)
#include "service_results_test.moc"
