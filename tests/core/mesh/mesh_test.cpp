// Rank arithmetic of the device mesh, group names, and placements.
#include <QRandomGenerator>
#include <QtTest>
#include <set>

#include "design/expert_nodes.h"
#include "mesh/mesh.h"
#include "mesh/placement.h"

using namespace shardscape;

namespace {

constexpr MeshAxis kPlain[] = {MeshAxis::Pp, MeshAxis::Dp, MeshAxis::Cp, MeshAxis::Tp};

std::vector<RankOrder> all_orders() {
  std::vector<RankOrder> orders;
  RankOrder order{{MeshAxis::Pp, MeshAxis::Dp, MeshAxis::Cp, MeshAxis::Tp}};
  do {
    orders.push_back(order);
  } while (std::next_permutation(order.fastest_first.begin(), order.fastest_first.end()));
  return orders;
}

// Valid degrees: ep x etp divides the ranks that experts cover.
DeviceMesh random_mesh(QRandomGenerator& random, MeshDegrees& d) {
  const auto pick = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random.bounded(static_cast<quint32>(values.size()))];
  };
  d = {
      .tp = pick({1, 2, 4, 6, 8}), .cp = pick({1, 2, 4, 6, 8}), .dp = pick({1, 2, 4, 6}), .pp = pick({1, 3})};
  d.kv_heads = pick({1, 2, 3, 8});
  d.kv_heads2 = pick({0, 1, 2, 3});
  d.kv_heads3 = pick({0, 1, 4});
  d.kv_heads4 = pick({0, 2, 6});
  d.dp_shard = pick({0, 1, 2, 3});
  d.etp = pick({0, 1, 2, d.tp});
  d.ep = pick({1, 2, 4, 6, 8});
  d.ulysses = pick({0, 1, 2, 3, 4, 5});
  d.mixer_heads = pick({0, 1, 2, 3, 4});
  d.context = pick({0, 1, 2, 3, 4, 8});
  d.ep_local = pick({0, 1, 2, 3, 4});
  if (d.dp * d.cp * (d.folds_experts() ? d.tp : 1) % (d.ep * d.expert_tp()) != 0) d.ep = 1, d.etp = 0;
  RankOrder order;
  std::shuffle(order.fastest_first.begin(), order.fastest_first.end(), random);
  return DeviceMesh(d, order);
}

}  // namespace

class MeshTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void ranks_and_coordinates_data();
  void ranks_and_coordinates();
  void groups_partition_the_ranks_data() { ranks_and_coordinates_data(); }
  void groups_partition_the_ranks();
  void default_order();
  void hybrid_sharding_splits_dp();
  void copies_hold_all_experts();
  void kv_heads_split_tp_data();
  void kv_heads_split_tp();
  void further_kv_heads_split_tp();
  void ulysses_splits_cp();
  void mixers_split_cp_beside_a_ring();
  void parts_make_up_their_parent();
  void axes_share_ranks();
  void names_of_axes();
  void nodes_split_ep_data();
  void nodes_split_ep();
  void nodes_of_tokens();
  void rank_orders();
  void bad_rank_orders_data();
  void bad_rank_orders();
  void refuses_what_is_no_mesh();
  void group_names_data();
  void group_names();
  void group_sizes();
  void placement_text_data();
  void placement_text();
  void first_dimension_wins();
};

void MeshTest::ranks_and_coordinates_data() {
  QTest::addColumn<int>("tp");
  QTest::addColumn<int>("cp");
  QTest::addColumn<int>("dp");
  QTest::addColumn<int>("pp");
  QTest::addColumn<int>("kv");
  const int sizes[][5] = {{1, 1, 1, 1, 8}, {2, 1, 2, 2, 8}, {8, 1, 3, 2, 2},
                          {4, 2, 3, 5, 4}, {6, 1, 1, 4, 3}, {1, 1, 7, 1, 1}};
  for (const auto& s : sizes)
    QTest::addRow("tp %d cp %d dp %d pp %d kv %d", s[0], s[1], s[2], s[3], s[4])
        << s[0] << s[1] << s[2] << s[3] << s[4];
}

void MeshTest::ranks_and_coordinates() {
  QFETCH(int, tp);
  QFETCH(int, cp);
  QFETCH(int, dp);
  QFETCH(int, pp);
  QFETCH(int, kv);
  for (const RankOrder& order : all_orders()) {
    const DeviceMesh mesh({tp, cp, dp, pp, kv}, order);
    QCOMPARE(mesh.ranks(), int64_t{tp} * cp * dp * pp);
    std::set<std::vector<int64_t>> seen;
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      // Counting in the order's mixed radix is what "fastest first" means.
      int64_t rest = rank;
      std::vector<int64_t> coordinates;
      for (MeshAxis axis : order.fastest_first) {
        QCOMPARE(mesh.coordinate(rank, axis), rest % mesh.degree(axis));
        rest /= mesh.degree(axis);
        coordinates.push_back(mesh.coordinate(rank, axis));
      }
      seen.insert(coordinates);
      for (MeshAxis axis : kPlain) {
        QCOMPARE(mesh.with(rank, axis, mesh.coordinate(rank, axis)), rank);
        for (int64_t c = 0; c < mesh.degree(axis); ++c) {
          const int64_t other = mesh.with(rank, axis, c);
          QVERIFY(other >= 0 && other < mesh.ranks());
          for (MeshAxis same : kPlain)
            QCOMPARE(mesh.coordinate(other, same), same == axis ? c : mesh.coordinate(rank, same));
        }
      }
    }
    QCOMPARE(static_cast<int64_t>(seen.size()), mesh.ranks());
  }
}

void MeshTest::groups_partition_the_ranks() {
  QFETCH(int, tp);
  QFETCH(int, cp);
  QFETCH(int, dp);
  QFETCH(int, pp);
  QFETCH(int, kv);
  const std::vector<MeshAxes> groups{{},
                                     {MeshAxis::Tp},
                                     {MeshAxis::TpKv},
                                     {MeshAxis::TpRep},
                                     {MeshAxis::TpKv, MeshAxis::TpRep},
                                     {MeshAxis::Dp},
                                     {MeshAxis::Pp},
                                     {MeshAxis::Dp, MeshAxis::Cp},
                                     {MeshAxis::Pp, MeshAxis::Dp, MeshAxis::Cp, MeshAxis::Tp}};
  for (const RankOrder& order : all_orders()) {
    const DeviceMesh mesh({tp, cp, dp, pp, kv}, order);
    for (const MeshAxes& axes : groups) {
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        const std::vector<int64_t> group = mesh.group(rank, axes);
        QCOMPARE(static_cast<int64_t>(group.size()), mesh.group_size(axes));
        QCOMPARE(std::count(group.begin(), group.end(), rank), 1);
        std::vector<int64_t> before;
        for (int64_t member : group) {
          QCOMPARE(mesh.group(member, axes), group);  // all members agree on the group and its order
          std::vector<int64_t> coordinates;
          for (MeshAxis axis : axes) coordinates.push_back(mesh.coordinate(member, axis));
          QVERIFY(axes.empty() || before < coordinates);
          before = coordinates;
        }
      }
    }
    QCOMPARE(mesh.group(0, {MeshAxis::TpKv, MeshAxis::TpRep}), mesh.group(0, {MeshAxis::Tp}));
  }
}

void MeshTest::default_order() {
  const DeviceMesh mesh({2, 1, 2, 2, 8}, {});
  QCOMPARE(mesh.group(0, {MeshAxis::Tp}), (std::vector<int64_t>{0, 1}));
  QCOMPARE(mesh.group(0, {MeshAxis::Dp}), (std::vector<int64_t>{0, 2}));
  QCOMPARE(mesh.group(3, {MeshAxis::Pp}), (std::vector<int64_t>{3, 7}));
  QCOMPARE(mesh.group(5, {MeshAxis::Dp, MeshAxis::Tp}), (std::vector<int64_t>{4, 5, 6, 7}));
}

// Neighbours share one copy of the states.
void MeshTest::hybrid_sharding_splits_dp() {
  const DeviceMesh mesh({.tp = 2, .cp = 1, .dp = 6, .pp = 2, .kv_heads = 8, .dp_shard = 3}, {});
  QCOMPARE(mesh.group(0, {MeshAxis::DpShard}), (std::vector<int64_t>{0, 2, 4}));
  QCOMPARE(mesh.group(7, {MeshAxis::DpShard}), (std::vector<int64_t>{7, 9, 11}));
  QCOMPARE(mesh.group(3, {MeshAxis::DpRep}), (std::vector<int64_t>{3, 9}));
  QCOMPARE(mesh.group(13, {MeshAxis::DpRep, MeshAxis::DpShard}), mesh.group(13, {MeshAxis::Dp}));
  const DeviceMesh whole({2, 1, 6, 2, 8}, {});
  QCOMPARE(whole.group(3, {MeshAxis::DpShard}), whole.group(3, {MeshAxis::Dp}));
  QCOMPARE(whole.degree(MeshAxis::DpRep), int64_t{1});
}

// Replicas of experts are split into the same copies as all others, in every order of ranks.
void MeshTest::copies_hold_all_experts() {
  const MeshDegrees plain{.tp = 2, .cp = 2, .dp = 6, .pp = 2, .dp_shard = 3, .ep = 3},
      folded{.tp = 4, .cp = 1, .dp = 4, .pp = 2, .dp_shard = 2, .ep = 2, .etp = 2};
  for (const char* text : {"tp-cp-dp-pp", "tp-dp-cp-pp", "dp-pp-tp-cp"})
    for (const MeshDegrees& degrees : {plain, folded}) {
      RankOrder order;
      QVERIFY(parse_rank_order(text, order));
      const DeviceMesh mesh(degrees, order);
      const bool of_tp = degrees.folds_experts();
      const MeshAxis edp = of_tp ? MeshAxis::EdpFolded : MeshAxis::Edp,
                     shard = of_tp ? MeshAxis::EdpShardFolded : MeshAxis::EdpShard;
      const auto sorted = [&](int64_t rank, const MeshAxes& axes) {
        std::vector<int64_t> out = mesh.group(rank, axes);
        std::sort(out.begin(), out.end());
        return out;
      };
      QCOMPARE(mesh.degree(shard) * mesh.degree(MeshAxis::DpRep), mesh.degree(edp));
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        QCOMPARE(sorted(rank, {MeshAxis::DpRep, shard}), sorted(rank, {edp}));
        const MeshAxes copy = of_tp ? MeshAxes{MeshAxis::DpShard, MeshAxis::Cp, MeshAxis::Tp}
                                    : MeshAxes{MeshAxis::DpShard, MeshAxis::Cp};
        QCOMPARE(sorted(rank, {shard, MeshAxis::Ep, MeshAxis::Etp}), sorted(rank, copy));
      }
    }
  const DeviceMesh megatron({.tp = 1, .cp = 1, .dp = 8, .dp_shard = 4, .ep = 2}, {});
  QCOMPARE(megatron.group(1, {MeshAxis::EdpShard}), (std::vector<int64_t>{1, 3}));
  QCOMPARE(megatron.group(1, {MeshAxis::DpRep}), (std::vector<int64_t>{1, 5}));
}

void MeshTest::kv_heads_split_tp_data() {
  QTest::addColumn<int>("tp");
  QTest::addColumn<int>("kv");
  QTest::addColumn<int>("split");
  QTest::addColumn<int>("copies");
  QTest::newRow("fewer KV heads than tp") << 8 << 2 << 2 << 4;
  QTest::newRow("multi-query") << 8 << 1 << 1 << 8;
  QTest::newRow("as many") << 8 << 8 << 8 << 1;
  QTest::newRow("more") << 4 << 8 << 4 << 1;
  QTest::newRow("no tp") << 1 << 8 << 1 << 1;
}

void MeshTest::kv_heads_split_tp() {
  QFETCH(int, tp);
  QFETCH(int, kv);
  QFETCH(int, split);
  QFETCH(int, copies);
  const DeviceMesh mesh({tp, 1, 2, 3, kv}, {{MeshAxis::Dp, MeshAxis::Tp, MeshAxis::Cp, MeshAxis::Pp}});
  QCOMPARE(mesh.degree(MeshAxis::TpKv), int64_t{split});
  QCOMPARE(mesh.degree(MeshAxis::TpRep), int64_t{copies});
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    QCOMPARE(mesh.coordinate(rank, MeshAxis::Tp),
             mesh.coordinate(rank, MeshAxis::TpKv) * copies + mesh.coordinate(rank, MeshAxis::TpRep));
  }
}

// Layers with their own number of KV heads split the same ranks in another way.
void MeshTest::further_kv_heads_split_tp() {
  const DeviceMesh mesh({.tp = 8, .cp = 1, .dp = 2, .kv_heads = 4, .kv_heads2 = 2, .kv_heads3 = 1}, {});
  for (const auto& [split, copies] : {std::pair{0, 2}, {1, 4}, {2, 8}}) {
    const KvSplit& of = kKvSplits.at(static_cast<size_t>(split));
    QCOMPARE(mesh.degree(of.copies), int64_t{copies});
    QCOMPARE(mesh.degree(of.heads), int64_t{8 / copies});
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      QCOMPARE(mesh.coordinate(rank, MeshAxis::Tp),
               mesh.coordinate(rank, of.heads) * copies + mesh.coordinate(rank, of.copies));
      QCOMPARE(mesh.group(rank, {of.heads, of.copies}), mesh.group(rank, {MeshAxis::Tp}));
    }
  }
  QVERIFY(share_ranks(MeshAxis::TpRep, MeshAxis::TpRep2));
  QVERIFY(group_size({MeshAxis::TpRep2}) == Expr(Symbol::intern("tp")) / Expr(Symbol::intern("G2")));
}

void MeshTest::ulysses_splits_cp() {
  const DeviceMesh mesh({.tp = 2, .cp = 8, .dp = 3, .pp = 1, .kv_heads = 8, .ulysses = 4}, {});
  QCOMPARE(mesh.degree(MeshAxis::CpUlysses), int64_t{4});
  QCOMPARE(mesh.degree(MeshAxis::CpRing), int64_t{2});
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    QCOMPARE(mesh.coordinate(rank, MeshAxis::Cp),
             mesh.coordinate(rank, MeshAxis::CpRing) * 4 + mesh.coordinate(rank, MeshAxis::CpUlysses));
    QCOMPARE(mesh.group(rank, {MeshAxis::CpRing, MeshAxis::CpUlysses}), mesh.group(rank, {MeshAxis::Cp}));
  }
  QCOMPARE(mesh.group(0, {MeshAxis::CpUlysses}), (std::vector<int64_t>{0, 2, 4, 6}));
  QCOMPARE(declared_groups({MeshAxis::Dp, MeshAxis::CpRing, MeshAxis::CpUlysses}).size(), size_t{1});
  QVERIFY(group_size({MeshAxis::CpRing, MeshAxis::CpUlysses}) == Expr(Symbol::intern("cp")));
}

// Both splits of cp are over its ranks, each with a degree of its own.
void MeshTest::mixers_split_cp_beside_a_ring() {
  const DeviceMesh mesh({.tp = 2, .cp = 6, .dp = 2, .ulysses = 2, .mixer_heads = 3}, {});
  QCOMPARE(mesh.degree(MeshAxis::CpRing), int64_t{3});
  QCOMPARE(mesh.degree(MeshAxis::CpGroups), int64_t{2});
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    QCOMPARE(mesh.coordinate(rank, MeshAxis::Cp),
             mesh.coordinate(rank, MeshAxis::CpGroups) * 3 + mesh.coordinate(rank, MeshAxis::CpHeads));
    QCOMPARE(mesh.group(rank, {MeshAxis::CpGroups, MeshAxis::CpHeads}),
             mesh.group(rank, {MeshAxis::CpRing, MeshAxis::CpUlysses}));
  }
  QVERIFY(group_size({MeshAxis::CpGroups, MeshAxis::CpHeads}) == Expr(Symbol::intern("cp")));
}

// Every split of the table: degrees, coordinates, groups, names and formulas of the parts give those of the
// parent.
void MeshTest::parts_make_up_their_parent() {
  QRandomGenerator random(6);
  int splits = 0, across_meshes = 0;
  std::set<MeshAxis> split;  // with a degree above one
  for (int i = 0; i < 300; ++i) {
    MeshDegrees degrees;
    const DeviceMesh mesh = random_mesh(random, degrees);
    QCOMPARE(mesh.group_size({MeshAxis::Edp, MeshAxis::Ep, MeshAxis::Etp}),
             mesh.group_size(mesh.expert_order()));
    const int64_t rank = random.bounded(static_cast<int>(mesh.ranks()));
    for (const MeshAxisRow& row : kMeshAxes) {
      if (row.place == AxisPlace::Form)
        QCOMPARE(mesh.group(rank, {row.axis}), mesh.group(rank, {row.parent}));
      if (row.place != AxisPlace::Inner) continue;
      const MeshAxes parts{row.outer, row.axis};
      const bool one_mesh = is_expert_axis(row.outer) == is_expert_axis(row.axis);
      QCOMPARE(group_name(parts), std::string(mesh_axis_name(row.parent)));
      QVERIFY(group_size(parts) == mesh_axis_degree(row.parent));
      if (one_mesh) QCOMPARE(declared_groups(parts).size(), size_t{1});
      if (!one_mesh && degrees.expert_dp() != degrees.shard_dp()) {
        QCOMPARE(mesh.degree(row.axis), mesh.degree(row.parent));  // experts do not fit into a copy
        continue;
      }
      ++splits;
      if (mesh.degree(row.axis) > 1) split.insert(row.axis);
      across_meshes += !one_mesh && mesh.degree(row.outer) > 1;
      QCOMPARE(mesh.group_size(parts), mesh.degree(row.parent));
      QCOMPARE(mesh.coordinate(rank, row.parent),
               mesh.coordinate(rank, row.outer) * mesh.degree(row.axis) + mesh.coordinate(rank, row.axis));
      QCOMPARE(mesh.group(rank, parts), mesh.group(rank, {row.parent}));
    }
  }
  QVERIFY(splits > 2000 && across_meshes > 50);
  for (const MeshAxisRow& row : kMeshAxes)
    if (row.place == AxisPlace::Inner) QVERIFY2(split.contains(row.axis), row.name.data());
}

// Two axes of one mesh share ranks just where groups along both have a second common rank in some mesh.
void MeshTest::axes_share_ranks() {
  std::array<std::array<bool, kMeshAxisCount>, kMeshAxisCount> seen{};
  QRandomGenerator random(7);
  for (int i = 0; i < 300; ++i) {
    MeshDegrees degrees;
    const DeviceMesh mesh = random_mesh(random, degrees);
    std::vector<std::set<int64_t>> groups;
    for (const MeshAxisRow& row : kMeshAxes) {
      const std::vector<int64_t> group = mesh.group(0, {row.axis});
      groups.emplace_back(group.begin(), group.end());
    }
    for (size_t a = 0; a < groups.size(); ++a)
      for (size_t b = 0; b < groups.size(); ++b)
        seen[a][b] |= std::any_of(groups[a].begin(), groups[a].end(),
                                  [&](int64_t rank) { return rank != 0 && groups[b].count(rank) > 0; });
  }
  for (const MeshAxisRow& a : kMeshAxes)
    for (const MeshAxisRow& b : kMeshAxes)
      if (a.mesh == b.mesh)
        QVERIFY2(
            share_ranks(a.axis, b.axis) == seen[static_cast<size_t>(a.axis)][static_cast<size_t>(b.axis)],
            qPrintable(QStringLiteral("%1 %2").arg(a.name.data(), b.name.data())));
      else
        QVERIFY(!share_ranks(a.axis, b.axis));
}

// Two axes have one name only if a design uses just one of them: an axis or its other form.
void MeshTest::names_of_axes() {
  const auto in_form = [](MeshAxis axis) {
    while (mesh_axis(axis).place != AxisPlace::Form && mesh_axis(axis).parent != axis)
      axis = mesh_axis(axis).parent;
    return mesh_axis(axis).place == AxisPlace::Form;
  };
  for (const MeshAxisRow& a : kMeshAxes)
    for (const MeshAxisRow& b : kMeshAxes)
      if (a.axis != b.axis && a.name == b.name)
        QVERIFY2(in_form(a.axis) != in_form(b.axis), std::string(a.name).c_str());
}

// Nodes are consecutive ranks. The ranks of an ep group on one node differ in ep_local; ranks on different
// nodes differ in ep_node.
void MeshTest::nodes_split_ep_data() {
  QTest::addColumn<QList<int>>("mesh");  // tp, cp, dp, pp, ep, etp, ranks of a node
  QTest::addColumn<QString>("order");
  QTest::addColumn<int>("local");  // 0: uneven
  QTest::newRow("dp 16 over nodes of 8") << QList<int>{1, 1, 16, 1, 16, 0, 8} << "tp-cp-dp-pp" << 8;
  QTest::newRow("two groups over nodes of 4") << QList<int>{1, 1, 16, 1, 8, 0, 4} << "tp-cp-dp-pp" << 4;
  QTest::newRow("tp 2") << QList<int>{2, 1, 8, 1, 8, 0, 8} << "tp-cp-dp-pp" << 4;
  QTest::newRow("tp as large as a node") << QList<int>{8, 1, 4, 2, 4, 0, 8} << "tp-cp-dp-pp" << 1;
  QTest::newRow("group inside a node") << QList<int>{1, 1, 16, 1, 4, 0, 8} << "tp-cp-dp-pp" << 4;
  QTest::newRow("all on one node") << QList<int>{1, 1, 6, 1, 6, 0, 8} << "tp-cp-dp-pp" << 6;
  QTest::newRow("over cp and dp") << QList<int>{2, 2, 8, 1, 16, 0, 8} << "tp-cp-dp-pp" << 4;
  QTest::newRow("folded") << QList<int>{4, 1, 8, 1, 16, 2, 8} << "tp-cp-dp-pp" << 4;
  QTest::newRow("stages side by side") << QList<int>{1, 1, 8, 2, 8, 0, 8} << "pp-dp-cp-tp" << 4;
  QTest::newRow("tp slowest") << QList<int>{2, 1, 8, 2, 8, 0, 4} << "dp-cp-pp-tp" << 4;
  QTest::newRow("six over nodes of 8") << QList<int>{1, 1, 12, 1, 6, 0, 8} << "tp-cp-dp-pp" << 0;
  QTest::newRow("64 over nodes of 72") << QList<int>{1, 1, 128, 1, 64, 0, 72} << "tp-cp-dp-pp" << 0;
  QTest::newRow("tp 3") << QList<int>{3, 1, 8, 1, 8, 0, 8} << "tp-cp-dp-pp" << 0;
  QTest::newRow("stages between cp and dp") << QList<int>{1, 2, 8, 2, 8, 0, 8} << "cp-pp-dp-tp" << 0;
}

void MeshTest::nodes_split_ep() {
  QFETCH(QList<int>, mesh);
  QFETCH(QString, order);
  QFETCH(int, local);
  Design d;
  d.model.kv_heads = 8;
  d.model.experts = 96;
  ParallelSpec& p = d.parallel;
  p.tp = mesh[0], p.cp = mesh[1], p.dp = mesh[2], p.pp = mesh[3], p.ep = mesh[4], p.etp = mesh[5];
  p.dispatcher = Dispatcher::Flex;
  QVERIFY(parse_rank_order(order.toStdString(), p.order));
  const int64_t node = d.cluster.gpus_per_node = mesh[6];
  QCOMPARE(ep_ranks_per_node(d), int64_t{local});
  if (local == 0) return;
  MeshDegrees degrees = mesh_degrees(d);
  QCOMPARE(degrees.ep_local, int64_t{local < p.ep ? local : 0});  // no split inside one node
  degrees.ep_local = local;
  const DeviceMesh m(degrees, p.order);
  for (int64_t rank = 0; rank < m.ranks(); ++rank) {
    QCOMPARE(m.coordinate(rank, MeshAxis::Ep),
             m.coordinate(rank, MeshAxis::EpNode) * local + m.coordinate(rank, MeshAxis::EpLocal));
    QCOMPARE(m.group(rank, {MeshAxis::EpNode, MeshAxis::EpLocal}), m.group(rank, {MeshAxis::Ep}));
    for (const int64_t other : m.group(rank, {MeshAxis::EpLocal})) QCOMPARE(other / node, rank / node);
    std::set<int64_t> nodes;
    for (const int64_t other : m.group(rank, {MeshAxis::EpNode})) QVERIFY(nodes.insert(other / node).second);
  }
}

void MeshTest::nodes_of_tokens() {
  const auto nodes = [](int64_t experts, int64_t picked, int64_t groups, int64_t of_token, int64_t over) {
    ModelSpec m;
    m.experts = experts, m.experts_per_token = picked, m.expert_groups = groups,
    m.groups_per_token = of_token;
    return nodes_per_token(m, over);
  };
  QCOMPARE(nodes(256, 8, 8, 4, 8), int64_t{4000});  // DeepSeek-V3: four nodes
  QCOMPARE(nodes(160, 6, 8, 3, 8), int64_t{3000});
  QCOMPARE(nodes(4, 2, 1, 1, 2), int64_t{1667});  // 2 (1 - 1/6)
  QCOMPARE(nodes(4, 4, 1, 1, 2), int64_t{2000});
  QCOMPARE(nodes(8, 1, 1, 1, 8), int64_t{1000});
  QCOMPARE(nodes(8, 2, 4, 2, 2), int64_t{1667});  // two of four groups, two on a node
  QCOMPARE(nodes(8, 2, 2, 1, 4), int64_t{1667});  // two of the four experts of a group that covers two nodes
}

void MeshTest::rank_orders() {
  std::set<std::string> texts;
  for (const RankOrder& order : all_orders()) {
    RankOrder read;
    QVERIFY(parse_rank_order(to_string(order), read));
    QVERIFY(read == order);
    texts.insert(to_string(order));
  }
  QCOMPARE(texts.size(), size_t{24});
  QCOMPARE(to_string(RankOrder{}), std::string("tp-cp-dp-pp"));
}

void MeshTest::bad_rank_orders_data() {
  QTest::addColumn<QByteArray>("text");
  for (const char* text : {"", "tp", "tp-cp-dp", "tp-cp-dp-dp", "tp-cp-dp-pp-", "tp-cp-dp-pp-ep",
                           "-tp-cp-dp-pp", "tp cp dp pp", "tp_kv-cp-dp-pp", "tp--dp-pp"}) {
    QTest::addRow("'%s'", text) << QByteArray(text);
  }
}

void MeshTest::bad_rank_orders() {
  QFETCH(QByteArray, text);
  const RankOrder before{{MeshAxis::Dp, MeshAxis::Tp, MeshAxis::Cp, MeshAxis::Pp}};
  RankOrder order = before;
  QVERIFY(!parse_rank_order(text.toStdString(), order));
  QVERIFY(order == before);
}

void MeshTest::refuses_what_is_no_mesh() {
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, DeviceMesh({0, 1, 1, 1, 1}, {}));
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, DeviceMesh({1, 1, -2, 1, 1}, {}));
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument,
                           DeviceMesh({int64_t{1} << 32, 1, int64_t{1} << 32, 1, 1}, {}));
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument,
                           DeviceMesh({}, {{MeshAxis::Tp, MeshAxis::Tp, MeshAxis::Dp, MeshAxis::Pp}}));
}

void MeshTest::group_names_data() {
  QTest::addColumn<QList<int>>("axes");
  QTest::addColumn<QString>("name");
  const auto row = [](const char* name, const QList<MeshAxis>& axes) {
    QList<int> numbers;
    for (MeshAxis axis : axes) numbers << static_cast<int>(axis);
    QTest::addRow("%s of %d", name, static_cast<int>(axes.size())) << numbers << QString(name);
  };
  row("tp", {MeshAxis::Tp});
  row("tp", {MeshAxis::TpKv, MeshAxis::TpRep});
  row("tp_rep", {MeshAxis::TpRep});
  row("tp_kv", {MeshAxis::TpKv});
  row("tp", {MeshAxis::TpKv3, MeshAxis::TpRep3});
  row("tp_kv2", {MeshAxis::TpKv2});
  row("tp_rep4", {MeshAxis::TpRep4});
  row("dp", {MeshAxis::Dp});
  row("pp", {MeshAxis::Pp});
  row("dp_cp", {MeshAxis::Dp, MeshAxis::Cp});
  row("dp_shard_cp", {MeshAxis::DpShard, MeshAxis::Cp});
  row("dp_replicate", {MeshAxis::DpRep});
  row("edp_shard", {MeshAxis::EdpShardFolded});
  row("cp", {MeshAxis::CpRing, MeshAxis::CpUlysses});
  row("cp", {MeshAxis::CpGroups, MeshAxis::CpHeads});
  row("cp_ring", {MeshAxis::CpRing});
  row("cp_heads", {MeshAxis::CpHeads});
  row("ep", {MeshAxis::EpNode, MeshAxis::EpLocal});
  row("edp_ep", {MeshAxis::Edp, MeshAxis::EpNode, MeshAxis::EpLocal});
  row("ep_node", {MeshAxis::EpNode});
  row("ep_local", {MeshAxis::EpLocal});
  row("cp_ulysses", {MeshAxis::CpUlysses});
  row("dp_cp", {MeshAxis::Dp, MeshAxis::CpRing, MeshAxis::CpUlysses});
  row("dp_tp", {MeshAxis::Dp, MeshAxis::TpKv, MeshAxis::TpRep});
  row("", {});
}

void MeshTest::group_names() {
  QFETCH(QList<int>, axes);
  QFETCH(QString, name);
  MeshAxes mesh;
  for (int axis : axes) mesh.push_back(static_cast<MeshAxis>(axis));
  QCOMPARE(QString::fromStdString(group_name(mesh)), name);
}

void MeshTest::group_sizes() {
  const Expr tp(Symbol::intern("tp")), kv(Symbol::intern("G"));
  QVERIFY(group_size({MeshAxis::Tp}) == tp);
  QVERIFY(group_size({MeshAxis::TpKv, MeshAxis::TpRep}) == tp);
  QVERIFY(group_size({MeshAxis::TpRep}) == tp / kv);
  QVERIFY(group_size({}) == Expr(1));
}

void MeshTest::placement_text_data() {
  QTest::addColumn<int>("which");
  QTest::addColumn<QString>("text");
  QTest::newRow("nothing") << 0 << "Replicate";
  QTest::newRow("shard") << 1 << "Shard(seq) on tp";
  QTest::newRow("shard and partial") << 2 << "Shard(seq) on tp, Partial(sum) on cp";
  QTest::newRow("split axis") << 3 << "Shard(kv_heads) on tp_kv, Partial(max) on dp";
  QTest::newRow("nested") << 4 << "Shard(batch) on dp, Shard(seq) on cp+tp";
}

void MeshTest::placement_text() {
  QFETCH(int, which);
  QFETCH(QString, text);
  const std::vector<Axis> axes{Axis::Batch, Axis::Seq, Axis::KvHeads};
  const Placement placements[] = {{{{}, {}, {}}, {}, Reduce::Sum},
                                  {{{}, {MeshAxis::Tp}, {}}, {}, Reduce::Sum},
                                  {{{}, {MeshAxis::Tp}, {}}, {MeshAxis::Cp}, Reduce::Sum},
                                  {{{}, {}, {MeshAxis::TpKv}}, {MeshAxis::Dp}, Reduce::Max},
                                  {{{MeshAxis::Dp}, {MeshAxis::Cp, MeshAxis::Tp}, {}}, {}, Reduce::Sum}};
  const Placement& placement = placements[which];
  QCOMPARE(QString::fromStdString(to_string(placement, axes)), text);
  for (size_t dim = 0; dim < placement.shards.size(); ++dim) {
    for (MeshAxis axis : placement.shards[dim]) {
      QCOMPARE(placement.shard_dim(axis), static_cast<int>(dim));
      QVERIFY(placement.uses(axis));
    }
  }
  for (MeshAxis axis : placement.partial) {
    QCOMPARE(placement.shard_dim(axis), -1);
    QVERIFY(placement.uses(axis));
  }
  QVERIFY(!placement.uses(MeshAxis::Pp));
}

void MeshTest::first_dimension_wins() {
  ShardRules rules;
  rules.set(Axis::Batch, {MeshAxis::Dp});
  rules.set(Axis::Heads, {MeshAxis::TpKv, MeshAxis::TpRep});
  rules.set(Axis::Ffn, {MeshAxis::Tp});
  rules.set(Axis::Seq, {MeshAxis::Cp, MeshAxis::Tp});
  const Placement p = rules.place({Axis::Batch, Axis::Seq, Axis::Ffn, Axis::Hidden});
  QVERIFY(p.shards == (std::vector<MeshAxes>{{MeshAxis::Dp}, {MeshAxis::Cp, MeshAxis::Tp}, {}, {}}));
  QVERIFY(p.partial.empty());
  // tp and its two parts are the same ranks.
  QVERIFY(rules.place({Axis::Heads, Axis::Seq}).shards ==
          (std::vector<MeshAxes>{{MeshAxis::TpKv, MeshAxis::TpRep}, {MeshAxis::Cp}}));
  QVERIFY(rules.place({Axis::Ffn, Axis::Heads}).shards == (std::vector<MeshAxes>{{MeshAxis::Tp}, {}}));
  QVERIFY(rules.of(Axis::Vocab).empty());
}

QTEST_APPLESS_MAIN(MeshTest)
#include "mesh_test.moc"
