// Why requests waited: one scarce thing at a time, with steps of a constant time.
#include <QtTest>

#include "serving/requests/lengths.h"
#include "serving/requests/request_wait.h"
#include "support/request_cases.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// `count` requests of 32 prompt tokens and 8 output tokens that arrive together.
Workload together(int count) {
  const std::vector<RequestLength> lengths(static_cast<size_t>(count), {32, 8});
  return open_loop(std::vector<double>(lengths.size(), 0.0), lengths);
}

ServiceSetup roomy() {
  ServiceSetup setup;
  setup.engine.max_num_batched_tokens = 4096;
  setup.engine.enable_prefix_caching = false;
  return setup;
}

RequestSimulation run(const Workload& workload, const ServiceSetup& setup) {
  LinearClock clock(1, 0, 0);
  return std::get<RequestSimulation>(simulate_requests(workload, setup, clock));
}

}  // namespace

class RequestWaitTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void what_is_scarce_data() {
    QTest::addColumn<bool>("async");
    QTest::addColumn<int>("scarce");
    for (const bool async : {false, true})
      for (const WaitReason reason : {WaitReason::Sequences, WaitReason::Tokens, WaitReason::Blocks})
        QTest::addRow("%s, async %d", wait_text(reason), async) << async << static_cast<int>(reason);
  }
  // The last of eight requests waits, and says for what. Nothing else was used up.
  void what_is_scarce() {
    QFETCH(bool, async);
    QFETCH(int, scarce);
    const auto reason = static_cast<WaitReason>(scarce);
    ServiceSetup setup = roomy();
    setup.engine.async_scheduling = async;
    if (reason == WaitReason::Sequences) setup.engine.max_num_seqs = 2;
    if (reason == WaitReason::Tokens) setup.engine.max_num_batched_tokens = 40;
    if (reason == WaitReason::Blocks) setup.engine.num_gpu_blocks = 8;
    const RequestSimulation of = run(together(8), setup);
    const RequestWaits waits(setup.engine, of);
    QCOMPARE(waits.of(of.requests.front()).reason, WaitReason::None);
    const RequestWait wait = waits.of(of.requests.back());
    QCOMPARE(static_cast<int>(wait.reason), scarce);
    QVERIFY(wait.steps > 0);
    QCOMPARE(wait.sequences + wait.tokens + wait.blocks, wait.steps);
    const auto count = reason == WaitReason::Sequences ? wait.sequences
                       : reason == WaitReason::Tokens  ? wait.tokens
                                                       : wait.blocks;
    QCOMPARE(count, wait.steps);
    for (const RequestRecord& record : of.requests)
      QCOMPARE(waits.reason_of(record), waits.of(record).reason);
    if (reason == WaitReason::Sequences) QCOMPARE(wait.most_running, int64_t{2});
    if (reason == WaitReason::Blocks) QVERIFY(wait.most_blocks >= 5);
  }
  // Without async scheduling, a request that arrives during the only step starts in the next one.
  void the_running_step_ends_first() {
    ServiceSetup setup = roomy();
    setup.engine.async_scheduling = false;
    const std::vector<RequestLength> lengths(2, {32, 8});
    const RequestSimulation of = run(open_loop(std::vector<double>{0, 0.5}, lengths), setup);
    const RequestWait wait = RequestWaits(setup.engine, of).of(of.requests[1]);
    QCOMPARE(of.requests[1].scheduled, 1.0);
    QCOMPARE(wait.reason, WaitReason::RunningStep);
    QCOMPARE(wait.steps, int64_t{0});
  }
  // The engine looks for requests at 6 s, after five decode steps. Two requests run at most.
  void sglang_receives_in_intervals() {
    ServiceSetup setup;
    setup.engine.engine = EngineKind::Sglang;
    setup.engine.sglang.disable_overlap_schedule = setup.engine.sglang.disable_radix_cache = true;
    setup.engine.sglang.scheduler_recv_interval = 5;
    setup.engine.sglang.max_running_requests = 2;
    const std::vector<RequestLength> lengths{{32, 20}, {32, 20}, {32, 2}};
    const RequestSimulation of = run(open_loop(std::vector<double>{0, 2.5, 6.5}, lengths), setup);
    const RequestWaits waits(setup.engine, of);
    const RequestWait second = waits.of(of.requests[1]), third = waits.of(of.requests[2]);
    QCOMPARE(of.requests[1].scheduled, 6.0);
    QCOMPARE(second.reason, WaitReason::Receipt);
    QCOMPARE(second.receipt, int64_t{3});  // of 3, 4 and 5 s
    QCOMPARE(third.reason, WaitReason::Sequences);
    QVERIFY(third.receipt < 5);
  }
  // A prompt has as many chunks as steps compute a part of it. Steps count the sequences that run.
  void chunks_and_running_sequences() {
    ServiceSetup setup = roomy();
    setup.engine.max_num_batched_tokens = 100;
    const std::vector<RequestLength> lengths{{250, 2}, {40, 2}};
    const RequestSimulation of = run(open_loop(std::vector<double>{0, 0}, lengths), setup);
    QCOMPARE(of.requests[0].chunks, 3);  // 100 + 100 + 50
    QCOMPARE(of.requests[1].chunks, 1);  // in the room that the last 50 tokens leave
    QCOMPARE(of.steps[0].running, 1);
    QCOMPARE(of.steps[2].running, 2);
  }
};

QTEST_APPLESS_MAIN(RequestWaitTest)
#include "request_wait_test.moc"
