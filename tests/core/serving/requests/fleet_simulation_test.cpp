// Several replicas: separate prefill and decode replicas, failures, and numbers that follow the load.
#include <QtTest>
#include <cmath>

#include "serving/requests/random.h"
#include "serving/requests/request_spans.h"
#include "serving/requests/service_results.h"
#include "support/request_cases.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

RequestSimulation run(const Workload& workload, const ServiceSetup& setup, StepClock& clock) {
  auto made = simulate_requests(workload, setup, clock);
  if (const auto* problem = std::get_if<Problem>(&made)) qFatal("%s", to_string(*problem).c_str());
  return std::get<RequestSimulation>(std::move(made));
}

// One prefill and one decode replica without a limit of the network.
ServiceSetup separate(EngineKind engine, StepClock& clock) {
  ServiceSetup setup;
  setup.engine.engine = engine;
  setup.engine.async_scheduling = false;
  setup.engine.sglang.disable_overlap_schedule = setup.engine.trtllm.disable_overlap_scheduler = true;
  setup.disaggregation.prefill = setup.engine;
  setup.disaggregation.prefill_replicas = 1;
  setup.disaggregation.clock = &clock;
  setup.disaggregation.token_bytes = 1;
  return setup;
}

struct Totals {
  int64_t refused = 0, waited = 0, restarts = 0, preemptions = 0;
};

// Of every run: all requests end, their times are in order, Little's law, gaps, and the size of the caches.
QString broken(const Workload& w, const ServiceSetup& setup, const RequestSimulation& r, Totals& totals) {
  const bool separate = setup.disaggregation.prefill_replicas > 0;
  double system = 0, gaps = 0, between = 0;
  int64_t tokens = 0, chunks = 0;
  bool ended_by_failure = false;
  for (size_t i = 0; i < r.requests.size(); ++i) {
    const RequestRecord& record = r.requests[i];
    if (record.end == RequestEnd::Pending) return "a request has no end";
    totals.restarts += record.restarts;
    if (record.end != RequestEnd::Finished) {
      ++totals.refused;
      ended_by_failure |= record.restarts > 0;
      continue;
    }
    if (!(record.arrival <= record.scheduled && record.scheduled < record.first_token))
      return "the times of a request have another order";
    if (record.last_token < record.first_token) return "the last token is before the first one";
    if (separate &&
        !(record.scheduled < record.prefilled && record.prefilled <= record.transfer_begin &&
          record.transfer_begin <= record.transfer_end && record.transfer_end <= record.first_token))
      return "a token is before its transfer";
    if (separate &&
        (record.prefill_replica < 0 || record.prefill_replica >= setup.disaggregation.prefill_replicas ||
         record.replica < setup.disaggregation.prefill_replicas))
      return "a request was on other replicas";
    totals.preemptions += record.preemptions;
    system += record.last_token - record.arrival;
    between += record.last_token - record.first_token;
    tokens += w.requests[i].output - 1;
  }
  for (const TokenGap& gap : r.gaps) {
    gaps += gap.seconds * static_cast<double>(gap.chunks);
    chunks += gap.chunks;
  }
  if (!ended_by_failure && chunks != tokens) return "a token is lost";
  if (!ended_by_failure && std::abs(gaps - between) > 1e-9 * between + 1e-9) return "gaps have another sum";
  if (!ended_by_failure && std::abs(r.in_system - system) > 1e-9 * system + 1e-9)
    return "Little's law does not hold";
  for (const StepRecord& step : r.steps) {
    const EngineSettings& engine = step.replica < setup.disaggregation.prefill_replicas
                                       ? setup.disaggregation.prefill
                                       : setup.engine;
    if (step.blocks > cache_blocks(engine)) return "a cache exceeds its capacity";
  }
  for (const PoolUse& pool : r.pools)
    if (pool.peak_blocks > pool.usable_blocks) return "a cache exceeds its capacity";
  totals.waited += r.waited_for_receiver;
  return {};
}

ServiceSetup random_setup(const RequestCase& c, uint64_t seed, StepClock& clock) {
  Random random(seed, 96);
  ServiceSetup setup;
  setup.engine = c.settings;
  setup.engine.pipeline_stages = 1 + static_cast<int32_t>(seed % 3 == 0);
  setup.lockstep = setup.engine.attention_dp = 1 + static_cast<int32_t>(seed % 5 == 0);
  setup.replicas = setup.lockstep * (1 + static_cast<int32_t>(random.below(3)));
  setup.router = static_cast<Router>(random.below(3));
  Disaggregation& d = setup.disaggregation;
  d.prefill = c.settings;
  d.prefill.pipeline_stages = 1 + static_cast<int32_t>(seed % 4 == 0);
  d.lockstep = d.prefill.attention_dp = 1 + static_cast<int32_t>(seed % 7 == 0);
  d.prefill_replicas = d.lockstep * (1 + static_cast<int32_t>(random.below(3)));
  d.clock = &clock;
  d.order = static_cast<HandoffOrder>(random.below(2));
  d.link = {random.below(4) ? 200 * random.uniform() + 20 : 0, random.below(4) ? 200.0 : 0,
            random.below(2) ? 0.01 : 0};
  d.token_bytes = 1;
  d.sequence_bytes = static_cast<double>(random.below(2));
  return setup;
}

void add_failures(ServiceSetup& setup, uint64_t seed) {
  Random random(seed, 95);
  const int64_t replicas = setup.replicas + setup.disaggregation.prefill_replicas;
  for (int64_t i = 1 + random.below(4); i > 0; --i)
    setup.failures.push_back(
        {4 * random.uniform(), 0.01 + random.uniform(), static_cast<int32_t>(random.below(replicas))});
}

void engine_rows() {
  QTest::addColumn<int>("engine");
  for (int engine = 0; engine < 3; ++engine)
    QTest::addRow("%s", engine_name(static_cast<EngineKind>(engine))) << engine;
}

}  // namespace

class FleetSimulationTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void random_runs_keep_their_properties_data() {
    QTest::addColumn<int>("engine");
    QTest::addColumn<bool>("separate");
    QTest::addColumn<bool>("fail");
    for (int engine = 0; engine < 3; ++engine)
      for (const bool separate : {false, true})
        for (const bool fail : {false, true})
          if (separate || fail)
            QTest::addRow("%s%s%s", engine_name(static_cast<EngineKind>(engine)),
                          separate ? ", prefill and decode" : "", fail ? ", failures" : "")
                << engine << separate << fail;
  }
  void random_runs_keep_their_properties() {
    QFETCH(int, engine);
    QFETCH(bool, separate);
    QFETCH(bool, fail);
    Totals totals;
    for (uint64_t seed = 0; seed < 400; ++seed) {
      RequestCase c = random_case(seed);
      use_engine(c, static_cast<EngineKind>(engine), seed);
      LinearClock clock, prefill(0.02, 1e-4, 1e-6);
      ServiceSetup setup = random_setup(c, seed, prefill);
      if (!separate) setup.disaggregation = {};
      if (fail) add_failures(setup, seed);
      const RequestSimulation r = run(c.workload, setup, clock);
      const QString found = broken(c.workload, setup, r, totals);
      QVERIFY2(found.isEmpty(),
               qPrintable(QString("seed %1, %2: %3")
                              .arg(seed)
                              .arg(QString::fromStdString(settings_text(c.settings)), found)));
      // Same arguments, same bytes.
      LinearClock other, other_prefill(0.02, 1e-4, 1e-6);
      if (setup.disaggregation.clock) setup.disaggregation.clock = &other_prefill;
      const RequestSimulation again = run(c.workload, setup, other);
      for (size_t i = 0; i < r.requests.size(); ++i)
        QVERIFY(r.requests[i].last_token == again.requests[i].last_token &&
                r.requests[i].replica == again.requests[i].replica);
    }
    const QString text = QString("%1 waited, %2 restarts, %3 refused")
                             .arg(totals.waited)
                             .arg(totals.restarts)
                             .arg(totals.refused);
    QVERIFY2(!separate || totals.waited > 500, qPrintable(text));
    QVERIFY2(!fail || totals.restarts > 500, qPrintable(text));
    // Only a new prompt after a failure can be too long for a step.
    QVERIFY2(totals.refused < (fail && static_cast<EngineKind>(engine) == EngineKind::Trtllm ? 500 : 1),
             qPrintable(text));
  }

  // Steps of 1 s, 100 bytes that take 2 s. vLLM computes the first token on the decode replica; the others
  // send it with the cache.
  void one_request_takes_prefill_transfer_and_decode_data() { engine_rows(); }
  void one_request_takes_prefill_transfer_and_decode() {
    QFETCH(int, engine);
    LinearClock clock(1, 0, 0);
    ServiceSetup setup = separate(static_cast<EngineKind>(engine), clock);
    const Workload w = workload({request(0, 100, 4)});
    const double more = setup.engine.engine == EngineKind::Vllm ? 1 : 0;
    for (const double rate : {0.0, 50.0})
      for (const HandoffOrder order : {HandoffOrder::SourceFirst, HandoffOrder::DestinationFirst}) {
        setup.disaggregation.order = order;
        setup.disaggregation.link = {rate, 2 * rate, 0};
        const double transfer = rate > 0 ? 2 : 0;
        const RequestSimulation r = run(w, setup, clock);
        QCOMPARE(r.requests[0].prefilled, 1.0);
        QCOMPARE(r.requests[0].transfer_end, 1 + transfer);
        QCOMPARE(r.requests[0].first_token, 1 + transfer + more);
        QCOMPARE(r.requests[0].last_token, 4 + transfer + more);
        QCOMPARE(r.step_count, int64_t(4 + more));
        QCOMPARE(r.requests[0].replica, 1);
        QCOMPARE(r.requests[0].prefill_replica, 0);
        // The spans have the transfer between the chunk and the answer.
        const std::vector<RequestSpan> spans = RequestSpans(r).of(0);
        QCOMPARE(spans.front().kind, RequestSpanKind::Chunk);
        QCOMPARE(spans.back().kind, RequestSpanKind::Answer);
        double begin = 0, sent = 0;
        for (const RequestSpan& span : spans) {
          QCOMPARE(span.begin, begin);
          begin = span.end;
          if (span.kind != RequestSpanKind::Transfer) continue;
          QCOMPARE(span.begin, r.requests[0].transfer_begin);
          sent += span.end - span.begin;
        }
        QCOMPARE(begin, r.requests[0].last_token);
        QCOMPARE(sent, transfer);
      }
    // An answer of one token.
    const RequestSimulation r = run(workload({request(0, 100, 1)}), setup, clock);
    QCOMPARE(r.requests[0].last_token, 3 + more);
    QCOMPARE(r.requests[0].end, RequestEnd::Finished);
  }

  // Two prefill replicas send 100 bytes each to one decode replica, whose port takes 100 bytes per second.
  void transfers_share_the_port_of_the_receiver() {
    LinearClock clock(1, 0, 0);
    ServiceSetup setup = separate(EngineKind::Vllm, clock);
    setup.disaggregation.prefill_replicas = 2;
    setup.disaggregation.link = {100, 100, 0};
    const Workload w = workload({request(0, 100, 2), request(0, 100, 2)});
    RequestSimulation r = run(w, setup, clock);
    QCOMPARE(r.requests[0].transfer_end, 3.0);
    QCOMPARE(r.requests[1].transfer_end, 3.0);
    setup.replicas = 2;
    r = run(w, setup, clock);
    QCOMPARE(r.requests[0].transfer_end, 2.0);
    QCOMPARE(r.requests[1].transfer_end, 2.0);
  }

  // The decode replica has blocks for one request, the prefill replica for two. Source first: the second
  // prompt waits for the end of the first answer with its blocks on the prefill replica, and the third prompt
  // for these blocks. Destination first: the second prompt starts at that end.
  void blocks_of_both_sides_are_kept_data() { engine_rows(); }
  void blocks_of_both_sides_are_kept() {
    QFETCH(int, engine);
    LinearClock clock(1, 0, 0);
    ServiceSetup setup = separate(static_cast<EngineKind>(engine), clock);
    set_cache_tokens(setup.engine, 192 + (setup.engine.engine == EngineKind::Vllm ? 16 : 0));
    set_cache_tokens(setup.disaggregation.prefill, 352);
    setup.disaggregation.link = {160, 160, 0};
    const Workload w = workload({request(0, 160, 5), request(0, 160, 5), request(0, 160, 5)});
    RequestSimulation r = run(w, setup, clock);
    const double first_end = r.requests[0].last_token;
    QVERIFY2(r.waited_for_receiver >= 1, qPrintable(QString::number(r.waited_for_receiver)));
    QVERIFY(r.requests[1].prefilled < first_end);
    QCOMPARE(r.requests[1].transfer_begin, first_end);
    QVERIFY(r.requests[2].scheduled >= r.requests[0].transfer_end);
    setup.disaggregation.order = HandoffOrder::DestinationFirst;
    r = run(w, setup, clock);
    QCOMPARE(r.requests[1].scheduled, r.requests[0].last_token);
    QCOMPARE(r.requests[1].transfer_begin, r.requests[1].prefilled);
  }

  // Tokens arrive after 1, 2 and 3 s; the step in flight at the failure still counts. Another replica then
  // reads 13 tokens, and gives the last two. Alone, the replica does so after its repair.
  void a_failure_keeps_the_tokens_data() { engine_rows(); }
  void a_failure_keeps_the_tokens() {
    QFETCH(int, engine);
    LinearClock clock(1, 0, 0);
    ServiceSetup setup = separate(static_cast<EngineKind>(engine), clock);
    setup.disaggregation = {};
    setup.failures = {{2.5, 10, 0}};
    setup.replicas = 2;
    const Workload w = workload({request(0, 10, 5)});
    RequestSimulation r = run(w, setup, clock);
    QCOMPARE(r.requests[0].first_token, 1.0);
    QCOMPARE(r.requests[0].last_token, 5.0);
    QCOMPARE(r.requests[0].restarts, 1);
    QCOMPARE(r.requests[0].replica, 1);
    QCOMPARE(prefill_tokens(r), (std::vector<int>{10, 0, 0, 13, 0}));
    setup.replicas = 1;
    r = run(w, setup, clock);
    QCOMPARE(r.requests[0].last_token, 14.5);
    QCOMPARE(r.gaps.size(), size_t{4} - 2);  // 1 s twice, 10.5 s, 1 s; equal neighbours are joined
    QCOMPARE(r.pools[0].replica_seconds, 14.5);
  }

  // Eight requests at once for two per replica: four replicas, three of which start for 5 s. The first one
  // has all eight requests. Two more requests at 6 s go to the others. 10 s after the last ones have ended,
  // one replica is left for the last request.
  void replicas_follow_the_load() {
    std::vector<Request> all(8, request(0, 10, 20));
    all.push_back(request(6, 10, 5));
    all.push_back(request(6, 10, 5));
    all.push_back(request(60, 10, 5));
    ServiceSetup setup;
    setup.engine.async_scheduling = false;
    setup.replicas = 4;
    setup.autoscaling = {1, 2, 5, 10};
    LinearClock clock(1, 0, 0);
    const RequestSimulation r = run(workload(all), setup, clock);
    for (int i = 0; i < 8; ++i) QCOMPARE(r.requests[static_cast<size_t>(i)].replica, 0);
    QCOMPARE(r.requests[8].last_token, 11.0);
    QCOMPARE(r.requests[10].last_token, 65.0);
    const PoolUse& use = r.pools.front();
    QCOMPARE(use.counts.size(), size_t{2});
    QCOMPARE(use.counts[0].replicas, 4);
    QCOMPARE(use.counts[1].time, 30.0);  // the first requests end at 20 s
    QCOMPARE(use.counts[1].replicas, 1);
    QCOMPARE(use.replica_seconds, 4 * 30.0 + 35);
    for (const RequestRecord& record : r.requests) QCOMPARE(record.end, RequestEnd::Finished);
    // A fixed number of replicas is used all the time.
    setup.autoscaling = {};
    QCOMPARE(run(workload(all), setup, clock).pools.front().replica_seconds, 4 * 65.0);
  }

  // Two requests at once start a second replica, which gets the request at 6 s. From 20 s on one replica is
  // enough. 10 s later the second one drains: it is used until its request ends at 66 s.
  void a_draining_replica_ends_its_requests() {
    ServiceSetup setup;
    setup.engine.async_scheduling = false;
    setup.replicas = 2;
    setup.router = Router::LeastOutstanding;
    setup.autoscaling = {1, 1, 5, 10};
    LinearClock clock(1, 0, 0);
    const RequestSimulation r = run(
        workload({request(0, 10, 20), request(0, 10, 20), request(6, 10, 60), request(100, 10, 5)}), setup,
        clock);
    QCOMPARE(r.requests[2].replica, 1);
    QCOMPARE(r.requests[2].last_token, 66.0);
    const PoolUse& use = r.pools.front();
    QCOMPARE(use.counts.back().time, 66.0);
    QCOMPARE(use.counts.back().replicas, 1);
    QCOMPARE(use.replica_seconds, 2 * 66.0 + 39);
  }

  // Steps of 10 s for prompts and of 1 s for answers; two requests for each replica of both pools. Four
  // prompts at once start a second prefill replica for 3 s. It gets the fifth prompt, which starts a third
  // one. Its first replica gives four prompts at 10 s to the decode replicas, so a second one of these
  // starts, and a third one for the fifth prompt at 14 s. Too many prefill replicas stay for 15 s from 10 s
  // on, too many decode replicas for 20 s from 40 s on, when the first four answers end.
  void both_pools_follow_their_load() {
    LinearClock prefill(10, 0, 0), decode(1, 0, 0);
    ServiceSetup setup = separate(EngineKind::Vllm, prefill);
    set_cache_tokens(setup.engine, 4000);
    set_cache_tokens(setup.disaggregation.prefill, 4000);
    setup.replicas = setup.disaggregation.prefill_replicas = 3;
    setup.autoscaling = {1, 2, 7, 20};
    setup.router = Router::LeastOutstanding;
    setup.disaggregation.autoscaling = {1, 2, 3, 15};
    std::vector<Request> all(4, request(0, 10, 30));
    all.push_back(request(4, 10, 30));
    all.push_back(request(200, 10, 2));
    const RequestSimulation r = run(workload(all), setup, decode);
    Totals totals;
    const QString found = broken(workload(all), setup, r, totals);
    QVERIFY2(found.isEmpty(), qPrintable(found));
    QCOMPARE(r.requests[4].prefill_replica, 1);
    QCOMPARE(r.requests[4].scheduled, 4.0);
    QCOMPARE(r.seconds, 212.0);
    using Counts = std::vector<std::pair<double, int32_t>>;
    const auto counts = [&](size_t pool) {
      Counts out;
      for (const ReplicaCount& count : r.pools[pool].counts) out.emplace_back(count.time, count.replicas);
      return out;
    };
    QCOMPARE(counts(0), (Counts{{0, 2}, {4, 3}, {25, 1}}));
    QCOMPARE(counts(1), (Counts{{0, 1}, {10, 2}, {14, 3}, {60, 1}}));
    QCOMPARE(r.pools[0].replica_seconds, 258.0);
    QCOMPARE(r.pools[1].replica_seconds, 308.0);
    // Without rules all replicas are in use.
    setup.autoscaling = setup.disaggregation.autoscaling = {};
    const RequestSimulation fixed = run(workload(all), setup, decode);
    QCOMPARE(fixed.pools[0].replica_seconds, 3 * fixed.seconds);
    QCOMPARE(fixed.pools[1].replica_seconds, 3 * fixed.seconds);
  }

  // The decode replica has 10 blocks. A second request moves the blocks of the first one to host memory, and
  // the next turn of the first one finds them there. Its transfer has all tokens of its prompt, because the
  // connector to the prefill replica has them.
  void a_transfer_reads_no_lower_tier() {
    LinearClock clock(1, 0, 0);
    ServiceSetup setup = separate(EngineKind::Vllm, clock);
    setup.disaggregation.link = {100, 100, 0};
    Request turn = request(5, 128, 8);
    turn.parent = 0;
    const Workload w = workload({request(0, 96, 16), request(60, 144, 8), turn});
    setup.engine.num_gpu_blocks = 11;
    setup.engine.tiers = {{1000, 0}, {0.5, 0}};
    const auto seconds = [](const RequestRecord& record) {
      return record.transfer_end - record.transfer_begin;
    };
    RequestSimulation r = run(w, setup, clock);
    QVERIFY(r.requests[2].arrival < 60);  // six blocks are still on the device
    QCOMPARE(seconds(r.requests[2]), 0.32);
    Workload later = w;
    later.requests[2].arrival = 100;
    r = run(later, setup, clock);
    QCOMPARE(seconds(r.requests[2]), 1.28);
  }

  // Draining replicas end their requests; the number never leaves its bounds.
  void scaling_loses_no_request_data() {
    QTest::addColumn<int>("engine");
    QTest::addColumn<bool>("separate");
    for (int engine = 0; engine < 3; ++engine)
      for (const bool separate : {false, true})
        QTest::addRow("%s%s", engine_name(static_cast<EngineKind>(engine)),
                      separate ? ", prefill and decode" : "")
            << engine << separate;
  }
  void scaling_loses_no_request() {
    QFETCH(int, engine);
    QFETCH(bool, separate);
    int64_t changes = 0;
    for (uint64_t seed = 0; seed < 300; ++seed) {
      RequestCase c = random_case(seed);
      use_engine(c, static_cast<EngineKind>(engine), seed);
      Random random(seed, 94);
      const auto rule = [&random] {
        return Autoscaling{1 + static_cast<int32_t>(random.below(2)),
                           1.0 + static_cast<double>(random.below(4)), random.uniform(),
                           random.below(3) ? random.uniform() : 0};
      };
      LinearClock clock, prefill(0.02, 1e-4, 1e-6);
      ServiceSetup setup = random_setup(c, seed, prefill);
      setup.engine.pipeline_stages = setup.lockstep = setup.engine.attention_dp = 1;
      Disaggregation& d = setup.disaggregation;
      d.prefill.pipeline_stages = d.lockstep = d.prefill.attention_dp = 1;
      setup.replicas = d.prefill_replicas = 4;
      setup.autoscaling = rule();
      d.autoscaling = rule();
      if (seed % 3 == 1) (seed % 2 ? setup.autoscaling : d.autoscaling) = {};
      if (!separate) d = {};
      if (seed % 2) add_failures(setup, seed);
      const RequestSimulation r = run(c.workload, setup, clock);
      Totals totals;
      const QString found = broken(c.workload, setup, r, totals);
      QVERIFY2(found.isEmpty(), qPrintable(QString("seed %1: %2").arg(seed).arg(found)));
      for (const PoolUse& pool : r.pools) {
        const Autoscaling& of = separate && &pool == &r.pools.front() ? d.autoscaling : setup.autoscaling;
        double seconds = 0;
        const std::vector<ReplicaCount>& counts = pool.counts;
        changes += static_cast<int64_t>(counts.size()) - 1;
        for (size_t i = 0; i < counts.size(); ++i) {
          QVERIFY(counts[i].replicas >= (of.least > 0 ? of.least : 4) && counts[i].replicas <= 4);
          const double end = i + 1 < counts.size() ? std::min(counts[i + 1].time, r.seconds) : r.seconds;
          seconds += counts[i].replicas * std::max(0.0, end - counts[i].time);
        }
        QVERIFY(std::abs(seconds - pool.replica_seconds) < 1e-6);
      }
    }
    QVERIFY2(changes > 200, qPrintable(QString::number(changes)));
  }

  void impossible_fleets_are_refused_data() {
    QTest::addColumn<int>("row");
    QTest::addColumn<QString>("where");
    const char* rows[] = {"prefill_replicas", "prefill_replicas", "least_prefill_replicas", "least_replicas",
                          "failed_replica",   "failure_time",     "least_replicas"};
    for (int row = 0; row < 7; ++row) QTest::addRow("%d", row) << row << rows[row];
  }
  void impossible_fleets_are_refused() {
    QFETCH(int, row);
    QFETCH(QString, where);
    LinearClock clock;
    ServiceSetup setup = separate(EngineKind::Vllm, clock);
    if (row == 0) setup.disaggregation.lockstep = 2;
    if (row == 1) setup.disaggregation.prefill.engine = EngineKind::Sglang;
    if (row == 2) setup.disaggregation.autoscaling.least = 2;  // of one replica
    if (row > 2) setup.disaggregation = {};
    if (row == 3) setup.autoscaling.least = 2;  // of one replica
    if (row == 4) setup.failures = {{1, 1, 1}};
    if (row == 5) setup.failures = {{1, 0, 0}};
    if (row == 6) setup.autoscaling = {1, 0, 0, 0};
    const auto result = simulate_requests(workload({request(0, 5, 5)}), setup, clock);
    QVERIFY(std::holds_alternative<Problem>(result));
    QCOMPARE(std::get<Problem>(result).code, ProblemCode::WorkloadInvalid);
    QCOMPARE(QString::fromStdString(std::get<Problem>(result).where), where);
  }
};

QTEST_APPLESS_MAIN(FleetSimulationTest)
#include "fleet_simulation_test.moc"
