// The layered drawing: its properties over random graphs, and the known best pictures of small ones.
#include <QTest>
#include <algorithm>
#include <random>
#include <thread>

#include "graph_layout/layered.h"

using namespace shardscape;

namespace {

using EdgeList = QVector<QPair<int, int>>;

std::vector<LayoutNode> boxes(int count, double width = 80, double height = 30) {
  return std::vector<LayoutNode>(static_cast<size_t>(count), LayoutNode{width, height});
}

// Edges only from lower to higher numbers; every node but the first has an input from not far before it.
std::vector<LayoutEdge> random_dag(int nodes, int reach, int extra, std::mt19937& random) {
  std::vector<LayoutEdge> edges;
  const auto source = [&](int to) {
    return to - 1 - static_cast<int>(random() % static_cast<unsigned>(std::min(to, reach)));
  };
  for (int to = 1; to < nodes; ++to) edges.push_back({source(to), to});
  for (int i = 0; i < extra && nodes > 1; ++i) {
    const int to = 1 + static_cast<int>(random() % static_cast<unsigned>(nodes - 1));
    edges.push_back({source(to), to});
  }
  return edges;
}

// Two nodes whose boxes share a point; -1, -1 where none do.
std::pair<int, int> overlap(const std::vector<LayoutNode>& nodes, const LayoutResult& result) {
  std::vector<size_t> order(nodes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return result.positions[a].y < result.positions[b].y; });
  constexpr double kSlack = 1e-6;
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t j = i + 1; j < order.size(); ++j) {
      const LayoutPoint a = result.positions[order[i]], b = result.positions[order[j]];
      if (b.y > a.y + nodes[order[i]].height - kSlack) break;
      if (a.x + nodes[order[i]].width > b.x + kSlack && b.x + nodes[order[j]].width > a.x + kSlack)
        return {static_cast<int>(order[i]), static_cast<int>(order[j])};
    }
  return {-1, -1};
}

// Pairs of edges between two rows of nodes that cross.
int crossings(const std::vector<LayoutEdge>& edges, const LayoutResult& result) {
  int count = 0;
  for (size_t i = 0; i < edges.size(); ++i)
    for (size_t j = i + 1; j < edges.size(); ++j) {
      const auto x = [&](int node) { return result.positions[static_cast<size_t>(node)].x; };
      count += (x(edges[i].from) - x(edges[j].from)) * (x(edges[i].to) - x(edges[j].to)) < 0;
    }
  return count;
}

// Does a route run through the inside of a node that is neither of its ends?
bool runs_over(const std::vector<LayoutPoint>& route, LayoutPoint at, const LayoutNode& node) {
  for (size_t i = 0; i + 1 < route.size(); ++i)
    for (int step = 0; step <= 8; ++step) {
      const double x = route[i].x + (route[i + 1].x - route[i].x) * step / 8,
                   y = route[i].y + (route[i + 1].y - route[i].y) * step / 8;
      if (x > at.x + 0.1 && x < at.x + node.width - 0.1 && y > at.y + 0.1 && y < at.y + node.height - 0.1)
        return true;
    }
  return false;
}

}  // namespace

class LayoutTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void nothingAndOneNode() {
    QCOMPARE(layered_layout({}, {}).positions.size(), size_t{0});
    const auto one = layered_layout(boxes(1), {});
    QCOMPARE(one.positions[0].x, 0.0);
    QCOMPARE(one.width, 80.0);
    QCOMPARE(one.height, 30.0);
  }

  void chainIsStraight() {
    const std::vector<LayoutEdge> edges{{0, 1}, {1, 2}, {2, 3}};
    const std::vector<LayoutNode> nodes{{80, 30}, {200, 30}, {40, 60}, {120, 30}};
    const auto result = layered_layout(nodes, edges);
    for (size_t i = 0; i < nodes.size(); ++i) QCOMPARE(result.positions[i].x + nodes[i].width / 2, 100.0);
    QCOMPARE(result.height, 30.0 + 30 + 60 + 30 + 3 * LayerGaps{}.layer_gap);
    for (const auto& route : result.routes) QCOMPARE(route.size(), size_t{2});
  }

  void knownCrossings_data() {
    QTest::addColumn<EdgeList>("edges");
    QTest::addColumn<int>("nodes");
    QTest::addColumn<int>("fewest");
    QTest::newRow("pairs crossed as listed") << EdgeList{{0, 5}, {1, 4}, {2, 3}, {0, 4}, {1, 3}} << 6 << 0;
    QTest::newRow("path zigzag") << EdgeList{{0, 4}, {1, 4}, {1, 6}, {2, 6}, {2, 5}, {3, 5}} << 7 << 0;
    QTest::newRow("K2,2") << EdgeList{{0, 2}, {0, 3}, {1, 2}, {1, 3}} << 4 << 1;
    QTest::newRow("K3,3") << EdgeList{{0, 3}, {0, 4}, {0, 5}, {1, 3}, {1, 4}, {1, 5}, {2, 3}, {2, 4}, {2, 5}}
                          << 6 << 9;
    QTest::newRow("cycle of 6") << EdgeList{{0, 3}, {0, 4}, {1, 4}, {1, 5}, {2, 5}, {2, 3}} << 6 << 2;
  }
  void knownCrossings() {
    QFETCH(EdgeList, edges);
    QFETCH(int, nodes);
    QFETCH(int, fewest);
    std::vector<LayoutEdge> list;
    for (const auto& [from, to] : edges) list.push_back({from, to});
    QCOMPARE(crossings(list, layered_layout(boxes(nodes), list)), fewest);
  }

  void treeHasNoCrossings() {
    std::vector<LayoutEdge> edges;
    for (int i = 1; i < 63; ++i) edges.push_back({(i - 1) / 2, i});
    std::mt19937 random(7);
    std::shuffle(edges.begin(), edges.end(), random);
    const auto result = layered_layout(boxes(63), edges);
    for (int depth = 0; depth < 5; ++depth) {
      std::vector<LayoutEdge> between;
      for (const auto& edge : edges)
        if (edge.from >= (1 << depth) - 1 && edge.from < (2 << depth) - 1) between.push_back(edge);
      QCOMPARE(crossings(between, result), 0);
    }
    // A parent sits in the middle of its children.
    QCOMPARE(result.positions[0].x, (result.positions[1].x + result.positions[2].x) / 2);
  }

  void sourceMovesToItsReader() {
    // A long chain, and a second input of its last node only.
    const std::vector<LayoutEdge> edges{{0, 1}, {1, 2}, {2, 3}, {4, 3}};
    const auto result = layered_layout(boxes(5), edges);
    QCOMPARE(result.positions[4].y, result.positions[2].y);
  }

  void longEdgeGoesAroundNodes() {
    const std::vector<LayoutEdge> edges{{0, 1}, {1, 2}, {2, 3}, {0, 3}};
    const auto nodes = boxes(4);
    const auto result = layered_layout(nodes, edges);
    for (size_t node : {1u, 2u}) QVERIFY(!runs_over(result.routes[3], result.positions[node], nodes[node]));
    QVERIFY(result.routes[3].size() > 2);
  }

  void cyclesAreDrawn() {
    const std::vector<LayoutEdge> edges{{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 3}, {3, 2}};
    const auto nodes = boxes(4);
    const auto result = layered_layout(nodes, edges);
    QCOMPARE(overlap(nodes, result), std::make_pair(-1, -1));
    QVERIFY(result.positions[0].y < result.positions[1].y && result.positions[1].y < result.positions[2].y);
    for (const auto& route : result.routes) QVERIFY(route.size() >= 2);
    // The turned edge still starts at its source.
    QVERIFY(result.routes[2].front().y > result.routes[2].back().y);
  }

  void partsStandSideBySide() {
    const std::vector<LayoutEdge> edges{{0, 1}, {2, 3}, {4, 5}, {4, 6}};
    const auto nodes = boxes(8);
    const auto result = layered_layout(nodes, edges);
    QCOMPARE(overlap(nodes, result), std::make_pair(-1, -1));
    QVERIFY(result.positions[2].x >= result.positions[0].x + 80 + LayerGaps{}.node_gap);
    QCOMPARE(result.positions[0].y, 0.0);
    QCOMPARE(result.positions[7].y, 0.0);
  }

  void randomGraphs_data() {
    QTest::addColumn<int>("nodes");
    QTest::addColumn<int>("extra");
    QTest::addColumn<unsigned>("seed");
    for (unsigned seed = 0; seed < 40; ++seed) {
      const int nodes = 2 + static_cast<int>(seed * 7 % 120);
      QTest::addRow("%d nodes, seed %u", nodes, seed)
          << nodes << nodes * static_cast<int>(seed % 4) / 2 << seed;
    }
  }
  void randomGraphs() {
    QFETCH(int, nodes);
    QFETCH(int, extra);
    QFETCH(unsigned, seed);
    std::mt19937 random(seed);
    const auto edges = random_dag(nodes, 12, extra, random);
    std::vector<LayoutNode> sizes;
    for (int i = 0; i < nodes; ++i) sizes.push_back({20.0 + random() % 300, 16.0 + random() % 120});
    const LayerGaps options;
    const auto result = layered_layout(sizes, edges, options);
    QVERIFY(!result.stopped);
    QCOMPARE(overlap(sizes, result), std::make_pair(-1, -1));
    for (size_t i = 0; i < sizes.size(); ++i) {
      const LayoutPoint at = result.positions[i];
      QVERIFY(at.x >= -1e-6 && at.y >= 0 && at.x + sizes[i].width <= result.width + 1e-6 &&
              at.y + sizes[i].height <= result.height + 1e-6);
    }
    for (size_t e = 0; e < edges.size(); ++e) {
      const auto from = static_cast<size_t>(edges[e].from), to = static_cast<size_t>(edges[e].to);
      QVERIFY(result.positions[from].y + sizes[from].height + options.layer_gap <=
              result.positions[to].y + 1e-6);
      const auto& route = result.routes[e];
      QCOMPARE(route.front().y, result.positions[from].y + sizes[from].height);
      QCOMPARE(route.back().y, result.positions[to].y);
      QCOMPARE(route.front().x, result.positions[from].x + sizes[from].width / 2);
      for (size_t i = 0; i + 1 < route.size(); ++i) QVERIFY(route[i].y <= route[i + 1].y);
      for (size_t i = 0; i < sizes.size(); ++i)
        if (i != from && i != to) QVERIFY(!runs_over(route, result.positions[i], sizes[i]));
    }
    const auto again = layered_layout(sizes, edges, options);
    for (size_t i = 0; i < sizes.size(); ++i) QCOMPARE(again.positions[i].x, result.positions[i].x);
  }

  void largeGraph() {
    std::mt19937 random(1);
    const auto edges = random_dag(5000, 20, 2500, random);
    const auto nodes = boxes(5000);
    const auto result = layered_layout(nodes, edges);
    QCOMPARE(overlap(nodes, result), std::make_pair(-1, -1));
  }

  void stopsAtOnce() {
    std::stop_source stopped;
    stopped.request_stop();
    QVERIFY(layered_layout(boxes(3), {{0, 1}}, {}, stopped.get_token()).stopped);
  }

  void stopsWhileRunning() {
    std::mt19937 random(2);
    const auto edges = random_dag(60000, 400, 90000, random);
    const auto nodes = boxes(60000);
    std::stop_source source;
    LayoutResult result;
    std::thread worker([&] { result = layered_layout(nodes, edges, {}, source.get_token()); });
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    source.request_stop();
    worker.join();
    QVERIFY(result.stopped);
  }
};

QTEST_GUILESS_MAIN(LayoutTest)
#include "layout_test.moc"
