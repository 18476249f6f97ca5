// Kinds of collectives: names, results against the tensors of graphs, and the ops that reports count.
#include <QtTest>
#include <set>
#include <stdexcept>

#include "mesh/collective_kind.h"
#include "plan/report.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

int64_t number(const Expr& expr, const Binding& binding) {
  return static_cast<int64_t>(std::get<Wide>(evaluate(expr, binding)));
}

void compare(const Report& report, const Segment& segment, const Op& op, std::set<CollectiveKind>& seen) {
  const Binding& binding = report.stages[0].binding;
  const int64_t ranks = number(group_size(report.graph().structure, redistribution(op).group), binding),
                in = number(local_elements(segment.tensor(op.inputs[0])), binding),
                out = number(local_elements(segment.tensor(op.outputs[0])), binding);
  QCOMPARE(ranks, int64_t{4});
  seen.insert(collective_of(op.kind));
  switch (collective_result(collective_of(op.kind))) {
    case CollectiveResult::Whole: QCOMPARE(out, in); break;
    case CollectiveResult::Gathered: QCOMPARE(out, in * ranks); break;
    case CollectiveResult::Shard: QCOMPARE(out * ranks, in); break;
  }
}

}  // namespace

class CollectiveKindTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void names_are_unique_and_found() {
    std::set<std::string_view> names;
    for (int k = 0; k < kCollectiveKindCount; ++k) {
      const auto kind = static_cast<CollectiveKind>(k);
      names.insert(collective_kind_name(kind));
      QVERIFY(find_collective_kind(collective_kind_name(kind)) == kind);
    }
    QCOMPARE(names.size(), static_cast<size_t>(kCollectiveKindCount));
    QVERIFY(!names.contains(""));
    QVERIFY(!find_collective_kind("send"));
  }

  // The graph derives the sizes of results from placements.
  void results_have_the_size_of_the_graph() {
    std::set<CollectiveKind> seen;
    for (const bool sequence_parallel : {false, true}) {
      const auto r = make_report(preset_design("llama3-8b", 4, 1, 1, sequence_parallel));
      QVERIFY(r->valid());
      for (const Segment& segment : r->graph().segments)
        for (const Op& op : segment.ops)
          if (is_collective(op.kind)) compare(*r, segment, op, seen);
    }
    QVERIFY(seen.contains(CollectiveKind::AllGather));
    QVERIFY(seen.contains(CollectiveKind::ReduceScatter));
    QVERIFY(seen.contains(CollectiveKind::AllReduce));
  }

  void counted_ops() {
    QCOMPARE(CommOp(CollectiveKind::AllToAll).name(), std::string_view("all_to_all"));
    QCOMPARE(CommOp::send().name(), std::string_view("send"));
    QCOMPARE(CommOp::receive().name(), std::string_view("recv"));
    QVERIFY(CommOp::send().is_message());
    QVERIFY(!CommOp(CollectiveKind::Reduce).is_message());
    QVERIFY(CommOp::send() != CommOp::receive());
    QVERIFY(CommOp(CollectiveKind::AllGather) < CommOp(CollectiveKind::AllReduce));
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, static_cast<void>(CommOp(CollectiveKind::SendRecv)));
  }
};

QTEST_APPLESS_MAIN(CollectiveKindTest)
#include "collective_kind_test.moc"
