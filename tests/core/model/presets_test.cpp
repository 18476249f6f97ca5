// Every architecture of the list is a preset, and its parameters, counted from the graph, are the published
// ones.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>
#include <numeric>

#include "design/knobs/published_layout.h"
#include "memory/estimate.h"
#include "model/library.h"
#include "plan/report.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

class PresetsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void libraryHasNoProblems() {
    for (const Problem& problem : ModelLibrary::instance().problems()) QFAIL(to_string(problem).c_str());
  }

  void parametersArePublished_data() {
    QTest::addColumn<QJsonObject>("row");
    QFile file(SHARDSCAPE_TEST_DATA "/models.json");
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonArray rows = QJsonDocument::fromJson(file.readAll()).object()["models"].toArray();
    QVERIFY(rows.size() >= 49);
    for (const QJsonValue& row : rows) QTest::newRow(qPrintable(row["name"].toString())) << row.toObject();
  }
  void parametersArePublished() {
    QFETCH(QJsonObject, row);
    const std::string id = row["preset"].toString().toStdString();
    const Preset* preset = ModelLibrary::instance().preset(id);
    QVERIFY2(preset, "there is no such preset");
    QVERIFY(!preset->source.empty() && !preset->maker.empty() && !preset->released.empty() &&
            preset->default_seq > 0);
    QCOMPARE(preset->published_parameters, row["published_params"].toInteger());
    QCOMPARE(preset->published_exact, row["exact"].toBool());
    const auto report = make_report(preset_design(id.c_str(), 1, 1, 1));
    QVERIFY2(report->valid(), report->valid() ? "" : to_string(report->problems.front()).c_str());
    const auto counted = static_cast<qint64>(report->model_parameters.value);
    QCOMPARE(counted, row["counted"].toInteger());
    // Dense models do not say how many of their parameters are active: all are.
    QCOMPARE(static_cast<qint64>(report->active_parameters.value),
             row.contains("active") ? row["active"].toInteger() : counted);
    if (row.contains("active")) QCOMPARE(preset->published_active_parameters, row["active"].toInteger());
    if (preset->published_exact) QCOMPARE(counted, static_cast<qint64>(preset->published_parameters));
    QVERIFY(std::abs(static_cast<double>(counted) / static_cast<double>(preset->published_parameters) - 1) <
            0.02);
  }

  // Keys and values of all layers; of latent attention the latent and the shared rotated key.
  void cachesArePublished() {
    const auto cache = [](const Design& d) {
      return static_cast<qint64>(make_report(d)->kv_cache_bytes.value);
    };
    QCOMPARE(cache(preset_design("llama3.1-405b", 1, 1, 1)), qint64(516096));
    QCOMPARE(cache(preset_design("llama3-8b", 8, 2, 2)), qint64(131072));
    QCOMPARE(cache(preset_design("gemma2-9b", 1, 1, 1)), qint64(42) * 2 * 8 * 256 * 2);
    QCOMPARE(cache(preset_design("gpt-oss-20b", 2, 1, 1)), qint64(49152));  // without the sinks
    QCOMPARE(cache(preset_design("gpt-oss-120b", 1, 1, 1)), qint64(73728));
    Design latent = preset_design("llama3-8b", 2, 1, 1);
    latent.model.architecture = "latent";
    latent.model.layers = 61;
    latent.model.kv_heads = latent.model.heads;
    latent.model.kv_rank = 512;
    latent.model.nope_head_dim = latent.model.value_head_dim = 128;
    latent.model.rope_head_dim = 64;
    latent.model.mtp_layers = 1;
    QCOMPARE(cache(latent), qint64(70272));  // DeepSeek-V3
  }

  // The maker of the newest model stands first, and the newest models of a maker.
  void makersInOrder() {
    std::vector<std::string> makers;
    const auto& presets = ModelLibrary::instance().presets();
    std::string newest = "9999";
    for (size_t i = 0; i < presets.size(); ++i) {
      const Preset& p = presets[i];
      if (i > 0 && presets[i - 1].maker == p.maker) {
        QVERIFY2(presets[i - 1].released >= p.released, p.id.c_str());
        continue;
      }
      QVERIFY2(std::find(makers.begin(), makers.end(), p.maker) == makers.end(), p.maker.c_str());
      QVERIFY2(p.released <= newest, p.id.c_str());
      makers.push_back(p.maker);
      newest = p.released;
    }
    QVERIFY(makers.size() > 10);
  }

  void layoutsInWords() {
    const auto words = [](const char* id) {
      return published_layout_text(*ModelLibrary::instance().preset(id));
    };
    QCOMPARE(words("qwen3-235b-a22b"), std::string("256 H100, tp 2, pp 8, ep 32"));
    QCOMPARE(words("llama3.1-405b"), std::string("4,608 H100, tp 8, cp 2, pp 9"));
    QCOMPARE(words("llama3.2-1b"), std::string("1 H100"));
    QCOMPARE(words("gpt3-175b-megatron"), std::string("384 A100, tp 8, pp 12"));
    QCOMPARE(words("llama2-13b"), std::string());
  }

  // A published layout is a valid design that fits into the memory of its cluster.
  void publishedLayouts() {
    int layouts = 0;
    for (const Preset& preset : ModelLibrary::instance().presets()) {
      if (preset.layout.empty()) continue;
      ++layouts;
      QVERIFY2(!preset.layout.source.empty(), preset.id.c_str());
      Design d = preset_design(preset.id.c_str(), 1, 1, 1);
      const auto problem = apply_published_layout(d, preset);
      QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
      QVERIFY2(!published_layout_text(preset).empty(), preset.id.c_str());
      const auto report = estimate(d);
      QVERIFY2(report->valid(), preset.id.c_str());
      QVERIFY2(report->memory && report->memory->fits, preset.id.c_str());
    }
    QVERIFY(layouts >= 20);
  }
  void layoutOfAnUnknownKnob() {
    Preset preset = ModelLibrary::instance().presets().front();
    preset.layout = {"nobody", {{"tp", "2"}, {"teepee", "2"}}};
    Design d = preset_design("llama3-8b", 1, 1, 1);
    const auto problem = apply_published_layout(d, preset);
    QVERIFY(problem && problem->what.find("teepee") != std::string::npos);
  }

  // Every preset splits over ranks: the parts add up, and all stages can be reported.
  void everyPresetRunsInParallel() {
    for (const Preset& preset : ModelLibrary::instance().presets()) {
      for (bool sequence_parallel : {false, true}) {
        const ModelSpec& m = preset.model;
        const int64_t split = std::gcd(m.heads > 0 ? m.heads : m.hidden, m.ssm_groups > 0 ? m.ssm_groups : 4);
        const int64_t tp = split % 4 == 0 ? 4 : split % 2 == 0 ? 2 : 1;
        if (tp == 1 && sequence_parallel) continue;
        const auto report = make_report(preset_design(preset.id.c_str(), tp, 2, 2, sequence_parallel));
        QVERIFY2(report->valid(), preset.id.c_str());
        for (const StageReport& stage : report->stages)
          QVERIFY(stage.flops_total > 0 && stage.memory_total > 0);
      }
    }
  }

  // Pairs that a sliding window leaves: 1, 2, ..., W for the first W queries, then W each.
  void windowsChangeUsefulFlopsOnly() {
    Design d = preset_design("mistral-7b-v0.1", 1, 1, 1);
    d.workload.seq = 8192;
    d.workload.batch = 1;
    const auto attention = [](const Report& r) {
      std::pair<Wide, Wide> out{0, 0};
      for (const FlopsValue& f : r.stages[0].flops)
        if (f.kind == OpKind::Attention && f.phase == Phase::Forward) out = {f.counted.value, f.useful.value};
      return out;
    };
    const Wide per_pair = Wide(4) * d.model.layers * d.model.heads * d.model.head_dim, seq = d.workload.seq;
    for (int64_t window : {0, 1, 100, 4096, 8191, 8192, 8193, 100000}) {
      d.model.window = window;
      const auto report = make_report(d);
      QVERIFY(report->valid());
      const Wide reach = window == 0 || window > seq ? seq : Wide(window);
      const auto [counted, useful] = attention(*report);
      QVERIFY(counted == per_pair * seq * seq);
      QVERIFY(useful == per_pair * (reach * (reach + 1) / 2 + (seq - reach) * reach));
    }
  }

  // Layers of two kinds take turns: the odd one out is where the pattern says.
  void gemmaAlternatesKindsOfLayer() {
    Design d = preset_design("gemma2-2b", 1, 1, 1);
    d.workload.seq = 8192;
    d.model.layers = 5;
    const auto report = make_report(d);
    QVERIFY(report->valid());
    const auto number = [&](const char* symbol) {
      return report->binding.get(Symbol::intern(symbol)).value_or(-1);
    };
    QCOMPARE(number("L0"), int64_t{3});
    QCOMPARE(number("L1"), int64_t{2});
    QCOMPARE(number("We"), int64_t{4096});
  }
};

QTEST_APPLESS_MAIN(PresetsTest)
#include "presets_test.moc"
