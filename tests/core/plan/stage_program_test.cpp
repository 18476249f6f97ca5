// The order of events in the passes of a stage: rules that every reader of the stage program relies on, and
// the times at which offloaded layers leave the device and return.
#include <QtTest>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "memory/memory_timeline.h"
#include "plan/stage_program.h"
#include "support/designs.h"
#include "support/random_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// A stage of layers only; the first `offloaded` of them wait on the host.
StageLayout layers(size_t count, size_t offloaded) {
  StageLayout out;
  for (size_t i = 0; i < count; ++i)
    out.instances.push_back({1,
                             static_cast<int64_t>(i),
                             static_cast<int64_t>(i + 1),
                             {CheckpointPolicy::Activations, i < offloaded},
                             i,
                             false});
  out.chunks.push_back({0, count});
  return out;
}

// For each event of a kind, by instance: the instance of the next Run of this part; `end`: none.
std::map<size_t, size_t> next_run(std::span<const Event> events, EventKind kind, LayerPart part, size_t end) {
  std::map<size_t, size_t> out;
  for (size_t e = 0; e < events.size(); ++e) {
    if (events[e].kind != kind) continue;
    size_t next = end;
    for (size_t f = e + 1; f < events.size() && next == end; ++f)
      if (events[f].kind == EventKind::Run && events[f].part == part) next = events[f].instance;
    out[events[e].instance] = next;
  }
  return out;
}

}  // namespace

class StageProgramTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void offloadedLayersFollowTransformerEngine_data();
  void offloadedLayersFollowTransformerEngine();
  void atMostTheOthersAreOnTheDevice();
  void passesHoldTheirInvariants();
  void memoryOfOffloadedLayersIsThatOfTheOthers();
};

void StageProgramTest::offloadedLayersFollowTransformerEngine_data() {
  QTest::addColumn<int>("count");
  QTest::addColumn<int>("offloaded");
  for (const auto& [count, offloaded] : {std::pair{16, 2}, {16, 8}, {16, 14}, {16, 15}, {4, 1}, {2, 1}})
    QTest::addRow("%d of %d", offloaded, count) << count << offloaded;
}

// DefaultOffloadSynchronizer: the offload of layer i ends before the forward of layer n - k + i, its reload
// starts before the backward of layer n - 1 - k + i.
void StageProgramTest::offloadedLayersFollowTransformerEngine() {
  QFETCH(int, count);
  QFETCH(int, offloaded);
  const StageProgram program(layers(static_cast<size_t>(count), static_cast<size_t>(offloaded)));
  const auto n = static_cast<size_t>(count), k = static_cast<size_t>(offloaded);
  const auto drops = next_run(program.pass(ActionKind::Forward, 0), EventKind::Drop, LayerPart::Forward, n);
  const auto loads = next_run(program.pass(ActionKind::Backward, 0), EventKind::Load, LayerPart::Backward, n);
  QCOMPARE(drops.size(), k);
  QCOMPARE(loads.size(), k);
  for (size_t i = 0; i < k; ++i) {
    QCOMPARE(drops.at(i), n - k + i);
    QCOMPARE(loads.at(i), n - 1 - k + i);
  }
}

void StageProgramTest::atMostTheOthersAreOnTheDevice() {
  for (size_t n = 1; n <= 12; ++n)
    for (size_t k = 0; k <= n; ++k) {
      const StageProgram program(layers(n, k));
      std::set<size_t> here;
      size_t most = 0;
      for (const ActionKind kind : {ActionKind::Forward, ActionKind::Backward})
        for (const Event& event : program.pass(kind, 0)) {
          if (event.kind == EventKind::Drop) QVERIFY(here.erase(event.instance));
          if (event.kind == EventKind::Load) QVERIFY(here.insert(event.instance).second);
          if (event.kind == EventKind::Run && event.part == LayerPart::Forward) here.insert(event.instance);
          if (event.kind == EventKind::Run && event.part == LayerPart::Backward)
            QVERIFY(here.contains(event.instance));
          most = std::max(most, here.size());
          if (event.kind == EventKind::Run && event.part == LayerPart::Weight) here.erase(event.instance);
        }
      QVERIFY(here.empty());
      QCOMPARE(most, std::max<size_t>(n - k, 1));
    }
}

// For random designs: every layer runs once in the forward and once in the backward, between its Gather and
// its Release. A recomputed layer is replayed right before the backwards of its group. A stored layer is
// loaded before it is read.
void StageProgramTest::passesHoldTheirInvariants() {
  std::mt19937 random(11);
  for (int made = 0; made < 60;) {
    const auto design = repaired(random_design(random), random);
    if (!design) continue;
    ++made;
    const auto report = make_report(*design);
    for (const StageReport& stage : report->stages) {
      const StageProgram program = stage_program(*report, stage);
      for (size_t c = 0; c < program.layout().chunks.size(); ++c) {
        const StageRange range = program.layout().chunks[c];
        std::vector<size_t> forwards, backwards;
        std::set<size_t> gathered, stored, loaded, replayed;
        for (const Event& e : program.pass(ActionKind::Forward, c)) {
          if (e.kind == EventKind::Gather) gathered.insert(e.instance);
          if (e.kind == EventKind::Run) QVERIFY(gathered.contains(e.instance));
          if (e.kind == EventKind::Run) forwards.push_back(e.instance);
          if (e.kind == EventKind::Store) stored.insert(e.instance);
          if (e.kind == EventKind::Drop) QVERIFY(stored.contains(e.instance));
        }
        for (const Event& e : program.pass(ActionKind::Backward, c)) {
          if (e.kind == EventKind::Load) loaded.insert(e.instance);
          if (e.kind != EventKind::Run) continue;
          if (e.part == LayerPart::Replay) replayed.insert(e.instance);
          if (e.part == LayerPart::Backward) backwards.push_back(e.instance);
          if (e.part == LayerPart::Backward && stored.contains(e.instance))
            QVERIFY(loaded.contains(e.instance));
        }
        QCOMPARE(forwards.size(), range.end - range.first);
        QVERIFY(std::is_sorted(forwards.begin(), forwards.end()));
        std::reverse(backwards.begin(), backwards.end());
        QCOMPARE(backwards, forwards);
        for (size_t i = range.first; i < range.end; ++i)
          QCOMPARE(replayed.contains(i),
                   program.layout().instances[i].of.checkpoint_policy != CheckpointPolicy::Activations);
      }
    }
  }
}

// The first 2 of 16 layers wait on the host: memory peaks with the saved tensors of 14 layers, as the
// timeline has it.
void StageProgramTest::memoryOfOffloadedLayersIsThatOfTheOthers() {
  const auto saved_at_peak = [](int64_t offloaded) {
    Design d = preset_design("llama3-8b", 1, 1, 1);
    d.model.layers = 16;
    d.workload.batch = d.workload.microbatch = 1;
    d.workload.offload_activations = offloaded;
    const auto report = make_report(d);
    if (!report->valid()) qFatal("%s", report->problems.front().what.c_str());
    const auto memory = memory_timeline(*report);
    return memory->stages.front().at_peak[static_cast<size_t>(MemoryCategory::Activations)];
  };
  const int64_t none = saved_at_peak(0), layer = none - saved_at_peak(1);
  QVERIFY(layer > 0);
  QCOMPARE(none - saved_at_peak(2), 2 * layer);
  QCOMPARE(none - saved_at_peak(8), 8 * layer);
}

QTEST_APPLESS_MAIN(StageProgramTest)
#include "stage_program_test.moc"
