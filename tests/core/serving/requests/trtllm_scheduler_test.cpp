// Rules of TensorRT-LLM's scheduler, each in a case small enough to follow by hand.
#include <QtTest>

#include "support/request_cases.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// Steps of one second. Blocks of 4 tokens, no reuse, no overlap.
EngineSettings settings(int64_t blocks = 0) {
  EngineSettings out;
  out.engine = EngineKind::Trtllm;
  out.trtllm.tokens_per_block = 4;
  out.trtllm.max_tokens = 4 * blocks;
  out.trtllm.enable_block_reuse = false;
  out.trtllm.disable_overlap_scheduler = true;
  return out;
}

RequestSimulation run(const EngineSettings& settings, std::vector<Request> requests) {
  LinearClock clock(1, 0, 0);
  return simulated(workload(std::move(requests)), settings, clock);
}

}  // namespace

class TrtllmSchedulerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void contexts_and_generation_share_a_step() {
    const auto r = run(settings(), {request(0, 50, 4), request(1, 30, 2)});
    QCOMPARE(prefill_tokens(r), (std::vector<int>{50, 30, 0, 0}));
    QCOMPARE(decode_sequences(r), (std::vector<int>{0, 1, 2, 1}));
    QCOMPARE(r.requests[0].last_token, 4.0);
    QCOMPARE(r.requests[1].last_token, 3.0);
  }

  // Ten blocks. The first request needs six for its 24 tokens. The second needs four for 16 tokens, five
  // for 17.
  void admission_guarantees_the_end() {
    EngineSettings s = settings(10);
    QCOMPARE(run(s, {request(0, 10, 14), request(0, 10, 6)}).requests[1].scheduled, 0.0);
    const std::vector<Request> requests{request(0, 10, 14), request(0, 10, 7)};
    QCOMPARE(run(s, requests).requests[1].scheduled, 14.0);
    // Neither does a later request that fits overtake the one that waits.
    QCOMPARE(run(s, {request(0, 10, 14), request(0, 10, 7), request(0, 1, 1)}).requests[2].scheduled, 14.0);
    s.trtllm.capacity_scheduler_policy = CapacityPolicy::MaxUtilization;
    const auto r = run(s, requests);
    QCOMPARE(r.requests[1].scheduled, 0.0);
    QCOMPARE(r.requests[1].preemptions, 0);
  }

  // Ten blocks. Both sequences fill five with 20 tokens. At 6 s the next token of the first takes the blocks
  // of the second, which has six output tokens. It starts again with 21 tokens when the first has ended.
  void max_utilization_pauses_the_last_request() {
    EngineSettings s = settings(10);
    s.trtllm.capacity_scheduler_policy = CapacityPolicy::MaxUtilization;
    const std::vector<Request> requests{request(0, 15, 20), request(0, 15, 20)};
    const auto r = run(s, requests);
    QCOMPARE(r.requests[0].preemptions, 0);
    QCOMPARE(r.requests[1].preemptions, 1);
    QCOMPARE(r.requests[0].last_token, 20.0);
    QCOMPARE(r.requests[1].last_token, 34.0);
    QCOMPARE(r.steps[20].prefill_tokens, 21);
    QCOMPARE(r.peak_blocks, int64_t{10});
    s.trtllm.capacity_scheduler_policy = CapacityPolicy::GuaranteedNoEvict;
    QCOMPARE(run(s, requests).requests[1].preemptions, 0);
  }

  void a_static_batch_ends_before_the_next() {
    EngineSettings s = settings();
    const std::vector<Request> requests{request(0, 5, 3), request(0, 5, 6), request(1, 5, 1)};
    QCOMPARE(run(s, requests).requests[2].scheduled, 1.0);
    s.trtllm.capacity_scheduler_policy = CapacityPolicy::StaticBatch;
    QCOMPARE(run(s, requests).requests[2].scheduled, 6.0);
  }

  void steps_keep_their_budget() {
    EngineSettings s = settings();
    s.trtllm.max_num_tokens = 100;
    auto r = run(s, {request(0, 60, 2), request(0, 60, 1)});
    QCOMPARE(prefill_tokens(r), (std::vector<int>{60, 60}));
    QCOMPARE(decode_sequences(r), (std::vector<int>{0, 1}));
    s.trtllm.max_batch_size = 2;
    r = run(s, {request(0, 5, 3), request(0, 5, 5), request(0, 5, 1)});
    QCOMPARE(r.requests[2].scheduled, 3.0);
  }

  // A budget of 30 tokens: 28 are whole blocks.
  void contexts_are_cut_to_whole_blocks() {
    EngineSettings s = settings();
    s.trtllm.enable_chunked_context = true;
    s.trtllm.max_num_tokens = 30;
    QCOMPARE(prefill_tokens(run(s, {request(0, 50, 1)})), (std::vector<int>{28, 22}));
    const std::vector<Request> requests{request(0, 50, 1), request(0, 10, 1)};
    QCOMPARE(prefill_tokens(run(s, requests)), (std::vector<int>{28, 30, 2}));
    // Block by block in turns: 20 tokens of the first, 10 of the second.
    s.trtllm.context_chunking_policy = ChunkingPolicy::EqualProgress;
    const auto r = run(s, requests);
    QCOMPARE(prefill_tokens(r), (std::vector<int>{30, 30}));
    QCOMPARE(r.requests[1].first_token, 1.0);
  }

  // Two equal prompts of 64 tokens. The second waits for the blocks of the first, and finds three of 16
  // tokens, because one token must be computed.
  void contexts_wait_for_the_blocks_of_others() {
    Workload w = workload({request(0, 64, 1), request(0, 64, 1), request(0, 64, 1)});
    w.tokens_per_hash = 64;
    w.hashes = {1, 2};
    w.requests[0].hashes = w.requests[1].hashes = w.requests[2].hashes = 1;
    w.requests[2].first_hash = 1;
    EngineSettings s = settings();
    s.trtllm.tokens_per_block = 16;
    LinearClock clock(1, 0, 0);
    auto r = simulated(w, s, clock);
    QCOMPARE(r.requests[1].scheduled, 0.0);
    s.trtllm.enable_block_reuse = true;
    for (const auto policy : {CapacityPolicy::GuaranteedNoEvict, CapacityPolicy::MaxUtilization}) {
      s.trtllm.capacity_scheduler_policy = policy;
      r = simulated(w, s, clock);
      QCOMPARE(r.requests[1].scheduled, 1.0);
      QCOMPARE(r.requests[1].cached, 48);
      QCOMPARE(r.requests[2].scheduled, 0.0);
      QCOMPARE(prefill_tokens(r), (std::vector<int>{128, 16}));
    }
    s.trtllm.capacity_scheduler_policy = CapacityPolicy::StaticBatch;
    QCOMPARE(simulated(w, s, clock).requests[1].scheduled, 0.0);
  }

  void overlap_decides_one_step_ahead() {
    EngineSettings s = settings();
    const std::vector<Request> requests{request(0, 10, 3), request(0.5, 10, 1)};
    QCOMPARE(run(s, requests).requests[1].first_token, 2.0);
    s.trtllm.disable_overlap_scheduler = false;
    const auto r = run(s, requests);
    QCOMPARE(r.requests[1].first_token, 3.0);
    QCOMPARE(r.requests[0].last_token, 3.0);
  }

  // Two attention replicas that share experts, with a request each from the start. The first one gets another
  // request at 0.5 s. Without balance it starts at 1 s. With balance it waits for a prompt of the other
  // replica, which comes at 20.5 s, and then three steps more; without that prompt for 50 steps.
  void prompts_wait_for_those_of_other_replicas() {
    const auto scheduled = [](bool balance, bool other) {
      ServiceSetup setup;
      setup.engine = settings();
      setup.engine.attention_dp = 2;
      setup.engine.trtllm.enable_balance = balance;
      setup.engine.trtllm.batching_wait_iters = 3;
      setup.replicas = setup.lockstep = 2;
      std::vector<Request> requests{request(0, 10, 100), request(0, 10, 100), request(0.5, 10, 5)};
      if (other) requests.push_back(request(20.5, 10, 5));
      LinearClock clock(1, 0, 0);
      const auto r = std::get<RequestSimulation>(simulate_requests(workload(requests), setup, clock));
      return std::pair(r.requests[2].scheduled, other ? r.requests[3].scheduled : 0);
    };
    QCOMPARE(scheduled(false, true), (std::pair<double, double>(1, 21)));
    QCOMPARE(scheduled(true, true), (std::pair<double, double>(24, 24)));
    QCOMPARE(scheduled(true, false).first, 50.0);
  }

  // A prompt of 10 tokens waits for four steps, or until 50 tokens share a step: with that of 45 tokens at
  // 2 s.
  void prompts_wait_for_a_larger_batch() {
    EngineSettings s = settings();
    s.trtllm.max_num_tokens = 100;
    const std::vector<Request> one{request(0, 10, 20), request(0.5, 10, 5)};
    QCOMPARE(run(s, one).requests[1].scheduled, 1.0);
    s.trtllm.batch_wait_timeout_iters = 4;
    s.trtllm.batch_wait_max_tokens_ratio = 0.5;
    QCOMPARE(run(s, one).requests[1].scheduled, 5.0);
    QCOMPARE(run(s, {one[0], one[1], request(1.5, 45, 5)}).requests[1].scheduled, 2.0);
    // Nothing waits while nothing generates.
    QCOMPARE(run(s, {request(0, 10, 1), request(0.5, 10, 1)}).requests[1].scheduled, 1.0);
  }

  void requests_that_never_fit_are_refused() {
    const auto end = [](const EngineSettings& s, int32_t prompt, int32_t output) {
      return run(s, {request(0, prompt, output)}).requests[0].end;
    };
    QCOMPARE(end(settings(10), 30, 10), RequestEnd::Finished);
    QCOMPARE(end(settings(10), 30, 11), RequestEnd::LargerThanCache);
    EngineSettings s = settings();
    s.trtllm.max_seq_len = 50;
    QCOMPARE(end(s, 40, 11), RequestEnd::LongerThanModel);
    s = settings();
    s.trtllm.max_num_tokens = 100;
    QCOMPARE(end(s, 100, 10), RequestEnd::Finished);
    QCOMPARE(end(s, 101, 1), RequestEnd::LargerThanBudget);
    s.trtllm.enable_chunked_context = true;
    QCOMPARE(end(s, 101, 1), RequestEnd::Finished);
    // A paused request computes its answer again.
    s.trtllm.enable_chunked_context = false;
    s.trtllm.capacity_scheduler_policy = CapacityPolicy::MaxUtilization;
    QCOMPARE(end(s, 91, 10), RequestEnd::Finished);
    QCOMPARE(end(s, 92, 10), RequestEnd::LargerThanBudget);
  }

  void settings_out_of_range_are_refused_data() {
    QTest::addColumn<QByteArray>("name");
    for (const char* name :
         {"max_seq_len", "max_batch_size", "max_num_tokens", "max_tokens", "tokens_per_block",
          "timeout_iters", "batching_wait_iters", "batch_wait_timeout_iters", "batch_wait_max_tokens_ratio"})
      QTest::newRow(name) << QByteArray(name);
  }
  void settings_out_of_range_are_refused() {
    QFETCH(QByteArray, name);
    EngineSettings s = settings();
    QVERIFY(!check_settings(s));
    if (name == "max_seq_len") s.trtllm.max_seq_len = 1;
    if (name == "max_batch_size") s.trtllm.max_batch_size = 0;
    if (name == "max_num_tokens") s.trtllm.max_num_tokens = 0;
    if (name == "max_tokens") s.trtllm.max_tokens = 3;
    if (name == "tokens_per_block") s.trtllm.tokens_per_block = 0;
    if (name == "timeout_iters") s.trtllm.timeout_iters = -1;
    if (name == "batching_wait_iters") s.trtllm.batching_wait_iters = -1;
    if (name == "batch_wait_timeout_iters") s.trtllm.batch_wait_timeout_iters = -1;
    if (name == "batch_wait_max_tokens_ratio") s.trtllm.batch_wait_max_tokens_ratio = 2;
    const auto problem = check_settings(s);
    QVERIFY(problem);
    QCOMPARE(problem->code, ProblemCode::EngineSettingInvalid);
    QCOMPARE(problem->where, name.toStdString());
  }
};

QTEST_APPLESS_MAIN(TrtllmSchedulerTest)
#include "trtllm_scheduler_test.moc"
