// Settings that a written launch does not say are named in its comments. Sizes, degrees and batches are said.
#include <QtTest>
#include <random>
#include <set>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "launch/launch_export.h"
#include "support/random_designs.h"

using namespace shardscape;

namespace {

// Knobs that every writer says. Where a framework cannot say a value, the gap has a reason of its own.
const std::set<std::string> kTraining{
    "layers", "hidden", "heads",      "kv_heads",  "head_dim", "ffn",
    "vocab",  "seq",    "batch",      "tp",        "pp",       "dp",
    "cp",     "sync",   "microbatch", "recompute", "dropout",  "clip_grad_norm"};
const std::set<std::string> kServing{"mode",           "tp", "pp",  "dp",  "cp",  "dtype", "kv_cache_dtype",
                                     "context_length", "ep", "etp", "dcp", "seq", "batch", "dispatcher",
                                     "weight_formats"};

// A design of any kind, or a preset that shards its states.
Design some_design(std::mt19937& random) {
  Design design = test::random_design(random);
  const char* const presets[] = {"llama3-8b", "llama2-7b", "gpt3-small-125m", "qwen3-30b-a3b"};
  if (random() % 2 == 0) return design;
  apply_preset(design, presets[random() % 4]);
  if (random() % 2 == 0) return design;
  design = default_design();
  for (const auto& [id, value] : {std::pair{"sync", "fsdp2"}, {"pp", "1"}, {"profile", "torchtitan-2025"}})
    (void)set_knob(design, *find_knob(id), value);
  (void)set_knob(design, *find_knob("dp"), std::to_string(1 << random() % 4));
  return design;
}

}  // namespace

class LaunchGapsTest : public QObject {
  Q_OBJECT
 private slots:
  void settings_that_are_said_data() {
    QTest::addColumn<QString>("framework");
    for (const LaunchFramework& framework : launch_export_frameworks())
      QTest::newRow(std::string(framework.id).c_str()) << QString::fromUtf8(framework.id.data());
  }
  void settings_that_are_said() {
    QFETCH(QString, framework);
    std::mt19937 random(11);
    int written = 0;
    for (int i = 0; i < 800; ++i) {
      const Design design = some_design(random);
      const auto valid = has_errors(validate(design)) ? test::repaired(design, random) : design;
      if (!valid) continue;
      const auto out = export_launch(*valid, framework.toStdString());
      const auto* launch = std::get_if<LaunchText>(&out);
      if (!launch) continue;
      ++written;
      for (const LaunchGap& gap : launch->gaps) {
        QVERIFY2(
            launch->text.find("#   " + gap.knob + " " + gap.value + ": " + gap.reason) != std::string::npos,
            gap.knob.c_str());
        const bool said = (trains(*valid) ? kTraining : kServing).contains(gap.knob);
        QVERIFY2(!said || !gap.reason.ends_with("has no such setting"),
                 (gap.knob + " " + gap.value + "\n" + launch->text).c_str());
      }
    }
    QVERIFY2(written > 20, qPrintable(QString::number(written)));
  }
};

QTEST_APPLESS_MAIN(LaunchGapsTest)
#include "launch_gaps_test.moc"
