// Seconds of engine steps against the steps of the designs that they come from.
#include <QtTest>

#include "serving/engine/engine_clock.h"
#include "serving/inference.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design served(const char* preset, int64_t tp, int64_t pp = 1) {
  Design design = preset_design(preset, tp, pp, 1);
  design.workload.mode = Mode::Decode;
  design.cluster.accelerator = "h100-sxm-80gb";
  return design;
}

std::unique_ptr<EngineClock> clock_of(const Design& design, const EngineProfile& profile = {}) {
  auto made = EngineClock::make(design, profile);
  if (auto* clock = std::get_if<0>(&made)) return std::move(*clock);
  qFatal("%s", to_string(std::get<Problem>(made)).c_str());
}

StepBatch decode(int64_t sequences, int64_t context) {
  return {sequences, sequences * context, {}, sequences};
}

double decode_seconds(const Design& design, int64_t sequences, int64_t context) {
  return serve(serving_design(design, Mode::Decode, sequences, context)).figures.seconds;
}

void compare_close(double a, double b, double share) {
  if (std::abs(a - b) > share * b) qWarning("%.9g is not %.9g", a, b);
  QVERIFY(std::abs(a - b) <= share * b);
}

}  // namespace

class EngineClockTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void pure_decode_is_a_decode_step_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<int>("tp");
    QTest::newRow("dense") << "llama3-8b" << 1;
    QTest::newRow("dense, tp 4") << "llama3-70b" << 4;
    QTest::newRow("experts and latent attention") << "deepseek-v3" << 8;
    QTest::newRow("windows") << "gpt-oss-120b" << 2;
  }
  // Points of the ladders are exact.
  void pure_decode_is_a_decode_step() {
    QFETCH(QString, preset);
    QFETCH(int, tp);
    const Design design = served(preset.toUtf8().constData(), tp);
    const auto clock = clock_of(design);
    for (const int64_t sequences : {1, 16, 64})
      for (const int64_t context : {1024, 8192})
        compare_close(clock->seconds(decode(sequences, context)), decode_seconds(design, sequences, context),
                      1e-9);
  }
  // Between the points, kernels change with the shape of the step: the interpolation is within a few percent.
  void between_points_the_step_is_near() {
    const Design design = served("llama3-70b", 4);
    const auto clock = clock_of(design);
    for (const int64_t sequences : {3, 11, 40, 200})
      for (const int64_t context : {700, 3000, 20000})
        compare_close(clock->seconds(decode(sequences, context)), decode_seconds(design, sequences, context),
                      0.06);
  }
  void a_prompt_is_a_prefill_step() {
    const Design design = served("llama3-8b", 1);
    const auto clock = clock_of(design);
    for (const int64_t tokens : {128, 2048, 8192}) {
      const PrefillChunk whole[] = {{tokens, 0}};
      compare_close(clock->seconds({0, 0, whole, 1}),
                    serve(serving_design(design, Mode::Prefill, 1, tokens)).figures.seconds, 0.01);
    }
  }
  // The attention of chunks adds up to that of the prompt: only what every step has is more.
  void chunks_add_up_to_the_prompt() {
    const Design design = served("llama3-8b", 1);
    const auto clock = clock_of(design);
    const PrefillChunk whole[] = {{8192, 0}};
    double chunked = 0;
    for (int64_t at = 0; at < 8192; at += 2048) {
      const PrefillChunk chunk[] = {{2048, at}};
      chunked += clock->seconds({0, 0, chunk, at + 2048 == 8192 ? 1 : 0});
    }
    const double once = clock->seconds({0, 0, whole, 1});
    QVERIFY(chunked >= once);
    compare_close(chunked, once, 0.05);
  }
  // More tokens, longer contexts and more samples never make a step faster.
  void larger_steps_take_longer() {
    const auto clock = clock_of(served("llama3-8b", 1));
    double before = 0;
    for (int64_t sequences = 1; sequences <= 512; sequences *= 2) {
      const double now = clock->seconds(decode(sequences, 1000));
      QVERIFY(now >= before);
      QVERIFY(clock->seconds(decode(sequences, 4000)) >= now);
      const PrefillChunk chunk[] = {{512, 1024}};
      QVERIFY(clock->seconds({sequences, 1000 * sequences, chunk, sequences + 1}) > now);
      before = now;
    }
  }
  // A step of 33 sequences replays the graph of 40: its kernels other than attention take as long.
  void recorded_graphs_pad_steps() {
    const Design design = served("llama3-8b", 1);
    EngineProfile profile;
    profile.captured = {32, 40};
    const auto plain = clock_of(design), padded = clock_of(design, profile);
    QCOMPARE(padded->seconds(decode(32, 1024)), plain->seconds(decode(32, 1024)));
    QVERIFY(padded->seconds(decode(33, 1024)) > plain->seconds(decode(33, 1024)));
    QCOMPARE(padded->seconds(decode(64, 1024)), plain->seconds(decode(64, 1024)));
    const std::vector<int64_t> sizes = vllm_captured_sizes(512);
    QCOMPARE(sizes.size(), size_t{51});  // as vLLM 0.19 lists them for max_num_seqs 256
    QCOMPARE(sizes.back(), int64_t{512});
  }
  void host_seconds_are_added() {
    const Design design = served("llama3-8b", 1);
    EngineProfile profile;
    profile.step_seconds = 1e-3;
    profile.sequence_seconds = 1e-5;
    const double more = clock_of(design, profile)->seconds(decode(16, 1024)) -
                        clock_of(design)->seconds(decode(16, 1024));
    compare_close(more, 1e-3 + 16e-5, 1e-9);
  }
  // A step with a prompt takes at least the host's time to launch its kernels. Recorded graphs need no
  // launches.
  void prompts_wait_for_launches() {
    const Design design = served("llama3-8b", 1);
    EngineProfile profile;
    profile.launch_seconds = 1e-3;
    const PrefillChunk chunk[] = {{64, 0}};
    const auto plain = clock_of(design), launched = clock_of(design, profile);
    // 32 layers of QKV, rotation, cache, attention, two more GEMMs and norms, gate, down projection.
    const double seconds = launched->seconds({0, 0, chunk, 1});
    QVERIFY2(seconds > 32 * 8e-3 && seconds < 32 * 14e-3, qPrintable(QString::number(seconds)));
    QCOMPARE(launched->seconds(decode(16, 1024)), plain->seconds(decode(16, 1024)));
    // Up to the largest recorded size, pieces of graphs are replayed.
    profile.captured = {1024};
    const PrefillChunk recorded[] = {{1024, 0}}, longer[] = {{1536, 0}};
    QCOMPARE(clock_of(design, profile)->seconds({0, 0, recorded, 1}), plain->seconds({0, 0, recorded, 1}));
    QVERIFY(clock_of(design, profile)->seconds({0, 0, longer, 1}) > plain->seconds({0, 0, longer, 1}));
    profile.launch_seconds = 1e-9;
    QCOMPARE(clock_of(design, profile)->seconds({0, 0, chunk, 1}), plain->seconds({0, 0, chunk, 1}));
  }
  // Every entry has a source. An engine or family without one adds nothing.
  void engines_have_host_times() {
    for (const Problem& problem : engine_profile_problems()) QFAIL(to_string(problem).c_str());
    for (const char* engine : {"vllm", "sglang", "trtllm"})
      for (const char* family : {"hopper", "blackwell"}) {
        const EngineProfile profile = engine_profile(engine, family);
        QVERIFY2(profile.step_seconds > 0 && profile.step_seconds < 2e-3, engine);
        QVERIFY2(profile.prompt_seconds > 0 && profile.prompt_seconds < 20e-6, engine);
        QVERIFY2(profile.request_seconds > 0 && !profile.source.empty() && !profile.version.empty(), engine);
      }
    QCOMPARE(engine_profile("vllm", "hopper").step_seconds, 1e-3);
    QCOMPARE(engine_profile("vllm", "hopper").launch_seconds, 30e-6);
    QCOMPARE(engine_profile("vllm", "hopper").sequence_seconds, 15e-6);
    QCOMPARE(engine_profile("vllm", "tpu").step_seconds, 0.0);
    QCOMPARE(engine_profile("none", "hopper").launch_seconds, 0.0);
  }
  void mistakes_in_entries_are_named() {
    std::vector<Problem> problems;
    const auto read = read_engine_profiles(
        "{\"engines\": [\n{\"engine\": \"a\", \"family\": \"b\", \"source\": \"c\", "
        "\"step_ms\": -1},\n{\"engine\": \"a\", \"family\": \"b\"},\n"
        "{\"engine\": \"a\", \"family\": \"b\", \"source\": \"c\", \"step\": 1},\n"
        "{\"engine\": \"a\", \"family\": \"b\", \"source\": \"c\", \"step_ms\": 2}]}",
        "mine.json", problems);
    QCOMPARE(read.size(), size_t{1});
    QCOMPARE(read.front().step_seconds, 2e-3);
    QCOMPARE(problems.size(), size_t{3});
    QVERIFY(problems[0].what.find("-1 is not a time") != std::string::npos);
    QVERIFY(problems[2].what.find("\"step\"") != std::string::npos);
  }
  // All stages compute a step one after the other.
  void stages_follow_each_other() {
    const Design design = served("llama3-70b", 2, 4);
    const Design one = serving_design(design, Mode::Decode, 1, 1024);
    compare_close(clock_of(design)->seconds(decode(1, 1024)), serve(one).figures.seconds, 1e-6);
  }
  // The slowest stage of four takes a quarter of the layers or a little more; without a pipeline it is the
  // step.
  void the_slowest_stage_separates_steps() {
    const auto clock = clock_of(served("llama3-70b", 2, 4));
    const PrefillChunk chunk[] = {{2048, 0}};
    for (const StepBatch& batch :
         {decode(16, 4096), StepBatch{0, 0, chunk, 1}, StepBatch{8, 8192, chunk, 9}}) {
      const double share = clock->bottleneck_seconds(batch) / clock->seconds(batch);
      QVERIFY2(share > 0.2 && share < 0.4, qPrintable(QString::number(share)));
    }
    const auto one = clock_of(served("llama3-8b", 1));
    QCOMPARE(one->bottleneck_seconds(decode(16, 4096)), one->seconds(decode(16, 4096)));
  }
  void impossible_layouts_are_problems() {
    Design design = served("llama3-8b", 3);
    const auto made = EngineClock::make(design, {});
    QVERIFY(std::holds_alternative<Problem>(made));
    QCOMPARE(QString::fromStdString(std::get<Problem>(made).where), QString("tp"));
  }
};

QTEST_APPLESS_MAIN(EngineClockTest)
#include "engine_clock_test.moc"
