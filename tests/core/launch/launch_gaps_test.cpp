// Settings that a written launch does not say: each has a reason, or no framework could say it.
#include <QtTest>
#include <map>
#include <random>
#include <set>

#include "design/knobs/knobs.h"
#include "launch/launch_export.h"
#include "support/random_designs.h"

using namespace shardscape;

namespace {

using Knobs = std::set<std::string>;

// Knobs for which a framework has no words. A knob that its writer does say never has such a gap.
const std::map<std::string, Knobs>& wordless() {
  static const std::map<std::string, Knobs> kWordless{};
  return kWordless;
}

}  // namespace

class LaunchGapsTest : public QObject {
  Q_OBJECT
 private slots:
  void gaps_without_a_reason_data() {
    QTest::addColumn<QString>("framework");
    for (const LaunchFramework& framework : launch_export_frameworks())
      QTest::newRow(std::string(framework.id).c_str()) << QString::fromUtf8(framework.id.data());
  }
  void gaps_without_a_reason() {
    QFETCH(QString, framework);
    std::mt19937 random(11);
    Knobs found;
    int written = 0;
    for (int i = 0; i < 800; ++i) {
      Design design = test::random_design(random);
      for (const char* preset : {"llama3-8b", "llama2-7b", "gpt3-small-125m", "qwen3-30b-a3b"})
        if (random() % 5 == 0) apply_preset(design, preset);
      const auto valid = test::repaired(design, random);
      if (!valid) continue;
      const auto out = export_launch(*valid, framework.toStdString());
      const auto* launch = std::get_if<LaunchText>(&out);
      if (!launch) continue;
      ++written;
      for (const LaunchGap& gap : launch->gaps) {
        QVERIFY2(launch->text.find(gap.knob + " " + gap.value) != std::string::npos, gap.knob.c_str());
        if (gap.reason.ends_with("has no such setting")) found.insert(gap.knob);
      }
    }
    QVERIFY2(written > 20, qPrintable(QString::number(written)));
    const auto known = wordless().find(framework.toStdString());
    QStringList unknown;
    for (const std::string& knob : found)
      if (known == wordless().end() || !known->second.contains(knob)) unknown << QString::fromStdString(knob);
    QVERIFY2(unknown.isEmpty(), qPrintable(unknown.join("\", \"")));
  }
};

QTEST_APPLESS_MAIN(LaunchGapsTest)
#include "launch_gaps_test.moc"
