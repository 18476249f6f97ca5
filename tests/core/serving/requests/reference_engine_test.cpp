// The engine equals one that follows vLLM's source text sequence by sequence, on random requests and
// settings.
#include <QtTest>

#include "support/reference_engine.h"
#include "support/request_cases.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr int kCases = 1000;

std::vector<double> sorted_gaps(const RequestSimulation& run) {
  std::vector<double> out;
  for (const TokenGap& gap : run.gaps) out.insert(out.end(), static_cast<size_t>(gap.chunks), gap.seconds);
  std::sort(out.begin(), out.end());
  return out;
}

QString difference(const RequestSimulation& run, const ReferenceRun& reference) {
  for (size_t i = 0; i < std::min(run.steps.size(), reference.steps.size()); ++i) {
    const StepRecord &a = run.steps[i], &b = reference.steps[i];
    if (a.begin != b.begin || a.seconds != b.seconds || a.prefill_tokens != b.prefill_tokens ||
        a.decode_sequences != b.decode_sequences || a.blocks != b.blocks)
      return QString("step %1: at %2 %3, %4 s, %5 %6 prompt tokens, %7 %8 decode, %9 %10 blocks")
          .arg(i)
          .arg(a.begin)
          .arg(b.begin)
          .arg(a.seconds)
          .arg(a.prefill_tokens)
          .arg(b.prefill_tokens)
          .arg(a.decode_sequences)
          .arg(b.decode_sequences)
          .arg(a.blocks)
          .arg(b.blocks);
  }
  if (run.steps.size() != reference.steps.size()) return QString("other number of steps");
  for (size_t i = 0; i < run.requests.size(); ++i) {
    const RequestRecord &a = run.requests[i], &b = reference.requests[i];
    if (a.arrival != b.arrival || a.scheduled != b.scheduled || a.first_token != b.first_token ||
        a.last_token != b.last_token || a.cached != b.cached || a.preemptions != b.preemptions ||
        a.end != b.end)
      return QString("request %1: first %2 %3, last %4 %5, cached %6 %7, preemptions %8 %9")
          .arg(i)
          .arg(a.first_token)
          .arg(b.first_token)
          .arg(a.last_token)
          .arg(b.last_token)
          .arg(a.cached)
          .arg(b.cached)
          .arg(a.preemptions)
          .arg(b.preemptions);
  }
  const std::vector<double> gaps = sorted_gaps(run);
  if (gaps.size() != reference.gaps.size()) return QString("other number of gaps");
  for (size_t i = 0; i < gaps.size(); ++i)
    if (std::abs(gaps[i] - reference.gaps[i]) > 1e-9) return QString("other gaps");
  return {};
}

}  // namespace

class ReferenceEngineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void runs_are_equal() {
    int64_t preemptions = 0, cached = 0, late = 0;
    for (int seed = 0; seed < kCases; ++seed) {
      const RequestCase c = random_case(static_cast<uint64_t>(seed));
      LinearClock clock;
      const RequestSimulation run = simulated(c.workload, c.settings, clock);
      const ReferenceRun reference = reference_run(c.workload, c.settings, clock);
      const QString found = difference(run, reference);
      QVERIFY2(found.isEmpty(),
               qPrintable(QString("seed %1, %2: %3")
                              .arg(seed)
                              .arg(QString::fromStdString(settings_text(c.settings)), found)));
      for (const RequestRecord& record : run.requests) {
        preemptions += record.preemptions;
        cached += record.cached;
      }
      for (const StepRecord& step : run.steps)
        late += step.decode_sequences == c.settings.max_num_batched_tokens;
    }
    // The cases reach preemption, shared prefixes, and steps whose budget decode alone uses up.
    QVERIFY2(preemptions > kCases && cached > 100 * kCases && late > kCases / 10,
             qPrintable(QString("%1 %2 %3").arg(preemptions).arg(cached).arg(late)));
  }
};

QTEST_APPLESS_MAIN(ReferenceEngineTest)
#include "reference_engine_test.moc"
