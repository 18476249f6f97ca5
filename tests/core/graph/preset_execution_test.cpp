// Proof by execution: the architecture of every preset without experts computes on ranks what it computes
// unsharded.
#include <QtTest>

#include "support/equivalence.h"
#include "support/preset_rows.h"

using namespace shardscape;
using namespace shardscape::test;

class PresetExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() {
    add_preset_rows(
        PresetKind::Dense,
        {"dp=2 pp=2", "tp=4", "tp=4 sp pp=2", "tp=2 sp dp=2 recompute=full", "tp=2 recompute=selective",
         "cp=2 context=all-gather", "cp=2 tp=2 sp context=ulysses kv_heads=4",
         "cp=2 context=zigzag pp=2 recompute=full", "pp=2 schedule=zb-h1", "tp=2 profile=megatron-core-te",
         "profile=litgpt", "tp=2 sp profile=transformers-eager"});
  }
  void equalsUnsharded() {
    QCOMPARE(QString::fromStdString(difference_from_unsharded(fetched_preset())), QString());
  }
};

QTEST_APPLESS_MAIN(PresetExecutionTest)
#include "preset_execution_test.moc"
