// Spans of groups, seconds of collectives by formula and by measurement, sharing of links.
#include <QRandomGenerator>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "hardware/network_catalogue.h"
#include "performance/collective_table.h"
#include "performance/collective_time.h"
#include "support/machines.h"

using namespace shardscape;
using namespace shardscape::test;

Q_DECLARE_METATYPE(shardscape::CollectiveKind)
Q_DECLARE_METATYPE(shardscape::CollectiveAlgorithm)

namespace {

using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithm;

constexpr const char* kKinds[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all",
                                  "broadcast",  "reduce",     "send-recv"};
constexpr const char* kMeasured[] = {"a100-sxm-80gb",    "h100-sxm-80gb",  "h200-sxm-141gb",
                                     "b200-hgx-180gb",   "b300-hgx-270gb", "gb200-nvl72-186gb",
                                     "gb300-nvl72-279gb"};

GroupSpan spread(int64_t domains, int64_t each) { return {domains * each, each}; }

// What the header promises, by looking at every group.
GroupSpan brute_force(const DeviceMesh& mesh, const MeshAxes& axes, int64_t domain, int64_t pod, int64_t leaf,
                      int64_t node) {
  if (mesh.group_size(axes) <= 1) return {};
  GroupSpan worst;
  int64_t pods = 1, leaf_switches = 1;
  bool first = true, crosses_rails = false;
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    std::vector<int64_t> ranks = mesh.group(rank, axes);
    const GroupSpan span = span_of(ranks, domain, pod, leaf, node);
    pods = std::max(pods, span.pods);
    leaf_switches = std::max(leaf_switches, span.leaf_switches);
    crosses_rails |= span.crosses_rails;
    const auto full = [](const GroupSpan& s) {
      return s.most_per_domain > 0 ? s.most_per_domain : s.per_domain;
    };
    const bool slower = span.per_domain != worst.per_domain ? span.per_domain < worst.per_domain
                        : span.domains() != worst.domains() ? span.domains() > worst.domains()
                                                            : full(span) > full(worst);
    if (first || slower) worst = span;
    first = false;
  }
  worst.pods = pods;
  worst.leaf_switches = leaf_switches;
  worst.crosses_rails = crosses_rails;
  return worst;
}

QByteArray text(const GroupSpan& s) {
  return QByteArray("ranks ") + QByteArray::number(qlonglong(s.ranks)) + " per domain " +
         QByteArray::number(qlonglong(s.per_domain)) + " to " +
         QByteArray::number(qlonglong(s.most_per_domain)) + " domains " +
         QByteArray::number(qlonglong(s.domains())) + " pods " + QByteArray::number(qlonglong(s.pods)) +
         " leaves " + QByteArray::number(qlonglong(s.leaf_switches)) + (s.crosses_rails ? " unlike" : "");
}

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
}

}  // namespace

class CollectiveTimeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void spans_of_lists_data();
  void spans_of_lists();
  void spans_of_meshes();
  void catalogues_are_sound();
  void measured_rows_return_data();
  void measured_rows_return();
  void held_out_rows_data() { measured_rows_return_data(); }
  void held_out_rows();
  void extrapolates();
  void scales_with_links();
  void limits_of_formulas_data();
  void limits_of_formulas();
  void monotone_in_bytes_data();
  void monotone_in_bytes();
  void hierarchy_beats_flat_rings_over_slow_links_data();
  void hierarchy_beats_flat_rings_over_slow_links();
  void auto_is_the_fastest();
  void rails_and_pods();
  void latency_of_the_network_and_of_the_library();
  void links_are_shared();
  void bad_tables_data();
  void bad_tables();
  void own_measurements_replace();
};

void CollectiveTimeTest::spans_of_lists_data() {
  QTest::addColumn<std::vector<int64_t>>("ranks");
  QTest::addColumn<int64_t>("domain");
  QTest::addColumn<GroupSpan>("span");
  const auto row = [](const char* name, std::vector<int64_t> ranks, int64_t domain, GroupSpan span) {
    QTest::newRow(name) << std::move(ranks) << domain << span;
  };
  row("one", {5}, 8, {});
  row("a node", {0, 1, 2, 3}, 8, {4, 4});
  row("two nodes", {0, 1, 8, 9}, 8, {4, 2});
  row("any order", {9, 0, 8, 1}, 8, {4, 2});
  row("one of each", {0, 8, 16}, 8, {3, 1});
  row("across an edge", {6, 7, 8}, 8, {3, 1, 2, 2, 1, 1, true});
  row("other places", {0, 1, 10, 11}, 8, {4, 2, 0, 0, 1, 1, true});
}

void CollectiveTimeTest::spans_of_lists() {
  QFETCH(std::vector<int64_t>, ranks);
  QFETCH(int64_t, domain);
  QFETCH(GroupSpan, span);
  QCOMPARE(text(span_of(ranks, domain)), text(span));
  Network net;  // each domain a pod of its own, where there is a thin level at all
  net.domain = net.pod = domain;
  QCOMPARE(span_of(ranks, net).pods, int64_t{1});
  net.oversubscription = 2;
  QCOMPARE(span_of(ranks, net).pods, ranks.size() > 1 ? span.domains() : int64_t{1});
}

void CollectiveTimeTest::spans_of_meshes() {
  QRandomGenerator random(4);
  const auto pick = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random.bounded(static_cast<quint32>(values.size()))];
  };
  std::vector<MeshAxes> groups{{MeshAxis::Dp, MeshAxis::Cp},
                               {MeshAxis::Tp, MeshAxis::Pp},
                               {MeshAxis::Etp, MeshAxis::Ep},
                               {MeshAxis::Dp, MeshAxis::Cp, MeshAxis::Tp}};
  for (const MeshAxisRow& row : kMeshAxes) groups.push_back({row.axis});
  int checked = 0, straddling = 0, crosses_rails = 0;
  for (int i = 0; i < 400; ++i) {
    MeshDegrees degrees;
    degrees.tp = pick({1, 2, 3, 4, 6, 8});
    degrees.cp = pick({1, 1, 2, 4});
    degrees.dp = pick({1, 2, 3, 5, 8, 40});
    degrees.pp = pick({1, 2, 3, 4});
    degrees.kv_heads = pick({1, 2, 8});
    degrees.dp_shard = pick({0, 1, 2, 4});
    degrees.ulysses = pick({1, 2});
    degrees.mixer_heads = degrees.context = degrees.ulysses;
    degrees.etp = pick({0, 0, 1, 2, degrees.tp});
    degrees.ep_local = pick({0, 1, 2, 4});
    const bool folded = degrees.etp > 0 && degrees.etp != degrees.tp;
    const int64_t covered = degrees.dp * degrees.cp * (folded ? degrees.tp : 1),
                  etp = folded ? degrees.etp : 1;
    degrees.ep = pick({1, 2, 3, 4, 8, 10});
    if (covered % (degrees.ep * etp) != 0) degrees.ep = 1;
    if (covered % etp != 0) degrees.etp = 0;
    RankOrder order;
    std::shuffle(order.fastest_first.begin(), order.fastest_first.end(), random);
    const DeviceMesh mesh(degrees, order);
    const int64_t domain = pick({1, 2, 4, 6, 7, 8, 9, 16, 72}), pod = pick({0, 24, 32, 36, 100}),
                  leaf = pick({0, 16, 48, 72}), node = pick({0, 4, 8, 16});
    for (const MeshAxes& axes : groups) {
      const GroupSpan expected = brute_force(mesh, axes, domain, pod, leaf, node),
                      got = span_of(mesh, axes, domain, pod, leaf, node);
      ++checked;
      straddling += !expected.even();
      crosses_rails += expected.crosses_rails;
      if (got == expected) continue;
      QFAIL((text(got) + " instead of " + text(expected) + ": " +
             QByteArray::fromStdString(group_name(axes)) + " in " +
             QByteArray::fromStdString(to_string(order)) +
             QString(" tp %1 cp %2 dp %3 pp %4 ep %5 etp %6 domain %7 pod %8")
                 .arg(degrees.tp)
                 .arg(degrees.cp)
                 .arg(degrees.dp)
                 .arg(degrees.pp)
                 .arg(degrees.ep)
                 .arg(degrees.etp)
                 .arg(domain)
                 .arg(pod)
                 .toUtf8())
                .constData());
    }
  }
  QVERIFY(checked > 7000 && straddling > 500 && crosses_rails > 500);
}

void CollectiveTimeTest::catalogues_are_sound() {
  QVERIFY2(network_problems().empty(),
           network_problems().empty() ? "" : to_string(network_problems().front()).c_str());
  QVERIFY2(collective_table_problems().empty(),
           collective_table_problems().empty() ? "" : to_string(collective_table_problems().front()).c_str());
  QVERIFY(networks().size() >= 10);
  std::set<std::string> ids;
  for (const NetworkEntry& item : networks()) {
    QVERIFY2(ids.insert(item.id).second, item.id.c_str());
    QVERIFY2(!item.name.empty() && !item.accelerators.empty(), item.id.c_str());
    for (const std::string& id : item.accelerators)
      QVERIFY2(find_accelerator(id) && find_accelerator(id)->id == id, id.c_str());
  }
  for (const Accelerator& item : accelerators()) QVERIFY2(default_network(item.id), item.id.c_str());
  for (const char* id : kMeasured)
    QVERIFY2(collective_table(id) && !collective_table(id)->source().empty(), id);
  QVERIFY(!collective_table("mi300x-192gb"));
}

void CollectiveTimeTest::measured_rows_return_data() {
  QTest::addColumn<QByteArray>("id");
  for (const char* id : kMeasured) QTest::newRow(id) << QByteArray(id);
}

// The estimate at a measured size is the measurement, but for the spikes that later sizes disprove.
void CollectiveTimeTest::measured_rows_return() {
  QFETCH(QByteArray, id);
  const Machine machine = machine_for(id.constData());
  int rows = 0;
  std::vector<double> errors;
  for (const TimeCurve& curve : machine.network.measured->curves()) {
    const TimedRow& row = curve.row();
    Machine asked = machine;
    asked.network.nvls = row.in_network;
    for (size_t i = 0; i < row.bytes.size(); ++i) {
      const double us = collective_seconds(asked, row.op, row.bytes[i], {row.ranks, row.ranks}) * 1e6;
      ++rows;
      QVERIFY(us < row.us[i] * 1.0000001);
      errors.push_back(std::abs(us / row.us[i] - 1));
    }
  }
  QVERIFY(rows >= 8 * 21);
  QVERIFY2(quantile(errors, 0.5) < 1e-9, QByteArray::number(quantile(errors, 0.5)).constData());
  QVERIFY2(quantile(errors, 0.95) < 0.12, QByteArray::number(quantile(errors, 0.95)).constData());
}

// Every second size left out and interpolated.
void CollectiveTimeTest::held_out_rows() {
  QFETCH(QByteArray, id);
  std::vector<double> errors;
  for (const TimeCurve& curve : collective_table(id.toStdString())->curves()) {
    TimedRow kept = curve.row();
    kept.bytes.clear();
    kept.us.clear();
    for (size_t i = 0; i < curve.row().bytes.size(); i += 2) {
      kept.bytes.push_back(curve.row().bytes[i]);
      kept.us.push_back(curve.row().us[i]);
    }
    const TimeCurve sparse(kept);
    for (size_t i = 1; i < curve.row().bytes.size(); i += 2)
      errors.push_back(std::abs(sparse.seconds(curve.row().bytes[i]) * 1e6 / curve.row().us[i] - 1));
  }
  qInfo("%s: median %.2f %%, p90 %.2f %%", id.constData(), 100 * quantile(errors, 0.5),
        100 * quantile(errors, 0.9));
  QVERIFY(quantile(errors, 0.5) < 0.04);
  QVERIFY(quantile(errors, 0.9) < 0.16);
}

void CollectiveTimeTest::extrapolates() {
  const Machine h100 = machine_for("h100-sxm-80gb"), rack = machine_for("gb200-nvl72-186gb");
  // Twice the largest size takes twice as long; below the smallest nothing is saved.
  const double large = collective_seconds(h100, Kind::AllGather, 536870912, {8, 8}),
               huge = collective_seconds(h100, Kind::AllGather, 536870912.0 * 64, {8, 8});
  QVERIFY(std::abs(huge / large / 64 - 1) < 0.05);
  QCOMPARE(collective_seconds(h100, Kind::AllGather, 1, {8, 8}),
           collective_seconds(h100, Kind::AllGather, 512, {8, 8}));
  QCOMPARE(collective_seconds(h100, Kind::AllGather, 0, {8, 8}), 0.0);
  QCOMPARE(collective_seconds(h100, Kind::AllGather, 1e6, {}), 0.0);
  // Between 4 and 8 ranks; more ranks than were measured: larger shares, more hops.
  for (double bytes : {1e3, 1e6, 1e9}) {
    const double four = collective_seconds(h100, Kind::AllGather, bytes, {4, 4}),
                 six = collective_seconds(h100, Kind::AllGather, bytes, {6, 6}),
                 eight = collective_seconds(h100, Kind::AllGather, bytes, {8, 8});
    QVERIFY(four < six && six < eight);
  }
  const double gathered = collective_seconds(rack, Kind::AllGather, 1e11, {64, 64}) /
                          collective_seconds(rack, Kind::AllGather, 1e11, {4, 4});
  QVERIFY2(std::abs(gathered / ((63.0 / 64) / (3.0 / 4)) - 1) < 0.1,
           QByteArray::number(gathered).constData());
  // Switches spare large groups most of the hops of a ring.
  QVERIFY(collective_seconds(rack, Kind::AllReduce, 1e3, {64, 64}) <
          0.5 * collective_seconds(rack, Kind::AllGather, 1e3, {64, 64}) * 2);
  QVERIFY(collective_seconds(rack, Kind::AllGather, 1e3, {64, 64}) >
          2 * collective_seconds(rack, Kind::AllGather, 1e3, {4, 4}));
  // A message is half an exchange of two.
  QCOMPARE(collective_seconds(h100, Kind::SendRecv, 1e7, {2, 2}),
           collective_seconds(h100, Kind::AllToAll, 2e7, {2, 2}));
}

void CollectiveTimeTest::scales_with_links() {
  const Machine h100 = machine_for("h100-sxm-80gb"), h800 = machine_for("h800-sxm-80gb");
  QCOMPARE(h800.network.scaleup_gbps, 200.0);
  QVERIFY(h800.network.measured);
  const double slow = collective_seconds(h800, Kind::AllGather, 1e9, {8, 8}),
               fast = collective_seconds(h100, Kind::AllGather, 1e9, {8, 8});
  QVERIFY(std::abs(slow / fast / (450.0 / 200) - 1) < 0.02);
  QCOMPARE(collective_seconds(h800, Kind::AllGather, 128, {8, 8}),
           collective_seconds(h100, Kind::AllGather, 128, {8, 8}));
  QVERIFY(collective_basis(h800).find("scaled") != std::string::npos &&
          collective_basis(h100).find("scaled") == std::string::npos);
  // Without sums in the switch the ranks add up themselves.
  Machine plain = h100;
  plain.network.nvls = false;
  QVERIFY(collective_seconds(plain, Kind::AllReduce, 5e8, {8, 8}) >
          1.15 * collective_seconds(h100, Kind::AllReduce, 5e8, {8, 8}));
}

void CollectiveTimeTest::limits_of_formulas_data() {
  QTest::addColumn<Algorithm>("algorithm");
  QTest::addColumn<Kind>("kind");
  QTest::addColumn<GroupSpan>("span");
  QTest::addColumn<double>("hops_us");    // of a tiny message, the launch aside
  QTest::addColumn<double>("ns_per_mb");  // of a huge one
  // Links of 100 GB/s, NICs of 10; hops of 1 and 10 us, 5 more over a spine: 10 ns/KB on links, 100 on NICs.
  const auto row = [](const char* name, Algorithm algorithm, Kind kind, GroupSpan span, double hops,
                      double ns) { QTest::addRow("%s", name) << algorithm << kind << span << hops << ns; };
  constexpr double kTreeHop = 2.7 * 1.85 + 10 -
                              2.7;  // of NCCL's own tree, and what this network takes beyond NCCL's constant
  row("ring all-reduce, 8 inside", Algorithm::Ring, Kind::AllReduce, {8, 8}, 14, 2 * 7.0 / 8 * 1e4);
  row("ring gather, 8 inside", Algorithm::Ring, Kind::AllGather, {8, 8}, 7, 7.0 / 8 * 1e4);
  row("ring scatter, 4 x 1", Algorithm::Ring, Kind::ReduceScatter, {4, 1}, 4 * 10, 3.0 / 4 * 1e5);
  row("ring all-reduce, 4 x 8: all rails", Algorithm::Ring, Kind::AllReduce, {32, 8}, 54 + 8 * 10,
      2 * 31.0 / 32 * 1e5 / 8);
  row("ring broadcast, 8 inside", Algorithm::Ring, Kind::Broadcast, {8, 8}, 7, 1e4);
  row("tree, 8 inside", Algorithm::Tree, Kind::AllReduce, {8, 8}, 14, 2e4 / 0.92);
  row("tree, 4 x 1", Algorithm::Tree, Kind::AllReduce, {4, 1}, 2 * 2 * kTreeHop, 2 * 3.0 / 4 * 1e5 / 0.92);
  row("tree, 4 x 4", Algorithm::Tree, Kind::AllReduce, {16, 4}, 2 * 3 + 2 * 2 * kTreeHop,
      2 * 3.0 / 4 * 1e5 / 4 / 0.92);
  row("halving, 16 x 1", Algorithm::HalvingDoubling, Kind::AllReduce, {16, 1}, 8 * 10, 2 * 15.0 / 16 * 1e5);
  row("halving, 8 inside", Algorithm::HalvingDoubling, Kind::AllGather, {8, 8}, 3, 7.0 / 8 * 1e4);
  row("halving, 4 x 4, one level after the other", Algorithm::HalvingDoubling, Kind::AllReduce, {16, 4},
      4 + 4 * 10, 2 * (3.0 / 4 * 1e4 + 3.0 / 4 * 1e5 / 4));
  row("hierarchical, 4 x 8", Algorithm::Hierarchical, Kind::AllReduce, {32, 8}, 14 + 6 * 10,
      2 * std::max(7.0 / 8 * 1e4, 3.0 / 4 * 1e5 / 8));
  row("switch, 8 inside", Algorithm::InNetwork, Kind::AllReduce, {8, 8}, 25, 1e4 / 0.58);
  row("switches, 4 x 1", Algorithm::InNetwork, Kind::AllReduce, {4, 1}, 18 + 20, 1e5);
  row("switch gather, 8 inside", Algorithm::InNetwork, Kind::AllGather, {8, 8}, 25, 1e4 / 0.58);
  row("switches scatter, 4 x 1", Algorithm::InNetwork, Kind::ReduceScatter, {4, 1}, 18 + 20, 3.0 / 4 * 1e5);
  row("all-to-all, 8 inside", Algorithm::Direct, Kind::AllToAll, {8, 8}, 1 + 7 * 0.2, 7.0 / 8 * 1e4);
  row("all-to-all, 4 x 1", Algorithm::Direct, Kind::AllToAll, {4, 1}, 10 + 3 * 0.2, 3.0 / 4 * 1e5);
  row("all-to-all, 4 x 8", Algorithm::Direct, Kind::AllToAll, {32, 8}, 1 + 10 + 31 * 0.2, 24.0 / 32 * 1e5);
  row("all-to-all, 4 x 8 in 2 leaves", Algorithm::Direct, Kind::AllToAll, {32, 8, 0, 0, 1, 2},
      1 + 10 + 5 + 31 * 0.2, 24.0 / 32 * 1e5);
  row("message inside", Algorithm::Direct, Kind::SendRecv, {2, 2}, 1, 1e4);
  row("message across", Algorithm::Direct, Kind::SendRecv, {2, 1}, 10, 1e5);
  row("message across leaves", Algorithm::Direct, Kind::SendRecv, {2, 1, 0, 0, 1, 2}, 15, 1e5);
  row("message to another rail", Algorithm::Direct, Kind::SendRecv, {2, 1, 0, 0, 1, 1, true}, 11, 1e5);
  row("ring gather, 4 x 1 in 2 leaves", Algorithm::Ring, Kind::AllGather, {4, 1, 0, 0, 1, 2}, 4 * 10 + 2 * 5,
      3.0 / 4 * 1e5);
  row("ring all-reduce, 4 x 1 in 2 leaves", Algorithm::Ring, Kind::AllReduce, {4, 1, 0, 0, 1, 2},
      8 * 10 + 4 * 5, 2 * 3.0 / 4 * 1e5);
  row("tree, 4 x 1 in 4 leaves", Algorithm::Tree, Kind::AllReduce, {4, 1, 0, 0, 1, 4}, 4 * kTreeHop + 4 * 5,
      2 * 3.0 / 4 * 1e5 / 0.92);
  row("halving, 16 x 1 in 4 leaves", Algorithm::HalvingDoubling, Kind::AllGather, {16, 1, 0, 0, 1, 4},
      4 * 10 + 2 * 5, 15.0 / 16 * 1e5);
  row("hierarchical, 4 x 8 in 2 leaves", Algorithm::Hierarchical, Kind::AllReduce, {32, 8, 0, 0, 1, 2},
      14 + 6 * 10 + 2 * 5, 2 * std::max(7.0 / 8 * 1e4, 3.0 / 4 * 1e5 / 8));
  row("a tree gathers nothing", Algorithm::Tree, Kind::AllGather, {8, 8}, 7, 7.0 / 8 * 1e4);
  row("7 + 1: one NIC", Algorithm::Ring, Kind::AllGather, {8, 1, 2, 7}, 5 + 2 * 10, 7.0 / 8 * 1e5);
}

void CollectiveTimeTest::limits_of_formulas() {
  QFETCH(Algorithm, algorithm);
  QFETCH(Kind, kind);
  QFETCH(GroupSpan, span);
  QFETCH(double, hops_us);
  QFETCH(double, ns_per_mb);
  Network net;
  net.scaleup_gbps = 100;
  net.nic_gbps = 10;
  net.scaleup_efficiency = net.nic_efficiency = 1;
  net.hop = {1, 10, 5};
  net.nvls = net.sharp = true;
  net.algorithm = algorithm;
  const double tiny = collective_formula(net, kind, 1e-3, span).seconds * 1e6 - net.launch_us;
  QVERIFY2(std::abs(tiny - hops_us) < 1e-3, QByteArray::number(tiny).constData());
  const double huge = collective_formula(net, kind, 1e15, span).seconds * 1e9 / 1e9;
  QVERIFY2(std::abs(huge / ns_per_mb - 1) < 1e-3, QByteArray::number(huge).constData());
}

void CollectiveTimeTest::monotone_in_bytes_data() {
  QTest::addColumn<QByteArray>("id");
  QTest::addColumn<Algorithm>("algorithm");
  for (const char* id :
       {"a100-sxm-80gb", "h100-sxm-80gb", "gb200-nvl72-186gb", "mi300x-192gb", "h800-sxm-80gb"})
    for (int i = 0; i < kCollectiveAlgorithmCount; ++i)
      QTest::addRow("%s %s", id, algorithm_name(static_cast<Algorithm>(i)).data())
          << QByteArray(id) << static_cast<Algorithm>(i);
}

void CollectiveTimeTest::monotone_in_bytes() {
  QFETCH(QByteArray, id);
  QFETCH(Algorithm, algorithm);
  Machine machine = machine_for(id.constData());
  machine.network.algorithm = algorithm;
  for (int k = 0; k < kCollectiveKindCount; ++k) {
    const auto kind = static_cast<Kind>(k);
    std::vector<GroupSpan> spans{{2, 2}, {2, 1}};
    if (kind != Kind::SendRecv)
      spans.insert(spans.end(), {{3, 3},
                                 {4, 4},
                                 {8, 8},
                                 {64, 64},
                                 {16, 8},
                                 {128, 8},
                                 {64, 1},
                                 {1024, 4},
                                 {6, 2, 2, 4},
                                 {64, 8, 0, 0, 2}});
    for (const GroupSpan& span : spans) {
      double before = 0;
      for (double bytes = 64; bytes < 1e11; bytes *= 1.37) {
        const double now = collective_seconds(machine, kind, bytes, span);
        QVERIFY2(now >= before * (1 - 1e-9) && now > 0 && std::isfinite(now),
                 (QByteArray(kKinds[k]) + " of " + QByteArray::number(bytes) + " B over " + text(span) +
                  ": " + QByteArray::number(now * 1e6) + " after " + QByteArray::number(before * 1e6))
                     .constData());
        before = now;
      }
    }
  }
}

void CollectiveTimeTest::hierarchy_beats_flat_rings_over_slow_links_data() {
  QTest::addColumn<int>("domains");
  QTest::addColumn<int>("each");
  for (int domains : {2, 4, 16, 128})
    for (int each : {2, 4, 8}) QTest::addRow("%d x %d", domains, each) << domains << each;
}

void CollectiveTimeTest::hierarchy_beats_flat_rings_over_slow_links() {
  QFETCH(int, domains);
  QFETCH(int, each);
  for (const char* id : {"a100-sxm-80gb", "h100-sxm-80gb", "mi300x-192gb"})
    for (Kind kind : {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter})
      for (double bytes = 1e3; bytes < 1e10; bytes *= 4) {
        Machine ring = machine_for(id, {{"collective_algorithm", "ring"}, {"nic_bandwidth", "100"}}),
                two_levels = machine_for(
                    id, {{"collective_algorithm", "hierarchical"}, {"nic_bandwidth", "100"}});
        const double flat = collective_seconds(ring, kind, bytes, spread(domains, each)),
                     other = collective_seconds(two_levels, kind, bytes, spread(domains, each));
        QVERIFY2(other <= flat * 1.000001, QByteArray::number(other / flat).constData());
      }
}

void CollectiveTimeTest::auto_is_the_fastest() {
  const Machine free = machine_for("a100-sxm-80gb");
  std::map<Algorithm, int> chosen;
  for (const GroupSpan& span : {spread(2, 8), spread(16, 8), spread(64, 1)})
    for (double bytes = 1e3; bytes < 1e11; bytes *= 3) {
      const CollectiveEstimate best = collective_estimate(free, Kind::AllReduce, bytes, span);
      ++chosen[best.algorithm];
      for (Algorithm algorithm : {Algorithm::Ring, Algorithm::Tree}) {
        Machine fixed = free;
        fixed.network.algorithm = algorithm;
        const CollectiveEstimate one = collective_estimate(fixed, Kind::AllReduce, bytes, span);
        QCOMPARE(one.algorithm, algorithm);
        QVERIFY(best.seconds <= one.seconds);
      }
    }
  QVERIFY(chosen[Algorithm::Ring] > 0 && chosen[Algorithm::Tree] > 0);
}

void CollectiveTimeTest::rails_and_pods() {
  Network net;
  net.oversubscription = 7;
  net.pod = 3072;
  const auto seconds = [&](Kind kind, const GroupSpan& span) {
    Network one = net;
    one.algorithm = Algorithm::Ring;
    return collective_formula(one, kind, 1e12, span).seconds;
  };
  const GroupSpan inside = spread(48, 1), wide{48, 1, 0, 0, 2}, thin{48, 1, 0, 0, 48};
  // 24 domains of a pod share its links upwards: enough for a seventh. One domain of a pod by itself gets a
  // seventh.
  QCOMPARE(seconds(Kind::AllGather, wide), seconds(Kind::AllGather, inside));
  QVERIFY(std::abs(seconds(Kind::AllGather, thin) / seconds(Kind::AllGather, inside) - 7) < 0.01);
  // Half of an all-to-all over two pods leaves them.
  QVERIFY(std::abs(seconds(Kind::AllToAll, wide) / seconds(Kind::AllToAll, inside) - 3.5) < 0.01);
  QVERIFY(std::abs(seconds(Kind::SendRecv, {2, 1, 0, 0, 2}) / seconds(Kind::SendRecv, {2, 1}) - 7) < 0.01);
  // Forwarding to the receiver's rail loads the links inside: of two ranks of a node half of what leaves it,
  // of eight 7/8.
  const auto load = [&](int64_t rails, const GroupSpan& span, Kind kind = Kind::AllToAll) {
    net.rails = rails;
    return collective_formula(net, kind, 1e9, span).load;
  };
  QCOMPARE(load(1, spread(4, 8)).scaleup_bytes, 1e9 * 7 / 32);
  QCOMPARE(load(8, spread(4, 8)).scaleup_bytes, 1e9 * (7.0 / 32 + 24.0 / 32 * 7 / 8));
  QCOMPARE(load(4, spread(4, 8)).scaleup_bytes, 1e9 * (7.0 / 32 + 24.0 / 32 * 3 / 4));
  QCOMPARE(load(8, spread(4, 2)).scaleup_bytes, 1e9 * (1.0 / 8 + 6.0 / 8 / 2));
  QCOMPARE(load(8, spread(4, 1)).scaleup_bytes, 0.0);
  QCOMPARE(load(1, spread(4, 8)).nic_bytes, load(8, spread(4, 8)).nic_bytes);
  // Ranks at different positions of their nodes: all traffic that leaves a node is forwarded.
  QCOMPARE(load(8, {2, 1, 0, 0, 1, 1, true}, Kind::SendRecv).scaleup_bytes, 1e9);
  QCOMPARE(load(1, {2, 1, 0, 0, 1, 1, true}, Kind::SendRecv).scaleup_bytes, 0.0);
  const GroupSpan even = spread(2, 4), uneven{8, 4, 0, 0, 1, 1, true};
  QCOMPARE(load(8, uneven, Kind::AllGather).scaleup_bytes,
           load(8, even, Kind::AllGather).scaleup_bytes + load(8, even, Kind::AllGather).nic_bytes);
}

// The latency of a network beyond NCCL's constants is added to a hop, once, or twice where the protocol
// flushes. It does not scale the constants.
void CollectiveTimeTest::latency_of_the_network_and_of_the_library() {
  const auto us = [](double nic_us, double bytes) {
    Network net;
    net.hop.nic_us = nic_us;
    net.algorithm = Algorithm::Ring;
    return collective_formula(net, Kind::AllGather, bytes, spread(4, 1)).seconds * 1e6;
  };
  QVERIFY(std::abs(us(12.7, 1) - us(2.7, 1) - 4 * 10) < 1e-6);        // LL
  QVERIFY(std::abs(us(12.7, 1e10) - us(2.7, 1e10) - 4 * 20) < 1e-3);  // Simple
}

void CollectiveTimeTest::links_are_shared() {
  const Machine machine = machine_for("h100-sxm-80gb");
  const CollectiveEstimate inside = collective_estimate(machine, Kind::AllGather, 1e9, {8, 8}),
                           across = collective_estimate(machine, Kind::AllGather, 1e9, {64, 1}),
                           message = collective_estimate(machine, Kind::SendRecv, 1e8, {2, 1}),
                           tiny = collective_estimate(machine, Kind::AllReduce, 100, {64, 1});
  QCOMPARE(inside.load.nic_bytes, 0.0);
  QCOMPARE(across.load.scaleup_bytes, 0.0);
  const LinkShare a = link_share(machine, inside), b = link_share(machine, across),
                  c = link_share(machine, message), d = link_share(machine, tiny);
  QVERIFY(a.scaleup > 0.9 && a.nic == 0 && b.nic > 0.9 && b.scaleup == 0 && d.nic < 0.01);
  QVERIFY(std::abs(c.nic - 2 * 18.3 / (0.94 * 50)) < 0.01);  // two channels of messages
  LinkShare all = a;
  all += b;
  QCOMPARE(slowdown(a, all), 1.0);  // on links of their own
  all += c;
  QVERIFY(slowdown(b, all) > 1.7 && slowdown(b, all) <= 2 && slowdown(a, all) == 1);
  LinkShare light = b;
  light += d;
  QVERIFY(slowdown(b, light) < 1.02);
}

void CollectiveTimeTest::bad_tables_data() {
  QTest::addColumn<QByteArray>("row");
  QTest::addColumn<QByteArray>("what");
  const auto row = [](const char* name, const char* text, const char* what) {
    QTest::newRow(name) << QByteArray(text) << QByteArray(what);
  };
  row("op", R"({"op": "gossip", "ranks": 2, "bytes": [1, 2], "us": [1, 2]})",
      "\"gossip\" is not a collective");
  row("one rank", R"({"op": "reduce", "ranks": 1, "bytes": [1, 2], "us": [1, 2]})", "moves no data");
  row("lengths", R"({"op": "reduce", "ranks": 2, "bytes": [1, 2], "us": [1]})", "2 sizes and 1 times");
  row("order", R"({"op": "reduce", "ranks": 2, "bytes": [2, 1], "us": [1, 2]})", "do not ascend");
  row("negative", R"({"op": "reduce", "ranks": 2, "bytes": [1, 2], "us": [1, -2]})", "not a positive number");
  row("domain", R"({"op": "reduce", "ranks": 8, "per_domain": 3, "bytes": [1, 2], "us": [1, 2]})",
      "with 3 in a domain");
  row("key", R"({"op": "reduce", "ranks": 8, "size": 3, "bytes": [1, 2], "us": [1, 2]})",
      "\"size\" is not a known key");
}

void CollectiveTimeTest::bad_tables() {
  QFETCH(QByteArray, row);
  QFETCH(QByteArray, what);
  std::vector<Problem> problems;
  const std::string good = R"({"op": "reduce", "ranks": 4, "bytes": [1, 2], "us": [3, 4]})";
  const auto rows = read_collective_rows("{\"collectives\": [\n" + good + ",\n" + row.toStdString() + "]}",
                                         "mine.json", problems);
  QCOMPARE(rows.size(), size_t{1});
  QCOMPARE(problems.size(), size_t{1});
  QVERIFY2(QByteArray::fromStdString(problems[0].what).contains(what), problems[0].what.c_str());
  QVERIFY2(problems[0].where.rfind("mine.json:", 0) == 0, problems[0].where.c_str());
  QVERIFY(!problems[0].accepted.empty());
}

// Rows across nodes, as a person may measure them: taken as they are, and carried on to other sizes by the
// formulas.
void CollectiveTimeTest::own_measurements_replace() {
  Machine machine = machine_for("h100-sxm-80gb");
  const GroupSpan two = spread(2, 8), eight = spread(8, 8);
  const CollectiveTable own({{Kind::AllGather, 16, 8, true, true, {1e6, 1e8, 1e9}, {100, 800, 6000}}}, 450,
                            "mine");
  const double formula_two = collective_seconds(machine, Kind::AllGather, 1e8, two),
               formula_eight = collective_seconds(machine, Kind::AllGather, 1e8, eight);
  machine.network.measured = &own;
  QVERIFY(std::abs(collective_seconds(machine, Kind::AllGather, 1e8, two) - 800e-6) < 1e-9);
  const double carried = collective_seconds(machine, Kind::AllGather, 1e8, eight) - 800e-6;
  // The hops of the formula; its bytes at the measured rate, which is lower.
  const double ratio = carried / (formula_eight - formula_two);
  QVERIFY2(ratio > 0.95 && ratio < 1.5, QByteArray::number(ratio).constData());
  QVERIFY(collective_basis(machine).find("mine") != std::string::npos);
}

QTEST_APPLESS_MAIN(CollectiveTimeTest)
#include "collective_time_test.moc"
