// Designs written as launches of DeepSpeed, and read again.
#include <QtTest>

#include <random>

#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "launch/launch_export.h"
#include "support/designs.h"
#include "support/random_designs.h"

using namespace shardscape;

namespace {

constexpr int kTries = 1500, kLeast = 60;

Design imported(const std::string& text) {
  LaunchRequest request;
  request.text = text;
  request.where = "launch.sh";
  const LaunchImport read = import_launch(request);
  if (!read.ok()) qFatal("%s", to_string(read.problems[0]).c_str());
  return read.design;
}

std::string differences(const Design& design, const Design& read, const LaunchText& written) {
  std::string out;
  for (const Knob& knob : knobs()) {
    if (knob.group == KnobGroup::Cluster || knob.outside_step || without_effect(design, knob)) continue;
    const bool gap = std::any_of(written.gaps.begin(), written.gaps.end(),
                                 [&](const LaunchGap& one) { return one.knob == knob.id; });
    if (!gap && knob_text(design, knob) != knob_text(read, knob))
      out += knob.id + " " + knob_text(design, knob) + " is read as " + knob_text(read, knob) + "; ";
  }
  return out;
}

// Comments list the gaps.
QString without_comments(const std::string& text) {
  QStringList lines = QString::fromStdString(text).split('\n');
  lines.erase(
      std::remove_if(lines.begin(), lines.end(), [](const QString& line) { return line.startsWith('#'); }),
      lines.end());
  return lines.join('\n');
}

}  // namespace

class DeepspeedExportTest : public QObject {
  Q_OBJECT
 private slots:
  void random_designs_come_back() {
    std::mt19937 random(7);
    int written_designs = 0;
    for (int i = 0; i < kTries; ++i) {
      Design design = test::random_design(random);
      const Design model = test::preset_design(i % 2 ? "llama2-7b" : "gpt3-small-125m", 1, 1, 1);
      design.model = model.model;
      design.model.layers = 1 + static_cast<int64_t>(random() % 8);
      design.workload.mode = Mode::Train;
      const auto valid = test::repaired(design, random);
      if (!valid || valid->workload.mode != Mode::Train) continue;
      const auto text = export_launch(*valid, "deepspeed");
      if (std::holds_alternative<Problem>(text)) continue;
      ++written_designs;
      const auto& written = std::get<LaunchText>(text);
      Design read = imported(written.text);
      const std::string wrong = differences(*valid, read, written);
      QVERIFY2(wrong.empty(), (wrong + "\n" + written.text).c_str());
      read.cluster = valid->cluster;
      const auto again = export_launch(read, "deepspeed");
      QVERIFY(std::holds_alternative<LaunchText>(again));
      QCOMPARE(without_comments(std::get<LaunchText>(again).text), without_comments(written.text));
    }
    QVERIFY2(written_designs >= kLeast, std::to_string(written_designs).c_str());
  }

  void gaps_have_reasons() {
    Design design = test::preset_design("llama2-7b", 2, 2, 4);
    design.parallel.virtual_stages = 2;
    design.parallel.sync = SyncStrategy::Fsdp2;
    const auto text = export_launch(design, "deepspeed");
    QVERIFY(std::holds_alternative<LaunchText>(text));
    QStringList knobs;
    for (const LaunchGap& gap : std::get<LaunchText>(text).gaps) {
      knobs << QString::fromStdString(gap.knob);
      QVERIFY(!gap.reason.empty());
    }
    QVERIFY(knobs.contains("virtual_stages"));
    QVERIFY(knobs.contains("sync"));
    QVERIFY(!knobs.contains("tp"));
  }

  void refused_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<bool>("decode");
    QTest::addColumn<QString>("where");
    QTest::newRow("experts") << "mixtral-8x7b" << false << "architecture";
    QTest::newRow("decode") << "llama2-7b" << true << "mode";
  }
  void refused() {
    QFETCH(QString, preset);
    QFETCH(bool, decode);
    QFETCH(QString, where);
    Design design = test::preset_design(preset.toStdString().c_str(), 1, 1, 8);
    if (decode) design.workload.mode = Mode::Decode;
    const auto text = export_launch(design, "deepspeed");
    QVERIFY(std::holds_alternative<Problem>(text));
    QCOMPARE(QString::fromStdString(std::get<Problem>(text).where), where);
    QVERIFY(std::get<Problem>(text).code == ProblemCode::LaunchSetting);
  }
};

QTEST_APPLESS_MAIN(DeepspeedExportTest)
#include "deepspeed_export_test.moc"
