// Packed sequences: attention of n documents in a sequence costs as much as attention of n shorter sequences.
#include <QtTest>

#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"
#include "graph/op_traits.h"
#include "support/designs.h"
#include "support/execution_runs.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr int64_t kDocuments = 4;

// The same tokens as whole sequences, and packed four to a sequence.
struct Pair {
  Design whole, packed;
};
Pair pair_of(const char* preset, const std::string& knobs) {
  Design whole = preset_design(preset, 1, 1, 1);
  set_knobs(whole, knobs);
  whole.workload.seq = 2048;
  whole.workload.microbatch = kDocuments;
  whole.workload.batch = 4 * kDocuments * whole.parallel.dp;
  Design packed = whole;
  packed.workload.seq *= kDocuments;
  packed.workload.microbatch = 1;
  packed.workload.batch /= kDocuments;
  packed.workload.packed_length = whole.workload.seq;
  return {whole, packed};
}

struct Cost {
  Wide counted = 0, useful = 0;
  double seconds = 0;
};
Cost attention(const Design& d) {
  const auto report = make_report(d);
  Cost out;
  for (const FlopsValue& row : report->stages[0].flops)
    if (op_traits(row.kind).family == OpFamily::Attention) {
      out.counted += row.counted.value;
      out.useful += row.useful.value;
    }
  out.seconds = simulate(*report)->stages[0].seconds[static_cast<size_t>(TimeCategory::Attention)];
  return out;
}

}  // namespace

class PackedTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void documentsAreSequences_data() {
    QTest::addColumn<QByteArray>("preset");
    QTest::addColumn<QByteArray>("knobs");
    QTest::newRow("dense") << QByteArray("llama3-8b") << QByteArray("tp=2");
    QTest::newRow("zigzag ring") << QByteArray("llama3-8b") << QByteArray("cp=4 context=zigzag");
    QTest::newRow("ring") << QByteArray("llama3-8b") << QByteArray("cp=4 context=ring");
    QTest::newRow("ulysses") << QByteArray("llama3-8b") << QByteArray("cp=4 context=ulysses");
    QTest::newRow("all-gather") << QByteArray("llama3-8b") << QByteArray("cp=4 context=all-gather");
    QTest::newRow("latent") << QByteArray("deepseek-v3") << QByteArray("ep=1");
    QTest::newRow("window") << QByteArray("mistral-7b-v0.1") << QByteArray("window=512");
    QTest::newRow("window above a document") << QByteArray("mistral-7b-v0.1") << QByteArray("window=4096");
    QTest::newRow("full recompute") << QByteArray("llama3-8b") << QByteArray("recompute=full");
  }
  void documentsAreSequences() {
    QFETCH(QByteArray, preset);
    QFETCH(QByteArray, knobs);
    const Pair of = pair_of(preset.constData(), knobs.toStdString());
    const Cost whole = attention(of.whole), packed = attention(of.packed);
    QVERIFY(whole.counted > 0 && packed.counted == whole.counted);
    QVERIFY(packed.useful == whole.useful);
    QVERIFY2(std::abs(packed.seconds / whole.seconds - 1) < 1e-9,
             qPrintable(QString("%1 of %2").arg(packed.seconds).arg(whole.seconds)));
  }

  // Without documents, the long sequence costs more.
  void oneDocumentCostsMore() {
    const Pair of = pair_of("llama3-8b", "tp=2");
    Design one = of.packed;
    one.workload.packed_length = 0;
    QVERIFY(attention(one).seconds > 2 * attention(of.packed).seconds);
    one.workload.packed_length = one.workload.seq;
    QVERIFY(without_effect(one, *find_knob("packed_length")));
    QVERIFY(!without_effect(of.packed, *find_knob("packed_length")));
  }

  // Whole rows of scores are computed under a mask.
  void unfusedAttentionMasksDocuments() {
    Design d = pair_of("gpt3-13b", "tp=2").packed;
    d.workload.seq = 2048;
    d.workload.packed_length = 512;
    d.workload.profile = "megatron-core-te-unfused";
    Design one = d;
    one.workload.packed_length = 0;
    QVERIFY(attention(d).counted == attention(one).counted);
    QVERIFY(without_effect(d, *find_knob("packed_length"))->find("megatron-core-te-unfused") !=
            std::string::npos);
  }

  // Lengths that do not divide a sequence: the number of documents is rounded. Longer documents cost more,
  // except that documents shorter than a tile waste most of it.
  void anyLengthIsAccepted() {
    Design d = pair_of("llama3-8b", "tp=2").packed;
    for (const int64_t length : {1, 2, 100}) {
      d.workload.packed_length = length;
      QVERIFY(attention(d).useful > 0 && attention(d).seconds > 0);
    }
    double before = 0;
    for (const int64_t length : {777, 1500, 3000, 5000, 8000, 8191}) {
      d.workload.packed_length = length;
      const Cost cost = attention(d);
      QVERIFY(cost.useful > 0 && cost.seconds >= before);
      before = cost.seconds;
    }
    d.workload.packed_length = 0;
    QVERIFY(attention(d).seconds >= before);
  }
};

QTEST_GUILESS_MAIN(PackedTest)
#include "packed_test.moc"
