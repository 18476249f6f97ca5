// Limits of NCCL's CTAs: which communicators they hold for, and the least time that they leave.
#include <QtTest>

#include "design/cluster.h"
#include "design/design.h"
#include "performance/collective_time.h"
#include "timing/machine_of.h"

using namespace shardscape;
using Kind = CollectiveKind;

namespace {

// 64 H100 in 8 nodes: tp 2, cp 2, pp 2, dp 8.
Design limited_design() {
  Design design = default_design();
  design.parallel.tp = design.parallel.cp = design.parallel.pp = 2;
  design.parallel.dp = 8;
  design.cluster.tp_max_ctas = 3;
  design.cluster.cp_max_ctas = 1;
  design.cluster.dp_max_ctas = 2;
  return design;
}

}  // namespace

class CtaLimitsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void communicators_have_their_limit_data();
  void communicators_have_their_limit();
  void user_buffers_have_no_limit();
  void rings_take_the_time_of_their_ctas();
};

void CtaLimitsTest::communicators_have_their_limit_data() {
  QTest::addColumn<MeshAxes>("axes");
  QTest::addColumn<int>("ctas");
  QTest::newRow("tp") << MeshAxes{MeshAxis::Tp} << 3;
  QTest::newRow("cp") << MeshAxes{MeshAxis::Cp} << 1;
  QTest::newRow("dp") << MeshAxes{MeshAxis::Dp} << 2;
  QTest::newRow("dp and cp") << MeshAxes{MeshAxis::Dp, MeshAxis::Cp} << 2;
  QTest::newRow("pp") << MeshAxes{MeshAxis::Pp} << 0;
  QTest::newRow("whole mesh") << MeshAxes{MeshAxis::Pp, MeshAxis::Dp, MeshAxis::Cp, MeshAxis::Tp} << 0;
}

void CtaLimitsTest::communicators_have_their_limit() {
  QFETCH(MeshAxes, axes);
  QFETCH(int, ctas);
  const Design design = limited_design();
  QCOMPARE(span_of(device_mesh(design), axes, network_of(design)).max_ctas, ctas);
}

// Transformer Engine overlaps collectives of tp in user buffers, without NCCL.
void CtaLimitsTest::user_buffers_have_no_limit() {
  Design design = limited_design();
  design.parallel.sequence_parallel = design.parallel.tp_comm_overlap = true;
  QCOMPARE(span_of(device_mesh(design), {MeshAxis::Tp}, network_of(design)).max_ctas, 0);
}

// 8 H100 in one node, 2 CTAs of 36.7 GB/s: a rank sends 7/8 of 8 GB in an all-gather, 7/4 in an all-reduce.
void CtaLimitsTest::rings_take_the_time_of_their_ctas() {
  Design design = default_design();
  design.cluster.accelerator = "h100-sxm-80gb";
  design.cluster.collective_algorithm = CollectiveAlgorithm::Ring;
  const Machine machine = machine_of(design);
  GroupSpan span{8, 8};
  const auto seconds = [&](Kind kind, int64_t ctas) {
    span.max_ctas = ctas;
    return collective_seconds(machine, kind, 8e9, span);
  };
  const double rate = 2 * 36.7e9, launch = machine.network.launch_us * 1e-6;
  QVERIFY(qFuzzyCompare(seconds(Kind::AllGather, 2), launch + 7e9 / rate));
  QVERIFY(qFuzzyCompare(seconds(Kind::AllReduce, 2), launch + 14e9 / rate));
  for (const Kind kind : {Kind::AllGather, Kind::ReduceScatter, Kind::AllReduce, Kind::Broadcast}) {
    QVERIFY(seconds(kind, 1) > seconds(kind, 2));
    QVERIFY(seconds(kind, 2) > seconds(kind, 0));
    QCOMPARE(seconds(kind, 64), seconds(kind, 0));
  }
  for (const Kind kind : {Kind::SendRecv, Kind::AllToAll}) QCOMPARE(seconds(kind, 1), seconds(kind, 0));
}

QTEST_APPLESS_MAIN(CtaLimitsTest)
#include "cta_limits_test.moc"
