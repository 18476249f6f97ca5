// Simulated requests: properties that hold for every run, limits of queueing theory, sessions, closed loops,
// routers and refusals.
#include <QtTest>
#include <cmath>
#include <numeric>

#include "serving/requests/arrivals.h"
#include "serving/requests/lengths.h"
#include "serving/requests/random.h"
#include "serving/requests/request_spans.h"
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

void shrink_cache(EngineSettings& s) {
  switch (s.engine) {
    case EngineKind::Vllm: s.num_gpu_blocks = std::max<int64_t>(2, 1 + s.num_gpu_blocks / 3); break;
    case EngineKind::Sglang: s.sglang.max_total_tokens = s.sglang.max_total_tokens / 3; break;
    case EngineKind::Trtllm:
      s.trtllm.max_tokens = std::max<int64_t>(s.trtllm.tokens_per_block, s.trtllm.max_tokens / 3);
      break;
  }
}

// The stages of a pipeline have equal times.
class StagesClock : public LinearClock {
 public:
  explicit StagesClock(int stages) : stages_(stages) {}
  double bottleneck_seconds(const StepBatch& batch) override { return seconds(batch) / stages_; }

 private:
  int stages_;
};

// Two stages of one second each, for any batch.
class TwoStages : public StepClock {
 public:
  double seconds(const StepBatch&) override { return 2; }
  double bottleneck_seconds(const StepBatch&) override { return 1; }
};

struct Totals {
  int64_t refused = 0, cached = 0, preemptions = 0;
};

// Of the requests: order of their times, Little's law, gaps. Empty: all hold.
QString broken_request(const RequestCase& c, const RequestSimulation& r, Totals& totals) {
  int64_t gaps = 0, tokens = 0;
  double system = 0, between = 0, seconds = 0;
  for (size_t i = 0; i < r.requests.size(); ++i) {
    const RequestRecord& record = r.requests[i];
    const Request& request = c.workload.requests[i];
    if (record.end == RequestEnd::Pending) return "a request has no end";
    if (record.end != RequestEnd::Finished) {
      ++totals.refused;
      continue;
    }
    if (!(record.arrival <= record.scheduled && record.scheduled < record.first_token))
      return "the times of a request have another order";
    if (request.output == 1 ? record.last_token != record.first_token
                            : record.last_token <= record.first_token)
      return "the last token is not after the first one";
    if (record.cached >= request.prompt) return "a whole prompt is cached";
    totals.cached += record.cached;
    totals.preemptions += record.preemptions;
    gaps += request.output - 1;
    system += record.last_token - record.arrival;
    between += record.last_token - record.first_token;
  }
  // Little's law, as an identity: the integral of the number in the system is the sum of the times.
  if (!close(r.in_system, system, 1e-9) && system != 0) return "Little's law does not hold";
  for (const TokenGap& gap : r.gaps) {
    tokens += gap.chunks;
    seconds += gap.seconds * static_cast<double>(gap.chunks);
  }
  if (tokens != gaps) return "other number of gaps";
  if (std::abs(seconds - between) > 1e-9 * between + 1e-9) return "the gaps have another sum";
  return {};
}

// Of the steps: budgets, the cache, their order on a replica, and tokens that are computed once.
QString broken_step(const RequestCase& c, const ServiceSetup& setup, const RequestSimulation& r) {
  const EngineSettings& s = c.settings;
  int64_t prompt = 0, gaps = 0, preemptions = 0, prefill = 0, decode = 0;
  for (size_t i = 0; i < r.requests.size(); ++i) {
    if (r.requests[i].end != RequestEnd::Finished) continue;
    prompt += c.workload.requests[i].prompt - r.requests[i].cached;
    gaps += c.workload.requests[i].output - 1;
    preemptions += r.requests[i].preemptions;
  }
  const bool sglang = s.engine == EngineKind::Sglang;
  std::vector<double> end(static_cast<size_t>(setup.replicas), 0);
  for (const StepRecord& step : r.steps) {
    const int64_t tokens = step.prefill_tokens + (sglang ? 0 : step.decode_sequences);
    if (tokens > most_step_tokens(s) && !(sglang && s.sglang.chunked_prefill_size < 0))
      return "a step exceeds its budget";
    if (step.prefill_tokens + step.decode_sequences <= 0) return "a step is empty";
    if (sglang && !s.sglang.enable_mixed_chunk && step.prefill_tokens > 0 && step.decode_sequences > 0)
      return "prefill and decode share a step";
    if (step.decode_sequences > most_sequences(s)) return "too many sequences";
    if (step.blocks > cache_blocks(s)) return "the cache exceeds its capacity";
    double& last = end[static_cast<size_t>(step.replica)];
    if (step.begin + step.seconds < last || (s.pipeline_stages == 1 && step.begin < last))
      return "steps of a replica overlap";
    last = step.begin + step.seconds;
    prefill += step.prefill_tokens;
    decode += step.decode_sequences - step.vain;
  }
  // Without preemption every token is computed once; with it, at least once.
  if (preemptions == 0 && (prefill != prompt || decode != gaps)) return "a token is not computed once";
  if (s.engine == EngineKind::Vllm && s.policy == SchedulingPolicy::Fcfs && prefill + decode < prompt + gaps)
    return "a token is not computed";
  if (static_cast<int64_t>(r.steps.size()) != r.step_count) return "other number of steps";
  if (r.peak_blocks > r.usable_blocks) return "the cache exceeds its capacity";
  return {};
}

QString broken_property(const RequestCase& c, const ServiceSetup& setup, const RequestSimulation& r,
                        Totals& totals) {
  const QString found = broken_request(c, r, totals);
  return found.isEmpty() ? broken_step(c, setup, r) : found;
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
  void random_runs_keep_their_properties_data() {
    QTest::addColumn<int>("engine");
    QTest::addColumn<int>("stages");
    QTest::addColumn<int>("lockstep");
    for (int engine = 0; engine < 3; ++engine)
      for (const int stages : {1, 2, 4})
        for (const int lockstep : {1, 3})
          QTest::addRow("%s, %d stages, %d together", engine_name(static_cast<EngineKind>(engine)), stages,
                        lockstep)
              << engine << stages << lockstep;
  }
  void random_runs_keep_their_properties() {
    QFETCH(int, engine);
    QFETCH(int, stages);
    QFETCH(int, lockstep);
    Totals totals;
    for (uint64_t seed = 0; seed < 400; ++seed) {
      RequestCase c = random_case(seed);
      use_engine(c, static_cast<EngineKind>(engine), seed);
      // In every fourth case some requests do not fit.
      if (seed % 4 == 0) shrink_cache(c.settings);
      c.settings.pipeline_stages = stages;
      c.settings.attention_dp = lockstep;
      ServiceSetup setup = setup_of(c, seed);
      setup.lockstep = lockstep;
      if (lockstep > 1) setup.replicas = lockstep;
      StagesClock clock(stages);
      const RequestSimulation r = run(c.workload, setup, clock);
      const QString found = broken_property(c, setup, r, totals);
      QVERIFY2(found.isEmpty(),
               qPrintable(QString("seed %1, %2: %3")
                              .arg(seed)
                              .arg(QString::fromStdString(settings_text(c.settings)), found)));
    }
    QVERIFY2(totals.refused > 100 && totals.cached > 10000,
             qPrintable(QString("%1 %2").arg(totals.refused).arg(totals.cached)));
    QVERIFY2(totals.preemptions > 20, qPrintable(QString::number(totals.preemptions)));
  }

  // Layers with windows and states share the blocks of vLLM's cache.
  void layouts_of_the_cache_keep_the_properties() {
    Totals totals;
    for (uint64_t seed = 0; seed < 400; ++seed) {
      RequestCase c = random_case(seed);
      EngineSettings& s = c.settings;
      s.layout.full = seed % 4 > 0;
      s.layout.windows.push_back(
          {3 + static_cast<int64_t>(seed % 50), seed % 3 == 0, 1 + static_cast<int32_t>(seed % 3)});
      s.layout.states = seed % 7 == 0;
      s.layout.prefixes = seed % 7 > 0;
      int64_t most = 0;
      for (const Request& r : c.workload.requests)
        most = std::max(most, s.layout.most_blocks((r.prompt + r.output + s.block_size - 1) / s.block_size,
                                                   s.max_num_batched_tokens, s.block_size));
      s.num_gpu_blocks = 1 + most * (1 + static_cast<int64_t>(seed % 3));
      const ServiceSetup setup = setup_of(c, seed);
      LinearClock clock;
      const RequestSimulation r = run(c.workload, setup, clock);
      const QString found = broken_property(c, setup, r, totals);
      QVERIFY2(found.isEmpty(), qPrintable(QString("seed %1: %2").arg(seed).arg(found)));
      QVERIFY(s.layout.prefixes ||
              std::all_of(r.requests.begin(), r.requests.end(),
                          [](const RequestRecord& record) { return record.cached == 0; }));
    }
    QVERIFY(totals.refused == 0 && totals.preemptions > 20 && totals.cached > 10000);
  }

  // Lower tiers of the cache: every request ends, no tier is overfull, and loads are a part of the hits. An
  // endless device never evicts, so the tiers change nothing.
  void tiers_of_the_cache_keep_the_properties_data() {
    QTest::addColumn<int>("engine");
    for (int engine = 0; engine < 3; ++engine)
      QTest::addRow("%s", engine_name(static_cast<EngineKind>(engine))) << engine;
  }
  void tiers_of_the_cache_keep_the_properties() {
    QFETCH(int, engine);
    Totals totals;
    int64_t host = 0, disk = 0;
    for (uint64_t seed = 0; seed < 400; ++seed) {
      RequestCase c = random_case(seed);
      use_engine(c, static_cast<EngineKind>(engine), seed);
      ServiceSetup setup = setup_of(c, seed);
      setup.engine.tiers = {{20 * static_cast<int64_t>(seed % 7), 30 * static_cast<int64_t>(seed % 5)},
                            {1e-3, 3e-3}};
      LinearClock clock;
      const RequestSimulation r = run(c.workload, setup, clock);
      const QString found = broken_property(c, setup, r, totals);
      QVERIFY2(found.isEmpty(), qPrintable(QString("seed %1: %2").arg(seed).arg(found)));
      const RequestSpans spans(r);
      for (size_t i = 0; i < r.requests.size(); ++i) {
        const RequestRecord& record = r.requests[i];
        host += record.from_host;
        disk += record.from_disk;
        QVERIFY(record.from_host + record.from_disk <= record.cached);
        QCOMPARE(record.load_seconds > 0, record.from_host + record.from_disk > 0);
        QVERIFY(engine != 0 || record.scheduled >= record.arrival + record.load_seconds - 1e-9);
        // vLLM loads before the first chunk, the others as a part of a step.
        QCOMPARE(record.load_end > 0, engine == 0 && record.load_seconds > 0);
        double loaded = 0;
        for (const RequestSpan& span : spans.of(i))
          if (span.kind == RequestSpanKind::Load) loaded += span.end - span.begin;
        QVERIFY(std::abs(loaded - (engine == 0 ? record.load_seconds : 0)) < 1e-9);
      }
      EngineSettings& s = setup.engine;
      s.num_gpu_blocks = s.sglang.max_total_tokens = s.trtllm.max_tokens = 0;
      s.sglang.max_mamba_cache_size = 0;
      const RequestSimulation with = run(c.workload, setup, clock);
      s.tiers = {};
      const RequestSimulation without = run(c.workload, setup, clock);
      for (size_t i = 0; i < with.requests.size(); ++i)
        QVERIFY(with.requests[i].last_token == without.requests[i].last_token);
    }
    QVERIFY2(host > 1000 && disk > 1000, qPrintable(QString("%1 %2").arg(host).arg(disk)));
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

  // Two stages of one second each. The second prompt starts when the first stage is free; from then on both
  // sequences get a token every two seconds. Together they would have the times of the first one.
  void a_pipeline_has_a_step_for_each_stage_data() {
    QTest::addColumn<int>("engine");
    for (int engine = 0; engine < 3; ++engine)
      QTest::addRow("%s", engine_name(static_cast<EngineKind>(engine))) << engine;
  }
  void a_pipeline_has_a_step_for_each_stage() {
    QFETCH(int, engine);
    ServiceSetup setup;
    setup.engine.engine = static_cast<EngineKind>(engine);
    setup.engine.pipeline_stages = 2;
    setup.engine.max_num_batched_tokens = setup.engine.trtllm.max_num_tokens = 100;
    setup.engine.sglang.chunked_prefill_size = 100;
    TwoStages clock;
    RequestSimulation r = run(workload({request(0, 100, 3), request(0, 100, 3)}), setup, clock);
    QCOMPARE(r.requests[0].first_token, 2.0);
    QCOMPARE(r.requests[0].last_token, 6.0);
    QCOMPARE(r.requests[1].first_token, 3.0);
    QCOMPARE(r.requests[1].last_token, 7.0);
    QCOMPARE(r.busy_seconds, 6.0);
    QCOMPARE(prefill_tokens(r), (std::vector<int>{100, 100, 0, 0, 0, 0}));
    QCOMPARE(decode_sequences(r), (std::vector<int>{0, 0, 1, 1, 1, 1}));
    for (const TokenGap& gap : r.gaps) QCOMPARE(gap.seconds, 2.0);
    // Requests that fit into one step stay together.
    r = run(workload({request(0, 50, 3), request(0, 50, 3)}), setup, clock);
    QCOMPARE(decode_sequences(r), (std::vector<int>{0, 2, 2}));
    QCOMPARE(r.requests[1].last_token, 6.0);
    // Chunks of a prompt follow each other without waiting for the end of the pipeline.
    setup.engine.trtllm.enable_chunked_context = true;
    setup.engine.max_num_batched_tokens = setup.engine.trtllm.max_num_tokens = 96;
    setup.engine.sglang.chunked_prefill_size = 96;
    r = run(workload({request(0, 192, 1)}), setup, clock);
    QCOMPARE(prefill_tokens(r), (std::vector<int>{96, 96}));
    QCOMPARE(r.requests[0].first_token, 3.0);
  }

  // Steps of 1 s and 10 ms per token. The first replica reads 100 tokens, the second 10: both steps last 2 s.
  void replicas_that_share_experts_step_together() {
    ServiceSetup setup;
    setup.replicas = setup.lockstep = 2;
    setup.engine.async_scheduling = false;
    LinearClock clock(1, 0.01, 0);
    Workload w = workload({request(0, 100, 2), request(0, 10, 3), request(2.5, 100, 1)});
    RequestSimulation r = run(w, setup, clock);
    QCOMPARE(r.requests[0].first_token, 2.0);
    QCOMPARE(r.requests[1].first_token, 2.0);
    QCOMPARE(r.requests[0].last_token, 3.01);
    // The third request arrives at the first replica in the second step. The next step lasts 2 s for both.
    QCOMPARE(r.requests[2].replica, 0);
    QCOMPARE(r.requests[2].scheduled, 3.01);
    QCOMPARE(r.requests[1].last_token, 5.01);
    QCOMPARE(r.steps.size(), size_t{6});
    setup.lockstep = 1;
    r = run(w, setup, clock);
    QCOMPARE(r.requests[1].first_token, 1.1);
    QCOMPARE(r.requests[2].scheduled, 3.01);
    QVERIFY(r.requests[1].last_token < 3.2);
  }

  void impossible_input_is_refused_data() {
    QTest::addColumn<int>("row");
    for (int row = 0; row < 8; ++row) QTest::addRow("%d", row) << row;
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
    if (row == 7) setup.lockstep = 2;  // of one replica
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
