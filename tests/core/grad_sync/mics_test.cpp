// Sharding inside groups of replicas: collectives and memory of a stage under MiCS, ZeRO-1, ZeRO-2 and
// Megatron-FSDP.
#include <QtTest>

#include "plan/report.h"
#include "support/trace_designs.h"

using namespace shardscape;
using namespace shardscape::test;

class MicsTest : public QObject {
  Q_OBJECT
 private slots:
  void shards_inside_groups_data();
  void shards_inside_groups();
  void other_policies_shard_inside_groups_data();
  void other_policies_shard_inside_groups();
};

namespace {

qint64 bytes(const Report& report, const char* op, const char* group) {
  qint64 sum = 0;
  for (const CollectiveValue& c : report.stages.front().collectives)
    if (c.op.name() == op && c.group == group) sum += static_cast<qint64>(c.bytes.value);
  return sum;
}

qint64 optimizer(const Report& report) {
  constexpr auto kOptimizer = static_cast<size_t>(MemoryCategory::Optimizer);
  return static_cast<qint64>(report.stages.front().memory[kOptimizer].value);
}

}  // namespace

void MicsTest::shards_inside_groups_data() {
  QTest::addColumn<int>("microbatches");
  QTest::newRow("one microbatch") << 1;
  QTest::newRow("three microbatches") << 3;
}

// Four groups of two ranks: parameters are gathered and gradients scattered inside a group in each
// microbatch. Shards go across groups once a step.
void MicsTest::shards_inside_groups() {
  QFETCH(int, microbatches);
  Design d = trace_design("llama3-8b", 1, 1, 8, false, microbatches, 4);
  d.parallel.sync = SyncStrategy::Zero3;
  const auto all = trace_report(d);
  d.parallel.dp_shard = 2;
  const auto groups = trace_report(d);
  const auto parameters = static_cast<qint64>(groups->stages.front().parameters.value);
  const qint64 width = dtype_bytes(d.workload.grad_dtype);
  QCOMPARE(optimizer(*groups), 4 * optimizer(*all));
  QCOMPARE(bytes(*groups, "all_gather", "dp_shard"), bytes(*all, "all_gather", "dp"));
  QCOMPARE(bytes(*groups, "reduce_scatter", "dp_shard"), microbatches * parameters * width);
  QCOMPARE(bytes(*groups, "all_reduce", "dp_replicate"), parameters / 2 * width);
}

void MicsTest::other_policies_shard_inside_groups_data() {
  QTest::addColumn<int>("sync");
  QTest::newRow("ZeRO-1") << static_cast<int>(SyncStrategy::Zero1);
  QTest::newRow("ZeRO-2") << static_cast<int>(SyncStrategy::Zero2);
  QTest::newRow("Megatron-FSDP") << static_cast<int>(SyncStrategy::MegatronFsdp);
}

// Four groups of two ranks and three microbatches. ZeRO-1 all-reduces over all eight ranks. ZeRO-2 and
// Megatron-FSDP reduce inside a group in each microbatch; halves go across groups once a step.
void MicsTest::other_policies_shard_inside_groups() {
  QFETCH(int, sync);
  Design d = trace_design("llama3-8b", 1, 1, 8, false, 3, 4);
  d.parallel.sync = static_cast<SyncStrategy>(sync);
  const auto all = trace_report(d);
  d.parallel.dp_shard = 2;
  const auto groups = trace_report(d);
  const auto parameters = static_cast<qint64>(groups->stages.front().parameters.value);
  const qint64 width = dtype_bytes(d.workload.grad_dtype), stored = dtype_bytes(d.workload.dtype);
  QCOMPARE(optimizer(*groups), 4 * optimizer(*all));
  const bool one = d.parallel.sync == SyncStrategy::Zero1, fsdp = is_fsdp(d.parallel.sync);
  QCOMPARE(bytes(*groups, "all_reduce", "dp"), one ? parameters * width : 0);
  QCOMPARE(bytes(*groups, "all_reduce", "dp_replicate"), one ? 0 : parameters / 2 * width);
  QCOMPARE(bytes(*groups, fsdp ? "reduce_scatter" : "reduce", "dp_shard"), one ? 0 : 3 * parameters * width);
  if (!fsdp) QCOMPARE(bytes(*groups, "all_gather", "dp_shard"), parameters * stored);
}

QTEST_APPLESS_MAIN(MicsTest)
#include "mics_test.moc"
