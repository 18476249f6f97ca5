// The bytes of saved tensors by layer, with several virtual stages.
#include <QtTest>

#include <map>
#include <numeric>
#include <set>
#include <span>

#include "design/knobs/knobs.h"
#include "memory/memory_timeline.h"
#include "plan/bound_plan.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

class SavedByLayerTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  // Saved tensors belong to the layers of the virtual stage that holds them, in proportion to its
  // microbatches in flight.
  void everyVirtualStageHoldsItsLayers_data() {
    QTest::addColumn<QString>("schedule");
    QTest::addColumn<QString>("virtual_stages");
    QTest::newRow("interleaved") << "1f1b"
                                 << "4";
    QTest::newRow("zb-v") << "zb-v"
                          << "2";
    QTest::newRow("dualpipe-v") << "dualpipe-v"
                                << "2";
  }
  void everyVirtualStageHoldsItsLayers() {
    QFETCH(const QString, schedule);
    QFETCH(const QString, virtual_stages);
    Design design = preset_design("llama3-8b", 1, 2, 1);
    for (const auto& [knob, value] : {std::pair{"schedule", schedule.toStdString()},
                                      {"virtual_stages", virtual_stages.toStdString()},
                                      {"batch", "8"}})
      QVERIFY2(!set_knob(design, *find_knob(knob), value), knob);
    const auto report = make_report(design);
    QVERIFY(report->valid());
    const auto actions_of = [&](int stage) {
      return make_stage_schedule(design.parallel, stage, static_cast<int>(report->microbatches),
                                 report->cache.get());
    };
    const auto memory = memory_timeline(*report);
    for (const StageMemory& stage : memory->stages) {
      const std::vector<Action> actions = actions_of(stage.stage);
      const std::vector<StageChunk>& chunks = report->stages[static_cast<size_t>(stage.stage)].chunks;
      std::vector<int64_t> in_flight(chunks.size());
      std::set<int> runs{stage.action.chunk};
      if (actions[static_cast<size_t>(stage.action_index)].overlapped)
        runs.insert(actions[static_cast<size_t>(stage.action_index) + 1].chunk);
      for (const Action& a : std::span(actions).first(static_cast<size_t>(stage.action_index)))
        in_flight[static_cast<size_t>(a.chunk)] += (a.kind == ActionKind::Forward) -
                                                   (a.kind == ActionKind::Backward ||
                                                    a.kind == ActionKind::BackwardInput);
      for (const MemoryContributor& c : stage.contributors) {
        if (!c.name.starts_with("Gated MLP, saved")) continue;
        std::map<int64_t, int64_t> by_layer;
        for (const auto& [layer, bytes] : c.layers) by_layer[layer] = bytes;
        std::set<int64_t> of_one;  // bytes of one microbatch of a layer
        const auto visit = [&](bool running, const auto& seen) {
          for (size_t chunk = 0; chunk < chunks.size(); ++chunk)
            for (int64_t i = 0; i < chunks[chunk].layers; ++i)
              if (runs.contains(static_cast<int>(chunk)) == running)
                seen(by_layer[chunks[chunk].first_layer + i], in_flight[chunk]);
        };
        visit(false, [&](int64_t bytes, int64_t held) {
          QCOMPARE(bytes > 0, held > 0);
          if (bytes > 0) of_one.insert(bytes / held);
          if (bytes > 0) QCOMPARE(bytes % held, 0);
        });
        // A pass that runs has saved tensors of some layers, or has used them.
        int64_t common = 0;
        visit(true, [&](int64_t bytes, int64_t) { common = std::gcd(common, bytes); });
        if (of_one.empty()) of_one.insert(common);
        visit(true, [&](int64_t bytes, int64_t held) {
          QCOMPARE(bytes % *of_one.begin(), 0);
          const int64_t count = bytes / *of_one.begin();
          QVERIFY2(held - 1 <= count && count <= held + 1, qPrintable(QString::number(count)));
        });
        QCOMPARE(of_one.size(), size_t{1});
      }
    }
  }
};

QTEST_APPLESS_MAIN(SavedByLayerTest)
#include "saved_by_layer_test.moc"
