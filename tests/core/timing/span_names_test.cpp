// The collectives that spans name: each is a row of the report, whatever the gradient sync.
#include <QtTest>
#include <set>
#include <tuple>

#include "support/trace_designs.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

using Key = std::tuple<Phase, std::string, std::string>;  // phase, op, group

Key key_of(const SpanCollective& collective) {
  return {collective.phase, std::string(collective_kind_name(collective.op)), collective.group};
}

std::string text_of(const Key& key) {
  const auto& [phase, op, group] = key;
  return std::string(phase_name(phase)) + " " + op + " " + group;
}

// Rows that count spans alone, and no ops of layers.
bool is_once_a_step(Phase phase) {
  return phase == Phase::GradReduce || phase == Phase::ParamGather || phase == Phase::Step;
}

}  // namespace

class SpanNamesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void collectives_are_rows_data() { add_trace_rows(); }
  void collectives_are_rows() {
    const auto report = trace_report(fetched_trace_design());
    const auto simulation = simulate(*report);
    std::set<Key> rows;
    for (const StageReport& stage : report->stages)
      for (const CollectiveValue& row : stage.collectives)
        rows.insert({row.phase, std::string(row.op.name()), row.group});
    for (size_t s = 0; s < simulation->stages.size(); ++s) {
      std::set<Key> named;
      for (const Span& span : simulation->stages[s].spans) {
        if (span.kind != SpanKind::Collective) continue;
        QVERIFY(span.name >= 0);
        const SpanName& name = simulation->names[static_cast<size_t>(span.name)];
        QVERIFY2(name.collective, name.text.c_str());
        const Key key = key_of(*name.collective);
        QVERIFY2(rows.contains(key), (name.text + ": no row " + text_of(key)).c_str());
        named.insert(key);
      }
      for (const CollectiveValue& row : report->stages[s].collectives) {
        const Key key{row.phase, std::string(row.op.name()), row.group};
        QVERIFY2(!is_once_a_step(row.phase) || named.contains(key), ("no span " + text_of(key)).c_str());
      }
    }
  }
};

QTEST_APPLESS_MAIN(SpanNamesTest)
#include "span_names_test.moc"
