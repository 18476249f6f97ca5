// Rules of SGLang's scheduler, each in a case small enough to follow by hand.
#include <QtTest>

#include "support/request_cases.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// Steps of one second. No radix cache, no overlap.
EngineSettings settings(int64_t tokens = 0) {
  EngineSettings out;
  out.engine = EngineKind::Sglang;
  out.sglang.max_total_tokens = tokens;
  out.sglang.disable_radix_cache = true;
  out.sglang.disable_overlap_schedule = true;
  return out;
}

RequestSimulation run(const EngineSettings& settings, Workload workload) {
  LinearClock clock(1, 0, 0);
  return simulated(workload, settings, clock);
}
RequestSimulation run(const EngineSettings& settings, std::vector<Request> requests) {
  return run(settings, workload(std::move(requests)));
}

// Requests with a prompt of so many tokens. Those with equal hashes share its first part, of which a hash is.
Workload sharing_prompts(int32_t prompt, int32_t part, std::vector<std::pair<double, uint64_t>> requests) {
  Workload out;
  out.tokens_per_hash = part;
  for (const auto& [arrival, hash] : requests) {
    Request r = request(arrival, prompt, 1);
    r.first_hash = static_cast<int64_t>(out.hashes.size());
    r.hashes = 1;
    out.hashes.push_back(hash);
    out.requests.push_back(r);
  }
  return out;
}

Workload prompts_of_40(std::vector<std::pair<double, uint64_t>> requests) {
  return sharing_prompts(40, 40, std::move(requests));
}

}  // namespace

class SglangSchedulerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The prompt of the second request stops the first one for a step.
  void a_prefill_batch_stops_decode() {
    EngineSettings s = settings();
    const std::vector<Request> requests{request(0, 50, 4), request(1, 30, 2)};
    auto r = run(s, requests);
    QCOMPARE(prefill_tokens(r), (std::vector<int>{50, 30, 0, 0, 0}));
    QCOMPARE(decode_sequences(r), (std::vector<int>{0, 0, 2, 1, 1}));
    QCOMPARE(r.requests[0].last_token, 5.0);
    QCOMPARE(r.requests[1].last_token, 3.0);
    QVERIFY(std::any_of(r.gaps.begin(), r.gaps.end(),
                        [](const TokenGap& gap) { return gap.seconds == 2 && gap.chunks == 1; }));
    s.sglang.enable_mixed_chunk = true;
    r = run(s, requests);
    QCOMPARE(prefill_tokens(r), (std::vector<int>{50, 30, 0, 0}));
    QCOMPARE(decode_sequences(r), (std::vector<int>{0, 1, 2, 1}));
  }

  void prompts_are_cut_into_chunks() {
    EngineSettings s = settings();
    s.sglang.chunked_prefill_size = 100;
    const std::vector<Request> requests{request(0, 150, 2), request(0, 80, 1)};
    const auto r = run(s, requests);
    QCOMPARE(prefill_tokens(r), (std::vector<int>{100, 100, 30, 0}));
    QCOMPARE(decode_sequences(r), (std::vector<int>{0, 0, 0, 1}));
    QCOMPARE(r.requests[0].first_token, 2.0);
    // With mixed chunks the decode sequence uses one of the 100 tokens of the third step.
    s.sglang.enable_mixed_chunk = true;
    QCOMPARE(prefill_tokens(run(s, {request(0, 100, 5), request(1, 199, 1)})),
             (std::vector<int>{100, 99, 99, 1, 0}));
    // With data-parallel attention each of two replicas has half of the chunk.
    s.sglang.enable_mixed_chunk = false;
    s.attention_dp = 2;
    QCOMPARE(prefill_tokens(run(s, requests)), (std::vector<int>{50, 50, 50, 50, 30, 0}));
  }

  // Without chunks a batch ends before max_prefill_tokens; a longer prompt runs alone.
  void a_prefill_batch_is_limited() {
    EngineSettings s = settings();
    s.sglang.chunked_prefill_size = -1;
    s.sglang.max_prefill_tokens = 100;
    QCOMPARE(prefill_tokens(run(s, {request(0, 60, 1), request(0, 39, 1), request(0, 150, 1)})),
             (std::vector<int>{99, 150}));
    QCOMPARE(prefill_tokens(run(s, {request(0, 60, 1), request(0, 40, 1)})), (std::vector<int>{60, 40}));
  }

  // A cache of 100 tokens. At 1 s the first request has 20 tokens and 49 to come: 0.7 x 49 = 34.3 are
  // reserved, 45.7 are left. An answer of 10 needs 20 + 10 + 1 = 31, an answer of 30 needs 51.
  void admission_reserves_a_share_of_the_answers() {
    const auto scheduled = [](const EngineSettings& s, int32_t output) {
      return run(s, {request(0, 20, 50), request(1, 20, output)}).requests[1].scheduled;
    };
    EngineSettings s = settings(100);
    QCOMPARE(scheduled(s, 10), 1.0);
    QCOMPARE(scheduled(s, 30), 50.0);
    s.sglang.schedule_conservativeness = 0.1;
    QCOMPARE(scheduled(s, 30), 1.0);
    s = settings(100);
    s.attention_dp = 2;  // 0.21 x 49 = 10.3
    QCOMPARE(scheduled(s, 30), 1.0);
    // Requests of one batch reserve whole answers.
    QCOMPARE(run(settings(100), {request(0, 20, 40), request(0, 20, 18)}).requests[1].scheduled, 40.0);
    QCOMPARE(run(settings(100), {request(0, 20, 40), request(0, 20, 17)}).requests[1].scheduled, 0.0);
  }

  // After 600 decode steps the ratio is 0.098. At 601 s the first request has 610 tokens and 399 to come, so
  // 1,500 - 610 - 39.1 = 850.9 are left.
  void the_ratio_decays() {
    const auto scheduled = [](int32_t output) {
      return run(settings(1500), {request(0, 10, 1000), request(601, 100, output)}).requests[1].scheduled;
    };
    QCOMPARE(scheduled(749), 601.0);
    QCOMPARE(scheduled(750), 1000.0);
  }

  // A cache of 100 tokens and no reserve. At 27 s both sequences have 26 output tokens and the cache is full.
  // The one with the longer prompt is retracted. It starts again with 56 tokens when the other has ended.
  void a_shortage_retracts_a_sequence() {
    EngineSettings s = settings(100);
    s.sglang.schedule_conservativeness = 0;
    const auto r = run(s, {request(0, 20, 60), request(1, 30, 40)});
    QCOMPARE(r.requests[0].preemptions, 0);
    QCOMPARE(r.requests[1].preemptions, 1);
    QCOMPARE(r.requests[0].last_token, 61.0);
    QCOMPARE(r.requests[1].scheduled, 1.0);
    QCOMPARE(r.requests[1].last_token, 75.0);
    QCOMPARE(r.steps[61].prefill_tokens, 56);
    QCOMPARE(r.peak_blocks, int64_t{100});
    QCOMPARE(r.usable_blocks, int64_t{100});
  }

  // The sequence with the fewest output tokens is retracted, and joins the end of the queue: the third
  // request, which fits, starts before.
  void the_youngest_is_retracted_to_the_end_of_the_queue() {
    EngineSettings s = settings(100);
    s.sglang.schedule_conservativeness = 0;
    const auto r = run(s, {request(0, 40, 50), request(10, 20, 20), request(11, 40, 38)});
    QCOMPARE(r.requests[0].preemptions, 0);
    QCOMPARE(r.requests[1].preemptions, 1);
    QVERIFY(r.requests[2].scheduled > 11);
    QVERIFY(r.requests[2].last_token < r.requests[1].last_token);
  }

  // Pages of one token: all tokens but the last one are found, once the first request has its token.
  void prefixes_of_any_length_are_found() {
    EngineSettings s = settings();
    s.sglang.disable_radix_cache = false;
    auto r = run(s, prompts_of_40({{0, 1}, {5, 1}, {5, 2}}));
    QCOMPARE(r.requests[1].cached, 39);
    QCOMPARE(r.requests[2].cached, 0);
    QCOMPARE(prefill_tokens(r), (std::vector<int>{40, 41}));
    r = run(s, prompts_of_40({{0, 1}, {0, 1}}));
    QCOMPARE(r.requests[1].cached, 0);
    s.sglang.disable_radix_cache = true;
    QCOMPARE(run(s, prompts_of_40({{0, 1}, {5, 1}})).requests[1].cached, 0);
  }

  // A cache of two prompts. The third prompt evicts the least recently used one, which is the second.
  void the_least_recently_used_prefix_is_evicted() {
    EngineSettings s = settings(90);
    s.sglang.disable_radix_cache = false;
    const auto r = run(s, prompts_of_40({{0, 1}, {5, 2}, {10, 1}, {15, 3}, {20, 1}, {25, 2}}));
    QCOMPARE(r.requests[2].cached, 39);
    QCOMPARE(r.requests[4].cached, 39);
    QCOMPARE(r.requests[5].cached, 0);
  }

  // One request at a time. The third request repeats the first prompt and overtakes the second one.
  void lpm_prefers_the_longest_cached_prefix() {
    EngineSettings s = settings();
    s.sglang.disable_radix_cache = false;
    s.sglang.max_running_requests = 1;
    std::vector<std::pair<double, uint64_t>> requests{{0, 1}, {0, 2}, {0, 1}};
    auto r = run(s, prompts_of_40(requests));
    QCOMPARE(r.requests[1].scheduled, 1.0);
    s.sglang.schedule_policy = SglangPolicy::Lpm;
    r = run(s, prompts_of_40(requests));
    QCOMPARE(r.requests[2].scheduled, 1.0);
    QCOMPARE(r.requests[1].scheduled, 2.0);
    // More than 128 waiting requests are served in the order of arrival.
    for (uint64_t hash = 0; hash < 128; ++hash) requests.emplace_back(0, 100 + hash);
    QCOMPARE(run(s, prompts_of_40(requests)).requests[1].scheduled, 1.0);
  }

  // The prefix of the second request is not cached, but the first one computes it. Other requests come
  // before.
  void lpm_defers_prefixes_of_the_queue() {
    EngineSettings s = settings();
    s.sglang.disable_radix_cache = false;
    s.sglang.schedule_policy = SglangPolicy::Lpm;
    s.sglang.chunked_prefill_size = 80;
    const auto r = run(s, prompts_of_40({{0, 1}, {0, 1}, {0, 2}}));
    QCOMPARE(r.requests[2].scheduled, 0.0);
    QCOMPARE(r.requests[1].scheduled, 1.0);
    QCOMPARE(r.requests[1].cached, 39);
  }

  // A full batch notices the end of a sequence in its next decode step, and then takes requests again.
  void sequences_are_limited() {
    EngineSettings s = settings();
    s.sglang.max_running_requests = 2;
    const auto r = run(s, {request(0, 5, 3), request(0, 5, 5), request(0, 5, 1)});
    QCOMPARE(r.requests[0].last_token, 3.0);
    QCOMPARE(r.requests[2].scheduled, 4.0);
  }

  // The decode step is scheduled while the prompt runs, so the request that arrives then starts a step later.
  void overlap_decides_one_step_ahead() {
    EngineSettings s = settings();
    const std::vector<Request> requests{request(0, 10, 3), request(0.5, 10, 1)};
    QCOMPARE(run(s, requests).requests[1].first_token, 2.0);
    s.sglang.disable_overlap_schedule = false;
    const auto r = run(s, requests);
    QCOMPARE(r.requests[1].first_token, 3.0);
    QCOMPARE(r.requests[0].last_token, 4.0);
  }

  // The step from 3 s to 4 s is scheduled while the last token is computed. It computes the sequence once
  // more, so the request that arrives at 3.2 s waits for its end.
  void overlap_computes_an_ended_sequence_once_more() {
    EngineSettings s = settings(100);
    const std::vector<Request> requests{request(0, 10, 3), request(3.2, 10, 1)};
    auto r = run(s, requests);
    QCOMPARE(decode_sequences(r), (std::vector<int>{0, 1, 1, 0}));
    QCOMPARE(r.requests[1].scheduled, 3.2);
    s.sglang.disable_overlap_schedule = false;
    r = run(s, requests);
    QCOMPARE(decode_sequences(r), (std::vector<int>{0, 1, 1, 1, 0, 1}));
    QCOMPARE(r.requests[0].last_token, 3.0);
    QCOMPARE(r.requests[1].scheduled, 4.0);
    QCOMPARE(r.steps[3].sampled, 1);
    QCOMPARE(r.steps[3].vain, 1);
    QCOMPARE(r.steps[3].decode_context, int64_t{13});
    int64_t gaps = 0;  // of tokens that clients get
    for (const TokenGap& gap : r.gaps) gaps += gap.chunks;
    QCOMPARE(gaps, int64_t{2});
    // Steps of prompts compute no ended sequence.
    QCOMPARE(prefill_tokens(run(s, {request(0, 10, 1), request(0.5, 20, 1)})),
             (std::vector<int>{10, 0, 20, 0}));
  }

  // The scheduler has not seen the token in flight. At 1 s the first request has 49 or, with overlap, 50
  // tokens to come, of which 0.7 are reserved: 45.7 or 45 tokens of the cache are left. An answer of 24 needs
  // 20 + 24 + 1 = 45 tokens.
  void tokens_in_flight_are_reserved() {
    const auto scheduled = [](bool overlap) {
      EngineSettings s = settings(100);
      s.sglang.disable_overlap_schedule = !overlap;
      return run(s, {request(0, 20, 50), request(0.5, 20, 24)}).requests[1].scheduled;
    };
    QCOMPARE(scheduled(false), 1.0);
    QVERIFY(scheduled(true) > 1.0);
  }

  // Pages of 16 tokens. The rest of 22 tokens takes 32 of the chunk, so a part of 32 is left for the second
  // prompt.
  void sequences_have_whole_pages() {
    EngineSettings s = settings();
    s.sglang.page_size = 16;
    s.sglang.chunked_prefill_size = 64;
    QCOMPARE(prefill_tokens(run(s, {request(0, 150, 1), request(0, 80, 1)})),
             (std::vector<int>{64, 64, 54, 48}));
    // Six pages: prompt, answer and a page have to be less than 96 tokens.
    s.sglang.max_total_tokens = 100;
    const auto r = run(s, {request(0, 20, 59)});
    QCOMPARE(r.requests[0].end, RequestEnd::Finished);
    QCOMPARE(r.usable_blocks, int64_t{6});
    QCOMPARE(r.peak_blocks, int64_t{5});
    QCOMPARE(run(s, {request(0, 20, 60)}).requests[0].end, RequestEnd::LargerThanCache);
    // Seven pages. After 33 common decode steps of 16 and 31 tokens, both need a page: four and five in
    // total.
    s.sglang.max_total_tokens = 112;
    s.sglang.schedule_conservativeness = 0;
    const auto short_of_pages = run(s, {request(0, 16, 75), request(1, 31, 48)});
    QCOMPARE(short_of_pages.requests[1].preemptions, 1);
    QCOMPARE(short_of_pages.preemptions[0].time, 34.0);
    s.sglang.max_total_tokens = 0;
    s.sglang.disable_radix_cache = false;
    QCOMPARE(run(s, prompts_of_40({{0, 1}, {5, 1}})).requests[1].cached, 32);
    s.sglang.chunked_prefill_size = 72;
    const auto problem = check_settings(s);
    QVERIFY(problem && problem->where == "chunked_prefill_size");
  }

  // A turn of 200 tokens after a prompt of 100 and an answer of 10, of which 109 are computed.
  void a_turn_is_found_where_states_are_stored_data() {
    QTest::addColumn<int>("states");
    QTest::addColumn<StateStrategy>("strategy");
    QTest::addColumn<int>("answer");
    QTest::addColumn<int>("cached");
    QTest::newRow("no states") << 0 << StateStrategy::ExtraBuffer << 10 << 109;
    QTest::newRow("extra_buffer") << 10 << StateStrategy::ExtraBuffer << 10 << 64;
    QTest::newRow("extra_buffer, long answer") << 10 << StateStrategy::ExtraBuffer << 180 << 256;
    QTest::newRow("no_buffer") << 10 << StateStrategy::NoBuffer << 10 << 109;
    QTest::newRow("no_buffer, long answer") << 10 << StateStrategy::NoBuffer << 180 << 279;
  }
  void a_turn_is_found_where_states_are_stored() {
    QFETCH(int, states);
    QFETCH(StateStrategy, strategy);
    QFETCH(int, answer);
    QFETCH(int, cached);
    EngineSettings s = settings();
    s.sglang.disable_radix_cache = false;
    s.sglang.max_mamba_cache_size = states;
    s.sglang.mamba_radix_cache_strategy = strategy;
    Workload w = workload({request(0, 100, answer), request(1, 400, 1)});
    w.requests[1].parent = 0;
    QCOMPARE(run(s, w).requests[1].cached, cached);
  }

  // Prompts of 300 tokens that share 128. The second one stores the states where the first one branches off,
  // so the third one finds them. Without a buffer states are stored at the end of prompts only.
  void states_are_stored_where_prompts_branch() {
    EngineSettings s = settings();
    s.sglang.disable_radix_cache = false;
    const Workload w = sharing_prompts(300, 128, {{0, 1}, {5, 1}, {10, 1}, {15, 2}});
    const auto cached = [&] {
      std::vector<int> out;
      for (const RequestRecord& record : run(s, w).requests) out.push_back(record.cached);
      return out;
    };
    QCOMPARE(cached(), (std::vector<int>{0, 128, 128, 0}));
    s.sglang.max_mamba_cache_size = 100;
    QCOMPARE(cached(), (std::vector<int>{0, 0, 128, 0}));
    s.sglang.mamba_radix_cache_strategy = StateStrategy::NoBuffer;
    QCOMPARE(cached(), (std::vector<int>{0, 0, 0, 0}));
    QCOMPARE(steps_in_flight(s), 1);
  }

  // One request at a time: it has states of its own, and stores those of its prompt. With two places the
  // states of the first prompt are lost, and its tokens with them.
  void states_are_evicted_by_their_last_use() {
    EngineSettings s = settings();
    s.sglang.disable_radix_cache = false;
    s.sglang.max_mamba_cache_size = 2;
    const Workload w = sharing_prompts(80, 80, {{0, 1}, {5, 2}, {10, 1}, {15, 1}});
    auto r = run(s, w);
    QCOMPARE(r.requests[2].cached, 0);
    QCOMPARE(r.requests[3].cached, 64);
    s.sglang.max_mamba_cache_size = 3;
    r = run(s, w);
    QCOMPARE(r.requests[2].cached, 64);
  }

  // The engine looks for requests after three decode steps in a row, at 4 s, and after the prefill batch at 5
  // s. An idle engine looks at once.
  void requests_are_received_in_intervals() {
    EngineSettings s = settings();
    const std::vector<Request> requests{request(0, 10, 20), request(1.5, 10, 2), request(4.5, 10, 2),
                                        request(5.5, 10, 2), request(100, 10, 2)};
    const auto scheduled = [&] {
      const auto r = run(s, requests);
      std::vector<double> out;
      for (const RequestRecord& record : r.requests) out.push_back(record.scheduled);
      return out;
    };
    QCOMPARE(scheduled(), (std::vector<double>{0, 2, 5, 6, 100}));
    s.sglang.scheduler_recv_interval = 3;
    QCOMPARE(scheduled(), (std::vector<double>{0, 4, 5, 6, 100}));
    s.sglang.scheduler_recv_interval = 1000;  // after a prefill batch, and when nothing runs
    QCOMPARE(scheduled(), (std::vector<double>{0, 20, 20, 20, 100}));
  }

  void requests_that_never_fit_are_refused() {
    const auto end = [](int32_t prompt, int32_t output) {
      EngineSettings s = settings(100);
      s.sglang.context_len = 99;
      return run(s, {request(0, prompt, output)}).requests[0].end;
    };
    QCOMPARE(end(60, 38), RequestEnd::Finished);
    QCOMPARE(end(60, 39), RequestEnd::LargerThanCache);
    QCOMPARE(end(60, 40), RequestEnd::LongerThanModel);
  }

  void settings_out_of_range_are_refused_data() {
    QTest::addColumn<QByteArray>("name");
    for (const char* name : {"context_len", "max_total_tokens", "max_running_requests", "max_prefill_tokens",
                             "chunked_prefill_size", "schedule_conservativeness", "scheduler_recv_interval",
                             "page_size", "max_mamba_cache_size"})
      QTest::newRow(name) << QByteArray(name);
  }
  void settings_out_of_range_are_refused() {
    QFETCH(QByteArray, name);
    EngineSettings s = settings();
    QVERIFY(!check_settings(s));
    if (name == "context_len") s.sglang.context_len = 1;
    if (name == "max_total_tokens") s.sglang.max_total_tokens = -1;
    if (name == "max_running_requests") s.sglang.max_running_requests = 0;
    if (name == "max_prefill_tokens") s.sglang.max_prefill_tokens = 0;
    if (name == "chunked_prefill_size") s.sglang.chunked_prefill_size = 0;
    if (name == "schedule_conservativeness") s.sglang.schedule_conservativeness = -1;
    if (name == "scheduler_recv_interval") s.sglang.scheduler_recv_interval = 0;
    if (name == "page_size") s.sglang.page_size = 0;
    if (name == "max_mamba_cache_size") s.sglang.max_mamba_cache_size = -1;
    const auto problem = check_settings(s);
    QVERIFY(problem);
    QCOMPARE(problem->code, ProblemCode::EngineSettingInvalid);
    QCOMPARE(problem->where, name.toStdString());
    s.engine = EngineKind::Vllm;  // whose settings are valid
    QVERIFY(!check_settings(s));
  }
};

QTEST_APPLESS_MAIN(SglangSchedulerTest)
#include "sglang_scheduler_test.moc"
