// What latent attention and multi-token prediction send and hold: as Megatron-core places them.
#include <QtTest>

#include "plan/report.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// DeepSeek-V3 with dense layers only.
Design latent_design(int64_t tp, int64_t pp, bool sequence_parallel) {
  Design d = preset_design("llama3-8b", tp, pp, 1, sequence_parallel);
  ModelSpec& m = d.model;
  m.architecture = "latent";
  m.layers = 4;
  m.hidden = 7168;
  m.heads = m.kv_heads = 128;
  m.ffn = 18432;
  m.vocab = 129280;
  m.q_rank = 1536;
  m.kv_rank = 512;
  m.nope_head_dim = m.value_head_dim = 128;
  m.rope_head_dim = 64;
  d.workload.seq = 4096;
  d.workload.microbatch = 1;
  d.workload.batch = 2;
  return d;
}

// "all_gather 2·b·S·D": collectives of a segment in order.
QStringList collectives(const Segment& s, Phase phase, const QString& within) {
  QStringList out;
  for (const Op& op : s.ops)
    if (is_collective(op.kind) && op.phase == phase && QString::fromStdString(op.name).startsWith(within))
      out << QString::fromStdString(std::string(op_kind_name(op.kind)) + " " +
                                    collective_bytes(s, op).text());
  return out;
}

QString bytes(const StageReport& stage, Phase phase, const char* group) {
  for (const CollectiveValue& c : stage.collectives)
    if (c.phase == phase && c.group == group) return QString::fromStdString(c.bytes.formula->text());
  return "";
}

}  // namespace

class LatentTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Down projections run on sequence shards; the shared rotated key and the normalised latents are gathered.
  void sequenceParallelGathersLatents() {
    const auto report = make_report(latent_design(4, 1, true));
    QVERIFY(report->valid());
    const Segment& layer = report->graph().segments[1];
    QCOMPARE(collectives(layer, Phase::Forward, "attention."),
             QStringList({"all_gather 2·b·S·Er", "all_gather 2·b·S·Rq", "all_gather 2·b·S·Rkv",
                          "reduce_scatter 2·b·S·D"}));
    QCOMPARE(collectives(layer, Phase::Backward, "attention."),
             QStringList({"all_gather 2·b·S·Rkv", "reduce_scatter 2·b·S·Rkv", "all_gather 2·b·S·Rq",
                          "reduce_scatter 2·b·S·Rq", "reduce_scatter 2·b·S·Er"}));
    // What is the same on all tp ranks saw a part of the sequence on each.
    QCOMPARE(bytes(report->stages[0], Phase::GradReduce, "tp"),
             QString("4·Ls·D·Er + 4·Ls·D·Rkv + 4·Ls·D·Rq + 8·Ls·D + 4·Ls·Rkv + 4·Ls·Rq + 4·D"));
  }

  // Without it only the gradients of what was replicated before the heads are summed.
  void tensorParallelSumsLatentGradients() {
    const auto report = make_report(latent_design(4, 1, false));
    QVERIFY(report->valid());
    const Segment& layer = report->graph().segments[1];
    QCOMPARE(collectives(layer, Phase::Forward, "attention."), QStringList({"all_reduce 2·b·S·D"}));
    QCOMPARE(collectives(layer, Phase::Backward, "attention."),
             QStringList({"all_reduce 2·b·S·Rkv", "all_reduce 2·b·S·Rq", "all_reduce 2·b·S·Er"}));
    QCOMPARE(bytes(report->stages[0], Phase::GradReduce, "tp"), QString());
  }

  // A module has a layer, a projection from both, three norms, and nothing of its own from embedding and
  // head.
  void modulesShareEmbeddingAndHead() {
    Design d = latent_design(1, 1, false);
    const Wide plain = make_report(d)->model_parameters.value, layer = 583483392, hidden = d.model.hidden;
    for (int64_t depths = 1; depths <= 4; ++depths) {
      d.model.mtp_layers = depths;
      const auto report = make_report(d);
      QVERIFY(report->model_parameters.value - plain == depths * (layer + 2 * hidden * hidden + 3 * hidden));
      QVERIFY(report->active_parameters.value == report->model_parameters.value);
      QVERIFY(report->stages[0].parameters.value >= report->model_parameters.value);  // the padded vocabulary
    }
  }

  // On the last stage the module keeps a copy of the embedding, whose gradient meets the first stage's.
  void embeddingGroupReducesTheSharedTable() {
    Design d = latent_design(2, 2, true);
    QCOMPARE(bytes(make_report(d)->stages[0], Phase::GradReduce, "embedding"), QString());
    d.model.mtp_layers = 2;
    const auto report = make_report(d);
    for (const StageReport& stage : report->stages)
      QCOMPARE(bytes(stage, Phase::GradReduce, "embedding"), QString("4·D·Vp/tp"));
    const Wide table = Wide(report->binding.get(Symbol::intern("Vp")).value()) * d.model.hidden / 2;
    const Wide both = report->stages[0].parameters.value + report->stages[1].parameters.value;
    d.parallel.pp = 1;
    QVERIFY(both == make_report(d)->stages[0].parameters.value + table);
  }

  // The projection is column parallel: its output is gathered, then split by sequence, and back the same way.
  void projectionIsColumnParallel() {
    Design d = latent_design(4, 1, true);
    d.model.mtp_layers = 1;
    const auto report = make_report(d);
    const Segment& head = report->graph().segments.back();
    QCOMPARE(collectives(head, Phase::Forward, "mtp1_x."),
             QStringList({"all_gather 4·b·S·D", "all_gather 2·b·S·D"}));
    QCOMPARE(collectives(head, Phase::Backward, "mtp1_x."),
             QStringList({"all_gather 2·b·S·D", "all_gather 4·b·S·D", "reduce_scatter 4·b·S·D"}));
  }
};

QTEST_APPLESS_MAIN(LatentTest)
#include "latent_test.moc"
