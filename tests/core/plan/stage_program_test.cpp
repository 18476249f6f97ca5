// The order of events in the passes of a stage: rules that every reader of the stage program relies on, and
// the times at which offloaded layers leave the device and return. What each event waits for.
#include <QtTest>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "memory/memory_timeline.h"
#include "plan/stage_program.h"
#include "support/designs.h"
#include "support/random_designs.h"

using namespace shardscape;
using namespace shardscape::test;

Q_DECLARE_METATYPE(shardscape::StageLayout)
Q_DECLARE_METATYPE(shardscape::ActionKind)

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

// Layers 0 and 1 are recomputed together. The checkpoint, which is the input of layer 0, waits on the host.
StageLayout recompute_group() {
  StageLayout out = layers(2, 1);
  out.instances[0].of.checkpoint_policy = CheckpointPolicy::Input;
  out.instances[1].of.checkpoint_policy = CheckpointPolicy::Nothing;
  out.instances[1].group = 0;
  out.instances[1].ends_group = true;
  return out;
}

// "f0": the forward of instance 0. Parts: forward, replay, backward, weight gradients.
std::string name_of(const Event& event) {
  const std::string run = "frbw"[static_cast<size_t>(event.part)] + std::to_string(event.instance);
  switch (event.kind) {
    case EventKind::Gather: return "gather " + run;
    case EventKind::Run: return run;
    case EventKind::Release: return "release " + run;
    case EventKind::Store: return "store " + std::to_string(event.instance);
    case EventKind::Drop: return "drop " + std::to_string(event.instance);
    case EventKind::Load: return "load " + std::to_string(event.instance);
  }
  return "";
}

std::string name_of(const Wait& wait, std::span<const Event> events) {
  switch (wait.kind) {
    case WaitKind::Event: return name_of(events[wait.event]);
    case WaitKind::Input: return "input";
    case WaitKind::Stored: return "stored";
    case WaitKind::EarlierRun: return "earlier run";
    case WaitKind::EarlierGather: return "earlier gather";
  }
  return "";
}

// "b1 of r0: r1, gather b1": event, the event that makes its input, and what it waits for.
QStringList events_with_waits(const StageProgram& program, ActionKind kind) {
  const std::span<const Event> events = program.pass(kind, 0);
  QStringList out;
  for (const Event& event : events) {
    std::string text = name_of(event), separator = ": ";
    if (event.input != kNoEvent) text += " of " + name_of(events[event.input]);
    for (const Wait& wait : program.waits(event))
      text += std::exchange(separator, ", ") + name_of(wait, events);
    out << QString::fromStdString(text);
  }
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

// The programs of all stages of 60 random designs.
std::vector<StageProgram> random_programs(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<StageProgram> out;
  for (int made = 0; made < 60;) {
    const auto design = repaired(random_design(random), random);
    if (!design) continue;
    ++made;
    const auto report = make_report(*design);
    for (const StageReport& stage : report->stages) out.push_back(stage_program(*report, stage));
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
  void eventsWaitForWhatTheyNeed_data();
  void eventsWaitForWhatTheyNeed();
  void waitsOfRandomDesigns();
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
  for (const StageProgram& program : random_programs(11)) {
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

void StageProgramTest::eventsWaitForWhatTheyNeed_data() {
  QTest::addColumn<StageLayout>("layout");
  QTest::addColumn<ActionKind>("pass");
  QTest::addColumn<QStringList>("expected");
  const StageLayout plain = layers(2, 0);
  QTest::addRow("forward") << plain << ActionKind::Forward
                           << QStringList{"gather f0", "f0: input, gather f0", "release f0: f0",
                                          "gather f1", "f1: f0, gather f1",    "release f1: f1"};
  QTest::addRow("backward") << plain << ActionKind::Backward
                            << QStringList{"gather b1",         "b1: input, gather b1",
                                           "w1: b1, gather b1", "release b1: w1",
                                           "gather b0",         "b0: w1, gather b0",
                                           "w0: b0, gather b0", "release b0: w0"};
  QTest::addRow("input gradients") << plain << ActionKind::BackwardInput
                                   << QStringList{"gather b1", "b1: input, gather b1", "gather b0",
                                                  "b0: b1, gather b0"};
  QTest::addRow("weight gradients") << plain << ActionKind::BackwardWeight
                                    << QStringList{"w1: earlier gather", "release b1: w1",
                                                   "w0: w1, earlier gather", "release b0: w0"};
  const StageLayout offloaded = layers(3, 1);
  QTest::addRow("forward, 1 of 3 layers offloaded")
      << offloaded << ActionKind::Forward
      << QStringList{"gather f0",       "f0: input, gather f0",      "release f0: f0", "store 0: f0",
                     "gather f1",       "f1: f0, gather f1",         "release f1: f1", "gather f2",
                     "drop 0: store 0", "f2: f1, gather f2, drop 0", "release f2: f2"};
  QTest::addRow("backward, 1 of 3 layers offloaded") << offloaded << ActionKind::Backward
                                                     << QStringList{"gather b2",
                                                                    "b2: input, gather b2",
                                                                    "w2: b2, gather b2",
                                                                    "release b2: w2",
                                                                    "gather b1",
                                                                    "load 0: stored, w2",
                                                                    "b1: w2, gather b1",
                                                                    "w1: b1, gather b1",
                                                                    "release b1: w1",
                                                                    "gather b0",
                                                                    "b0: w1, gather b0, load 0",
                                                                    "w0: b0, gather b0",
                                                                    "release b0: w0"};
  // Both layers run forward again before the backward of layer 1, which reads the replay of layer 0.
  QTest::addRow("backward of a recompute group") << recompute_group() << ActionKind::Backward
                                                 << QStringList{"gather b1",
                                                                "load 0: stored, earlier run",
                                                                "gather r0",
                                                                "r0: input, gather b1, gather r0, load 0",
                                                                "release r0: r0",
                                                                "gather r1",
                                                                "r1 of r0: r0, gather b1, gather r1",
                                                                "b1 of r0: r1, gather b1",
                                                                "w1: b1, gather b1",
                                                                "release b1: w1",
                                                                "gather b0",
                                                                "b0: w1, gather b0, load 0",
                                                                "w0: b0, gather b0",
                                                                "release b0: w0"};
}

void StageProgramTest::eventsWaitForWhatTheyNeed() {
  QFETCH(StageLayout, layout);
  QFETCH(ActionKind, pass);
  QFETCH(QStringList, expected);
  QCOMPARE(events_with_waits(StageProgram(layout), pass), expected);
}

// Waits name earlier events of the pass, and no event lacks a wait.
void StageProgramTest::waitsOfRandomDesigns() {
  for (const StageProgram& program : random_programs(12)) {
    for (size_t c = 0; c < program.layout().chunks.size(); ++c)
      for (const ActionKind kind : {ActionKind::Forward, ActionKind::Backward, ActionKind::BackwardInput,
                                    ActionKind::BackwardWeight}) {
        const std::span<const Event> events = program.pass(kind, c);
        std::optional<size_t> ran;  // the latest Run
        std::set<size_t> loads;     // instances
        for (size_t e = 0; e < events.size(); ++e) {
          const Event& event = events[e];
          const auto waits_for = [&](EventKind what, size_t instance) {
            const auto waits = program.waits(event);
            return std::any_of(waits.begin(), waits.end(), [&](const Wait& wait) {
              return wait.kind == WaitKind::Event && events[wait.event].kind == what &&
                     events[wait.event].instance == instance;
            });
          };
          for (const Wait& wait : program.waits(event))
            if (wait.kind == WaitKind::Event) QVERIFY(wait.event < e);
          QCOMPARE(program.waits(event).empty(), event.kind == EventKind::Gather);
          if (event.kind == EventKind::Load) loads.insert(event.instance);
          if (event.kind == EventKind::Drop) QVERIFY(waits_for(EventKind::Store, event.instance));
          if (event.kind == EventKind::Store || event.kind == EventKind::Release)
            QVERIFY(waits_for(EventKind::Run, event.instance));
          if (event.kind != EventKind::Run) continue;
          if (ran) QVERIFY(waits_for(EventKind::Run, events[*ran].instance));
          if (kind != ActionKind::BackwardWeight) QVERIFY(waits_for(EventKind::Gather, event.instance));
          if (event.part == LayerPart::Replay || event.part == LayerPart::Backward)
            QCOMPARE(waits_for(EventKind::Load, event.instance), loads.contains(event.instance));
          ran = e;
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
