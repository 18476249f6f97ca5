// Proof by execution of attention variants, activations and the layer scalar: the layers of an architecture
// that only tests have (tests/data/mechanisms).
#include <QtTest>

#include "support/designs.h"
#include "support/equivalence.h"
#include "support/execution_runs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr const char* kKinds[] = {"gated",        "head_gated", "all_norm",  "chunk",
                                  "key_as_value", "value_norm", "value_dim", "rotated_back"};

// All layers are of one kind.
Design design_of(const QString& kind) {
  Design d = tiny_design("mechanisms");
  d.model.rope_head_dim = 2;
  d.model.value_head_dim = 3;
  d.model.attention_chunk = 3;
  d.model.layers = 3;
  set_value(d, "layer_pattern", kind.toStdString() + "*");
  return d;
}

struct Run {
  int tp;
  bool sp;
  int pp, dp, kv_heads;
  int cp = 1;
  const char* settings = "";
};
// Chunks of 3 tokens do not divide the sequence of 8, and those of 4 split over cp.
constexpr Run kTrained[] = {{1, false, 2, 2, 2},
                            {2, false, 1, 1, 2, 1, "recompute=full"},
                            {2, true, 2, 1, 2, 1, "recompute=selective"},
                            {4, false, 1, 1, 2},
                            {4, true, 1, 2, 2},
                            {4, true, 1, 1, 4},
                            {2, false, 1, 2, 1},
                            {4, true, 2, 1, 1, 1, "recompute=selective"},
                            {4, true, 1, 1, 1, 1, "recompute=full"},
                            {2, true, 1, 1, 1, 2, "context=all-gather"},
                            {4, true, 2, 1, 2, 1, "profile=megatron-core-te recompute=full"},
                            {2, false, 1, 1, 4, 2, "context=all-gather attention_chunk=4"},
                            {1, false, 1, 2, 4, 4, "context=ulysses attention_chunk=5"},
                            {2, true, 2, 1, 2, 2, "context=all-gather schedule=zb-h1"}};
constexpr Run kServed[] = {{1, false, 1, 1, 2},
                           {2, false, 2, 1, 2, 1, "attention_chunk=4"},
                           {2, true, 1, 2, 2, 1, "attention_chunk=5 kv_cache_dtype=fp8"},
                           {4, true, 1, 1, 1, 1, "attention_chunk=40"},
                           {4, false, 1, 1, 2},
                           {1, false, 1, 1, 4, 2, "context=all-gather attention_chunk=5"}};

void add_rows(const Run* begin, const Run* end) {
  QTest::addColumn<QString>("kind");
  QTest::addColumn<QList<int>>("mesh");
  QTest::addColumn<QString>("settings");
  for (const char* kind : kKinds)
    for (const Run* r = begin; r != end; ++r)
      QTest::newRow(qPrintable(QString("%1 tp%2%3 pp%4 dp%5 kv heads %6 cp%7 %8")
                                   .arg(kind)
                                   .arg(r->tp)
                                   .arg(r->sp ? "+sp" : "")
                                   .arg(r->pp)
                                   .arg(r->dp)
                                   .arg(r->kv_heads)
                                   .arg(r->cp)
                                   .arg(r->settings)))
          << QString(kind) << QList<int>{r->tp, r->sp, r->pp, r->dp, r->kv_heads, r->cp}
          << QString(r->settings);
}

Design fetched() {
  QFETCH(QString, kind);
  QFETCH(QList<int>, mesh);
  QFETCH(QString, settings);
  Design d = design_of(kind);
  set_mesh(d, mesh[0], mesh[1], mesh[2], mesh[3]);
  d.model.kv_heads = mesh[4];
  d.parallel.cp = mesh[5];
  set_knobs(d, settings.toStdString());
  return d;
}

}  // namespace

class MechanismsExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { qputenv("XDG_DATA_HOME", SHARDSCAPE_TEST_DATA "/mechanisms"); }

  void equalsUnsharded_data() { add_rows(std::begin(kTrained), std::end(kTrained)); }
  void equalsUnsharded() {
    Design d = fetched();
    d.workload.batch = 12;
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void decodeAfterPrefill_data() { add_rows(std::begin(kServed), std::end(kServed)); }
  void decodeAfterPrefill() {
    Design d = fetched();
    d.workload.microbatch = d.parallel.tp;  // sequence parallelism splits decoded sequences
    d.workload.batch = 2 * d.workload.microbatch * d.parallel.dp;
    QCOMPARE(QString::fromStdString(difference_from_longer(d, 8, 1)), QString());
  }

  // A context of nine tokens over three ranks of cp or of tp.
  void decodeOverRanks_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<bool>("shares");
    for (const char* kind : kKinds)
      for (const bool shares : {false, true})
        QTest::newRow(qPrintable(QString("%1 %2").arg(kind, shares ? "dcp" : "cp")))
            << QString(kind) << shares;
  }
  void decodeOverRanks() {
    QFETCH(QString, kind);
    QFETCH(bool, shares);
    Design d = design_of(kind);
    d.model.attention_chunk = 5;
    d.workload.batch = 6;
    d.workload.microbatch = 3;
    if (shares) {
      d.model.heads = 12;
      d.model.kv_heads = 1;
      d.model.ffn = d.model.vocab = 24;
      d.parallel.tp = d.parallel.dcp = 3;
    }
    QCOMPARE(QString::fromStdString(difference_from_longer(d, 8, shares ? 1 : 3)), QString());
  }

  void equalsFiniteDifferences_data() {
    QTest::addColumn<QString>("kind");
    for (const char* kind : kKinds) QTest::newRow(kind) << QString(kind);
  }
  void equalsFiniteDifferences() {
    QFETCH(QString, kind);
    Design d = design_of(kind);
    d.model.layers = 1;
    d.workload.batch = 1;
    QCOMPARE(QString::fromStdString(difference_from_slopes(d)), QString());
  }

  // Values of another size than keys in a ring.
  void ring_data() {
    QTest::addColumn<QString>("context");
    for (const char* context : {"ring", "zigzag"}) QTest::newRow(context) << QString(context);
  }
  void ring() {
    QFETCH(QString, context);
    Design d = design_of("value_dim");
    d.model.attention_chunk = 0;
    d.parallel.cp = 2;
    set_value(d, "context", context.toStdString());
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  // Layers of one model with chunks of their own.
  void chunksOfVariants() {
    Design d = design_of("chunk");
    set_value(d, "variants", "long: chunk attention_chunk=5; whole: chunk attention_chunk=0");
    set_value(d, "layer_pattern", "chunk, long, whole");
    d.parallel.tp = 2;
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
    QCOMPARE(QString::fromStdString(difference_from_longer(d, 8, 1)), QString());
  }
};

QTEST_APPLESS_MAIN(MechanismsExecutionTest)
#include "mechanisms_execution_test.moc"
