// Collectives of one rank that run at the same time share its links: gradient sync with the collectives of
// layers, and with the messages between stages.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "plan/report.h"
#include "support/designs.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// Seconds of a reduction of gradients. overlap: while the backward runs; otherwise after the last one.
double reduction_seconds(Design d, bool overlap) {
  d.parallel.overlap_grad_reduce = overlap;
  const auto report = make_report(d);
  if (!report->valid()) qFatal("%s", to_string(report->problems.front()).c_str());
  const auto step = simulate(*report);
  double seconds = 0;
  for (size_t r = 0; r < report->stages[0].collectives.size(); ++r) {
    const CollectiveValue& row = report->stages[0].collectives[r];
    if (row.op == CollectiveKind::AllReduce && row.group == "dp")
      seconds += step->stages[0].collectives[r].seconds;
  }
  return seconds;
}

Design layout(int tp, int pp, int dp, const char* order) {
  Design d = preset_design("llama3-8b", tp, pp, dp);
  d.workload.batch = 8 * dp;
  d.parallel.sync = SyncStrategy::DdpFlat;
  d.parallel.ddp_bucket_size = int64_t{1} << 34;  // all gradients in one bucket
  if (set_knob(d, *find_knob("rank_order"), order)) qFatal("rank order");
  if (pp > 1) {  // few layers and slow NICs: messages fill a large part of the links
    d.model.layers = pp;
    if (set_knob(d, *find_knob("nic_bandwidth"), "100")) qFatal("NIC");
  }
  return d;
}

}  // namespace

class SharedLinksTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void overlappedReductionsShareLinks_data() {
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("pp");
    QTest::addColumn<int>("dp");
    QTest::addColumn<QString>("order");
    QTest::addColumn<bool>("shared");
    QTest::newRow("tp inside nodes, dp over NICs") << 8 << 1 << 4 << "tp-cp-dp-pp" << false;
    QTest::newRow("tp and dp inside a node") << 4 << 1 << 2 << "tp-cp-dp-pp" << true;
    QTest::newRow("tp and dp over NICs") << 16 << 1 << 16 << "dp-tp-cp-pp" << true;
    QTest::newRow("nothing else") << 1 << 1 << 16 << "tp-cp-dp-pp" << false;
    QTest::newRow("pp and dp over NICs") << 1 << 2 << 16 << "tp-cp-dp-pp" << true;
    QTest::newRow("pp inside a node, dp over NICs") << 1 << 2 << 16 << "pp-tp-cp-dp" << false;
  }
  void overlappedReductionsShareLinks() {
    QFETCH(int, tp);
    QFETCH(int, pp);
    QFETCH(int, dp);
    QFETCH(QString, order);
    QFETCH(bool, shared);
    const Design d = layout(tp, pp, dp, order.toUtf8().constData());
    const double alone = reduction_seconds(d, false), overlapped = reduction_seconds(d, true);
    QVERIFY(alone > 0);
    if (shared)
      QVERIFY2(overlapped > alone * 1.0001, qPrintable(QString::number(overlapped / alone - 1)));
    else
      QVERIFY2(std::abs(overlapped / alone - 1) < 1e-9, qPrintable(QString::number(overlapped / alone - 1)));
  }
};

QTEST_GUILESS_MAIN(SharedLinksTest)
#include "shared_links_test.moc"
