// Rules of vLLM's scheduler, each in a case small enough to follow by hand.
#include <QtTest>

#include "support/request_cases.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// Steps of one second. Blocks of 4 tokens, no prefix cache, no async scheduling.
EngineSettings settings(int64_t blocks = 0) {
  EngineSettings out;
  out.max_num_batched_tokens = 100;
  out.block_size = 4;
  out.num_gpu_blocks = blocks;
  out.enable_prefix_caching = false;
  out.async_scheduling = false;
  return out;
}

RequestSimulation run(const EngineSettings& settings, std::vector<Request> requests) {
  LinearClock clock(1, 0, 0);
  return simulated(workload(std::move(requests)), settings, clock);
}

}  // namespace

class VllmSchedulerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The running request decodes first; prompts share what is left of 100 tokens.
  void running_requests_come_before_waiting_ones() {
    const auto r = run(settings(), {request(0, 50, 4), request(0, 150, 2)});
    QCOMPARE(prefill_tokens(r), (std::vector<int>{100, 99, 1, 0}));
    QCOMPARE(decode_sequences(r), (std::vector<int>{0, 1, 1, 2}));
    QCOMPARE(r.requests[0].first_token, 1.0);
    QCOMPARE(r.requests[0].last_token, 4.0);
    QCOMPARE(r.requests[1].first_token, 3.0);
    QCOMPARE(r.requests[1].last_token, 4.0);
    QCOMPARE(r.requests[1].scheduled, 0.0);
  }

  void long_prompts_are_cut_by_the_threshold() {
    EngineSettings s = settings();
    s.long_prefill_token_threshold = 40;
    QCOMPARE(prefill_tokens(run(s, {request(0, 150, 1), request(0, 30, 1)})),
             (std::vector<int>{70, 40, 40, 30}));
  }

  // Short prompts that started behind a long one decode although the long one goes on.
  void a_small_budget_delays_the_last_sequences() {
    EngineSettings s = settings();
    s.max_num_batched_tokens = 3;
    const auto r = run(s, {request(0, 1, 4), request(0, 1, 4), request(0, 1, 4), request(0, 1, 4)});
    QCOMPARE(prefill_tokens(r), (std::vector<int>{3, 0, 0, 0, 1, 0, 0, 0}));
    QCOMPARE(decode_sequences(r), (std::vector<int>{0, 3, 3, 3, 0, 1, 1, 1}));
    s.long_prefill_token_threshold = 2;
    // The prompt of nine takes two tokens of three in every step, so the others take turns at the third.
    const auto slow = run(s, {request(0, 9, 1), request(0, 1, 3), request(0, 1, 1)});
    QCOMPARE(prefill_tokens(slow), (std::vector<int>{3, 2, 2, 3, 1}));
    QCOMPARE(decode_sequences(slow), (std::vector<int>{0, 1, 1, 0, 0}));
  }

  void without_chunks_a_prompt_waits_for_the_whole_budget() {
    EngineSettings s = settings();
    s.enable_chunked_prefill = false;
    QCOMPARE(prefill_tokens(run(s, {request(0, 60, 2), request(0, 60, 1)})), (std::vector<int>{60, 60}));
  }

  // Four blocks. Both requests fill two with seven prompt tokens and one output token. The next token of the
  // first takes the blocks of the second, which returns to the head: the third request waits behind it.
  void a_shortage_preempts_the_last_sequence() {
    const auto r = run(settings(5), {request(0, 7, 8), request(0, 7, 8), request(1, 1, 1)});
    QCOMPARE(r.requests[0].preemptions, 0);
    QCOMPARE(r.requests[1].preemptions, 1);
    QCOMPARE(r.requests[0].last_token, 8.0);
    // Steps: both prompts; the eighth tokens; the first alone until it ends at 8; then the second computes
    // its prompt and its two tokens again, together with the third request.
    QCOMPARE(prefill_tokens(r), (std::vector<int>{14, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0}));
    QCOMPARE(decode_sequences(r), (std::vector<int>{0, 2, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1}));
    QCOMPARE(r.requests[2].scheduled, 8.0);
    QCOMPARE(r.requests[1].scheduled, 0.0);
    QCOMPARE(r.requests[1].last_token, 14.0);
    // The third token of the second request comes seven steps after its second.
    QVERIFY(std::any_of(r.gaps.begin(), r.gaps.end(),
                        [](const TokenGap& gap) { return gap.seconds == 7 && gap.chunks == 1; }));
  }

  // The second request is more urgent, so it takes the blocks of the first.
  void priorities_choose_the_victim_and_the_next() {
    EngineSettings s = settings(5);
    s.policy = SchedulingPolicy::Priority;
    std::vector<Request> requests{request(0, 7, 8), request(0, 7, 8), request(1, 1, 1), request(1, 1, 1)};
    requests[0].priority = 5;
    requests[2].priority = 9;
    requests[3].priority = 7;
    const auto r = run(s, requests);
    QCOMPARE(r.requests[0].preemptions, 1);
    QCOMPARE(r.requests[1].preemptions, 0);
    QVERIFY(r.requests[1].last_token < r.requests[0].last_token);
    QVERIFY(r.requests[3].scheduled <= r.requests[2].scheduled);
  }

  void sequences_are_limited() {
    EngineSettings s = settings();
    s.max_num_seqs = 2;
    const auto r = run(s, {request(0, 5, 3), request(0, 5, 5), request(0, 5, 1)});
    QCOMPARE(r.requests[2].scheduled, 3.0);
  }

  // Two equal prompts of 32 tokens: one whole block of 16 is found, because one token must be computed.
  // The second finds it even in the step in which the first computes it.
  void whole_blocks_of_a_prefix_are_found() {
    for (const double second : {0.0, 7.0}) {
      Workload w = workload({request(0, 32, 2), request(second, 32, 2)});
      w.tokens_per_hash = 16;
      w.hashes = {1, 2};
      w.requests[0].hashes = w.requests[1].hashes = 2;
      EngineSettings s = settings();
      s.block_size = 16;
      LinearClock clock(1, 0, 0);
      QCOMPARE(simulated(w, s, clock).requests[1].cached, 0);
      s.enable_prefix_caching = true;
      const auto r = simulated(w, s, clock);
      QCOMPARE(r.requests[0].cached, 0);
      QCOMPARE(r.requests[1].cached, 16);
    }
  }

  // Five blocks. The second request preempts itself when both need a third block. Its two full blocks stay in
  // the cache, so of its nine tokens it computes one again.
  void a_preempted_request_finds_its_own_blocks() {
    EngineSettings s = settings(6);
    const std::vector<Request> requests{request(0, 7, 6), request(0, 7, 8)};
    QCOMPARE(prefill_tokens(run(s, requests)), (std::vector<int>{14, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0}));
    s.enable_prefix_caching = true;
    const auto r = run(s, requests);
    QCOMPARE(prefill_tokens(r), (std::vector<int>{14, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}));
    QCOMPARE(r.requests[1].preemptions, 1);
    QCOMPARE(r.requests[1].cached, 0);  // of the first start
  }

  // Ten blocks: the first request has one or two, the prompt of the second needs all.
  void the_whole_prompt_must_fit() {
    EngineSettings s = settings(11);
    s.max_num_batched_tokens = 8;
    const std::vector<Request> requests{request(0, 4, 5), request(1, 39, 1)};
    QCOMPARE(run(s, requests).requests[1].scheduled, 5.0);
    s.scheduler_reserve_full_isl = false;
    QCOMPARE(run(s, requests).requests[1].scheduled, 1.0);
  }

  // A watermark of half of eleven blocks leaves five free: five blocks fit only when nothing runs.
  void the_watermark_keeps_blocks_free() {
    EngineSettings s = settings(11);
    s.watermark = 0.5;
    const std::vector<Request> requests{request(0, 4, 5), request(1, 20, 1)};
    QCOMPARE(run(s, requests).requests[1].scheduled, 5.0);
    s.watermark = 0;
    QCOMPARE(run(s, requests).requests[1].scheduled, 1.0);
  }

  // The last token of an answer is not computed, and the null block holds nothing: 40 tokens in 10 blocks.
  void requests_that_never_fit_are_refused() {
    const auto end = [](const EngineSettings& s, int32_t prompt, int32_t output) {
      return run(s, {request(0, prompt, output)}).requests[0].end;
    };
    QCOMPARE(end(settings(11), 30, 11), RequestEnd::Finished);
    QCOMPARE(end(settings(11), 30, 12), RequestEnd::LargerThanCache);
    EngineSettings s = settings();
    s.max_model_len = 50;
    QCOMPARE(end(s, 40, 10), RequestEnd::Finished);
    QCOMPARE(end(s, 40, 11), RequestEnd::LongerThanModel);
    s = settings();
    s.enable_chunked_prefill = false;
    QCOMPARE(end(s, 91, 10), RequestEnd::Finished);
    QCOMPARE(end(s, 92, 10), RequestEnd::LargerThanBudget);
  }

  // The step of a decode token is scheduled while the prompt runs. A request that arrives then runs one step
  // later than without async scheduling. No token is computed after the last one.
  void async_scheduling_decides_one_step_ahead() {
    EngineSettings s = settings();
    const std::vector<Request> requests{request(0, 10, 3), request(0.5, 10, 1)};
    auto r = run(s, requests);
    QCOMPARE(r.requests[1].scheduled, 1.0);
    QCOMPARE(r.requests[1].first_token, 2.0);
    QCOMPARE(r.steps.size(), size_t{3});
    s.async_scheduling = true;
    r = run(s, requests);
    QCOMPARE(r.requests[0].first_token, 1.0);
    QCOMPARE(r.requests[0].last_token, 3.0);
    QCOMPARE(r.requests[1].scheduled, 1.0);
    QCOMPARE(r.requests[1].first_token, 3.0);
    QCOMPARE(r.steps.size(), size_t{3});
    QCOMPARE(run(s, {request(0, 10, 3)}).steps.size(), size_t{3});
  }

  void settings_out_of_range_are_refused_data() {
    QTest::addColumn<QByteArray>("name");
    for (const char* name : {"max_num_batched_tokens", "max_num_seqs", "max_model_len", "block_size",
                             "num_gpu_blocks", "long_prefill_token_threshold", "watermark"})
      QTest::newRow(name) << QByteArray(name);
  }
  void settings_out_of_range_are_refused() {
    QFETCH(QByteArray, name);
    EngineSettings s;
    QVERIFY(!check_settings(s));
    if (name == "max_num_batched_tokens") s.max_num_batched_tokens = 0;
    if (name == "max_num_seqs") s.max_num_seqs = 0;
    if (name == "max_model_len") s.max_model_len = 1;
    if (name == "block_size") s.block_size = 0;
    if (name == "num_gpu_blocks") s.num_gpu_blocks = 1;
    if (name == "long_prefill_token_threshold") s.long_prefill_token_threshold = -1;
    if (name == "watermark") s.watermark = 1;
    const auto problem = check_settings(s);
    QVERIFY(problem);
    QCOMPARE(problem->code, ProblemCode::EngineSettingInvalid);
    QCOMPARE(problem->where, name.toStdString());
  }
};

QTEST_APPLESS_MAIN(VllmSchedulerTest)
#include "vllm_scheduler_test.moc"
