// Decisions between the layouts of a workload, and which runs succeed.
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include "accuracy/workload_layout.h"
#include "support/measured_rows.h"
#include "validation/effect_signs.h"
#include "validation/validation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// A sweep of nanotron with the shapes of the Ultra-Scale Playbook.
std::string nanotron_set(const QStringList& rows) {
  return R"({"source": "test", "models": {
      "1.34": {"layers": 16, "hidden": 2048, "ffn": 8192, "vocab": 131072, "tied": true},
      "8.86": {"layers": 32, "hidden": 4096, "ffn": 14336, "vocab": 131072, "tied": false}},
      "cluster_network": {"nodes": [1, 2], "allreduce": {"mean": [436.0, 361.7]}}, "rows": [)" +
         rows.join(',').toStdString() + "]}";
}

QString nanotron_row(double model, int nodes, int dp, int tp, int pp, int microbatch, int zero, bool ran) {
  return QString(R"({"model_b": %1, "nodes": %2, "dp": %3, "tp": %4, "pp": %5, "micro_batch": %6,
      "grad_accum": %7, "global_batch": 256, "zero_stage": %8, "mfu_pct": %9, "tokens_per_s_per_gpu": %9,
      "memory_gb": %9})")
      .arg(model)
      .arg(nodes)
      .arg(dp)
      .arg(tp)
      .arg(pp)
      .arg(microbatch)
      .arg(256 / (dp * microbatch))
      .arg(zero)
      .arg(ran ? "40" : "null");
}

ValidatedRow row(const char* name, double measured, double predicted, const char* workload,
                 std::map<std::string, std::string> settings) {
  return {name, measured, predicted, {}, workload, "", std::move(settings)};
}

}  // namespace

class DecisionsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  // dp follows from the number of ranks, and the name is no part of the workload.
  void layoutsOfAWorkload() {
    Design a;
    a.parallel.dp = 8;
    Design b = a;
    b.name = "other";
    b.parallel.dp = 4;
    b.parallel.tp = 2;
    QCOMPARE(layout_of(a).workload, layout_of(b).workload);
    QVERIFY(layout_of(a).settings.empty());
    QCOMPARE(layout_of(b).settings, (std::map<std::string, std::string>{{"tp", "2"}}));
    for (const auto& change : std::vector<std::function<void(Design&)>>{
             [](Design& d) { d.workload.batch *= 2; }, [](Design& d) { d.model.layers += 1; },
             [](Design& d) { d.parallel.dp = 8; }, [](Design& d) { d.cluster.nic_bandwidth = 100; },
             [](Design& d) { d.model.architecture = "gpt"; }}) {
      Design changed = b;
      change(changed);
      QVERIFY(layout_of(changed).workload != layout_of(b).workload);
    }
    b.workload.microbatch = 4;
    QCOMPARE(layout_of(b).workload, layout_of(a).workload);
    QCOMPARE(layout_of(b).settings.at("microbatch"), std::string("4"));
  }

  // In x, the pick is the second fastest and 10 % slower. In y, it is the fastest. z has one layout.
  void regretOfThePick() {
    const ValidatedMetric time{
        "time",
        {row("x1", 1.0, 1.2, "x", {{"tp", "1"}}), row("x2", 1.1, 1.0, "x", {{"tp", "2"}}),
         row("x4", 2.0, 2.0, "x", {{"tp", "4"}}), row("y1", 3.0, 1.0, "y", {{"tp", "1"}}),
         row("y2", 4.0, 2.0, "y", {{"tp", "2"}}), row("z", 1.0, 5.0, "z", {})},
        {},
        {},
        true};
    const auto of = time.decisions();
    QVERIFY(of);
    QCOMPARE(of->workloads, size_t{2});
    QCOMPARE(of->rows, size_t{5});
    QCOMPARE(of->best_picked, size_t{1});
    QVERIFY(std::abs(of->mean_regret_percent - 5) < 1e-9);
    QVERIFY(std::abs(of->worst_regret_percent - 10) < 1e-9);
    QCOMPARE(of->worst_pick, std::string("x2"));
    QCOMPARE(of->worst_best, std::string("x1"));
    const auto effects = effect_counts(effect_pairs(time));
    QCOMPARE(effects.at("tp").pairs(), size_t{4});
    QCOMPARE(effects.at("tp").right, size_t{3});
    QVERIFY(std::abs(time.correlation(false)->value - 0.5) < 1e-9);
    const Validation v{"set", "", {time}, {}, {}};
    const std::string text = validation_text(v);
    QVERIFY(text.find("mean regret 5.00 %, best picked in 1 of 2 workloads (5 rows), worst regret 10.0 % (x2 "
                      "instead of x1)") != std::string::npos);
    QVERIFY(text.find("rank correlation of layouts 0.500 (3 rows in 1 workloads)") != std::string::npos);
    QVERIFY(QString::fromStdString(text).simplified().contains("tp 4 3 1 0 0 0 "));  // pairs, right, wrong
    const QJsonObject json = QJsonDocument::fromJson(QByteArray::fromStdString(validation_json(v)))
                                 .object()["time"]
                                 .toObject();
    QVERIFY(std::abs(json["decisions"]["mean_regret_percent"].toDouble() - 5) < 1e-9);
    QCOMPARE(json["decisions"]["worst_pick"].toString(), QString("x2"));
    QCOMPARE(json["setting_effects"]["settings"][0]["right"].toInt(), 3);
    QCOMPARE(json["rank_correlation"]["series"].toInt(), 1);
    ValidatedMetric memory = time;
    memory.name = "memory";
    QVERIFY(!memory.decisions());  // less memory is no decision
  }

  // 1.34B has 16 layers, and the head costs as much as four. Over 16 stages, nanotron's split leaves the last
  // one without blocks. Over 8 stages, cumulative costs exceed 2.5 k first after layers 3, 6, 8, 11, 13
  // and 16.
  void stagesOfNanotron() {
    const MeasuredSet set = measured_set(nanotron_set({nanotron_row(1.34, 2, 1, 1, 16, 1, 0, false),
                                                       nanotron_row(1.34, 1, 1, 1, 8, 1, 0, true),
                                                       nanotron_row(8.86, 2, 1, 1, 16, 1, 1, true)}));
    QVERIFY(set.rows[0].unmapped.empty());
    QVERIFY(set.rows[0].cannot_run.find("without blocks") != std::string::npos);
    for (const size_t i : {size_t{1}, size_t{2}}) {
      QVERIFY2(set.rows[i].unmapped.empty(), set.rows[i].unmapped.c_str());
      QVERIFY(set.rows[i].cannot_run.empty());
    }
    QVERIFY(set.rows[1].native_segments);
    QCOMPARE(set.rows[1].stage, std::optional<int>{0});  // rank 0 writes the table
    const std::vector<int64_t>& stages = set.rows[1].design.parallel.stage_layers;
    QCOMPARE(stages, (std::vector<int64_t>{3, 3, 2, 3, 2, 2, 1, 0}));
    QCOMPARE(set.rows[2].design.cluster.nic_bandwidth, int64_t{385});  // 361.7 / 0.94
  }

  // nanotron's 1F1B asserts pp - 1 microbatches: 8 stages run with 7, not with 4.
  void microbatchesOfNanotron() {
    QString enough = nanotron_row(1.34, 1, 1, 1, 8, 1, 0, true);
    enough.replace("\"grad_accum\": 256, \"global_batch\": 256", "\"grad_accum\": 7, \"global_batch\": 7");
    const MeasuredSet set = measured_set(
        nanotron_set({nanotron_row(1.34, 1, 1, 1, 8, 64, 0, false), enough}));
    QCOMPARE(set.rows[0].cannot_run, "nanotron's 1F1B needs 7 microbatches, and the row has 4");
    QVERIFY(!set.rows[0].ran.value());
    QVERIFY(set.rows[1].cannot_run.empty());
    QVERIFY2(set.rows[1].unmapped.empty(), set.rows[1].unmapped.c_str());
    QCOMPARE(validate_set(set, {}).runs.right(), size_t{2});
  }

  void runsThatFailAreJudged() {
    const Validation v = validate_set(
        measured_set(nanotron_set({nanotron_row(1.34, 2, 1, 1, 16, 1, 0, false),    // no such split
                                   nanotron_row(1.34, 1, 8, 1, 1, 1, 1, true),      // fits
                                   nanotron_row(8.86, 1, 8, 1, 1, 32, 0, false),    // 159 GB of states alone
                                   nanotron_row(1.34, 1, 8, 1, 1, 2, 1, false),     // failed, but fits
                                   nanotron_row(8.86, 1, 8, 1, 1, 16, 0, true)})),  // ran, but does not fit
        {});
    QCOMPARE(v.runs.rows.size(), size_t{5});
    QCOMPARE(v.runs.right(), size_t{3});
    QVERIFY(v.runs.rows[2].reason.find("needs ") == 0);
    const std::string text = validation_text(v);
    QVERIFY(text.find("right in 3 of 5 rows; ran although predicted to fail: 1, failed although predicted to "
                      "run: 1") != std::string::npos);
    const QJsonObject runs = QJsonDocument::fromJson(QByteArray::fromStdString(validation_json(v)))
                                 .object()["runs"]
                                 .toObject();
    QCOMPARE(runs["right"].toInt(), 3);
    QCOMPARE(runs["rows"][4]["predicted"].toBool(), false);
  }
};

QTEST_GUILESS_MAIN(DecisionsTest)
#include "decisions_test.moc"
