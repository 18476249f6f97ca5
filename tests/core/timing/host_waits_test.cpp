// The host's launches in code bases that synchronise with the device around every pass (Megatron-LM's
// timers).
#include <QtTest>

#include "support/designs.h"
#include "timing/simulation.h"
#include "timing/steady_state/step_numbers.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// Kernels about as long as their launches, so that the host is ahead in some passes and late in others.
Design crossing(const char* profile, int64_t pp) {
  Design d = preset_design("gpt3-175b-megatron", 1, pp, 1);
  d.model.hidden = 1024;
  d.model.heads = d.model.kv_heads = 16;
  d.model.head_dim = 64;
  d.model.ffn = 4096;
  d.model.layers = 8;
  d.model.positions = d.workload.seq = 1024;
  d.workload.microbatch = 4;
  d.workload.batch = 64;
  d.workload.recompute = Recompute::Full;
  d.workload.profile = profile;
  d.cluster.accelerator = "a100-sxm-80gb";
  return d;
}

std::vector<double> lengths(const Simulation& s, SpanKind kind) {
  std::vector<double> out;
  for (const Span& span : s.stages[0].spans)
    if (span.kind == kind) out.push_back(span.end - span.begin);
  return out;
}

}  // namespace

class HostWaitsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  // Every pass starts with an empty queue: all forwards take equally long, and so do all backwards.
  void passesStartWithAnEmptyQueue() {
    const auto report = make_report(crossing("megatron-2022", 1));
    QVERIFY(report->valid());
    const auto s = simulate(*report);
    for (const SpanKind kind : {SpanKind::Forward, SpanKind::Backward}) {
      const std::vector<double> of = lengths(*s, kind);
      QCOMPARE(of.size(), size_t{16});
      const auto [least, most] = std::minmax_element(of.begin(), of.end());
      QVERIFY2(*most - *least < 1e-9 * *most, qPrintable(QString::number(*most / *least - 1)));
    }
  }

  // The steady-state simulation agrees with the simulation of all microbatches.
  void searchesWaitAsWell() {
    for (const int64_t pp : {1, 2, 4}) {
      const auto report = make_report(crossing("megatron-2022", pp));
      QVERIFY(report->valid());
      Report copy = *report;
      const double fast = step_numbers(copy).step_seconds, full = simulate(*report)->step_seconds;
      QVERIFY2(std::abs(fast / full - 1) < 1e-6, qPrintable(QString::number(fast / full - 1)));
    }
  }
};

QTEST_GUILESS_MAIN(HostWaitsTest)
#include "host_waits_test.moc"
