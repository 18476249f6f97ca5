// Proof by execution: the architecture of every preset with experts computes on ranks what it computes
// unsharded.
#include <QtTest>

#include "support/equivalence.h"
#include "support/preset_rows.h"
#include "support/tiny_models.h"

using namespace shardscape;
using namespace shardscape::test;

class PresetExpertExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() {
    add_preset_rows(PresetKind::Experts,
                    {"dp=2 ep=2 pp=2", "tp=2 sp dp=2 ep=4 etp=1 recompute=selective recompute_modules=moe",
                     "tp=2 dp=2 ep=2 dispatcher=allgather", "tp=4 sp recompute=full",
                     "cp=2 dp=2 ep=4 context=all-gather", "tp=2 sp cp=2 context=ulysses ep=2 kv_heads=4",
                     "cp=2 context=zigzag pp=2", "tp=2 sp recompute=selective", "pp=2 schedule=zb-h1",
                     "dp=2 ep=2 load_imbalance=1.5", "dp=2 ep=2 profile=litgpt", "tp=2 profile=megatron-2022",
                     "tp=2 sp dp=2 ep=4 etp=1 profile=megatron-core-te",
                     "tp=2 dp=2 ep=2 dispatcher=allgather profile=megatron-core-te"});
  }
  void equalsUnsharded() {
    QCOMPARE(QString::fromStdString(difference_from_unsharded(fetched_preset())), QString());
  }
};

QTEST_APPLESS_MAIN(PresetExpertExecutionTest)
#include "preset_expert_execution_test.moc"
