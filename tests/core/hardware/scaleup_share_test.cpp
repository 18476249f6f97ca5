// The links of a scale-up domain that a group can use: all on a switch, its own on a mesh, on a torus those
// of the dimensions it spans.
#include <QtTest>
#include <cmath>

#include "hardware/network_catalogue.h"
#include "hardware/scaleup_share.h"
#include "performance/collective_time.h"
#include "support/machines.h"

using namespace shardscape;
using namespace shardscape::test;
using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithm;

Q_DECLARE_METATYPE(shardscape::LinkUse)
Q_DECLARE_METATYPE(shardscape::CollectiveKind)

namespace {

// Of a job of that many ranks.
Network network_for(const char* accelerator, int ranks) {
  return machine_for(accelerator, {{"tp", "1"}, {"pp", "1"}, {"dp", QByteArray::number(ranks).constData()}})
      .network;
}

std::vector<int64_t> every(int64_t stride, int64_t count) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(i * stride);
  return out;
}

double share(const Network& net, const std::vector<int64_t>& ranks, LinkUse use) {
  const GroupSpan span = span_of(ranks, net);
  return scaleup_share(net, span.per_domain, span.torus, use);
}

// Seconds of ever more bytes, without latencies.
double per_byte(const Network& net, Kind kind, const GroupSpan& span) {
  return (collective_formula(net, kind, 2e15, span).seconds -
          collective_formula(net, kind, 1e15, span).seconds) /
         1e15;
}

bool near(double a, double b) { return std::abs(a / b - 1) < 1e-6; }

}  // namespace

class ScaleupShareTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void edges_of_slices_data();
  void edges_of_slices();
  void links_of_groups_data();
  void links_of_groups();
  void strides_and_lists_agree();
  void bandwidths_data();
  void bandwidths();
  void whole_domains_keep_all_links();
  void more_ranks_more_links();
  void switches_give_all();
  void hops_on_a_torus();
  void others_use_other_links();
  void seconds_are_kept_by_shape();
};

void ScaleupShareTest::edges_of_slices_data() {
  QTest::addColumn<int>("dimensions");
  QTest::addColumn<int>("ranks");
  QTest::addColumn<int>("wrap");
  QTest::addColumn<QByteArray>("edges");  // o: closed
  const auto row = [](int dimensions, int ranks, int wrap, const char* edges) {
    QTest::addRow("%d in %dD, %d", ranks, dimensions, wrap)
        << dimensions << ranks << wrap << QByteArray(edges);
  };
  row(3, 64, 4, "4o 4o 4o");
  row(3, 128, 4, "4o 4o 8o");
  row(3, 4096, 4, "16o 16o 16o");
  row(3, 32, 4, "2 4 4");  // no whole cube
  row(3, 16, 4, "2 2 4");
  row(3, 2, 4, "1 1 2");
  row(2, 256, 16, "16o 16o 1");
  row(2, 128, 16, "8 16o 1");
  row(2, 16, 16, "4 4 1");
  row(2, 16, 0, "4o 4o 1");  // nothing is said
  row(2, 4, 0, "2 2 1");     // two neighbours have one link
  row(3, 7, 4, "1 1 7");
}

void ScaleupShareTest::edges_of_slices() {
  QFETCH(int, dimensions);
  QFETCH(int, ranks);
  QFETCH(int, wrap);
  QFETCH(QByteArray, edges);
  QByteArray got;
  for (const TorusEdge& edge :
       torus_edges(dimensions == 3 ? ScaleupLinks::Torus3 : ScaleupLinks::Torus2, ranks, wrap))
    got += (got.isEmpty() ? "" : " ") + QByteArray::number(qlonglong(edge.ranks)) + (edge.closed ? "o" : "");
  QCOMPARE(got, edges);
}

void ScaleupShareTest::links_of_groups_data() {
  QTest::addColumn<QByteArray>("accelerator");
  QTest::addColumn<int>("job");
  QTest::addColumn<std::vector<int64_t>>("ranks");
  QTest::addColumn<LinkUse>("use");
  QTest::addColumn<double>("links");  // of a device's, at their full rate
  QTest::addColumn<double>("of");
  const auto row = [](const char* name, const char* accelerator, int job, std::vector<int64_t> ranks,
                      LinkUse use, double links, double of) {
    QTest::addRow("%s", name) << QByteArray(accelerator) << job << std::move(ranks) << use << links << of;
  };
  const char *amd = "mi300x-192gb", *intel = "gaudi3-128gb", *cube = "tpu-v4", *square = "tpu-v5e",
             *instance = "trainium2-96gb";
  row("mesh, a pair", amd, 8, every(1, 2), LinkUse::Rings, 1, 7);
  row("mesh, 4 of 8", amd, 8, every(2, 4), LinkUse::Rings, 3, 7);
  row("mesh, all", amd, 8, every(1, 8), LinkUse::Rings, 7, 7);
  row("mesh, exchange of 4", amd, 8, every(1, 4), LinkUse::Exchange, 3, 7);
  row("mesh, message", amd, 8, every(4, 2), LinkUse::Message, 1, 7);
  row("mesh, one of 8 at a time", amd, 8, every(1, 8), LinkUse::Message, 1, 7);
  row("mesh of Ethernet, a pair", intel, 8, every(1, 2), LinkUse::Rings, 1, 7);
  // 4 x 4 x 4, all closed.
  row("torus, whole", cube, 64, every(1, 64), LinkUse::Rings, 6, 6);
  row("torus, a row", cube, 64, every(1, 4), LinkUse::Rings, 2, 6);
  row("torus, a column", cube, 64, every(4, 4), LinkUse::Rings, 2, 6);
  row("torus, a plane", cube, 64, every(1, 16), LinkUse::Rings, 4, 6);
  row("torus, two neighbours", cube, 64, every(1, 2), LinkUse::Rings, 1, 6);
  row("torus, a row and half a column", cube, 64, every(1, 8), LinkUse::Rings, 3, 6);
  row("torus, every other of a row: both ways round, shared by two", cube, 64, every(2, 2), LinkUse::Rings, 1,
      6);
  row("torus, exchange along a row", cube, 64, every(1, 4), LinkUse::Exchange, 0.75 / (4.0 / 8), 6);
  row("torus, exchange of all", cube, 64, every(1, 64), LinkUse::Exchange, 63.0 / 64 / (4.0 / 8), 6);
  row("torus, message to a neighbour", cube, 64, every(1, 2), LinkUse::Message, 1, 6);
  row("torus, message over two ranks, as do those between", cube, 64, every(2, 2), LinkUse::Message, 0.5, 6);
  row("torus, message to the next row", cube, 64, every(4, 2), LinkUse::Message, 1, 6);
  // 2 x 2 x 4, open.
  row("small slice, whole", cube, 16, every(1, 16), LinkUse::Rings, 3, 6);
  row("small slice, a line of 4", cube, 16, every(4, 4), LinkUse::Rings, 1, 6);
  row("small slice, exchange along the line", cube, 16, every(4, 4), LinkUse::Exchange, 0.75 / (4.0 / 4), 6);
  row("small slice, message from end to end", cube, 16, every(12, 2), LinkUse::Message, 1, 6);
  row("two devices", cube, 2, every(1, 2), LinkUse::Rings, 1, 6);
  row("larger cube, exchange", cube, 4096, every(1, 4096), LinkUse::Exchange, 4095.0 / 4096 / (16.0 / 8), 6);
  // 8 x 16, closed along the longer.
  row("flat, the closed side", square, 128, every(8, 16), LinkUse::Rings, 2, 4);
  row("flat, the open side", square, 128, every(1, 8), LinkUse::Rings, 1, 4);
  row("flat, whole", square, 128, every(1, 128), LinkUse::Rings, 3, 4);
  // 4 x 4, both closed.
  row("instance, whole", instance, 16, every(1, 16), LinkUse::Rings, 4, 4);
  row("instance, a row", instance, 16, every(1, 4), LinkUse::Rings, 2, 4);
  row("instance, exchange of all", instance, 16, every(1, 16), LinkUse::Exchange, 15.0 / 16 / (4.0 / 8), 4);
}

void ScaleupShareTest::links_of_groups() {
  QFETCH(QByteArray, accelerator);
  QFETCH(int, job);
  QFETCH(std::vector<int64_t>, ranks);
  QFETCH(LinkUse, use);
  QFETCH(double, links);
  QFETCH(double, of);
  const Network net = network_for(accelerator.constData(), job);
  QCOMPARE(double(scaleup_links(net)), of);
  const double got = share(net, ranks, use) * of;
  QVERIFY2(near(got, links), QByteArray::number(got).constData());
}

// From the strides of the mesh as from the ranks themselves.
void ScaleupShareTest::strides_and_lists_agree() {
  int checked = 0;
  for (const char* order : {"tp-cp-dp-pp", "dp-pp-tp-cp", "pp-tp-dp-cp"})
    for (const int64_t tp : {1, 2, 4, 8})
      for (const int64_t pp : {1, 2, 4})
        for (const int64_t dp : {1, 2, 8, 16}) {
          MeshDegrees degrees;
          degrees.tp = tp;
          degrees.cp = 2;
          degrees.dp = dp;
          degrees.pp = pp;
          RankOrder ranks_in;
          QVERIFY(parse_rank_order(order, ranks_in));
          const DeviceMesh mesh(degrees, ranks_in);
          for (const char* accelerator : {"tpu-v4", "tpu-v5e"}) {
            const Network net = network_for(accelerator, static_cast<int>(mesh.ranks()));
            for (const MeshAxis axis : {MeshAxis::Tp, MeshAxis::Cp, MeshAxis::Dp, MeshAxis::Pp}) {
              if (mesh.degree(axis) < 2) continue;
              const GroupSpan by_strides = span_of(mesh, {axis}, net),
                              by_list = span_of(mesh.group(0, {axis}), net);
              int64_t held = 1;
              for (const TorusSide& side : by_strides.torus) held *= side.ranks;
              if (by_strides.domains() == 1) QCOMPARE(held, mesh.degree(axis));
              if (by_strides.domains() == 1) QVERIFY2(by_strides == by_list, order);
              ++checked;
            }
          }
        }
  QVERIFY(checked > 500);
}

void ScaleupShareTest::bandwidths_data() {
  QTest::addColumn<QByteArray>("accelerator");
  QTest::addColumn<int>("job");
  QTest::addColumn<Kind>("kind");
  QTest::addColumn<std::vector<int64_t>>("ranks");
  QTest::addColumn<double>("sent");  // of the buffer
  QTest::addColumn<double>("gbps");  // nominal, of the links that it is sent on
  const auto row = [](const char* name, const char* accelerator, int job, Kind kind,
                      std::vector<int64_t> ranks, double sent, double gbps) {
    QTest::addRow("%s", name) << QByteArray(accelerator) << job << kind << std::move(ranks) << sent << gbps;
  };
  row("MI300X, gather of 2", "mi300x-192gb", 8, Kind::AllGather, every(1, 2), 0.5, 64);
  row("MI300X, all-reduce of 2", "mi300x-192gb", 8, Kind::AllReduce, every(1, 2), 1, 64);
  row("MI300X, all-reduce of 4", "mi300x-192gb", 8, Kind::AllReduce, every(1, 4), 1.5, 192);
  row("MI300X, all-reduce of 8", "mi300x-192gb", 8, Kind::AllReduce, every(1, 8), 1.75, 448);
  row("MI300X, all-to-all of 2", "mi300x-192gb", 8, Kind::AllToAll, every(1, 2), 0.5, 64);
  row("MI300X, all-to-all of 8", "mi300x-192gb", 8, Kind::AllToAll, every(1, 8), 7.0 / 8, 448);
  row("MI300X, message", "mi300x-192gb", 8, Kind::SendRecv, every(4, 2), 1, 64);
  row("MI300X, broadcast to 3", "mi300x-192gb", 8, Kind::Broadcast, every(1, 4), 1, 192);
  row("MI300X, 4 of each of two nodes", "mi300x-192gb", 64, Kind::AllGather, {0, 1, 2, 3, 8, 9, 10, 11},
      7.0 / 8, 192);
  row("MI300X, one of each of four nodes: its NIC", "mi300x-192gb", 64, Kind::AllGather, every(8, 4), 3.0 / 4,
      50 * 0.9 / 0.7);
  row("MI325X, message", "mi325x-256gb", 8, Kind::SendRecv, every(1, 2), 1, 64);
  row("MI350X, all-reduce of 8", "mi350x-288gb", 8, Kind::AllReduce, every(1, 8), 1.75, 535.5);
  row("MI355X, message", "mi355x-288gb", 8, Kind::SendRecv, every(1, 2), 1, 76.5);
  row("Gaudi 3, message", "gaudi3-128gb", 8, Kind::SendRecv, every(1, 2), 1, 75);
  row("Gaudi 2, message", "gaudi2-96gb", 8, Kind::SendRecv, every(1, 2), 1, 37.5);
  row("Gaudi 2, all-reduce of 8", "gaudi2-96gb", 8, Kind::AllReduce, every(1, 8), 1.75, 262.5);
  row("Ascend 910B, message", "ascend-910b2-64gb", 8, Kind::SendRecv, every(1, 2), 1, 28);
  row("Ascend 910B, gather of 8", "ascend-910b2-64gb", 8, Kind::AllGather, every(1, 8), 7.0 / 8, 196);
  row("Trainium 1, message", "trainium1-core-16gb", 32, Kind::SendRecv, every(1, 2), 1, 48);
  row("Trainium 1, gather of 32", "trainium1-core-16gb", 32, Kind::AllGather, every(1, 32), 31.0 / 32, 192);
  row("H100 PCIe, message", "h100-pcie-80gb", 8, Kind::SendRecv, every(1, 2), 1, 64);
  row("TPU v4, gather of 2", "tpu-v4", 64, Kind::AllGather, every(1, 2), 0.5, 50);
  row("TPU v4, gather of 64", "tpu-v4", 64, Kind::AllGather, every(1, 64), 63.0 / 64, 300);
  row("TPU v4, all-to-all of 64: half of all over 32 links", "tpu-v4", 64, Kind::AllToAll, every(1, 64),
      32 * 0.5 / 32, 50);
  row("TPU v5p, message", "tpu-v5p", 64, Kind::SendRecv, every(1, 2), 1, 100);
  row("TPU v7, message", "tpu-v7", 64, Kind::SendRecv, every(1, 2), 1, 100);
  row("Trainium 2, message", "trainium2-96gb", 16, Kind::SendRecv, every(1, 2), 1, 128);
  row("Trainium 3, message", "trainium3-144gb", 144, Kind::SendRecv, every(1, 2), 1, 1024);
  row("Vera Rubin, message", "rubin-nvl144-288gb", 72, Kind::SendRecv, every(71, 2), 1, 1800);
  row("L40S, gather of 2", "l40s-48gb", 8, Kind::AllGather, every(1, 2), 0.5, 32);
  row("RTX PRO 6000, message", "rtx-pro-6000-96gb", 8, Kind::SendRecv, every(1, 2), 1, 64);
  row("H100, gather of 2", "h100-sxm-80gb", 64, Kind::AllGather, every(1, 2), 0.5, 450);
  row("H100, message", "h100-sxm-80gb", 64, Kind::SendRecv, every(1, 2), 1, 450);
}

void ScaleupShareTest::bandwidths() {
  QFETCH(QByteArray, accelerator);
  QFETCH(int, job);
  QFETCH(Kind, kind);
  QFETCH(std::vector<int64_t>, ranks);
  QFETCH(double, sent);
  QFETCH(double, gbps);
  const Network net = network_for(accelerator.constData(), job);
  const double got = sent / per_byte(net, kind, span_of(ranks, net)) / 1e9;
  QVERIFY2(near(got, gbps * net.scaleup_efficiency),
           QByteArray::number(got / net.scaleup_efficiency).constData());
}

// As if the domain were a switch.
void ScaleupShareTest::whole_domains_keep_all_links() {
  for (const char* accelerator : {"mi300x-192gb", "gaudi3-128gb"}) {
    const Network mesh = network_for(accelerator, 8);
    Network plain = mesh;
    plain.links = ScaleupLinks::Switch;
    for (const Kind kind : {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter, Kind::AllToAll,
                            Kind::Broadcast, Kind::Reduce})
      for (const GroupSpan& span : {GroupSpan{8, 8}, GroupSpan{64, 8}})
        for (double bytes = 1e3; bytes < 1e11; bytes *= 10)
          QCOMPARE(collective_formula(mesh, kind, bytes, span).seconds,
                   collective_formula(plain, kind, bytes, span).seconds);
    // A node of four has four of eight devices' links.
    const Network half = machine_for(accelerator, {{"gpus_per_node", "4"}}).network;
    QCOMPARE(half.domain, int64_t{4});
    QCOMPARE(scaleup_links(half), int64_t{7});
  }
}

void ScaleupShareTest::more_ranks_more_links() {
  for (const char* accelerator : {"mi300x-192gb", "tpu-v4", "tpu-v6e"}) {
    const Network net = network_for(accelerator, 64);
    for (const LinkUse use : {LinkUse::Rings, LinkUse::Exchange}) {
      double before = 0;
      for (int64_t n = 2; n <= std::min<int64_t>(net.domain, 64); n *= 2) {
        const double now = share(net, every(1, n), use);
        QVERIFY2(
            now <= 1 && now >= before * (use == LinkUse::Rings || net.links == ScaleupLinks::Mesh ? 1 : 0.5),
            accelerator);
        before = now;
      }
    }
    // Twice the links never make up for twice the ranks: gathers and exchanges of more take longer by rank.
    double before = 0;
    for (int64_t n = 2; n <= std::min<int64_t>(net.domain, 64); n *= 2) {
      const double now = per_byte(net, Kind::AllGather, span_of(every(1, n), net)) * static_cast<double>(n);
      QVERIFY2(now >= before * (1 - 1e-9), accelerator);
      before = now;
    }
  }
}

void ScaleupShareTest::switches_give_all() {
  int switches = 0;
  for (const NetworkEntry& entry : networks()) {
    if (entry.links != ScaleupLinks::Switch) continue;
    ++switches;
    const Network net = machine_for(entry.accelerators.front().c_str(), {{"network", entry.id.c_str()}})
                            .network;
    QCOMPARE(scaleup_links(net), int64_t{1});
    for (const LinkUse use : {LinkUse::Rings, LinkUse::Exchange, LinkUse::Message})
      for (int64_t n = 2; n <= net.domain; ++n) QCOMPARE(share(net, every(1, n), use), 1.0);
    QCOMPARE(per_byte(net, Kind::SendRecv, {2, 2}), 1 / (net.scaleup_gbps * net.scaleup_efficiency * 1e9));
  }
  QVERIFY(switches >= 9);
}

// Along each dimension in turn, both ways round where it is closed.
void ScaleupShareTest::hops_on_a_torus() {
  const auto hops = [](const Network& net, const std::vector<int64_t>& ranks) {
    return ring_hops(net, static_cast<int64_t>(ranks.size()), span_of(ranks, net).torus);
  };
  const Network cube = network_for("tpu-v4", 64), small = network_for("tpu-v4", 16),
                amd = network_for("mi300x-192gb", 8);
  QCOMPARE(hops(cube, every(1, 64)), int64_t{6});
  QCOMPARE(hops(cube, every(4, 4)), int64_t{2});
  QCOMPARE(hops(cube, every(1, 2)), int64_t{1});
  QCOMPARE(hops(small, every(1, 16)), int64_t{5});
  QCOMPARE(hops(amd, every(1, 8)), int64_t{7});
  const double tiny = collective_formula(cube, Kind::AllReduce, 1e-3, span_of(every(1, 64), cube)).seconds *
                          1e6 -
                      cube.launch_us;
  QVERIFY2(std::abs(tiny - 12 * cube.hop.scaleup_us) < 1e-3, QByteArray::number(tiny).constData());
}

// Two pairs of a mesh have links of their own; whole domains, and exchanges over a torus, fill all.
void ScaleupShareTest::others_use_other_links() {
  const auto used = [](const Network& net, Kind kind, const std::vector<int64_t>& ranks) {
    Machine machine = machine_for("mi300x-192gb");
    machine.network = net;
    return link_share(machine, collective_formula(net, kind, 1e13, span_of(ranks, net)));
  };
  const Network amd = network_for("mi300x-192gb", 8), cube = network_for("tpu-v4", 64);
  const LinkShare pair = used(amd, Kind::AllGather, every(1, 2)),
                  all = used(amd, Kind::AllGather, every(1, 8));
  QVERIFY(std::abs(pair.scaleup - 1.0 / 7) < 1e-3 && std::abs(all.scaleup - 1) < 1e-3);
  LinkShare both = pair;
  both += used(amd, Kind::AllGather, every(2, 4));
  QCOMPARE(slowdown(pair, both), 1.0);
  both += all;
  QVERIFY(slowdown(all, both) > 1.5);
  QVERIFY(std::abs(used(cube, Kind::AllToAll, every(1, 64)).scaleup - 1) < 1e-3);
  QVERIFY(std::abs(used(cube, Kind::AllGather, every(1, 4)).scaleup - 1.0 / 3) < 1e-3);
}

// Cached seconds of a machine are not used for a machine with another slice or other links.
void ScaleupShareTest::seconds_are_kept_by_shape() {
  const auto key = [](const Network& net) {
    Machine machine = machine_for("tpu-v4");
    machine.network = net;
    CacheKey out;
    add_to(out, machine);
    return std::vector<int64_t>(out.words().begin(), out.words().end());
  };
  const Network cube = network_for("tpu-v4", 64), small = network_for("tpu-v4", 16),
                amd = network_for("mi300x-192gb", 8);
  Network open = cube, plain = amd;
  for (TorusEdge& edge : open.torus) edge.closed = false;
  plain.links = ScaleupLinks::Switch;
  QVERIFY(key(cube) != key(small) && key(cube) != key(open) && key(amd) != key(plain) &&
          key(cube) == key(network_for("tpu-v4", 64)));
}

QTEST_APPLESS_MAIN(ScaleupShareTest)
#include "scaleup_share_test.moc"
