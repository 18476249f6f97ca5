// Speculative decoding: acceptance rates, and how sequences advance on the three engines.
#include <QtTest>

#include "serving/requests/service_results.h"
#include "serving/requests/speculation.h"
#include "support/request_cases.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr int kCases = 150;
constexpr EngineKind kEngines[] = {EngineKind::Vllm, EngineKind::Sglang, EngineKind::Trtllm};

SpeculativeSettings speculative(int64_t tokens, std::vector<double> acceptance, int64_t seed = 0) {
  return {SpeculativeMethod::Eagle, tokens, std::move(acceptance), seed};
}

// A few thousand steps of sequences that never wait.
Workload long_answers(int32_t requests) {
  std::vector<Request> out;
  for (int32_t i = 0; i < requests; ++i) out.push_back(request(0.01 * i, 20 + i, 300 + i % 7));
  return workload(std::move(out));
}

EngineSettings roomy(EngineKind engine, const SpeculativeSettings& speculation) {
  EngineSettings out;
  out.engine = engine;
  out.speculation = speculation;
  return out;
}

// Steps of decode sequences that verify `drafts` more tokens each than the batch says.
class WastefulClock final : public StepClock {
 public:
  explicit WastefulClock(int64_t drafts) : drafts_(drafts) {}
  double seconds(const StepBatch& batch) override {
    StepBatch more = batch;
    more.draft_tokens += drafts_ * batch.decode_sequences;
    more.decode_context += drafts_ * batch.decode_sequences;
    return clock_.seconds(more);
  }

 private:
  int64_t drafts_;
  LinearClock clock_;
};

// Checks every batch while a run goes on.
class CheckingClock final : public StepClock {
 public:
  explicit CheckingClock(const EngineSettings& settings) : settings_(settings) {}
  double seconds(const StepBatch& batch) override {
    const int64_t drafts = draft_tokens(settings_.speculation);
    int64_t tokens = batch.decode_sequences + batch.draft_tokens;
    if (batch.draft_tokens > drafts * batch.decode_sequences) found_ = "too many draft tokens";
    // The last token of an answer is not computed, except by a step of SGLang whose token is dropped.
    const int64_t longest = longest_sequence(settings_) - (settings_.engine != EngineKind::Sglang);
    if (batch.decode_context > longest * batch.decode_sequences)
      found_ = "a token beyond the longest sequence";
    for (const PrefillChunk& chunk : batch.chunks) tokens += chunk.tokens;
    if (settings_.engine != EngineKind::Sglang && tokens > most_step_tokens(settings_))
      found_ = "the step exceeds its budget";
    return clock_.seconds(batch);
  }
  QString found() const { return found_; }

 private:
  EngineSettings settings_;
  LinearClock clock_;
  QString found_;
};

bool equal(const RequestSimulation& a, const RequestSimulation& b) {
  if (a.requests.size() != b.requests.size() || a.steps.size() != b.steps.size()) return false;
  for (size_t i = 0; i < a.requests.size(); ++i)
    if (a.requests[i].first_token != b.requests[i].first_token ||
        a.requests[i].last_token != b.requests[i].last_token ||
        a.requests[i].preemptions != b.requests[i].preemptions)
      return false;
  return a.drafts.drafts == b.drafts.drafts && a.drafts.accepted == b.drafts.accepted;
}

// Tokens that decode steps yield, and those that the answers need from them: equal but for the tokens that
// the last steps draft beyond the ends.
QString broken_tokens(const RequestCase& c, const RequestSimulation& r) {
  int64_t yielded = 0, needed = 0, chunks = 0, finished = 0, restarts = 0;
  for (const int64_t accepted : r.drafts.accepted) yielded += accepted;
  for (const StepRecord& step : r.steps) yielded += step.decode_sequences;
  for (const TokenGap& gap : r.gaps) chunks += gap.chunks;
  for (size_t i = 0; i < r.requests.size(); ++i) {
    const RequestRecord& record = r.requests[i];
    if (record.end == RequestEnd::Pending) return "a request has no end";
    if (record.end != RequestEnd::Finished) continue;
    if (!(record.scheduled < record.first_token && record.first_token <= record.last_token))
      return "the times of a request have another order";
    ++finished;
    needed += c.workload.requests[i].output - 1;
    restarts += record.preemptions;
  }
  const int64_t most = draft_tokens(c.settings.speculation);
  // A request that starts again yields a token when its prompt ends.
  if (yielded + restarts < needed || yielded > needed + most * finished) return "other number of tokens";
  if (chunks > needed || chunks * (1 + most) < needed) return "other number of chunks";
  if (r.usable_blocks > 0 && r.peak_blocks > r.usable_blocks) return "the cache is too full";
  return {};
}

}  // namespace

class SpeculationTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void one_rate_holds_for_every_token() {
    QVERIFY(acceptance_rates(SpeculativeSettings{}).empty());
    const std::vector<double> rates = acceptance_rates(speculative(3, {0.5}));
    QCOMPARE(rates, (std::vector<double>{0.5, 0.25, 0.125}));
    QCOMPARE(acceptance_rates(speculative(2, {0.7, 0.4})), (std::vector<double>{0.7, 0.4}));
    QCOMPARE(draft_tokens(SpeculativeSettings{}), int64_t{0});
  }

  void drafts_have_the_rate_of_their_length_data() {
    QTest::addColumn<double>("length");
    QTest::addColumn<int>("tokens");
    QTest::addColumn<double>("rate");
    QTest::newRow("half") << 1.75 << 2 << 0.5;
    QTest::newRow("all") << 4.0 << 3 << 1.0;
    QTest::newRow("none") << 1.0 << 3 << 0.0;
    QTest::newRow("more than all") << 9.0 << 1 << 1.0;
  }
  void drafts_have_the_rate_of_their_length() {
    QFETCH(double, length);
    QFETCH(int, tokens);
    QFETCH(double, rate);
    QVERIFY(std::abs(rate_of_length(length, tokens) - rate) < 1e-9);
  }

  void wrong_settings_are_problems_data() {
    QTest::addColumn<QString>("where");
    QTest::addColumn<int>("tokens");
    QTest::addColumn<QList<double>>("acceptance");
    QTest::newRow("no token") << "num_speculative_tokens" << 0 << QList<double>{0.5};
    QTest::newRow("too many tokens") << "num_speculative_tokens" << 17 << QList<double>{0.5};
    QTest::newRow("no rate") << "acceptance_per_position" << 1 << QList<double>{};
    QTest::newRow("other number of rates") << "acceptance_per_position" << 3 << QList<double>{0.5, 0.4};
    QTest::newRow("above 1") << "acceptance_per_position" << 1 << QList<double>{1.5};
    QTest::newRow("rising") << "acceptance_per_position" << 2 << QList<double>{0.4, 0.5};
    QTest::newRow("valid") << "" << 2 << QList<double>{0.5, 0.4};
  }
  void wrong_settings_are_problems() {
    QFETCH(QString, where);
    QFETCH(int, tokens);
    QFETCH(QList<double>, acceptance);
    EngineSettings settings;
    settings.speculation = speculative(tokens, {acceptance.begin(), acceptance.end()});
    const auto problem = check_settings(settings);
    QCOMPARE(problem ? QString::fromStdString(problem->where) : QString(), where);
    if (problem) QCOMPARE(problem->code, ProblemCode::EngineSettingInvalid);
    settings.speculation.method = SpeculativeMethod::None;
    QVERIFY(!check_settings(settings));
  }
  void engines_have_conditions_of_their_own() {
    EngineSettings settings = roomy(EngineKind::Sglang, speculative(2, {0.5}));
    settings.sglang.enable_mixed_chunk = true;
    QCOMPARE(check_settings(settings)->where, std::string("enable_mixed_chunk"));
    settings = roomy(EngineKind::Trtllm, speculative(2, {0.5}));
    settings.trtllm.max_num_tokens = 2;
    QCOMPARE(check_settings(settings)->where, std::string("max_num_tokens"));
    settings.trtllm.max_num_tokens = 3;
    QVERIFY(!check_settings(settings));
  }

  // 100,000 draws: the standard deviation of a share is below 0.0016.
  void draws_have_their_rates() {
    const std::vector<double> rates{0.61, 0.36, 0.16, 0.08};
    const Speculation speculation(roomy(EngineKind::Vllm, speculative(4, rates, 5)));
    std::vector<double> share(rates.size());
    constexpr int kDraws = 100'000;
    for (int i = 0; i < kDraws; ++i) {
      const int64_t accepted = speculation.accepted(i % 300, i / 300, 4);
      QVERIFY(speculation.accepted(i % 300, i / 300, 2) == std::min<int64_t>(accepted, 2));
      for (int64_t k = 0; k < accepted; ++k) share[static_cast<size_t>(k)] += 1.0 / kDraws;
    }
    for (size_t k = 0; k < rates.size(); ++k)
      QVERIFY2(std::abs(share[k] - rates[k]) < 0.006, qPrintable(QString("%1 %2").arg(k).arg(share[k])));
    QCOMPARE(speculation.accepted(1, 1, 0), int64_t{0});
  }

  // A prompt, then as few steps as 1 + k tokens each allow. The last step is cut.
  void accepted_tokens_shorten_answers() {
    for (const EngineKind engine : kEngines)
      for (const int64_t tokens : {1, 3, 7})
        for (const int32_t output : {1, 2, 9, 100}) {
          LinearClock clock(1, 0, 0);
          const auto r = simulated(workload({request(0, 10, output)}),
                                   roomy(engine, speculative(tokens, {1.0})), clock);
          const int64_t steps = 1 + (output - 1 + tokens) / (1 + tokens);
          // vLLM computes an answer once more that ends with accepted drafts, SGLang every answer.
          const int64_t last = output - 1 - (steps - 2) * (1 + tokens);
          const bool vain = engine == EngineKind::Sglang ||
                            (engine == EngineKind::Vllm && steps > 1 && last > 1);
          QCOMPARE(r.step_count, steps + vain);
          QCOMPARE(r.requests[0].first_token, 1.0);
          QCOMPARE(r.requests[0].last_token, static_cast<double>(steps));
        }
  }

  // Without asynchronous scheduling no step is computed in vain. With it, the drafts in flight count as
  // accepted: of a prompt of 8 tokens, the second decode step needs 8 + 4 + 4 slots instead of 9 + 4.
  void drafts_in_flight_count_as_accepted() {
    LinearClock clock(1, 0, 0);
    EngineSettings settings = roomy(EngineKind::Vllm, speculative(3, {0.0}));
    settings.speculation.method = SpeculativeMethod::Ngram;
    settings.block_size = 1;
    const Workload w = workload({request(0, 8, 3)});
    QCOMPARE(simulated(w, settings, clock).peak_blocks, int64_t{16});
    settings.async_scheduling = false;
    QCOMPARE(simulated(w, settings, clock).peak_blocks, int64_t{13});
    settings.speculation.acceptance = {1.0};
    QCOMPARE(simulated(workload({request(0, 10, 5)}), settings, clock).step_count, int64_t{2});
  }

  // Tokens of a step arrive in one chunk: a gap of one second for four tokens.
  void tokens_per_chunk_shorten_tpot_and_not_itl() {
    const Workload w = workload({request(0, 10, 5)});
    LinearClock clock(1, 0, 0);
    const EngineSettings settings = roomy(EngineKind::Vllm, speculative(3, {1.0}));
    const ServiceResults r = service_results(w, simulated(w, settings, clock));
    QCOMPARE(r.itl.count, int64_t{1});
    QCOMPARE(r.itl.mean, 1.0);
    QCOMPARE(r.tpot.mean, 0.25);
    QCOMPARE(r.acceptance_length, 4.0);
    QCOMPARE(r.acceptance_per_position, (std::vector<double>{1, 1, 1}));
    const ServiceResults plain = service_results(w, simulated(w, {}, clock));
    QCOMPARE(plain.acceptance_length, 0.0);
    QCOMPARE(plain.tpot.mean, 1.0);
  }

  // Without acceptance the times are those of as many steps, each with the wasted tokens.
  void rejected_tokens_cost_their_time() {
    for (const EngineKind engine : kEngines)
      for (const int64_t tokens : {1, 4}) {
        const Workload w = long_answers(20);
        LinearClock clock;
        WastefulClock wasteful(tokens);
        const auto drafted = simulated(w, roomy(engine, speculative(tokens, {0.0})), clock);
        const auto plain = simulated(w, roomy(engine, {}), wasteful);
        QCOMPARE(drafted.step_count, plain.step_count);
        for (size_t i = 0; i < w.requests.size(); ++i)
          QCOMPARE(drafted.requests[i].last_token, plain.requests[i].last_token);
        QVERIFY(drafted.drafts.drafts > 0 && drafted.drafts.accepted.empty());
      }
  }

  // 1 + the sum of the rates, within 2 %.
  void steps_yield_the_expected_tokens() {
    const std::vector<double> rates{0.6, 0.35, 0.15};
    for (const EngineKind engine : kEngines) {
      const Workload w = long_answers(60);
      LinearClock clock;
      const auto r = simulated(w, roomy(engine, speculative(3, rates)), clock);
      const ServiceResults results = service_results(w, r);
      QVERIFY2(std::abs(results.acceptance_length / 2.1 - 1) < 0.02,
               qPrintable(QString::number(results.acceptance_length)));
      for (size_t k = 0; k < rates.size(); ++k)
        QVERIFY(std::abs(results.acceptance_per_position[k] - rates[k]) < 0.02);
      int64_t sequences = 0, tokens = 0;
      for (const StepRecord& step : r.steps) sequences += step.decode_sequences;
      for (const Request& of : w.requests) tokens += of.output - 1;
      QVERIFY(std::abs(static_cast<double>(tokens) / static_cast<double>(sequences) / 2.1 - 1) < 0.02);
    }
  }

  // Little room: budgets and caches are kept, every request ends, and a run repeats.
  void tight_engines_keep_their_limits() {
    int64_t preemptions = 0;
    for (const EngineKind engine : kEngines)
      for (uint64_t seed = 0; seed < kCases; ++seed) {
        RequestCase c = random_case(seed);
        use_engine(c, engine, seed);
        c.settings.sglang.enable_mixed_chunk = false;
        c.settings.speculation = speculative(1 + static_cast<int64_t>(seed % 5), {0.6},
                                             static_cast<int64_t>(seed));
        if (seed % 3 == 0) c.settings.speculation.method = SpeculativeMethod::Ngram;
        if (seed % 5 == 0) c.settings.pipeline_stages = 2;
        if (seed % 4 == 0) {  // requests as long as the model allows
          int64_t most = 2;
          for (const Request& of : c.workload.requests) most = std::max<int64_t>(most, of.prompt + of.output);
          c.settings.max_model_len = c.settings.sglang.context_len = c.settings.trtllm.max_seq_len = most;
        }
        CheckingClock clock(c.settings);
        const RequestSimulation r = simulated(c.workload, c.settings, clock);
        QString found = clock.found().isEmpty() ? broken_tokens(c, r) : clock.found();
        if (found.isEmpty() && !equal(r, simulated(c.workload, c.settings, clock))) found = "another run";
        QVERIFY2(found.isEmpty(),
                 qPrintable(QString("seed %1, %2: %3")
                                .arg(seed)
                                .arg(QString::fromStdString(settings_text(c.settings)), found)));
        for (const RequestRecord& record : r.requests) preemptions += record.preemptions;
      }
    QVERIFY2(preemptions > kCases, qPrintable(QString::number(preemptions)));
  }

  // A request whose draft does not fit into the cache is refused instead of waiting for ever.
  void drafts_that_never_fit_are_refused() {
    EngineSettings settings = roomy(EngineKind::Vllm, speculative(4, {0.5}));
    settings.block_size = 4;
    settings.num_gpu_blocks = 6;  // 20 tokens
    LinearClock clock;
    const auto end = [&](int32_t output) {
      return simulated(workload({request(0, 8, output)}), settings, clock).requests[0].end;
    };
    // 8 + 5 - 1 tokens, 4 of the draft, and 4 that EAGLE computes.
    QCOMPARE(end(5), RequestEnd::Finished);
    QCOMPARE(end(6), RequestEnd::LargerThanCache);
    settings.speculation.method = SpeculativeMethod::Ngram;
    QCOMPARE(end(9), RequestEnd::Finished);
    QCOMPARE(end(10), RequestEnd::LargerThanCache);
  }

  // Two blocks of a prompt are cached; EAGLE computes the last one again.
  void draft_modules_compute_the_last_cached_block() {
    Workload w = workload({request(0, 40, 2), request(5, 40, 2)});
    w.tokens_per_hash = 16;
    w.hashes = {1, 2, 3};
    w.requests[0].hashes = w.requests[1].hashes = 3;
    LinearClock clock;
    EngineSettings settings = roomy(EngineKind::Vllm, speculative(1, {0.5}));
    QCOMPARE(simulated(w, settings, clock).requests[1].cached, 16);
    settings.speculation.method = SpeculativeMethod::Ngram;
    QCOMPARE(simulated(w, settings, clock).requests[1].cached, 32);
  }
};

QTEST_APPLESS_MAIN(SpeculationTest)
#include "speculation_test.moc"
