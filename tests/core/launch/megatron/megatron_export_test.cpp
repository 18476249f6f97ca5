// Designs as launches of Megatron-LM: read again, a launch gives the design except for the gaps that it
// names.
#include <QtTest>
#include <random>
#include <set>

#include "design/design.h"
#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "launch/launch_export.h"
#include "launch/launch_import.h"
#include "support/random_designs.h"

using namespace shardscape;

namespace {

const std::set<std::string> kArchitectures{"gpt",       "llama",     "mistral",     "qwen2",     "qwen3",
                                           "nemotron4", "mixtral",   "qwen2-moe",   "qwen3-moe", "glm4-moe",
                                           "deepseek2", "deepseek3", "deepseek-moe"};

LaunchText exported(const Design& design, const char* framework) {
  auto made = export_launch(design, framework);
  if (const auto* problem = std::get_if<Problem>(&made)) qFatal("%s", to_string(*problem).c_str());
  return std::get<LaunchText>(made);
}

LaunchImport imported(const LaunchText& launch) {
  LaunchRequest request;
  request.text = launch.text;
  request.where = launch.file_name;
  LaunchImport read = import_launch(request);
  if (!read.ok()) qFatal("%s\n%s", to_string(read.problems[0]).c_str(), launch.text.c_str());
  return read;
}

// Knobs that differ, have an effect, and are not in the gaps: "tp 8 -> 4".
std::string differences(const Design& design, const LaunchText& launch, const Design& read) {
  std::string out;
  for (const Knob& knob : knobs()) {
    if (knob.group == KnobGroup::Cluster || knob.outside_step || without_effect(design, knob)) continue;
    const bool gap = std::any_of(launch.gaps.begin(), launch.gaps.end(),
                                 [&](const LaunchGap& one) { return one.knob == knob.id; });
    const std::string after = knob_text(read, knob);
    std::string before = knob_text(design, knob);
    if (knob.id == "etp" && before == "0") before = std::to_string(design.parallel.tp);
    if (!gap && before != after) out += knob.id + " " + before + " -> " + after + "; ";
  }
  return out;
}

// The first arguments that differ; empty: none. Comments may differ.
std::string first_difference(const LaunchText& a, const LaunchText& b) {
  const auto lines = [](const LaunchText& launch) {
    const QString text = QString::fromStdString(launch.text);
    return text.mid(text.indexOf(QRegularExpression("ARGUMENTS=|OVERRIDES="))).split('\n');
  };
  const QStringList left = lines(a), right = lines(b);
  for (int i = 0; i < std::max(left.size(), right.size()); ++i)
    if (left.value(i) != right.value(i)) return (left.value(i) + " | " + right.value(i)).toStdString();
  return {};
}

Design preset(const std::string& id) {
  Design design;
  if (!apply_preset(design, id)) qFatal("no preset %s", id.c_str());
  design.workload.profile = "megatron-core-te";
  return design;
}

void set(Design& design, const char* knob, const std::string& value) {
  if (const auto problem = set_knob(design, *find_knob(knob), value))
    qFatal("%s", to_string(*problem).c_str());
}

const char* const kFrameworks[] = {"megatron-lm", "megatron-bridge"};

}  // namespace

class MegatronExportTest : public QObject {
  Q_OBJECT
 private slots:
  void random_designs_return() {
    std::mt19937 random(20);
    int read = 0;
    for (int i = 0; i < 200; ++i) {
      Design drawn = shardscape::test::random_design(random);
      drawn.workload.mode = Mode::Train;
      if (!kArchitectures.contains(drawn.model.architecture.substr(0, drawn.model.architecture.find(';'))))
        continue;
      const auto design = shardscape::test::repaired(drawn, random);
      if (!design) continue;
      if (std::holds_alternative<Problem>(export_launch(*design, "megatron-lm"))) continue;
      ++read;
      for (const char* framework : kFrameworks) {
        const LaunchText launch = exported(*design, framework);
        const LaunchImport back = imported(launch);
        const std::string changed = differences(*design, launch, back.design);
        QVERIFY2(changed.empty(), (changed + "\n" + launch.text).c_str());
        QCOMPARE(back.gpus.value_or(0),
                 design->parallel.tp * design->parallel.pp * design->parallel.cp * design->parallel.dp);
        // Written again, the design that was read gives the same arguments.
        const LaunchText again = exported(back.design, framework);
        const std::string line = first_difference(launch, again);
        QVERIFY2(line.empty(), line.c_str());
      }
    }
    QVERIFY2(read > 4, std::to_string(read).c_str());
  }

  void presets_have_no_gaps_data() {
    QTest::addColumn<QString>("id");
    for (const char* id : {"llama3-8b", "llama2-70b", "gpt3-175b-megatron", "mixtral-8x7b", "qwen2.5-72b",
                           "qwen3-32b", "qwen3-30b-a3b", "nemotron4-15b", "deepseek-v3", "kimi-k2"})
      QTest::newRow(id) << id;
  }
  void presets_have_no_gaps() {
    QFETCH(QString, id);
    Design design = preset(id.toStdString());
    design.workload.seq = 2048;
    const LaunchText launch = exported(design, "megatron-lm");
    QVERIFY2(launch.gaps.empty(), launch.gaps.empty() ? "" : launch.gaps[0].knob.c_str());
    QCOMPARE(imported(launch).design.model.architecture, design.model.architecture);
  }

  void what_megatron_lacks_is_a_gap() {
    Design design = preset("llama3-8b");
    set(design, "dp", "8");
    set(design, "sync", "zero-2");
    set(design, "moment_dtype", "int8-blockwise");
    const LaunchText launch = exported(design, "megatron-lm");
    QStringList gaps;
    for (const LaunchGap& gap : launch.gaps) gaps << QString::fromStdString(gap.knob + " " + gap.value);
    QVERIFY2(gaps.contains("sync zero-2"), qPrintable(gaps.join(", ")));
    QVERIFY2(gaps.contains("moment_dtype int8-blockwise"), qPrintable(gaps.join(", ")));
    QVERIFY(launch.text.find("# Not the design in these settings:") != std::string::npos);
  }

  void designs_without_arguments_are_refused() {
    Design serving = preset("llama3-8b");
    serving.workload.mode = Mode::Decode;
    for (const Design& design : {serving, preset("mamba2-1.3b"), preset("gpt-oss-20b")}) {
      const auto made = export_launch(design, "megatron-lm");
      const auto* problem = std::get_if<Problem>(&made);
      QVERIFY(problem);
      QCOMPARE(static_cast<int>(problem->code), static_cast<int>(ProblemCode::LaunchSetting));
    }
  }
};

QTEST_APPLESS_MAIN(MegatronExportTest)
#include "megatron_export_test.moc"
