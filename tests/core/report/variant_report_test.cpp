// A model written with layer variants has the same numbers as the architecture with the same layers.
#include <QtTest>
#include <nlohmann/json.hpp>

#include "design/knobs/knobs.h"
#include "plan/report.h"
#include "report/report_json.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

using Json = nlohmann::ordered_json;

void add_numbers(const Json& json, const std::string& path, QStringList& to) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items())
      if (key != "design" && !key.ends_with("symbols")) add_numbers(value, path + "/" + key, to);
  } else if (json.is_array()) {
    for (const Json& value : json) add_numbers(value, path, to);
  } else if (!json.is_string()) {
    to << QString::fromStdString(path + " " + json.dump());
  }
}

// All numbers of a report, without its texts: names of kinds differ.
QStringList numbers(const Design& design) {
  const auto report = make_report(design);
  QStringList out;
  if (!report->valid()) return {QString::fromStdString(to_string(report->problems.front()))};
  add_numbers(Json::parse(report_json(*report)), "", out);
  return out;
}

}  // namespace

class VariantReportTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsArchitecture_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<QString>("variants");
    const auto rows = [](const char* preset, const char* pattern, const char* variants) {
      QTest::newRow(qPrintable(QString("%1: %2").arg(preset, pattern)))
          << QString(preset) << QString(pattern) << QString(variants);
    };
    rows("gemma2-9b", "(local, global)*", "");
    rows("gemma2-9b", "(sliding, full)*", "sliding: local window=4096; full: local window=0");
    rows("gemma2-9b", "(sliding, full)*", "sliding: local heads=16 head_dim=256; full: global kv_heads=8");
    rows("gpt-oss-20b", "(sliding, full)*", "sliding: local; full: local window=0");
    rows("gpt-oss-20b", "(local, full)*12", "full: global expert_ffn=2880");
    rows("jamba-v0.1", "(m, e, m, e, a, e, m, e)*",
         "m: mamba; e: mamba_moe expert_ffn=14336; a: attention head_dim=128");
    rows("deepseek-moe-16b", "dense, moe*", "");
    rows("deepseek-moe-16b", "dense, own*", "own: moe shared_ffn=2816");
  }

  void equalsArchitecture() {
    QFETCH(QString, preset);
    QFETCH(QString, pattern);
    QFETCH(QString, variants);
    for (Mode mode : {Mode::Train, Mode::Decode}) {
      Design plain = preset_design(qPrintable(preset), 2, 2, 2);
      plain.workload.mode = mode;
      plain.workload.seq = 8192;
      Design own = plain;
      QVERIFY(!set_knob(own, *find_knob("layer_pattern"), pattern.toStdString()));
      const auto problem = set_knob(own, *find_knob("variants"), variants.toStdString());
      QVERIFY2(!problem, problem ? problem->what.c_str() : "");
      const QStringList expected = numbers(plain), found = numbers(own);
      QVERIFY(expected.size() > 50);
      QCOMPARE(found, expected);
    }
  }
};

QTEST_GUILESS_MAIN(VariantReportTest)
#include "variant_report_test.moc"
