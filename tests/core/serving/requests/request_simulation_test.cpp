// Simulated requests: properties that hold for every run, limits of queueing theory, sessions, closed loops,
// routers and refusals.
#include <QtTest>
#include <cmath>
#include <numeric>

#include "serving/requests/arrivals.h"
#include "serving/requests/lengths.h"
#include "serving/requests/random.h"
#include "serving/requests/service_results.h"
#include "serving/requests/trace_file.h"
#include "support/request_cases.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

RequestSimulation run(const Workload& workload, const ServiceSetup& setup, StepClock& clock) {
  return std::get<RequestSimulation>(simulate_requests(workload, setup, clock));
}

bool close(double a, double b, double relative) { return std::abs(a - b) <= relative * std::abs(b); }

ServiceSetup setup_of(const RequestCase& c, uint64_t seed) {
  ServiceSetup setup;
  setup.engine = c.settings;
  setup.replicas = 1 + static_cast<int32_t>(seed % 3);
  setup.router = static_cast<Router>(seed / 3 % 3);
  return setup;
}

// One sequence at a time, steps of a constant time, no look-ahead.
ServiceSetup single_server(int64_t sequences) {
  ServiceSetup setup;
  setup.engine.max_num_seqs = sequences;
  setup.engine.async_scheduling = false;
  setup.engine.enable_prefix_caching = false;
  return setup;
}

double mean_wait(const RequestSimulation& run) {
  double sum = 0;
  for (const RequestRecord& record : run.requests) sum += record.scheduled - record.arrival;
  return sum / static_cast<double>(run.requests.size());
}

// Poisson arrivals; outputs of a geometric distribution with the given mean.
Workload markov_workload(double rate, double output, int64_t count) {
  Random random(11);
  std::vector<RequestLength> lengths(static_cast<size_t>(count));
  for (RequestLength& length : lengths)
    length = {1, 1 + static_cast<int32_t>(random.exponential() / -std::log(1 - 1 / output))};
  return open_loop(
      std::get<std::vector<double>>(arrival_times(steady_arrivals(ArrivalKind::Poisson, rate, 3), count)),
      lengths);
}

// Mean wait of M/M/c with service time 1 (Erlang C formula).
double erlang_wait(int servers, double rate) {
  double term = 1, sum = 0;
  for (int k = 0; k < servers; ++k) {
    sum += term;
    term *= rate / (k + 1);
  }
  const double waiting = term * servers / (servers - rate);
  return waiting / (sum + waiting) / (servers - rate);
}

}  // namespace

class RequestSimulationTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void random_runs_keep_their_properties() {
    int64_t refused = 0;
    for (uint64_t seed = 0; seed < 600; ++seed) {
      RequestCase c = random_case(seed);
      // In every fourth case some requests do not fit.
      if (seed % 4 == 0) c.settings.num_gpu_blocks = 1 + c.settings.num_gpu_blocks / 3;
      if (c.settings.num_gpu_blocks < 2) continue;
      const ServiceSetup setup = setup_of(c, seed);
      LinearClock clock;
      const RequestSimulation r = run(c.workload, setup, clock);
      int64_t prompt = 0, gaps = 0, preemptions = 0;
      double system = 0, between = 0;
      for (size_t i = 0; i < r.requests.size(); ++i) {
        const RequestRecord& record = r.requests[i];
        const Request& request = c.workload.requests[i];
        QVERIFY(record.end != RequestEnd::Pending);
        if (record.end != RequestEnd::Finished) {
          ++refused;
          continue;
        }
        QVERIFY(record.arrival <= record.scheduled && record.scheduled < record.first_token);
        QVERIFY(request.output == 1 ? record.last_token == record.first_token
                                    : record.last_token > record.first_token);
        QVERIFY(record.cached < request.prompt);
        prompt += request.prompt - record.cached;
        gaps += request.output - 1;
        preemptions += record.preemptions;
        system += record.last_token - record.arrival;
        between += record.last_token - record.first_token;
      }
      // Little's law, as an identity: the integral of the number in the system is the sum of the times.
      QVERIFY(close(r.in_system, system, 1e-9) || system == 0);
      int64_t tokens = 0;
      double seconds = 0;
      for (const TokenGap& gap : r.gaps) {
        tokens += gap.tokens;
        seconds += gap.seconds * static_cast<double>(gap.tokens);
      }
      QCOMPARE(tokens, gaps);
      QVERIFY(std::abs(seconds - between) <= 1e-9 * between + 1e-12);
      int64_t prefill = 0, decode = 0;
      std::vector<double> busy(3, 0);
      for (const StepRecord& step : r.steps) {
        QVERIFY(step.prefill_tokens + step.decode_sequences <= c.settings.max_num_batched_tokens);
        QVERIFY(step.prefill_tokens + step.decode_sequences > 0);
        QVERIFY(step.decode_sequences <= c.settings.max_num_seqs);
        QVERIFY(step.blocks <= c.settings.num_gpu_blocks - 1);
        QVERIFY(step.begin >= busy[static_cast<size_t>(step.replica)]);
        busy[static_cast<size_t>(step.replica)] = step.begin + step.seconds;
        prefill += step.prefill_tokens;
        decode += step.decode_sequences;
      }
      // Without preemption every token is computed once; with it, at least once.
      QVERIFY(preemptions > 0 || (prefill == prompt && decode == gaps));
      QVERIFY(prefill + decode >= prompt + gaps || c.settings.policy == SchedulingPolicy::Priority);
      QCOMPARE(static_cast<int64_t>(r.steps.size()), r.step_count);
      QVERIFY(r.peak_blocks <= r.usable_blocks);
    }
    QVERIFY(refused > 100);
  }

  // A token needs its whole prompt: with chunks of `budget`, at least so many steps before it.
  void no_token_comes_before_its_prompt() {
    for (uint64_t seed = 0; seed < 100; ++seed) {
      const RequestCase c = random_case(seed);
      LinearClock clock(1, 0, 0);
      const RequestSimulation r = simulated(c.workload, c.settings, clock);
      for (size_t i = 0; i < r.requests.size(); ++i) {
        const RequestRecord& record = r.requests[i];
        const int64_t left = c.workload.requests[i].prompt - record.cached;
        const int64_t steps = (left + c.settings.max_num_batched_tokens - 1) /
                              c.settings.max_num_batched_tokens;
        QVERIFY(record.first_token >= record.scheduled + static_cast<double>(steps) - 1e-9);
      }
    }
  }

  void equal_input_gives_equal_bytes() {
    for (uint64_t seed : {1, 2, 3, 4, 5, 6}) {
      const RequestCase c = random_case(seed);
      LinearClock clock, other;
      const RequestSimulation a = run(c.workload, setup_of(c, seed), clock),
                              b = run(c.workload, setup_of(c, seed), other);
      QCOMPARE(a.steps.size(), b.steps.size());
      for (size_t i = 0; i < a.steps.size(); ++i)
        QVERIFY(a.steps[i].begin == b.steps[i].begin && a.steps[i].blocks == b.steps[i].blocks);
      for (size_t i = 0; i < a.requests.size(); ++i)
        QVERIFY(a.requests[i].last_token == b.requests[i].last_token &&
                a.requests[i].replica == b.requests[i].replica);
    }
  }

  // One server with service time 1: Lindley's recursion gives every wait, the Pollaczek-Khinchine formula the
  // mean.
  void one_sequence_is_the_queue_md1() {
    constexpr double kLoad = 0.7;
    constexpr int64_t kCount = 300000;
    const Workload w = open_loop(
        std::get<std::vector<double>>(arrival_times(steady_arrivals(ArrivalKind::Poisson, kLoad, 5), kCount)),
        std::vector<RequestLength>(kCount, {1, 1}));
    LinearClock clock(1, 0, 0);
    const RequestSimulation r = run(w, single_server(1), clock);
    double wait = 0;
    for (size_t i = 0; i < w.requests.size(); ++i) {
      if (i > 0) wait = std::max(0.0, wait + 1 - (w.requests[i].arrival - w.requests[i - 1].arrival));
      QVERIFY(std::abs(r.requests[i].scheduled - r.requests[i].arrival - wait) < 1e-6);
    }
    QVERIFY(close(mean_wait(r), kLoad / (2 * (1 - kLoad)), 0.03));
  }

  // Decode sequences are servers of equal speed: M/M/3 with service times of 100 steps of 10 ms on average.
  // A request also waits for the end of the step in which it arrives.
  void sequences_are_the_queue_mmc() {
    const Workload w = markov_workload(2.1, 100, 200000);
    LinearClock clock(0.01, 0, 0);
    ServiceSetup setup = single_server(3);
    setup.keep_steps = false;
    const double wait = mean_wait(run(w, setup, clock));
    QVERIFY2(close(wait, erlang_wait(3, 2.1) + 0.005, 0.05), qPrintable(QString::number(wait)));
  }

  // Three replicas with a queue each are between M/M/3 and M/M/1; the shortest queue is better than turns.
  void replicas_are_worse_than_one_queue() {
    const Workload w = markov_workload(2.1, 100, 100000);
    LinearClock clock(0.01, 0, 0);
    ServiceSetup setup = single_server(1);
    setup.replicas = 3;
    setup.keep_steps = false;
    const double turns = mean_wait(run(w, setup, clock));
    setup.router = Router::LeastOutstanding;
    const double shortest = mean_wait(run(w, setup, clock));
    QVERIFY2(erlang_wait(3, 2.1) < shortest && shortest < 0.7 * turns && turns < erlang_wait(1, 0.7),
             qPrintable(QString("%1 %2").arg(shortest).arg(turns)));
  }

  void a_closed_loop_has_its_users() {
    Workload w = closed_loop(3, std::vector<RequestLength>{{5, 2}, {5, 4}, {5, 3}, {5, 2}, {5, 5}, {5, 1}});
    LinearClock clock(1, 0, 0);
    const RequestSimulation r = run(w, single_server(8), clock);
    QCOMPARE(r.requests[2].arrival, 0.0);
    // The first request ends at 2, the third at 3 and the second at 4.
    QCOMPARE(r.requests[3].arrival, 2.0);
    QCOMPARE(r.requests[4].arrival, 3.0);
    QCOMPARE(r.requests[5].arrival, 4.0);
    for (const RequestRecord& record : r.requests) QCOMPARE(record.end, RequestEnd::Finished);
    // More users than requests: all start at once.
    w.users = 100;
    QCOMPARE(run(w, single_server(8), clock).requests[5].arrival, 0.0);
  }

  // A turn arrives after the thinking time and finds the prompt and the computed answer of its parent.
  void turns_follow_their_parents() {
    Workload w = workload({request(1, 40, 10), request(2.5, 70, 3), request(0, 80, 3)});
    w.requests[1].parent = 0;
    w.requests[2].parent = 1;
    ServiceSetup setup;
    setup.engine.async_scheduling = false;
    LinearClock clock(1, 0, 0);
    RequestSimulation r = run(w, setup, clock);
    QCOMPARE(r.requests[0].last_token, 11.0);
    QCOMPARE(r.requests[1].arrival, 13.5);
    QCOMPARE(r.requests[1].cached, 48);  // of 49 computed tokens
    QCOMPARE(r.requests[2].arrival, r.requests[1].last_token);
    QCOMPARE(r.requests[2].cached, 64);  // of 72
    // A user has one session at a time.
    w.requests.push_back(request(0, 5, 1));
    w.users = 1;
    r = run(w, setup, clock);
    QCOMPARE(r.requests[0].arrival, 0.0);
    QCOMPARE(r.requests[3].arrival, r.requests[2].last_token);
  }

  void turns_after_a_refused_one_are_refused() {
    Workload w = workload({request(0, 100, 1), request(0, 10, 1), request(0, 10, 1), request(0, 10, 1)});
    w.requests[1].parent = 0;
    w.requests[2].parent = 1;
    w.users = 1;
    ServiceSetup setup;
    setup.engine.max_model_len = 50;
    LinearClock clock;
    const RequestSimulation r = run(w, setup, clock);
    QCOMPARE(r.requests[0].end, RequestEnd::LongerThanModel);
    QCOMPARE(r.requests[1].end, RequestEnd::ParentRefused);
    QCOMPARE(r.requests[2].end, RequestEnd::ParentRefused);
    QCOMPARE(r.requests[3].end, RequestEnd::Finished);
  }

  void routers_choose_replicas() {
    // Four requests at once: a long one, and three short ones; then one that repeats the first prompt.
    Workload w = workload(
        {request(0, 64, 50), request(0, 8, 1), request(3, 8, 1), request(3, 8, 1), request(10, 64, 1)});
    w.tokens_per_hash = 16;
    w.hashes = {1, 2, 3, 4};
    w.requests[0].hashes = w.requests[4].hashes = 4;
    ServiceSetup setup;
    setup.replicas = 2;
    LinearClock clock(1, 0, 0);
    const auto replicas = [&](Router router) {
      setup.router = router;
      QList<int> out;
      for (const RequestRecord& record : run(w, setup, clock).requests) out << record.replica;
      return out;
    };
    QCOMPARE(replicas(Router::RoundRobin), (QList<int>{0, 1, 0, 1, 0}));
    // At 3 s the second request has ended; at 10 s only the first one runs.
    QCOMPARE(replicas(Router::LeastOutstanding), (QList<int>{0, 1, 1, 0, 1}));
    QCOMPARE(replicas(Router::PrefixAware), (QList<int>{0, 1, 1, 0, 0}));
  }

  void impossible_input_is_refused_data() {
    QTest::addColumn<int>("row");
    for (int row = 0; row < 7; ++row) QTest::addRow("%d", row) << row;
  }
  void impossible_input_is_refused() {
    QFETCH(int, row);
    Workload w = workload({request(0, 5, 5), request(0, 5, 5)});
    ServiceSetup setup;
    if (row == 0) w.requests.clear();
    if (row == 1) w.requests[1].prompt = 0;
    if (row == 2) w.requests[1].arrival = std::nan("");
    if (row == 3) w.requests[1].parent = 1;
    if (row == 4) w.users = -1;
    if (row == 5) setup.replicas = 0;
    if (row == 6) setup.engine.block_size = 0;
    LinearClock clock;
    const auto result = simulate_requests(w, setup, clock);
    QVERIFY(std::holds_alternative<Problem>(result));
    QCOMPARE(std::get<Problem>(result).code,
             row == 6 ? ProblemCode::EngineSettingInvalid : ProblemCode::WorkloadInvalid);
  }

  // Mooncake's paper and the trace: 36.6 % of the blocks of prompts are found in a cache that never evicts.
  void an_endless_cache_finds_the_prefixes_of_mooncake() {
    const auto trace = read_trace(SHARDSCAPE_TEST_DATA "/requests/mooncake_conversation.csv");
    const Workload& w = std::get<Workload>(trace);
    QCOMPARE(w.requests.size(), size_t{12031});
    ServiceSetup setup;
    setup.engine.max_model_len = 131072;
    setup.engine.max_num_batched_tokens = 8192;
    setup.engine.max_num_seqs = 1024;
    setup.keep_steps = false;
    LinearClock clock(0.005, 1e-5, 2e-9);
    const RequestSimulation endless = run(w, setup, clock);
    const ServiceResults results = service_results(w, endless);
    QCOMPARE(results.finished, int64_t{12031});
    QVERIFY2(std::abs(results.prefix_hits - 0.366) < 0.02, qPrintable(QString::number(results.prefix_hits)));
    // A cache of 640,000 tokens finds less, and keeps its capacity.
    setup.engine.num_gpu_blocks = 40001;
    const RequestSimulation limited = run(w, setup, clock);
    QVERIFY(service_results(w, limited).prefix_hits < results.prefix_hits / 2);
    QVERIFY(limited.peak_blocks <= 40000 && limited.peak_blocks > 30000);
  }

  void a_stopped_simulation_leaves_requests_pending() {
    std::stop_source stop;
    stop.request_stop();
    LinearClock clock;
    const auto result = simulate_requests(workload({request(0, 5, 5)}), {}, clock, stop.get_token());
    QCOMPARE(std::get<RequestSimulation>(result).requests[0].end, RequestEnd::Pending);
  }
};

QTEST_APPLESS_MAIN(RequestSimulationTest)
#include "request_simulation_test.moc"
