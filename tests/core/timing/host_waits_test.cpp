// The host's launches in code bases that synchronise with the device around every pass (Megatron-LM's
// timers).
#include <QtTest>

#include "performance/op_time.h"
#include "support/designs.h"
#include "timing/machine_of.h"
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
  d.workload.microbatch = 2;
  d.workload.batch = 32;
  d.workload.profile = profile;
  d.cluster.accelerator = "a100-sxm-80gb";
  return d;
}

// Seconds from the begin of a pass to its end, by microbatch.
std::map<int, double> lengths(const Simulation& s, SpanKind kind) {
  std::map<int, std::pair<double, double>> ends;
  for (const Span& span : s.stages[0].spans)
    if (span.kind == kind) {
      const auto it = ends.try_emplace(span.microbatch, span.begin, span.end).first;
      it->second.second = std::max(it->second.second, span.end);
    }
  std::map<int, double> out;
  for (const auto& [microbatch, of] : ends) out[microbatch] = of.second - of.first;
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
      const std::map<int, double> of = lengths(*s, kind);
      QCOMPARE(of.size(), size_t{16});
      for (const auto& [microbatch, seconds] : of)
        QVERIFY2(std::abs(seconds / of.at(0) - 1) < 1e-9,
                 qPrintable(QString("%1: %2").arg(microbatch).arg(seconds / of.at(0))));
    }
  }

  // Without the fused softmax, the host launches four kernels more for each attention: in the forward, its
  // replay and the backward of every layer. All kernels are shorter than their launches.
  void unfusedSoftmaxHasMoreLaunches() {
    std::vector<double> seconds;
    Design d;
    for (const char* profile : {"megatron-2022", "megatron-2022-unfused"}) {
      d = crossing(profile, 1);
      d.workload.microbatch = 1;
      d.workload.seq = 128;
      d.workload.recompute = Recompute::Full;
      const auto report = make_report(d);
      QVERIFY(report->valid());
      seconds.push_back(simulate(*report)->step_seconds);
    }
    const double more = (seconds[1] - seconds[0]) / launch_seconds(machine_of(d)) /
                        static_cast<double>(d.model.layers * d.workload.batch);
    QVERIFY2(std::abs(more - 12) < 0.1, qPrintable(QString::number(more)));
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
