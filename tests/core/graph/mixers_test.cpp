// State-space mixers: what their layers send, compute and keep, with formulas written out by hand.
#include <QtTest>
#include <map>

#include "plan/report.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

int64_t number(const Expr& e, const Binding& binding) {
  return static_cast<int64_t>(std::get<Wide>(evaluate(e, binding)));
}

Design mixer_design(const char* preset, int64_t tp, bool sequence_parallel) {
  Design d = preset_design(preset, tp, 1, 1, sequence_parallel);
  d.workload.profile = "mamba";
  d.workload.seq = 4096;
  d.workload.microbatch = d.workload.batch = 2;
  return d;
}

// "forward all_reduce bfloat16 16777216": how often.
std::map<std::string, int> collectives(const Report& r, int segment) {
  std::map<std::string, int> out;
  const Segment& s = r.graph().segments[static_cast<size_t>(segment)];
  for (const Op& op : s.ops)
    if (is_collective(op.kind))
      ++out[std::string(phase_name(op.phase)) + " " + std::string(op_kind_name(op.kind)) + " " +
            std::string(dtype_name(s.tensor(op.inputs[0]).dtype)) + " " +
            std::to_string(number(collective_elements(s, op), r.stages[0].binding))];
  return out;
}

int64_t products(const Segment& s, Phase phase, const Binding& binding) {
  int64_t out = 0;
  for (const Op& op : s.ops)
    if (op.kind == OpKind::Einsum && op.phase == phase) out += number(op.flops, binding);
  return out;
}

int64_t saved(const Segment& s, const Binding& binding) {
  int64_t out = 0;
  for (const SavedStorage& x : s.saved)
    out += number(s.storages[static_cast<size_t>(x.storage)].bytes, binding);
  return out;
}

}  // namespace

class MixersTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Step, B and C are made of all channels, so that their projection is reduced as one; its gradient again.
  void mamba_sends_data() {
    QTest::addColumn<bool>("sequence_parallel");
    QTest::newRow("tp") << false;
    QTest::newRow("tp, sp") << true;
  }
  void mamba_sends() {
    QFETCH(bool, sequence_parallel);
    const auto r = make_report(mixer_design("mamba-1.4b", 4, sequence_parallel));
    QVERIFY(r->valid());
    const std::string stream = std::to_string(2 * 4096 * 2048),
                      steps = std::to_string(2 * 4096 * (128 + 2 * 16));
    std::map<std::string, int> expected{{"forward all_reduce bfloat16 " + steps, 1},
                                        {"backward all_reduce bfloat16 " + steps, 1}};
    if (sequence_parallel) {
      expected["forward all_gather bfloat16 " + stream] = 1;
      expected["forward reduce_scatter bfloat16 " + stream] = 1;
      expected["backward all_gather bfloat16 " + stream] = 2;
      expected["backward reduce_scatter bfloat16 " + stream] = 1;
    } else {
      expected["forward all_reduce bfloat16 " + stream] = 1;
      expected["backward all_reduce bfloat16 " + stream] = 1;
    }
    QVERIFY(collectives(*r, 1) == expected);
  }

  // Groups keep to themselves: two collectives each way, as around an MLP.
  void mamba2_sends() {
    const auto r = make_report(mixer_design("mamba2-hybrid-8b", 8, false));
    QVERIFY(r->valid());
    const std::string stream = std::to_string(2 * 4096 * 4096);
    for (int kind : {1, 2, 3})
      QVERIFY(collectives(*r, kind) ==
              (std::map<std::string, int>{{"forward all_reduce bfloat16 " + stream, 1},
                                          {"backward all_reduce bfloat16 " + stream, 1}}));
  }

  // As MambaContextParallel does: five all-to-alls in front (z, x, B, C and the steps, each with all it
  // sends) and one behind. A rank's one group is repeated for all ranks of cp: each sends cp copies of its
  // part of B and of C.
  void mamba2_exchanges_data() {
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("cp");
    QTest::newRow("groups") << 2 << 4;
    QTest::newRow("groups, sequence parallel") << 4 << 2;
    QTest::newRow("heads of one group") << 8 << 2;
    QTest::newRow("heads of one group, cp 16") << 8 << 16;
    QTest::newRow("groups and heads of each") << 4 << 4;
    QTest::newRow("groups and heads of each, cp 16") << 2 << 16;
  }
  void mamba2_exchanges() {
    QFETCH(int, tp);
    QFETCH(int, cp);
    Design d = mixer_design("mamba2-hybrid-8b", tp, tp == 4);
    d.workload.profile = "flash";
    d.parallel.cp = cp;
    const auto r = make_report(d);
    QVERIFY2(r->valid(), r->problems.empty() ? "" : to_string(r->problems.front()).c_str());
    const int64_t tokens = 2 * 4096 / cp, channels = 8192 / tp, groups = 8 / tp,
                  copies = groups < cp ? cp / groups : 1;
    std::map<std::string, int> expected;
    for (const std::string phase : {"forward", "backward"}) {
      const std::string sent = phase + " all_to_all bfloat16 ";
      expected[sent + std::to_string(tokens * channels)] = 3;               // z, x and the result
      expected[sent + std::to_string(tokens * groups * 128 * copies)] = 2;  // B, C
      expected[sent + std::to_string(tokens * 128 / tp)] += 1;              // steps
    }
    auto found = collectives(*r, 1);
    std::erase_if(found, [](const auto& row) { return row.first.find("all_to_all") == std::string::npos; });
    QVERIFY(found == expected);
    for (const Op& op : r->graph().segments[1].ops)
      if (op.kind == OpKind::AllToAll) QCOMPARE(group_name(redistribution(op).group), std::string("cp"));
    // What is kept is a cp-th, but for the copies.
    d.parallel.cp = 1;
    const auto whole = make_report(d);
    const int64_t of_copies = 2 * 2 * tokens * groups * 128 * (copies - 1);
    QCOMPARE(saved(r->graph().segments[1], r->stages[0].binding),
             saved(whole->graph().segments[1], whole->stages[0].binding) / cp + of_copies);
    // Nothing else goes over cp, and every parameter is whole on all of its ranks, which sum its gradient.
    for (const Op& op : r->graph().segments[1].ops)
      if (is_collective(op.kind) && op.kind != OpKind::AllToAll)
        QVERIFY(group_name(redistribution(op).group) == "tp");
    for (const Param& p : r->graph().segments[1].params) {
      const Segment& s = r->graph().segments[1];
      const MeshAxes& partial = s.tensor(p.gradient).placement.partial;
      for (const MeshAxis axis : cp_axes(r->graph().structure)) {
        QVERIFY(s.tensor(p.tensor).placement.shard_dim(axis) < 0);
        QVERIFY(std::count(partial.begin(), partial.end(), axis) == 1);
      }
    }
  }

  void products_of_a_layer() {
    const int64_t tokens = 2 * 4096, d = 2048, channels = 4096, rank = 128, state = 16;
    for (int64_t tp : {1, 4}) {
      const auto r = make_report(mixer_design("mamba-1.4b", tp, false));
      const int64_t forward = 2 * tokens * channels * (2 * d + rank + 2 * state + rank + d) / tp;
      QCOMPARE(products(r->graph().segments[1], Phase::Forward, r->stages[0].binding), forward);
      // The step sizes are projected again.
      QCOMPARE(products(r->graph().segments[1], Phase::Backward, r->stages[0].binding),
               2 * forward + 2 * tokens * channels * rank / tp);
    }
    const int64_t hidden = 4096, inner = 8192, bc = 2 * 8 * 128, heads = 128;
    const auto r = make_report(mixer_design("mamba2-hybrid-8b", 8, false));
    const int64_t forward = 2 * tokens * hidden * (2 * inner + bc + heads + inner) / 8;
    QCOMPARE(products(r->graph().segments[1], Phase::Forward, r->stages[0].binding), forward);
    QCOMPARE(products(r->graph().segments[1], Phase::Backward, r->stages[0].binding), 2 * forward);
  }

  void scan_in_chunks() {
    Design d = mixer_design("mamba2-hybrid-8b", 8, false);
    for (int64_t seq : {4096, 64}) {  // the last shorter than a chunk
      d.workload.seq = seq;
      const auto r = make_report(d);
      for (const Op& op : r->graph().segments[1].ops)
        if (op.kind == OpKind::Ssd && op.phase == Phase::Forward) {
          const int64_t tokens = 2 * seq, chunk = std::min<int64_t>(128, seq), channels = 8192 / 8;
          QCOMPARE(number(op.flops, r->stages[0].binding),
                   2 * tokens * (128 * chunk + channels * chunk + 2 * channels * 128));
          QVERIFY(number(op.useful_flops, r->stages[0].binding) < number(op.flops, r->stages[0].binding));
        }
    }
  }

  // Stream and its norm's statistics in float32, the norm's result, both halves of the first projection, the
  // projection of steps, B and C and copies of B and C, the scan's result, its state every 2,048 tokens,
  // decays twice and the step bias.
  void kept_of_a_mamba_layer() {
    for (int64_t seq : {4096, 2000, 2049})
      for (int64_t tp : {1, 2}) {
        Design d = mixer_design("mamba-1.4b", tp, false);
        d.workload.seq = seq;
        const auto r = make_report(d);
        const int64_t tokens = 2 * seq, channels = 4096 / tp, state = 16, chunks = (seq + 2047) / 2048;
        QCOMPARE(saved(r->graph().segments[1], r->stages[0].binding),
                 tokens * (4 * 2048 + 4 + 2 * 2048 + 2 * 2 * channels + 2 * (128 + 2 * state) +
                           2 * 2 * state + 2 * channels) +
                     2 * chunks * channels * 2 * state * 4 + 2 * channels * state * 4 + channels * 4);
      }
  }

  // Megatron's kernel normalises apart: it keeps the gated result, and the norm's for the projection.
  void kept_of_a_mamba2_layer() {
    Design d = mixer_design("mamba2-hybrid-8b", 4, true);
    for (const char* profile : {"mamba", "flash"}) {
      d.workload.profile = profile;
      const auto r = make_report(d);
      const bool fused = profile[0] == 'm';
      const int64_t tokens = 2 * 4096, channels = 8192 / 4, groups = 8 / 4, heads = 128 / 4;
      const int64_t stream = (fused ? 4 : 2) * 4096 + 4 + 2 * 4096;  // of 1/tp of the tokens
      QCOMPARE(saved(r->graph().segments[1], r->stages[0].binding),
               tokens / 4 * stream +
                   tokens * (2 * (2 * channels + 2 * groups * 128 + heads) + 2 * channels + 4 * groups +
                             (fused ? 0 : 4 * channels)) +
                   2 * heads * 4);
    }
  }

  // Decays and skips stay in float32 and have no second copy.
  void parameters_by_type() {
    const auto r = make_report(mixer_design("mamba-130m", 2, false));
    const auto part = [&](MemoryCategory category, const char* name) {
      for (const PartValue& p : r->stages[0].parts[static_cast<size_t>(category)])
        if (p.name == name) return static_cast<qint64>(p.bytes.value);
      return qint64{-1};
    };
    const qint64 wide = 24 * (1536 * 16 + 1536) / 2, all = static_cast<qint64>(r->stages[0].parameters.value);
    QCOMPARE(part(MemoryCategory::Parameters, "parameters, float32"), 4 * wide);
    QCOMPARE(part(MemoryCategory::Parameters, "parameters, bfloat16"), 2 * (all - wide));
    QCOMPARE(part(MemoryCategory::Optimizer, "master weights, float32"), 4 * (all - wide));
  }

  // The stream between stages is as wide as the profile has it.
  void wide_messages() {
    Design d = mixer_design("mamba-130m", 1, false);
    d.parallel.pp = 2;
    const auto r = make_report(d);
    bool sends = false;
    for (const CollectiveValue& c : r->stages[0].collectives)
      if (c.op == CommOp::send()) {
        sends = true;
        QCOMPARE(dtype_bytes(c.dtype), 4);
      }
    QVERIFY(sends);
  }
};

QTEST_APPLESS_MAIN(MixersTest)
#include "mixers_test.moc"
