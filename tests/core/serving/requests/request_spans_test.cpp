// What requests did over time: spans without gaps, every chunk and every preemption, on random workloads of
// all engines; and one known case.
#include <QtTest>
#include <algorithm>

#include "serving/requests/request_spans.h"
#include "serving/requests/request_wait.h"
#include "support/request_cases.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

int count(const std::vector<RequestSpan>& spans, RequestSpanKind kind) {
  return static_cast<int>(
      std::count_if(spans.begin(), spans.end(), [&](const RequestSpan& s) { return s.kind == kind; }));
}

}  // namespace

class RequestSpansTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // A prompt of 100 tokens in chunks of 40 with steps of one second: three chunks, then three more tokens.
  void chunks_of_a_prompt() {
    EngineSettings settings;
    settings.max_num_batched_tokens = 40;
    settings.async_scheduling = false;
    LinearClock clock(1, 0, 0);
    const RequestSimulation run = simulated(workload({request(0.5, 100, 4)}), settings, clock);
    const std::vector<RequestSpan> spans = RequestSpans(run).of(0);
    QCOMPARE(count(spans, RequestSpanKind::Chunk), 3);
    QCOMPARE(count(spans, RequestSpanKind::Queued), 0);
    QCOMPARE(spans.size(), size_t{4});
    for (int i = 0; i < 3; ++i) {
      QCOMPARE(spans[static_cast<size_t>(i)].begin, 0.5 + i);
      QCOMPARE(spans[static_cast<size_t>(i)].end, 1.5 + i);
    }
    QCOMPARE(spans.back().kind, RequestSpanKind::Answer);
    QCOMPARE(spans.back().begin, 3.5);
    QCOMPARE(spans.back().end, 6.5);
  }

  // The blocks of the first request are in host memory when its next turn arrives, because a second request
  // needed their places: six of 0.5 s each. The turn waits for them, and says so. A short request runs
  // meanwhile.
  void a_load_from_host_memory() {
    EngineSettings settings;
    settings.async_scheduling = false;
    settings.num_gpu_blocks = 11;
    settings.tiers = {{1000, 0}, {0.5, 0}};
    Request turn = request(100, 128, 8);
    turn.parent = 0;
    LinearClock clock(1, 0, 0);
    const RequestSimulation run = simulated(
        workload({request(0, 96, 16), request(60, 144, 8), turn, request(116, 8, 8)}), settings, clock);
    const RequestRecord& record = run.requests[2];
    QVERIFY(record.from_host > 0);
    const double seconds = 0.5 * record.from_host / 16;
    const std::vector<RequestSpan> spans = RequestSpans(run).of(2);
    QCOMPARE(spans.front().kind, RequestSpanKind::Load);
    QCOMPARE(spans.front().begin, record.arrival);
    QCOMPARE(spans.front().end, record.arrival + seconds);
    QCOMPARE(spans[1].kind, RequestSpanKind::Chunk);
    const RequestWait wait = RequestWaits(settings, run).of(record);
    QCOMPARE(wait.reason, WaitReason::Load);
    QVERIFY(wait.load > 0 && wait.blocks == 0);
  }

  void random_workloads_data() {
    QTest::addColumn<int>("engine");
    for (const EngineKind engine : {EngineKind::Vllm, EngineKind::Sglang, EngineKind::Trtllm})
      QTest::addRow("%s", engine_name(engine)) << static_cast<int>(engine);
  }
  void random_workloads() {
    QFETCH(int, engine);
    int64_t preemptions = 0, waits = 0;
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      RequestCase of = random_case(seed);
      use_engine(of, static_cast<EngineKind>(engine), seed);
      LinearClock clock;
      const RequestSimulation run = simulated(of.workload, of.settings, clock);
      const RequestSpans all(run);
      for (size_t i = 0; i < run.requests.size(); ++i) {
        const RequestRecord& record = run.requests[i];
        const std::vector<RequestSpan> spans = all.of(i);
        QVERIFY(!spans.empty());
        QCOMPARE(spans.front().begin, record.arrival);
        QCOMPARE(spans.back().end, record.last_token);
        for (size_t k = 0; k < spans.size(); ++k) {
          QVERIFY(spans[k].end > spans[k].begin);
          QCOMPARE(spans[k].step >= 0, spans[k].kind == RequestSpanKind::Chunk);
          if (spans[k].step >= 0) {
            const auto chunks = batch_of(run, static_cast<size_t>(spans[k].step)).chunks;
            QVERIFY(std::any_of(chunks.begin(), chunks.end(), [&](const PrefillChunk& chunk) {
              return static_cast<size_t>(chunk.request) == i;
            }));
          }
          if (k > 0) QCOMPARE(spans[k].begin, spans[k - 1].end);
        }
        const auto preempted = std::count_if(
            run.preemptions.begin(), run.preemptions.end(),
            [&](const Preemption& of) { return static_cast<size_t>(of.request) == i; });
        QCOMPARE(static_cast<int64_t>(preempted), int64_t{record.preemptions});
        QVERIFY(count(spans, RequestSpanKind::Chunk) >= 1);
        preemptions += count(spans, RequestSpanKind::Preempted);
        waits += count(spans, RequestSpanKind::Queued);
      }
    }
    QVERIFY(waits > 0);
    QVERIFY2(preemptions > 0, "no case preempts a request");
  }
};

QTEST_APPLESS_MAIN(RequestSpansTest)
#include "request_spans_test.moc"
