// Collectives that are simulated event by event: windows of messages, trees, streams that overtake each
// other. Every expected number is worked out by hand. Where run_in_order simulates a collective as well, both
// agree.
#include <QTest>
#include <random>

#include "astra_sim/sim_network.h"
#include "astra_sim/stream_simulator.h"
#include "support/collective_config.h"

using namespace shardscape;
using namespace shardscape::test;
using chakra::CollectiveType;
using Times = std::vector<int64_t>;

namespace {

constexpr CollectiveType kTypes[] = {CollectiveType::AllReduce, CollectiveType::AllGather,
                                     CollectiveType::ReduceScatter, CollectiveType::AllToAll};

}  // namespace

class StreamSimulatorTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Four ranks, messages of 1,000 bytes, of which two are under way at a time.
  void windows_data() {
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("bytes");
    QTest::addColumn<int>("ns");
    const int sent = 200 + 1000, added = 3;
    QTest::newRow("all-gather") << static_cast<int>(CollectiveType::AllGather) << 1000 << 1 + 2 * (sent + 1);
    QTest::newRow("all-to-all") << static_cast<int>(CollectiveType::AllToAll) << 4000 << 1 + 2 * (sent + 1);
    // The last message is not added up.
    QTest::newRow("reduce-scatter") << static_cast<int>(CollectiveType::ReduceScatter) << 4000
                                    << 1 + (sent + 1 + added) + (sent + 1);
    // Two messages, the third, then two sums, the third.
    QTest::newRow("all-reduce") << static_cast<int>(CollectiveType::AllReduce) << 4000
                                << 1 + (sent + 1 + added) + 3 * (sent + 1);
  }
  void windows() {
    QFETCH(int, type);
    QFETCH(int, bytes);
    QFETCH(int, ns);
    for (const char* by : {"direct2", "oneDirect2"}) {
      const BundleConfig c = collective_config("Switch", {4}, by);
      QCOMPARE(collective_times(c, {static_cast<CollectiveType>(type), bytes, {0, 1, 2, 3}}, {0, 0, 0, 0}),
               Times(4, ns));
    }
  }

  // A window that holds all messages is no window.
  void windows_of_all_messages() {
    std::mt19937 random(1);
    for (const CollectiveType type : kTypes)
      for (int i = 0; i < 20; ++i) {
        Times begin(5);
        for (int64_t& t : begin) t = random() % 3000;
        const SimCollective what{type, 5000, {0, 1, 2, 3, 4}};
        const Times all = collective_times(collective_config("Switch", {5}, "direct"), what, begin);
        for (const char* by : {"direct4", "direct9"})
          QCOMPARE(collective_times(collective_config("Switch", {5}, by), what, begin), all);
      }
  }

  // The first tree: ranks 0 and 2 send 1,000 bytes to rank 1, which sends their sum to rank 3, the root. The
  // second tree is its mirror image.
  void trees() {
    const BundleConfig c = collective_config("Switch", {4}, "doubleBinaryTree");
    SimCollective what{CollectiveType::AllReduce, 1000, {0, 1, 2, 3}};
    const int64_t sent = 1200, leaf = 1 + sent, middle = leaf + 1 + 3 + sent, root = middle + 1 + 3,
                  back = root + sent + 1 + 3, end = back + sent + 1;
    QCOMPARE(collective_times(c, what, {0, 0, 0, 0}), (Times{end, back, end, root}));
    what.earlier_streams = 1;
    QCOMPARE(collective_times(c, what, {0, 0, 0, 0}), (Times{root, end, back, end}));
    // Rank 1 adds up what arrives late by itself.
    what.earlier_streams = 2;
    QCOMPARE(collective_times(c, what, {500, 0, 0, 0}),
             (Times{end + 500, back + 500, end + 500, root + 500}));
    QCOMPARE(collective_times(c, {CollectiveType::AllReduce, 1000, {0, 1, 2, 3}}, {0, 0, 0, 9000}),
             (Times{9000 + 1 + 3 + sent + 1 + 3 + sent + 1, 9000 + 1 + 3 + sent + 1 + 3,
                    9000 + 1 + 3 + sent + 1 + 3 + sent + 1, 9000 + 1 + 3}));
  }
  void trees_of_two_streams() {
    BundleConfig c = collective_config("Switch", {2}, "doubleBinaryTree");
    c.dataset_splits = c.active_chunks = 2;
    const int64_t sent = 700, root = 1 + sent + 1, leaf = root + sent + 1;
    QCOMPARE(collective_times(c, {CollectiveType::AllReduce, 1000, {0, 1}}, {0, 0}), (Times{leaf, leaf}));
    c.active_chunks = 1;  // the second tree starts when the rank has ended the first tree
    QCOMPARE(collective_times(c, {CollectiveType::AllReduce, 1000, {0, 1}}, {0, 0}),
             (Times{root + 1 + sent + 1, root + 1 + sent + 1 + sent + 1}));
  }

  // Levels of two ranks; two streams of 2,000 bytes. A stream scatters 1,000 bytes inside, reduces messages
  // of 500 bytes across, and gathers 1,000 bytes inside.
  void streams_on_levels() {
    BundleConfig c = collective_config("Switch", {2, 2}, "ring");
    c.level_by_level = true;
    c.dataset_splits = 2;
    const SimCollective what{CollectiveType::AllReduce, 4000, {0, 1, 2, 3}};
    const int64_t scatter = 1 + 1200 + 1 + 3, reduce = 1 + 2 * (700 + 1), gather = 1 + 1200 + 1;
    // Inside, the second stream scatters before the first one gathers.
    QCOMPARE(collective_times(c, what, {0, 0, 0, 0}), Times(4, scatter + 2 * reduce + gather));
    c.active_chunks = 2;
    QCOMPARE(collective_times(c, what, {0, 0, 0, 0}), Times(4, scatter + reduce + gather));
  }

  // Two ranks run other streams in the same dimension, and each waits for the other. ASTRA-sim hangs as well.
  void streams_that_wait_for_each_other() {
    BundleConfig c = collective_config("Switch", {2, 2, 2}, "ring");
    c.level_by_level = true;
    c.dataset_splits = 3;
    c.active_chunks = 2;
    const auto made = SimNetwork::make(c, {});
    const SimCollective what{CollectiveType::AllReduce, 4000, {0, 1, 2, 3, 4, 5, 6, 7}};
    Times times{86, 751, 420, 507, 143, 586, 131, 781};
    QVERIFY(!std::get<SimNetwork>(made).collective(what, times));
    std::fill(times.begin(), times.end(), 0);
    QVERIFY(std::get<SimNetwork>(made).collective(what, times));
  }

  void both_simulations_agree_data() {
    QTest::addColumn<QString>("by");
    QTest::addColumn<QList<int>>("ranks");
    for (const char* by : {"ring", "direct", "direct1", "halvingDoubling", "oneRing", "oneDirect"})
      for (const QList<int>& ranks : {QList<int>{2}, QList<int>{4}, QList<int>{2, 4}, QList<int>{2, 2, 2}})
        QTest::newRow(
            qPrintable(QString("%1 on %2 dimensions of %3").arg(by).arg(ranks.size()).arg(ranks.last())))
            << by << ranks;
  }
  void both_simulations_agree() {
    QFETCH(QString, by);
    QFETCH(QList<int>, ranks);
    std::mt19937 random(7);
    for (int i = 0; i < 60; ++i) {
      BundleConfig c = collective_config(i % 3 == 0 ? "Ring" : "Switch", {ranks.begin(), ranks.end()},
                                         by.toStdString());
      c.level_by_level = i % 2 == 0;
      c.endpoint_delay = i % 4;
      // Several streams on several levels overtake each other.
      c.dataset_splits = ranks.size() > 1 && c.level_by_level ? 1 : 1 + random() % 3;
      c.active_chunks = ranks.size() > 1 ? 1 : 1 + random() % 3;
      for (const CollectiveType type : kTypes) {
        if (by == "halvingDoubling" && type == CollectiveType::AllToAll) continue;
        SimCollective what{type, static_cast<int64_t>(500 + random() % 20000), {}};
        const bool part = c.ranks > 2 && i % 5 == 0;
        for (int64_t r = 0; r < c.ranks; r += part ? 2 : 1) what.members.push_back(r);
        Times in_order(what.members.size());
        for (int64_t& t : in_order) t = random() % 5000;
        Times by_events = in_order;
        const auto made = SimNetwork::make(c, {});
        const SimNetwork& network = std::get<SimNetwork>(made);
        QVERIFY(network.collective(what, in_order));
        QVERIFY(simulate_streams(network, network.plan(what), {}, by_events, {}));
        QCOMPARE(by_events, in_order);
      }
    }
  }

  void stops() {
    const BundleConfig c = collective_config("Switch", {4}, "doubleBinaryTree");
    const auto made = SimNetwork::make(c, {});
    Times times(4);
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(!std::get<SimNetwork>(made).collective({CollectiveType::AllReduce, 1000, {0, 1, 2, 3}}, times,
                                                   stop.get_token()));
  }

  void trees_have_every_rank_once_data() {
    QTest::addColumn<bool>("second");
    QTest::newRow("first") << false;
    QTest::newRow("second") << true;
  }
  void trees_have_every_rank_once() {
    QFETCH(bool, second);
    for (int64_t n = 2; n <= 64; n *= 2) {
      int64_t roots = 0;
      for (int64_t i = 0; i < n; ++i) {
        const TreePlace place = tree_place(n, i, second);
        for (const int64_t child : {place.left, place.right})
          if (child >= 0) QCOMPARE(tree_place(n, child, second).parent, i);
        if (place.left >= 0) QVERIFY(place.left < i);
        if (place.right >= 0) QVERIFY(place.right > i);
        if (place.parent >= 0) {
          const TreePlace parent = tree_place(n, place.parent, second);
          QVERIFY(parent.left == i || parent.right == i);
          continue;
        }
        ++roots;
        QCOMPARE(i, second ? 0 : n - 1);
      }
      QCOMPARE(roots, int64_t{1});
    }
  }

  void trees_that_are_refused_data() {
    QTest::addColumn<QList<int>>("ranks");
    QTest::addColumn<bool>("group");
    QTest::addColumn<QString>("what");
    QTest::newRow("six ranks") << QList<int>{6} << false << "dimension 0 has 6 ranks";
    QTest::newRow("a group") << QList<int>{4} << true << "group 7 has 2 of 4 ranks";
    QTest::newRow("a group in several dimensions is a ring") << QList<int>{2, 2} << true << "";
    QTest::newRow("the whole job") << QList<int>{4} << false << "";
  }
  void trees_that_are_refused() {
    QFETCH(QList<int>, ranks);
    QFETCH(bool, group);
    QFETCH(QString, what);
    BundleConfig c = collective_config("Switch", {ranks.begin(), ranks.end()}, "doubleBinaryTree");
    CollectiveUse use = only_use(CollectiveType::AllReduce, {{c.ranks, 0}});
    if (group) use = only_use(CollectiveType::AllReduce, {{2, 7}});
    const auto made = SimNetwork::make(c, use);
    QCOMPARE(std::holds_alternative<SimNetwork>(made), what.isEmpty());
    if (what.isEmpty()) return;
    QVERIFY2(std::get<Problem>(made).what.find(what.toStdString()) != std::string::npos,
             std::get<Problem>(made).what.c_str());
  }
};

QTEST_APPLESS_MAIN(StreamSimulatorTest)
#include "stream_simulator_test.moc"
