// Model, useful and hardware FLOPs against closed forms: the effect of padding, load imbalance and masks on
// each.
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>
#include <cmath>

#include "design/knobs/knobs.h"
#include "performance/calibration.h"
#include "report/report_json.h"
#include "report/time_report.h"
#include "support/designs.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

using Settings = std::vector<std::pair<const char*, const char*>>;

Design with(Design d, const Settings& settings) {
  for (const auto& [knob, value] : settings)
    if (const auto problem = set_knob(d, *find_knob(knob), value))
      throw std::runtime_error(to_string(*problem));
  return d;
}

struct Step {
  std::shared_ptr<const Report> report;
  std::shared_ptr<const Simulation> simulation;
  // FLOPs of a step, all ranks.
  double of(double tflops_per_gpu) const {
    return tflops_per_gpu * 1e12 * simulation->step_seconds * static_cast<double>(report->ranks);
  }
  double model() const { return of(simulation->model_tflops); }
  double hardware() const { return of(simulation->hardware_tflops); }
  Wide useful() const {
    Wide out = 0;
    for (const StageReport& stage : report->stages) out += stage.useful_flops_total;
    return out;
  }
};

Step step_of(const Design& d) {
  const auto report = make_report(d);
  if (!report->valid()) throw std::runtime_error(to_string(report->problems.front()));
  return {report, simulate(*report)};
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

Design experts(const Settings& more) {
  Design d = preset_design("mixtral-8x7b", 1, 1, 8);
  d.model.layers = 2;
  d.parallel.ep = 8;
  d.workload.seq = 4096;
  d.workload.batch = 16;
  return with(d, more);
}

double counted_attention(const Report& report) {
  double out = 0;
  for (const StageReport& stage : report.stages)
    for (const FlopsValue& f : stage.flops)
      if (f.kind == OpKind::Attention) out += to_double(f.counted.value);
  return out * static_cast<double>(report.ranks) / static_cast<double>(report.stages.size());
}

}  // namespace

class UtilizationTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Model FLOPs as Megatron-LM counts them: tokens, their top-k experts, and the router. Slots do not count.
  void modelFlopsAreOfTokens() {
    const Step step = step_of(experts({}));
    const ModelSpec& m = step.report->design.model;
    const double hidden = double(m.hidden), heads = double(m.heads * m.head_dim),
                 kv = double(m.kv_heads * m.head_dim), seq = 4096;
    const double layer = 2 * hidden * heads + 2 * hidden * kv + 2 * seq * heads + hidden * double(m.experts) +
                         double(m.experts_per_token) * 3 * hidden * double(m.expert_ffn);
    const double head = hidden * double(step.report->binding.get(Symbol::intern("Vp")).value());
    QVERIFY2(near(step.model(), 6 * 16 * seq * (double(m.layers) * layer + head)),
             qPrintable(QString::number(step.model())));
  }

  void slotsAreNoModelFlops_data() {
    QTest::addColumn<QString>("layout");
    for (const char* layout : {"ep 8", "all-gather", "flex", "ep over nodes", "tp 2", "tp 2, by hidden",
                               "cp 2", "etp 2", "ep 1", "prefill"})
      QTest::newRow(layout) << layout;
  }
  void slotsAreNoModelFlops() {
    QFETCH(QString, layout);
    Settings places;
    if (layout == "all-gather") places = {{"dispatcher", "allgather"}};
    if (layout == "flex") places = {{"dispatcher", "flex"}};
    if (layout == "ep over nodes") places = {{"dispatcher", "flex"}, {"gpus_per_node", "4"}};
    if (layout == "tp 2") places = {{"tp", "2"}, {"dp", "4"}, {"ep", "4"}, {"sequence_parallel", "true"}};
    if (layout == "tp 2, by hidden")
      places = {{"tp", "2"},
                {"dp", "4"},
                {"ep", "4"},
                {"sequence_parallel", "true"},
                {"dispatcher", "alltoall_seq"}};
    if (layout == "cp 2") places = {{"cp", "2"}, {"dp", "4"}};
    if (layout == "etp 2") places = {{"tp", "2"}, {"dp", "8"}, {"sequence_parallel", "true"}, {"etp", "2"}};
    if (layout == "ep 1") places = {{"ep", "1"}};
    if (layout == "prefill") places = {{"mode", "prefill"}};
    const Design even = experts(places);
    const Step plain = step_of(even);
    for (const Settings& more : {Settings{{"load_imbalance", "2"}},
                                 {{"load_imbalance", "1.3"}},
                                 {{"capacity_factor", "2"}, {"pad_to_capacity", "true"}},
                                 {{"capacity_factor", "0.5"}}}) {
      if (places.size() && std::string(places[0].second) == "flex" &&
          std::string(more.back().first) == "pad_to_capacity")
        continue;  // refused
      const Step step = step_of(with(even, more));
      const QByteArray what = QByteArray(more[0].first) + " " + more[0].second;
      const bool drops = std::string(more[0].second) == "0.5",
                 pads = std::string(more.back().first) == "pad_to_capacity";
      QVERIFY2(near(step.model(), plain.model()), what);
      QVERIFY2(step.useful() == plain.useful(), what);
      QVERIFY2(step.report->design.workload.capacity_factor == 0 || pads || drops, what);
      QVERIFY2(drops ? step.report->step_flops < plain.report->step_flops
                     : step.report->step_flops > 1.1 * plain.report->step_flops,
               what);
      QVERIFY2(drops || step.simulation->step_seconds > plain.simulation->step_seconds, what);
      QVERIFY2(drops || step.simulation->mfu < plain.simulation->mfu, what);
      // Padded slots are computed on every rank. Without padding, the surplus of the busiest expert is
      // missing on other ranks, so the sum stays.
      if (pads) QVERIFY2(step.hardware() > 1.1 * plain.hardware(), what);
      if (!pads && !drops) QVERIFY2(near(step.hardware(), plain.hardware()), what);
    }
  }

  void kernelsSkipMaskedTiles_data() {
    QTest::addColumn<QString>("design");
    QTest::addColumn<double>("share");  // of the pairs that are counted
    const auto causal = [](double seq) { return (seq * (seq + 1) / 2 + seq * 64) / (seq * seq); };
    QTest::newRow("causal") << "" << causal(8192);
    QTest::newRow("pipeline") << "pp 2" << causal(8192);
    QTest::newRow("replayed") << "recompute full" << causal(8192);
    QTest::newRow("window") << "window" << (4096.0 * 4097 / 2 + 4096.0 * 4096 + 8192 * 128) / (8192.0 * 8192);
    QTest::newRow("rows of scores") << "profile megatron-core-unfused" << 1.0;
    // Of n blocks, one is cut by the mask and (n - 1) / 2 are complete.
    for (const char* ring : {"ring", "zigzag"})
      QTest::newRow(ring) << QString("context ") + ring << (causal(2048) + 1.5) / 2.5;
    QTest::newRow("ulysses") << "context ulysses" << causal(8192);
    QTest::newRow("queries by rank") << "context all-gather"
                                     << (8192.0 * 8193 / 2 + 8192 * 64) / (8192.0 * 8192);
    QTest::newRow("both ways") << "schedule dualpipe" << causal(8192);
    QTest::newRow("prefill") << "mode prefill" << causal(8192);
  }
  void kernelsSkipMaskedTiles() {
    QFETCH(QString, design);
    QFETCH(double, share);
    Design d = preset_design(design == "window" ? "mistral-7b-v0.1" : "llama3-8b", 1, 1, 1);
    d.workload.seq = 8192;
    d.workload.batch = 8;
    d.workload.microbatch = 1;
    const QStringList set = design.split(' ', Qt::SkipEmptyParts);
    if (set.size() == 2) d = with(d, {{set[0].toStdString().c_str(), set[1].toStdString().c_str()}});
    if (design.startsWith("context")) d.parallel.cp = 4;
    if (design.startsWith("schedule")) d.parallel.pp = 2;
    const Step step = step_of(d);
    const double attention = counted_attention(*step.report);
    double mean = attention;
    if (step.report->ring_position) {  // the count of the last rank; other ranks have less
      mean = 0;
      for (int position = 0; position < 4; ++position)
        mean += counted_attention(*make_report(d, {}, position)) / 4;
    }
    QVERIFY2(near(step.hardware(), step.report->step_flops - mean * (1 - share)),
             qPrintable(
                 QString("%1 of the attention").arg((step.hardware() - step.report->step_flops) / mean + 1)));
    QVERIFY(near(step.of(step.simulation->masked_tflops), mean * (1 - share)) || share == 1);
    QVERIFY(step.simulation->hfu < 1);
  }

  void longSequencesSayWhy() {
    Design d = preset_design("mistral-7b-v0.1", 8, 1, 1, true);
    d.workload.seq = 131072;
    d.workload.batch = 1;
    const Step step = step_of(d);
    QVERIFY(step.simulation->mfu > 1 && step.simulation->hfu < 1);
    QVERIFY(above_peak_text(*step.simulation)
                .starts_with("MFU is above 100 %: model FLOPs count masked scores in full"));
    QVERIFY(time_text(*step.simulation).find(above_peak_text(*step.simulation)) != std::string::npos);
    const auto time = QJsonDocument::fromJson(QByteArray::fromStdString(
        with_time(report_json(*step.report), *step.report, *step.simulation)))["time"]
                          .toObject();
    QCOMPARE(time["mfu_above_peak"].toString().toStdString(), above_peak_text(*step.simulation));
  }

  // Which peak it is, is said; narrower products pass it.
  void thePeakIsNamed() {
    Design d = preset_design("llama3.1-405b", 4, 1, 1, true);
    d = with(d, {{"layers", "8"}, {"accelerator", "gb300"}, {"seq", "8192"}, {"batch", "8"}});
    const Step plain = step_of(d), narrow = step_of(with(d, {{"compute", "nvfp4"}}));
    const auto& a = *plain.simulation->machine.accelerator;
    for (const Step* step : {&plain, &narrow}) {
      const Simulation& s = *step->simulation;
      QCOMPARE(s.peak_tflops, a.bf16_tflops);
      QVERIFY(near(s.mfu, s.model_tflops / s.peak_tflops));
      QVERIFY(time_text(s).find(" TFLOP/s, the dense peak in bfloat16\n") != std::string::npos);
      const auto time = QJsonDocument::fromJson(QByteArray::fromStdString(
          with_time(report_json(*step->report), *step->report, s)))["time"]
                            .toObject();
      QCOMPARE(time["mfu_peak_tflops"].toDouble(), a.bf16_tflops);
      QCOMPARE(time["mfu_peak_type"].toString(), QString("bfloat16"));
      QCOMPARE(time.contains("mfu_above_peak"), step == &narrow);
    }
    // The table that times come from is that of the type that products run in.
    QVERIFY(time_text(*plain.simulation).find(matmul_basis(a, DType::BF16)) != std::string::npos);
    QVERIFY(time_text(*narrow.simulation).find(matmul_basis(a, DType::NVFP4)) != std::string::npos);
    QVERIFY(matmul_basis(a, DType::NVFP4) != matmul_basis(a, DType::BF16));
    QVERIFY(narrow.simulation->mfu > 1);
    QVERIFY2(above_peak_text(*narrow.simulation).find("products run in nvfp4") != std::string::npos,
             above_peak_text(*narrow.simulation).c_str());
    QVERIFY(above_peak_text(*plain.simulation).empty());
  }
};

QTEST_GUILESS_MAIN(UtilizationTest)
#include "utilization_test.moc"
