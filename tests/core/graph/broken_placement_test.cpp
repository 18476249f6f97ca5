// The proofs by execution notice mistakes: a graph with one wrong group, placement or saved tensor no longer
// computes what the unsharded run computes.
#include <QtTest>

#include "graph/build.h"
#include "support/equivalence.h"
#include "support/execution_runs.h"
#include "support/test_share.h"
#include "support/tiny_models.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

struct Mistake {
  std::string name;
  GraphChange change;
};
using Mistakes = std::vector<Mistake>;

// Every collective runs over other mesh axes.
void add_groups(const Segment& s, size_t segment, Mistakes& out) {
  for (size_t op = 0; op < s.ops.size(); ++op)
    if (is_collective(s.ops[op].kind))
      out.push_back({s.name + ", group of " + s.ops[op].name, [=](std::vector<Segment>& all) {
                       MeshAxes& group = std::get<Redistribution>(all[segment].ops[op].attributes).group;
                       group = {group == MeshAxes{MeshAxis::Dp} ? MeshAxis::Tp : MeshAxis::Dp};
                     }});
}

// Every split dimension of a parameter is whole, and no gradient is summed over ranks.
void add_placements(const Segment& s, size_t segment, Mistakes& out) {
  for (const Param& p : s.params) {
    const auto weight = static_cast<size_t>(p.tensor), gradient = static_cast<size_t>(p.gradient);
    for (size_t dim = 0; dim < s.tensors[weight].placement.shards.size(); ++dim)
      if (!s.tensors[weight].placement.shards[dim].empty())
        out.push_back({s.name + ", split of " + s.tensors[weight].name, [=](std::vector<Segment>& all) {
                         all[segment].tensors[weight].placement.shards[dim].clear();
                       }});
    if (p.gradient >= 0 && !s.tensors[gradient].placement.partial.empty())
      out.push_back({s.name + ", sum of " + s.tensors[gradient].name, [=](std::vector<Segment>& all) {
                       all[segment].tensors[gradient].placement.partial.clear();
                     }});
  }
}

// Every saved tensor is not saved.
void add_saved(const Segment& s, size_t segment, Mistakes& out) {
  for (size_t i = 0; i < s.saved.size(); ++i)
    out.push_back({s.name + ", saved tensor " + std::to_string(i), [=](std::vector<Segment>& all) {
                     all[segment].saved.erase(all[segment].saved.begin() + static_cast<std::ptrdiff_t>(i));
                   }});
}

}  // namespace

class BrokenPlacementTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void isNoticed_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QString>("settings");
    QTest::newRow("dense") << "ministral3-3b"
                           << "tp=2 sp dp=2";
    QTest::newRow("context") << "qwen2.5-72b"
                             << "tp=2 cp=2 dp=2 context=all-gather";
    QTest::newRow("own sizes, stages") << "nemotron-super-49b"
                                       << "tp=2 dp=2 pp=2 sp";
    QTest::newRow("experts") << "llama4-scout"
                             << "tp=2 sp dp=4 ep=4 etp=1";
  }
  void isNoticed() {
    QFETCH(QString, preset);
    QFETCH(QString, settings);
    Design d = tiny_preset(preset.toStdString());
    set_knobs(d, settings.toStdString());
    QCOMPARE(difference_from_unsharded(d), std::string());
    const auto built = build_graph(structure_of(d), ModelLibrary::instance());
    const Graph& graph = *std::get<0>(built);
    Mistakes mistakes;
    for (size_t i = 0; i < graph.segments.size(); ++i) {
      add_groups(graph.segments[i], i, mistakes);
      add_placements(graph.segments[i], i, mistakes);
      add_saved(graph.segments[i], i, mistakes);
    }
    QVERIFY(mistakes.size() > 60);
    QStringList missed;
    for (size_t i = 0; i < mistakes.size(); i += static_cast<size_t>(test_share()))
      if (difference_from_unsharded(d, mistakes[i].change).empty())
        missed << QString::fromStdString(mistakes[i].name);
    QCOMPARE(missed.join("; "), QString());
  }
};

QTEST_APPLESS_MAIN(BrokenPlacementTest)
#include "broken_placement_test.moc"
