// Designs of serving become commands, and the commands read back as the same designs.
#include <QtTest>
#include <random>
#include <set>

#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "launch/launch_export.h"
#include "launch/launch_import.h"
#include "support/random_designs.h"

using namespace shardscape;

namespace {

const char* const kEngines[] = {"vllm", "sglang", "trtllm"};

Design served(const char* preset, std::initializer_list<std::pair<const char*, const char*>> knobs) {
  Design design;
  if (!apply_preset(design, preset)) qFatal("no preset %s", preset);
  for (const auto& [id, value] : knobs)
    if (const auto problem = set_knob(design, *find_knob(id), value))
      qFatal("%s", to_string(*problem).c_str());
  return design;
}

LaunchText exported(const Design& design, const std::string& engine) {
  const auto out = export_launch(design, engine);
  if (const auto* problem = std::get_if<Problem>(&out)) qFatal("%s", to_string(*problem).c_str());
  return std::get<LaunchText>(out);
}

LaunchImport imported(const std::string& text) {
  LaunchRequest request;
  request.text = text;
  request.where = "serve.sh";
  return import_launch(request);
}

bool is_valid(const Design& design) {
  for (const Problem& problem : validate(design))
    if (problem.severity == Severity::Error) return false;
  return true;
}

// Knobs with an effect whose values differ, without gaps; etp 0 is tp.
QStringList differing(const Design& design, const Design& read, const LaunchText& launch) {
  std::set<std::string> gaps;
  for (const LaunchGap& gap : launch.gaps) gaps.insert(gap.knob);
  QStringList out;
  for (const Knob& knob : knobs()) {
    if (knob.group == KnobGroup::Cluster || knob.outside_step || gaps.contains(knob.id)) continue;
    if (knob.id == "etp" && design.parallel.expert_tp() == read.parallel.expert_tp()) continue;
    const std::string from = knob_text(design, knob), to = knob_text(read, knob);
    if (from != to && !without_effect(design, knob))
      out << QString::fromStdString(knob.id + " " + from + " -> " + to);
  }
  return out;
}

// A random layout of a preset, not always valid.
Design random_served(std::mt19937& random) {
  const auto any = [&](std::initializer_list<const char*> of) {
    return *(of.begin() + static_cast<std::ptrdiff_t>(random() % of.size()));
  };
  Design design = served(
      any({"llama3-70b", "qwen3-8b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-120b", "qwen3-30b-a3b"}), {});
  const auto set = [&](const char* knob, const std::string& value) {
    (void)set_knob(design, *find_knob(knob), value);
  };
  set("mode", any({"decode", "prefill"}));
  for (const char* degree : {"tp", "pp", "dp"}) set(degree, any({"1", "1", "2", "4", "8"}));
  set("ep", any({"1", "2", "4", "8", "16"}));
  set("etp", any({"0", "1", "2", "4"}));
  set("dispatcher", any({"allgather", "alltoall", "flex"}));
  set("dtype", any({"bf16", "bf16", "fp16"}));
  set("kv_cache_dtype", any({"bf16", "fp8"}));
  set("dcp", any({"1", "1", "2"}));
  set("profile", any({"vllm", "sglang", "trtllm"}));
  set("weight_formats", any({"", "attention=fp8, mlp=fp8", "experts=mxfp4", "experts=nvfp4"}));
  set("seq", any({"1024", "4096"}));
  set("context_length", any({"2048", "16384"}));
  const int64_t each = 1 << random() % 7;
  set("microbatch", std::to_string(random() % 2 ? each : 1));
  set("batch", std::to_string(each * design.parallel.dp * design.parallel.pp));
  return design;
}

// The design with fixes until it is valid. Models of served checkpoints are larger than those of random
// designs.
std::optional<Design> made_valid(Design design, std::mt19937& random) {
  for (int round = 0; round < 20; ++round) {
    const std::vector<Problem> problems = validate(design);
    if (!has_errors(problems)) return design;
    const std::vector<Fix>& fixes = problems.front().fixes;
    if (fixes.empty()) return std::nullopt;
    for (const auto& [id, text] : fixes[random() % fixes.size()].settings)
      if (const Knob* knob = find_knob(id)) (void)set_knob(design, *knob, text);
  }
  return std::nullopt;
}

}  // namespace

class ServerWriterTest : public QObject {
  Q_OBJECT
 private slots:
  // The flags are those that the servers themselves document.
  void flags_have_the_names_of_the_server() {
    Design design = default_design();
    design.workload.mode = Mode::Decode;
    design.workload.context_length = 4096;
    for (const auto& [framework, flag] : {std::pair{"vllm", "--max-model-len 4096"},
                                          {"sglang", "--context-length 4096"},
                                          {"trtllm", "max_seq_len: 4096"}}) {
      const auto written = export_launch(design, framework);
      QVERIFY2(std::holds_alternative<LaunchText>(written), framework);
      QVERIFY2(std::get<LaunchText>(written).text.find(flag) != std::string::npos,
               std::get<LaunchText>(written).text.c_str());
    }
  }

  void designs_of_engines_have_no_gaps_data() {
    QTest::addColumn<QByteArray>("engine");
    QTest::addColumn<QByteArray>("expected");
    QTest::newRow("vllm") << QByteArray("vllm") << QByteArray("--enable-expert-parallel");
    QTest::newRow("sglang") << QByteArray("sglang") << QByteArray("--enable-dp-attention");
    QTest::newRow("trtllm") << QByteArray("trtllm") << QByteArray("enable_attention_dp: true");
  }
  void designs_of_engines_have_no_gaps() {
    QFETCH(QByteArray, engine);
    QFETCH(QByteArray, expected);
    Design design = served("deepseek-v3", {{"mode", "decode"},
                                           {"dp", "8"},
                                           {"ep", "8"},
                                           {"etp", "1"},
                                           {"dispatcher", "alltoall"},
                                           {"kv_cache_dtype", "fp8"},
                                           {"batch", "512"},
                                           {"microbatch", "64"},
                                           {"context_length", "8192"}});
    QVERIFY(!set_knob(design, *find_knob("profile"), engine.toStdString()));
    const LaunchText launch = exported(design, engine.toStdString());
    for (const LaunchGap& gap : launch.gaps) QFAIL((gap.knob + ": " + gap.reason).c_str());
    QVERIFY2(launch.text.find(expected.toStdString()) != std::string::npos, launch.text.c_str());
    const LaunchImport read = imported(launch.text);
    QVERIFY2(read.ok(), launch.text.c_str());
    QCOMPARE(differing(design, read.design, launch).join(", "), QString());
  }

  void random_designs_read_back() {
    std::mt19937 random(20);
    int compared = 0, exact = 0;
    for (int i = 0; i < 600; ++i) {
      const std::optional<Design> design = made_valid(random_served(random), random);
      if (!design || trains(*design) || !is_valid(*design)) continue;
      for (const char* engine : kEngines) {
        const auto out = export_launch(*design, engine);
        if (std::holds_alternative<Problem>(out)) continue;
        const LaunchText& launch = std::get<LaunchText>(out);
        if (launch.text.find("/path/to/checkpoint") != std::string::npos) continue;  // no preset
        const LaunchImport read = imported(launch.text);
        QVERIFY2(read.ok(), (launch.text + (read.ok() ? "" : to_string(read.problems[0]))).c_str());
        QCOMPARE(QString::fromStdString(read.framework), QString(engine));
        QVERIFY2(differing(*design, read.design, launch).isEmpty(),
                 qPrintable(differing(*design, read.design, launch).join(", ") + "\n" +
                            QString::fromStdString(launch.text)));
        const LaunchText again = exported(read.design, engine);
        const auto commands = [](const std::string& text) { return text.substr(text.find("MODEL=${")); };
        QCOMPARE(QString::fromStdString(commands(again.text)), QString::fromStdString(commands(launch.text)));
        ++compared;
        exact += launch.gaps.empty() ? 1 : 0;
      }
    }
    QVERIFY2(compared > 200, qPrintable(QString::number(compared)));
    QVERIFY2(exact > 20, qPrintable(QString::number(exact)));
  }

  void other_steps_are_refused() {
    const Design trained = served("llama3-8b", {});
    const Design prompts = served("llama3-8b", {{"mode", "prefill"}});
    for (const char* engine : kEngines) {
      const auto out = export_launch(trained, engine);
      QVERIFY(std::holds_alternative<Problem>(out));
      QVERIFY(std::get<Problem>(out).code == ProblemCode::LaunchSetting);
    }
    QVERIFY(std::holds_alternative<Problem>(export_launch(prompts, "trtllm")));
    QVERIFY(std::holds_alternative<LaunchText>(export_launch(prompts, "vllm")));
    QVERIFY(std::holds_alternative<Problem>(export_launch(prompts, "nothing")));
  }

  void gaps_have_reasons() {
    const Design design = served("llama3-8b",
                                 {{"mode", "decode"}, {"cp", "2"}, {"batch", "8"}, {"microbatch", "1"}});
    for (const char* engine : kEngines) {
      const LaunchText launch = exported(design, engine);
      const auto gap = std::find_if(launch.gaps.begin(), launch.gaps.end(),
                                    [](const LaunchGap& one) { return one.knob == "cp"; });
      QVERIFY2(gap != launch.gaps.end(), engine);
      QCOMPARE(gap->value, std::string("2"));
      QVERIFY(!gap->reason.empty());
    }
  }
};

QTEST_APPLESS_MAIN(ServerWriterTest)
#include "server_writer_test.moc"
