// GEMMs of experts in inference: how many experts tokens reach, and the seconds of the grouped GEMM.
#include <QRandomGenerator>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "performance/matmul_model.h"
#include "performance/op_time.h"
#include "performance/reached_experts.h"

using namespace shardscape;

namespace {

Machine inference_on(const char* id) {
  Machine machine;
  machine.accelerator = unowned(find_accelerator(id));
  if (!machine.accelerator) qFatal("no accelerator %s", id);
  machine.training = false;
  return machine;
}

// Mean over random routings of the experts that the busiest rank reads.
double drawn(int tokens, int experts, int chosen, int local) {
  QRandomGenerator random(1);
  constexpr int kDraws = 2000;
  double sum = 0;
  std::vector<int> order(static_cast<size_t>(experts));
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<bool> hit(order.size());
    for (int t = 0; t < tokens; ++t) {
      std::iota(order.begin(), order.end(), 0);
      for (int c = 0; c < chosen; ++c) {
        std::swap(order[static_cast<size_t>(c)], order[static_cast<size_t>(random.bounded(c, experts))]);
        hit[static_cast<size_t>(order[static_cast<size_t>(c)])] = true;
      }
    }
    int64_t most = 0;
    for (int first = 0; first < experts; first += local)
      most = std::max<int64_t>(most, std::count(hit.begin() + first, hit.begin() + first + local, true));
    sum += static_cast<double>(most);
  }
  return sum / kDraws;
}

}  // namespace

class ExpertMatmulTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void reachedExperts_data();
  void reachedExperts();
  void limitsOfReachedExperts();
  void fewTokensReadWeights();
  void manyTokensCompute();
  void dequantizingKernelsComputeSlowly();
};

void ExpertMatmulTest::reachedExperts_data() {
  QTest::addColumn<int>("tokens");
  QTest::addColumn<int>("experts");
  QTest::addColumn<int>("chosen");
  QTest::addColumn<int>("local");
  QTest::newRow("DeepSeek-V3, 8 tokens") << 8 << 256 << 8 << 256;
  QTest::newRow("DeepSeek-V3, 32 tokens") << 32 << 256 << 8 << 256;
  QTest::newRow("DeepSeek-V3, ep 8, 8 tokens") << 8 << 256 << 8 << 32;
  QTest::newRow("DeepSeek-V3, ep 8, 64 tokens") << 64 << 256 << 8 << 32;
  QTest::newRow("gpt-oss, ep 4") << 16 << 128 << 4 << 32;
  QTest::newRow("Qwen3.5, ep 2") << 4 << 512 << 10 << 256;
}

// The formula agrees with random routing.
void ExpertMatmulTest::reachedExperts() {
  QFETCH(int, tokens);
  QFETCH(int, experts);
  QFETCH(int, chosen);
  QFETCH(int, local);
  const double seen = drawn(tokens, experts, chosen, local),
               expected = reached_experts(tokens, experts, chosen, local);
  QVERIFY2(std::abs(expected / seen - 1) < 0.03, qPrintable(QString("%1, drawn %2").arg(expected).arg(seen)));
}

void ExpertMatmulTest::limitsOfReachedExperts() {
  QVERIFY(std::abs(reached_experts(1, 256, 8, 256) - 8) < 1e-9);
  QVERIFY(std::abs(reached_experts(1e6, 256, 8, 256) - 256) < 1e-9);
  QVERIFY(std::abs(reached_experts(1e6, 256, 8, 32) - 32) < 1e-9);
  QCOMPARE(reached_experts(0.01, 256, 8, 1), 1.0);
  QCOMPARE(reached_experts(4, 8, 8, 8), 8.0);  // every token chooses every expert
}

// Few rows per expert: launch and bytes of the weights, without the correction of a small dense GEMM, which
// stands for the launch.
void ExpertMatmulTest::fewTokensReadWeights() {
  for (const char* id : {"h200-sxm-141gb", "b200-hgx-180gb"}) {
    const Machine machine = inference_on(id);
    for (const int64_t experts : {8, 57, 163}) {
      MatmulShape shape{experts, 2, 512, 7168, DType::FP8Block};
      shape.stored = DType::FP8Block2D;
      const double weights = static_cast<double>(experts) * 512 * 7168,
                   read = kGroupedMatmuls.launch_us * 1e-6 +
                          weights / (kGroupedMatmuls.memory_share * machine.accelerator->memory_gbps * 1e9);
      const double seconds = expert_matmul_seconds(machine, shape);
      QVERIFY2(std::abs(seconds / read - 1) < 0.02, id);
      if (experts > 8) QVERIFY2(matmul_seconds(machine, shape) > 1.4 * seconds, id);
    }
  }
}

// Many rows per expert: bound by computation, the calibrated time. The time grows with the rows.
void ExpertMatmulTest::manyTokensCompute() {
  for (const char* id : {"h100-sxm-80gb", "h200-sxm-141gb", "b200-hgx-180gb"}) {
    const Machine machine = inference_on(id);
    double before = 0;
    for (int64_t rows = 1; rows <= 8192; rows *= 2) {
      const MatmulShape shape{64, rows, 2048, 4096, DType::BF16};
      const double seconds = expert_matmul_seconds(machine, shape);
      if (rows >= 1024) QCOMPARE(seconds, matmul_seconds(machine, shape));
      QVERIFY2(seconds > 0.9 * before, qPrintable(QString("%1, %2 rows").arg(id).arg(rows)));
      before = seconds;
    }
  }
  QCOMPARE(expert_matmul_seconds(inference_on("h100-sxm-80gb"), {0, 1, 1, 1}), 0.0);
}

// 4-bit weights that no tensor core multiplies: many rows take the share of the peak, few rows the bytes of
// the weights, as with any other kernel.
void ExpertMatmulTest::dequantizingKernelsComputeSlowly() {
  const auto seconds = [](const char* id, int64_t rows, DType stored) {
    MatmulShape shape{128, rows, 5760, 2880, DType::BF16};
    shape.stored = stored;
    return expert_matmul_seconds(inference_on(id), shape);
  };
  const char* h200 = "h200-sxm-141gb";
  for (const DType stored : {DType::MXFP4, DType::Int4G32}) {
    const double flops = 2.0 * 128 * 2048 * 5760 * 2880;
    QCOMPARE(seconds(h200, 2048, stored), flops / (kDequantizingMatmuls.peak_share * 989e12));
    QVERIFY(seconds(h200, 2, stored) < 0.35 * seconds(h200, 2, DType::BF16));
    double before = 0;
    for (int64_t rows = 1; rows <= 8192; rows *= 2) {
      const double now = seconds("h100-sxm-80gb", rows, stored);
      QVERIFY2(now > 0.9 * before, qPrintable(QString::number(rows)));
      before = now;
    }
  }
  // Blackwell multiplies MXFP4.
  const char* b200 = "b200-hgx-180gb";
  QVERIFY(seconds(b200, 2048, DType::MXFP4) < 1.2 * seconds(b200, 2048, DType::BF16));
  QVERIFY(seconds(b200, 2048, DType::Int4G32) > 2 * seconds(b200, 2048, DType::BF16));
}

QTEST_APPLESS_MAIN(ExpertMatmulTest)
#include "expert_matmul_test.moc"
