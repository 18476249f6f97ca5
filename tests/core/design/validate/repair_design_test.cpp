// Another model under the same parallelism: always a design that can be built, and no more changed than has
// to be.
#include <QtTest>

#include "design/validate/gpus_of_design.h"
#include "design/validate/repair_design.h"
#include "design/validate/validate.h"
#include "model/library.h"

using namespace shardscape;

namespace {

using Settings = std::vector<std::pair<const char*, const char*>>;

Design designed(const std::string& preset, const Settings& settings) {
  Design design;
  if (!apply_preset(design, preset)) qFatal("no preset %s", preset.c_str());
  for (const auto& [id, value] : settings)
    if (const auto problem = set_knob(design, *find_knob(id), value))
      qFatal("%s", to_string(*problem).c_str());
  return design;
}

Design switched(Design design, const std::string& preset) {
  apply_preset(design, preset);
  repair_design(design);
  return design;
}

}  // namespace

class SettleTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void every_model_can_be_built_data() {
    QTest::addColumn<QByteArray>("preset");
    QTest::addColumn<Settings>("settings");
    const auto row = [](const char* preset, const Settings& settings) {
      const Design design = designed(preset, settings);
      const auto problems = validate(design);
      if (has_errors(problems)) qFatal("%s", to_string(problems.front()).c_str());
      QTest::newRow(preset) << QByteArray(preset) << settings;
    };
    row("deepseek-v3", {{"tp", "2"},
                        {"pp", "16"},
                        {"dp", "64"},
                        {"ep", "64"},
                        {"etp", "1"},
                        {"sequence_parallel", "true"},
                        {"batch", "4096"},
                        {"dispatcher", "flex"},
                        {"compute", "fp8-blockwise"},
                        {"dispatch_dtype", "fp8"},
                        {"sync", "distributed-optimizer"}});
    row("llama3.1-405b", {{"tp", "8"},
                          {"pp", "9"},
                          {"dp", "4"},
                          {"virtual_stages", "7"},
                          {"sequence_parallel", "true"},
                          {"batch", "144"},
                          {"recompute", "selective"}});
    row("llama3-8b", {{"tp", "8"},
                      {"cp", "4"},
                      {"context", "zigzag"},
                      {"pp", "4"},
                      {"schedule", "zb-h1"},
                      {"seq", "131072"},
                      {"batch", "16"}});
    row("llama3-70b",
        {{"pp", "2"}, {"stage_layers", "39,41"}, {"dp", "16"}, {"batch", "256"}, {"recompute", "full"}});
    row("mamba2-hybrid-8b", {{"tp", "4"}, {"dp", "8"}, {"batch", "64"}});
  }

  void every_model_can_be_built() {
    QFETCH(QByteArray, preset);
    QFETCH(Settings, settings);
    const Design design = designed(preset.toStdString(), settings);
    for (const Preset& other : ModelLibrary::instance().presets()) {
      const Design next = switched(design, other.id);
      const auto problems = validate(next);
      QVERIFY2(!has_errors(problems),
               (other.id + ": " + (problems.empty() ? "" : to_string(problems.front()))).c_str());
      ModelSpec model = other.model;
      model.preset = other.id;
      QVERIFY2(next.model == model, other.id.c_str());
    }
    QVERIFY(switched(design, preset.toStdString()) == design);  // nothing where nothing has to be
  }

  void what_fits_stays() {
    const Design design = designed("deepseek-v3", {{"tp", "2"},
                                                   {"pp", "16"},
                                                   {"dp", "64"},
                                                   {"ep", "64"},
                                                   {"etp", "1"},
                                                   {"sequence_parallel", "true"},
                                                   {"batch", "4096"}});
    const Design experts = switched(design, "mixtral-8x7b");
    QCOMPARE(experts.parallel.ep, 8);  // as many as it has
    QCOMPARE(experts.parallel.tp, 2);
    QCOMPARE(experts.parallel.pp, 16);
    QCOMPARE(experts.parallel.dp, 64);
    const auto changes = changes_outside_model(design, experts);
    QCOMPARE(changes.size(), size_t{1});
    QCOMPARE(changes[0].knob->id, std::string("ep"));
    QCOMPARE(changes[0].before, std::string("64"));
    QCOMPARE(changes[0].after, std::string("8"));
    const Design dense = switched(design, "llama3-8b");
    QCOMPARE(dense.parallel.ep, 1);
    QCOMPARE(dense.parallel.tp, 2);
    QCOMPARE(dense.parallel.pp, 16);
    QCOMPARE(dense.parallel.dp, 64);
    QCOMPARE(dense.workload.batch, 4096);
  }

  // Decode of DeepSeek-V3 with ep over all GPUs: ep stays a divisor, and every replica has whole
  // microbatches.
  void other_gpus_keep_decode_valid_data() {
    QTest::addColumn<qint64>("gpus");
    QTest::addColumn<qint64>("ep");
    QTest::addColumn<qint64>("microbatch");
    QTest::addColumn<qint64>("batch");
    const auto row = [](qint64 gpus, qint64 ep, qint64 microbatch, qint64 batch) {
      QTest::addRow("%lld", static_cast<long long>(gpus)) << gpus << ep << microbatch << batch;
    };
    row(128, 128, 128, 16384);
    row(64, 64, 128, 16384);
    row(256, 128, 64, 16384);
    row(8, 8, 128, 16384);
    row(96, 32, 57, 16416);  // 170.7 sequences per GPU become 171 = 3 x 57
    row(131072, 128, 1, 131072);
  }
  void other_gpus_keep_decode_valid() {
    QFETCH(qint64, gpus);
    const Design before = designed("deepseek-v3", {{"mode", "decode"},
                                                   {"dp", "128"},
                                                   {"ep", "128"},
                                                   {"etp", "1"},
                                                   {"batch", "16384"},
                                                   {"microbatch", "128"}});
    QVERIFY(!has_errors(validate(before)));
    const Design next = fitted_to_replicas(design_on_gpus(before, gpus));
    QVERIFY(!has_errors(validate(next)));
    QCOMPARE(qint64(next.world()), gpus);
    QTEST(qint64(next.parallel.ep), "ep");
    QTEST(qint64(next.workload.microbatch), "microbatch");
    QTEST(qint64(next.workload.batch), "batch");
    for (const KnobChange& change : changes_outside_model(before, next))
      QVERIFY(
          QStringList({"dp", "ep", "microbatch", "batch"}).contains(QString::fromStdString(change.knob->id)));
  }

  // In training, the global batch stays: a microbatch may fit, or the design keeps its problem.
  void other_gpus_keep_the_batch_of_training() {
    const Design before = designed("llama3-8b", {{"dp", "16"}, {"batch", "64"}, {"microbatch", "4"}});
    const Design smaller = fitted_to_replicas(design_on_gpus(before, 32));
    QCOMPARE(smaller.workload.microbatch, 2);
    QCOMPARE(smaller.workload.batch, 64);
    const Design wrong = design_on_gpus(before, 128);
    QVERIFY(fitted_to_replicas(wrong) == wrong);
    Design other = wrong;  // an error of another kind: nothing changes
    other.model.kv_heads = 7;
    QVERIFY(fitted_to_replicas(other) == other);
    // tp, cp and pp keep the greatest common divisor.
    const Design degrees = design_on_gpus(
        designed("llama3-8b", {{"tp", "8"}, {"pp", "4"}, {"dp", "2"}, {"batch", "64"}}), 12);
    QCOMPARE(degrees.parallel.tp, 4);
    QCOMPARE(degrees.parallel.pp, 1);
    QCOMPARE(degrees.parallel.dp, 3);
  }

  void a_model_that_is_wrong_stays_wrong() {
    Design design = designed("llama3-8b", {{"tp", "2"}, {"dp", "2"}});
    design.model.kv_heads = 7;
    const Design before = design;
    repair_design(design);
    QVERIFY(design == before);
  }
};

QTEST_APPLESS_MAIN(SettleTest)
#include "repair_design_test.moc"
