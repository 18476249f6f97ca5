// A forward and a backward that run concurrently: the order of kernels on two streams.
#include <QtTest>

#include <numeric>
#include <random>

#include "timing/paired_passes.h"

using namespace shardscape;

namespace {

double computed(const PairedLayer& layer) {
  return layer.before + layer.experts + layer.after + layer.expert_weights + layer.other_weights;
}

}  // namespace

class PairedPassesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void oneLayer_data();
  void oneLayer();
  void alone();
  void bounds();
};

// Times by hand, from the order in paired_passes.h.
void PairedPassesTest::oneLayer_data() {
  QTest::addColumn<double>("exchange");
  QTest::addColumn<double>("weights");  // of experts, and of the rest
  QTest::addColumn<double>("seconds");
  QTest::newRow("exchanges are hidden") << 2.0 << 0.0 << 16.0;
  // combine B 1 to 11, experts B 11 to 15, dispatch F 11 to 21, dispatch B 21 to 31, experts F 21 to 23,
  // combine F 31 to 41, attention B 31 to 36, the rest of F 41 to 42.
  QTest::newRow("exchanges limit") << 10.0 << 0.0 << 42.0;
  // Weight gradients of experts run while dispatch F and dispatch B run.
  QTest::newRow("weight gradients in waits") << 10.0 << 2.0 << 42.0;
  QTest::newRow("no exchanges") << 0.0 << 1.0 << 18.0;
}

void PairedPassesTest::oneLayer() {
  QFETCH(double, exchange);
  QFETCH(double, weights);
  const std::vector<PairedLayer> forward{{3, exchange, 2, exchange, 1}},
      backward{{1, exchange, 4, exchange, 5, weights, weights}};
  QTEST(paired_seconds(forward, backward), "seconds");
}

// Without a partner, the kernels of a pass run one after the other.
void PairedPassesTest::alone() {
  const std::vector<PairedLayer> layers{{3, 1, 2, 4, 1}, {2}, {1, 5, 2, 1, 1}};
  QCOMPARE(paired_seconds(layers, {}), 23.0);
  QCOMPARE(paired_seconds({}, layers), 23.0);
}

// The pair is not shorter than either stream and not longer than both.
void PairedPassesTest::bounds() {
  std::mt19937 random(19);
  std::uniform_real_distribution<double> seconds(0, 4);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<PairedLayer> passes[2];
    double compute = 0, exchange = 0;
    for (std::vector<PairedLayer>& pass : passes) {
      const size_t layers = random() % 6;
      for (size_t i = 0; i < layers; ++i) {
        const bool experts = random() % 4 != 0;
        PairedLayer layer{seconds(random)};
        if (experts)
          layer = {seconds(random), seconds(random), seconds(random), seconds(random), seconds(random)};
        if (&pass == &passes[1]) layer.expert_weights = layer.other_weights = seconds(random);
        compute += computed(layer);
        exchange += layer.first + layer.second;
        pass.push_back(layer);
      }
    }
    const double pair = paired_seconds(passes[0], passes[1]);
    QVERIFY(pair >= std::max(compute, exchange) - 1e-9);
    QVERIFY(pair <= compute + exchange + 1e-9);
  }
}

QTEST_GUILESS_MAIN(PairedPassesTest)
#include "paired_passes_test.moc"
