// Tensors that one layer makes and later layers read: kinds, work, caches, messages and memory follow from
// who makes and who reads.
#include <QtTest>

#include "graph/carried_tensors.h"
#include "memory/memory_timeline.h"
#include "plan/report.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

int64_t number(const Expr& e, const Binding& b) {
  return static_cast<int64_t>(std::get<Wide>(evaluate(e, b)));
}

// GLM-5.2, one sequence of 4,096 tokens per microbatch.
Design glm(Mode mode, int pp) {
  Design d = preset_design("glm-5.2", 1, pp, 1);
  d.workload.mode = mode;
  d.workload.seq = d.workload.context_length = 4096;
  d.workload.batch = 2;
  d.workload.microbatch = 1;
  return d;
}

// Four layers, of which the last two read the keys of the second.
Design gemma_design(int pp) {
  Design d = preset_design("llama3-8b", 1, pp, 1);
  d.model.architecture = "gemma4";
  d.model.layers = 4;
  d.model.window = 512;
  d.model.rope_head_dim = 32;
  d.model.layer_pattern = "full*2, full_shared*2";
  return d;
}

std::shared_ptr<const Report> valid_report(const Design& d) {
  auto r = make_report(d);
  if (!r->valid()) qFatal("%s", to_string(r->problems.front()).c_str());
  return r;
}

constexpr int64_t kPicks = int64_t{8} * 4096 * 2048;  // bytes of the picks of a microbatch
constexpr int64_t kStream = int64_t{2} * 4096 * 6144;

int64_t saved_picks(const Report& r, const Segment& s) {
  int64_t out = 0;
  for (const SavedStorage& saved : s.saved) {
    const Storage& storage = s.storages[static_cast<size_t>(saved.storage)];
    if (QString::fromStdString(storage.name).endsWith("picked")) out += number(storage.bytes, r.binding);
  }
  return out;
}

}  // namespace

class CarriedTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The indexer runs in 21 of 78 layers, and only these cache its keys.
  void sharedIndexers() {
    const auto decode = valid_report(glm(Mode::Decode, 1));
    Wide index = 0, attention = 0;
    for (const FlopsValue& f : decode->stages[0].flops) {
      if (f.kind == OpKind::IndexTopK) index += f.counted.value;
      if (f.kind == OpKind::Attention) attention += f.counted.value;
    }
    QCOMPARE(static_cast<int64_t>(index), int64_t{21} * 2 * 32 * 128 * 4096 * 2);
    QCOMPARE(static_cast<int64_t>(attention), int64_t{78} * 2 * 64 * (576 + 512) * 2048 * 2);
    for (const Mode mode : {Mode::Train, Mode::Prefill, Mode::Decode})
      QCOMPARE(static_cast<int64_t>(valid_report(glm(mode, 1))->kv_cache_bytes.value),
               int64_t{78} * 1152 + 21 * 132);
  }

  // A layer whose picks no other layer reads, one that hands them on, and those that read them.
  void kinds() {
    const auto r = valid_report(glm(Mode::Train, 1));
    const Graph& graph = r->graph();
    QStringList names;
    for (int k = 0; k < graph.kinds(); ++k)
      names << QString::fromStdString(graph.segments[static_cast<size_t>(1 + k)].name);
    QCOMPARE(names, (QStringList{"dense", "dense_2", "moe_shared", "moe"}));
    const auto of = [&](int64_t layer) -> const Segment& {
      return graph.segments[static_cast<size_t>(1 + graph.layer_kind(layer, r->design.model))];
    };
    QVERIFY(of(0).carried.empty());
    QVERIFY(of(2).carried.size() == 1 && of(2).carried[0].in < 0 && of(2).carried[0].out >= 0);
    for (const int64_t reader : {3, 5, 77}) {
      QVERIFY(of(reader).carried.size() == 1 && of(reader).carried[0].in >= 0);
      QVERIFY(!of(reader).carried[0].held && of(reader).carried[0].in_grad < 0);
    }
    QCOMPARE(carried_across(graph, r->design.model, 3), 1);
    QCOMPARE(carried_across(graph, r->design.model, 6), 0);
  }

  // Layers that pick save their picks, under full recompute only for others; readers save nothing. The first
  // reader of a stage holds the picks of the message.
  void savedPicks() {
    for (const bool full : {false, true}) {
      Design d = glm(Mode::Train, 2);  // the second stage begins with layer 39, which reads picks of layer 38
      d.workload.recompute = full ? Recompute::Full : Recompute::None;
      const auto r = valid_report(d);
      std::map<QString, int64_t> saved;
      for (const Segment& s : r->graph().segments)
        if (s.kind == SegmentKind::Layer) saved[QString::fromStdString(s.name)] = saved_picks(*r, s);
      const std::map<QString, int64_t> expected{{"dense", full ? 0 : kPicks},
                                                {"dense_2", kPicks},
                                                {"moe", kPicks},
                                                {"moe_shared", 0},
                                                {"moe_shared_39", kPicks}};
      for (const auto& [name, bytes] : expected) QCOMPARE(saved.at(name), bytes);
      QCOMPARE(saved.size(), expected.size());
    }
  }

  // A message has the picks if a layer behind it reads them: 8 bytes per pick, in elements of the stream.
  void messages() {
    for (const int pp : {2, 13}) {
      const auto r = valid_report(glm(Mode::Train, pp));
      for (size_t p = 0; p + 1 < r->stages.size(); ++p) {
        const StageChunk& next = r->stages[p + 1].chunks.front();
        const auto reads = [](int64_t layer) { return layer > 2 && (layer - 2) % 4 != 0; };
        const bool before = p > 0 && reads(r->stages[p].chunks.front().first_layer);
        const bool behind = reads(next.first_layer);
        Wide sent = 0, received = 0;
        for (const CollectiveValue& c : r->stages[p].collectives)
          if (c.phase == Phase::Pipeline) (c.op == CommOp::send() ? sent : received) += c.bytes.value;
        const int64_t streams = 2 * (p > 0 ? 2 : 1) * kStream;  // two microbatches, forward and backward
        QCOMPARE(static_cast<int64_t>(sent), streams + 2 * behind * kPicks);
        QCOMPARE(static_cast<int64_t>(received), streams + 2 * before * kPicks);
      }
    }
  }

  // Memory at the end of a step is that at its begin: gradients of carried tensors end where they are made,
  // or in a message.
  void timeline() {
    Design gemma = gemma_design(2);
    gemma.model.architecture = "gemma4; per_layer";
    gemma.model.per_layer_dim = 64;
    for (const Design& d :
         {glm(Mode::Train, 1), glm(Mode::Train, 2), gemma_design(1), gemma_design(2), gemma}) {
      const auto r = valid_report(d);
      const int pp = static_cast<int>(d.parallel.pp);
      for (int stage = 0; stage < pp; ++stage) {
        const std::vector<ActionMemory> actions = stage_timeline(*r, stage);
        QCOMPARE(total(actions.back().end), total(actions.front().begin));
      }
    }
  }

  void refused() {
    Design d = glm(Mode::Train, 2);
    d.workload.offload_activations = 1;
    const auto offloaded = make_report(d);
    QVERIFY(!offloaded->valid());
    QVERIFY(std::any_of(offloaded->problems.begin(), offloaded->problems.end(),
                        [](const Problem& p) { return p.code == ProblemCode::CarriedOffloaded; }));
    d = glm(Mode::Prefill, 1);
    d.model.layer_pattern = "dense_shared, (moe, moe_shared)*";
    const auto unmade = make_report(d);
    QVERIFY(!unmade->valid());
    QVERIFY(unmade->problems.front().code == ProblemCode::CarriedUnmade);
    QVERIFY(unmade->problems.front().what.find("layer 0 reads \"picked\"") == 0);
    // Layers that share a cache stay on one stage where there are caches.
    d = gemma_design(2);
    QVERIFY(make_report(d)->valid());
    d.workload.mode = Mode::Prefill;
    const auto split = make_report(d);
    QVERIFY(!split->valid());
    QVERIFY(split->problems.front().code == ProblemCode::CarriedCacheSplit);
    QVERIFY(split->problems.front().what.find("layer 2 reads the cache of layer 1") == 0);
  }
};

QTEST_APPLESS_MAIN(CarriedTest)
#include "carried_test.moc"
