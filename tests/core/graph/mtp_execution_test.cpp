// Modules of multi-token prediction as families have them, proved by execution and by their parameters: sizes
// of other layers, own heads, two sublayers, a projection as a sum.
#include <QDir>
#include <QTemporaryDir>
#include <QtTest>

#include "design/validate/validate.h"
#include "plan/report.h"
#include "support/designs.h"
#include "support/equivalence.h"
#include "support/execution_runs.h"
#include "support/expert_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// The lines as elements of a JSON list.
QString listed(const QString& lines) { return "\"" + QString(lines).replace("; ", "\", \"") + "\""; }

const QString kDense =
    "n1 = rms_norm(x); a = self_attention(n1;qk_norm, rope, window); h = residual(x, a); "
    "n2 = rms_norm(h); f = gated_mlp(n2); y = residual(h, f)";
const QString kSparse =
    "n1 = rms_norm(x); a = self_attention(n1;qkv_bias, rope); h = residual(x, a); "
    "n2 = rms_norm(h); moe = sigmoid_moe(n2); shared = shared_mlp(n2); "
    "f = residual(moe, shared); y = residual(h, f)";
// Nemotron-H: each sublayer has one mixer (pattern "*E").
const QString kSublayers =
    "n1 = rms_norm(x); a = self_attention(n1); h = residual(x, a); "
    "n2 = rms_norm(h); f = moe(n2); y = residual(h, f)";

// A form of the modules: the variant, the projection, the layer and the head.
struct Form {
  const char *name, *variant, *projection;
  const QString& layer;
  const char* head;
};
const Form kForms[] = {{"mtp-dense", "sliding", "mtp_projection", kDense, "lm_head"},
                       {"mtp-own-heads", "sliding", "mtp_projection", kDense, "own_lm_head"},
                       {"mtp-sparse", "full", "mtp_projection", kSparse, "lm_head"},
                       {"mtp-sum", "full", "mtp_sum_projection", kSparse, "own_lm_head"},
                       {"mtp-sublayers", "", "mtp_projection", kSublayers, "lm_head"}};

// Layers "sliding", which are dense, and "full", which have experts.
QByteArray architecture(const Form& form) {
  const QString lines = QString(
                            "e = token_embedding(); x = %1(n, e); %2; n = rms_norm(y); logits = %3(n); "
                            "further = cross_entropy(logits); loss = mtp_loss(loss, further)")
                            .arg(form.projection, form.layer, form.head);
  const QString variant = *form.variant ? QString("\"variant\": \"%1\", ").arg(form.variant) : QString();
  return QString(
             "{\"architecture\": \"%1\", \"embedding\": [\"x = token_embedding()\"], "
             "\"layers\": {\"sliding\": [%2], \"full\": [%3]}, \"pattern\": [\"sliding\", \"full\"], "
             "\"head\": [%4], \"mtp\": {%5\"lines\": [%6]}}")
      .arg(form.name, listed(kDense), listed(kSparse),
           listed("n = rms_norm(x); logits = lm_head(n); loss = cross_entropy(logits)"), variant,
           listed(lines))
      .toUtf8();
}

Design form_design(const QString& form, int depths, const QString& variants, bool tied) {
  Design d = experts_design(qPrintable(form));
  d.model.layers = 2;
  d.model.shared_experts = 1;
  d.model.window = 3;
  d.model.mtp_layers = depths;
  d.model.tied_embeddings = tied;
  d.workload.seq = 8;
  d.workload.batch = 4;
  set_value(d, "variants", variants.toStdString());
  return d;
}

struct Run {
  int tp;
  bool sp;
  int pp, dp, cp, ep, recompute;
};
constexpr Run kRuns[] = {{1, false, 1, 2, 1, 2, 0}, {2, false, 2, 1, 1, 1, 0}, {2, true, 1, 2, 1, 2, 1},
                         {4, false, 1, 1, 1, 1, 0}, {4, true, 2, 1, 1, 1, 2},  {2, true, 2, 1, 2, 2, 0}};

}  // namespace

class MtpExecutionTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir home_;

 private Q_SLOTS:
  void initTestCase() {
    qputenv("XDG_DATA_HOME", home_.path().toUtf8());
    const QDir folder(home_.filePath("shardscape/models/architectures"));
    QVERIFY(folder.mkpath("."));
    for (const Form& form : kForms) {
      QFile file(folder.filePath(QString(form.name) + ".json"));
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(architecture(form));
    }
    for (const Problem& problem : ModelLibrary::instance().problems()) QFAIL(to_string(problem).c_str());
  }

  void equalsUnsharded_data() {
    QTest::addColumn<QString>("form");
    QTest::addColumn<QString>("variants");
    QTest::addColumn<int>("run");
    QTest::addColumn<int>("depths");
    for (const Form& form : kForms)
      for (const auto& [name, variants] :
           {std::pair{"", ""},
            {" own sizes", "sliding: sliding heads=8 head_dim=6 ffn=16 window=5"},
            {" KV heads below tp", "sliding: sliding kv_heads=1; full: full kv_heads=4 head_dim=6"}})
        for (size_t run = 0; run < std::size(kRuns); ++run)
          QTest::addRow("%s%s run %zu", form.name, name, run)
              << QString(form.name) << QString(variants) << static_cast<int>(run)
              << static_cast<int>(1 + (run + (*name ? 1 : 0)) % 3);
  }
  void equalsUnsharded() {
    QFETCH(QString, form);
    QFETCH(QString, variants);
    QFETCH(int, run);
    QFETCH(int, depths);
    const Run& r = kRuns[run];
    Design d = form_design(form, depths, variants, run % 2 == 1);
    set_mesh(d, r.tp, r.sp, r.pp, r.dp, r.cp);
    d.parallel.ep = r.ep;
    d.workload.recompute = static_cast<Recompute>(r.recompute);
    const std::vector<Problem> problems = validate(d);
    QVERIFY2(!has_errors(problems), problems.empty() ? "" : to_string(problems.front()).c_str());
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void releasedEqualsUnsharded_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<int>("run");
    for (const char* architecture : {"mimo", "glm4-moe; qkv_bias, qk_norm, part_rope"})
      for (size_t run = 0; run < std::size(kRuns); ++run)
        QTest::newRow((architecture + (" run " + std::to_string(run))).c_str())
            << QString(architecture) << static_cast<int>(run);
  }
  void releasedEqualsUnsharded() {
    QFETCH(QString, architecture);
    QFETCH(int, run);
    const Run& r = kRuns[run];
    const bool experts = architecture != "mimo";
    Design d = experts ? experts_design(qPrintable(architecture)) : tiny_design(qPrintable(architecture));
    if (experts) {
      d.model.shared_experts = d.model.dense_layers = 1;
      d.model.rope_head_dim = 2;
    }
    d.model.mtp_layers = 1;
    d.workload.seq = 8;
    set_mesh(d, r.tp, r.sp, r.pp, r.dp, r.cp);
    d.parallel.ep = experts ? r.ep : 1;
    d.workload.recompute = static_cast<Recompute>(r.recompute);
    const std::vector<Problem> problems = validate(d);
    QVERIFY2(!has_errors(problems), problems.empty() ? "" : to_string(problems.front()).c_str());
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void equalsFiniteDifferences_data() {
    QTest::addColumn<QString>("form");
    for (const Form& form : kForms) QTest::addRow("%s", form.name) << QString(form.name);
  }
  void equalsFiniteDifferences() {
    QFETCH(QString, form);
    Design d = form_design(form, 2, "sliding: sliding heads=8 ffn=16", false);
    d.workload.batch = 1;
    QCOMPARE(QString::fromStdString(difference_from_slopes(d)), QString());
  }

  // Parameters of the modules in closed form. The embedding, and a shared head, belong to the language part.
  void parameters_data() {
    QTest::addColumn<QString>("form");
    QTest::addColumn<bool>("tied");
    for (const Form& form : kForms)
      for (const bool tied : {false, true})
        QTest::addRow("%s%s", form.name, tied ? " tied" : "") << QString(form.name) << tied;
  }
  void parameters() {
    QFETCH(QString, form);
    QFETCH(bool, tied);
    Design d = form_design(form, 3, "sliding: sliding heads=8 head_dim=6 ffn=20; full: full kv_heads=4",
                           tied);
    const qint64 hidden = d.model.hidden, vocab = d.model.vocab, experts = d.model.experts,
                 wide = d.model.expert_ffn;
    const auto attention = [&](qint64 heads, qint64 kv_heads, qint64 head_dim) {
      return 2 * hidden * (heads + kv_heads) * head_dim;
    };
    const qint64 routed = experts * (hidden + 3 * hidden * wide);
    const qint64 sparse = attention(4, 4, 4) + 3 * 16 + routed + experts + 3 * hidden * wide,
                 dense = attention(8, 2, 6) + 2 * 6 + 3 * hidden * 20,
                 sublayers = attention(4, 2, 4) + routed;
    const qint64 layer = form == "mtp-sublayers"                     ? sublayers
                         : form == "mtp-sparse" || form == "mtp-sum" ? sparse
                                                                     : dense;
    const qint64 head = form == "mtp-own-heads" || form == "mtp-sum" ? vocab * hidden : 0;
    const auto report = make_report(d);
    QVERIFY(report->valid());
    const ModelCounts counts = model_counts(*report);
    // Two norms of the projection, two of the layer, one before the head.
    QCOMPARE(static_cast<qint64>(counts.parts[static_cast<size_t>(ModelPart::Mtp)]),
             3 * (2 * hidden * hidden + layer + 5 * hidden + head));
    const ModelCounts without = [&] {
      d.model.mtp_layers = 0;
      return model_counts(*make_report(d));
    }();
    QCOMPARE(counts.parameters.value, without.parameters.value);
    QCOMPARE(counts.active.value, without.active.value);
  }
};

QTEST_APPLESS_MAIN(MtpExecutionTest)
#include "mtp_execution_test.moc"
