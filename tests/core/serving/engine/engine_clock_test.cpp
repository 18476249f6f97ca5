// Seconds of engine steps against the steps of the designs that they come from.
#include <QtTest>

#include "serving/engine/engine_clock.h"
#include "serving/inference.h"
#include "support/served_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design served(const char* preset, int64_t tp, int64_t pp = 1) {
  return decode_engine(preset, tp, pp, "h100-sxm-80gb");
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
  // A chunk after cached tokens is a prefill step after as many; latents are projected again. Few tokens take
  // at least the time to read the cache: 128 KiB for each of 65,536 tokens.
  void chunks_read_the_cache() {
    const auto seconds = [](EngineClock& clock, int64_t tokens, int64_t cached) {
      const PrefillChunk chunk[] = {{tokens, cached}};
      return clock.seconds({0, 0, chunk, 1});
    };
    for (const char* preset : {"llama3-8b", "deepseek-v2-lite", "gpt-oss-20b"}) {
      const Design design = served(preset, 1);
      const auto clock = clock_of(design);
      for (const int64_t tokens : {512, 2048})
        for (const int64_t cached : {2048, 65536}) {
          Design step = serving_design(design, Mode::Prefill, 1, tokens);
          step.workload.cached_tokens = cached;
          compare_close(seconds(*clock, tokens, cached), serve(step).figures.seconds, 0.01);
        }
    }
    const auto clock = clock_of(served("llama3-8b", 1));
    const double read = 65536.0 * 131072 / 3.36e12;
    QVERIFY(seconds(*clock, 16, 65536) - seconds(*clock, 16, 0) > read);
    QVERIFY(seconds(*clock, 1, 65536) - seconds(*clock, 1, 0) > read);
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
      for (const char* family : {"ampere", "hopper", "blackwell"}) {
        const EngineProfile profile = engine_profile(engine, family);
        QVERIFY2(profile.step_seconds > 0 && profile.step_seconds < 2e-3, engine);
        QVERIFY2(profile.prompt_seconds > 0 && profile.prompt_seconds < 20e-6, engine);
        QVERIFY2(profile.request_seconds > 0 && !profile.source.empty() && !profile.version.empty(), engine);
      }
    QCOMPARE(engine_profile("vllm", "hopper").step_seconds, 1e-3);
    QCOMPARE(engine_profile("vllm", "hopper").launch_seconds, 30e-6);
    QCOMPARE(engine_profile("vllm", "hopper").sequence_seconds, 15e-6);
    QCOMPARE(engine_profile("vllm", "hopper").sync_sequence_seconds, 57e-6);
    QCOMPARE(engine_profile("sglang", "hopper").sync_sequence_seconds, 20e-6);  // no entry of its own
    QCOMPARE(engine_profile("vllm", "tpu").step_seconds, 0.0);
    QCOMPARE(engine_profile("none", "hopper").launch_seconds, 0.0);
  }
  void connectors_have_times() {
    for (const char* name : {"mooncake", "nixl"}) {
      const KvConnector connector = kv_connector(name);
      QVERIFY2(connector.transfer_seconds + connector.descriptor_seconds > 0, name);
      QVERIFY2(!connector.source.empty() && !connector.version.empty(), name);
    }
    QCOMPARE(kv_connector("none").transfer_seconds, 0.0);
  }
  void mistakes_in_entries_are_named() {
    std::vector<Problem> problems;
    const auto read = read_engine_entries(
        "{\"engines\": [\n{\"engine\": \"a\", \"family\": \"b\", \"source\": \"c\", "
        "\"step_ms\": -1},\n{\"engine\": \"a\", \"family\": \"b\"},\n"
        "{\"engine\": \"a\", \"family\": \"b\", \"source\": \"c\", \"step\": 1},\n"
        "{\"engine\": \"a\", \"family\": \"b\", \"source\": \"c\", \"step_ms\": 2}],\n"
        "\"kv_connectors\": [{\"connector\": \"d\", \"source\": \"c\", \"descriptor_us\": -2},\n"
        "{\"connector\": \"d\", \"source\": \"c\", \"transfer_us\": 5}]}",
        "mine.json", problems);
    QCOMPARE(read.engines.size(), size_t{1});
    QCOMPARE(read.engines.front().step_seconds, 2e-3);
    QCOMPARE(read.connectors.size(), size_t{1});
    QCOMPARE(read.connectors.front().transfer_seconds, 5e-6);
    QCOMPARE(problems.size(), size_t{4});
    QVERIFY(problems[3].what.find("-2 is not a time") != std::string::npos);
    QVERIFY(problems[0].what.find("-1 is not a time") != std::string::npos);
    QVERIFY(problems[2].what.find("\"step\"") != std::string::npos);
  }
  // Verification: the kernels of as many tokens, but a cache that is read once for the four queries of a
  // sequence. Latent attention is bound by its products.
  void drafts_are_verified_in_one_step_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<int>("tp");
    QTest::addColumn<double>("most");
    QTest::newRow("dense") << "llama3-70b" << 4 << 1.3;
    QTest::newRow("experts and latent attention") << "deepseek-v3" << 8 << 4.0;
  }
  void drafts_are_verified_in_one_step() {
    QFETCH(QString, preset);
    QFETCH(int, tp);
    QFETCH(double, most);
    const Design design = served(preset.toUtf8().constData(), tp);
    EngineProfile profile;
    profile.draft_tokens = 3;
    const auto clock = clock_of(design, profile);
    const auto parts = [&](int64_t sequences, int64_t queries) {
      Design step = serving_design(design, Mode::Decode, sequences, 8192);
      step.model.heads *= queries;
      if (step.model.kv_rank > 0) step.model.kv_heads *= queries;
      return forward_seconds(*make_report(step, std::make_shared<PlanCache>()));
    };
    const ForwardSeconds tokens = parts(64, 1), attention = parts(16, 4);
    const StepBatch batch{16, 16 * 8192, {}, 16, 48};
    compare_close(clock->seconds(batch), tokens.tokens() + tokens.head() + attention.attention(), 1e-9);
    QVERIFY(attention.attention() >= parts(16, 1).attention());
    QVERIFY(attention.attention() < most * parts(16, 1).attention());
    QVERIFY(clock->seconds(batch) < clock->seconds(decode(64, 8192)));
    // Half of the draft tokens cost less.
    const StepBatch half{16, 16 * 8192, {}, 16, 24};
    QVERIFY(clock->seconds(half) < clock->seconds(batch));
    QVERIFY(clock->seconds(half) > clock->seconds(decode(16, 8192)));
  }
  // Attention of every kind takes the heads of four queries: latent, sparse, in windows, with mixers, and
  // with heads of its own in some layers.
  void models_verify_drafts_data() {
    QTest::addColumn<QString>("preset");
    for (const char* preset : {"llama3-8b", "deepseek-v2-lite", "glm-5", "gpt-oss-20b", "gemma3-27b",
                               "jamba-v0.1", "qwen3-next-80b-a3b", "mimo-v2-flash", "kimi-linear-48b-a3b"})
      QTest::newRow(preset) << preset;
  }
  void models_verify_drafts() {
    QFETCH(QString, preset);
    const Design design = served(preset.toUtf8().constData(), 1);
    EngineProfile profile;
    profile.draft_tokens = 3;
    QVERIFY(clock_of(design, profile)->seconds({4, 4 * 1024, {}, 4, 12}) >
            clock_of(design)->seconds(decode(4, 1024)));
  }
  // Each pass of an EAGLE layer takes a layer, a product and the head. n-grams take no time.
  void draft_modules_take_passes() {
    const Design design = served("llama3-70b", 4);
    EngineProfile profile;
    const StepBatch batch{16, 16 * 1024, {}, 16, 48};
    profile.draft_tokens = 3;
    const double ngram = clock_of(design, profile)->seconds(batch);
    profile.draft.kind = DraftKind::Eagle;
    const double module = clock_of(design, profile)->seconds(batch);
    const auto report = make_report(serving_design(design, Mode::Decode, 16, 1024),
                                    std::make_shared<PlanCache>());
    const ForwardSeconds step = forward_seconds(*report);
    const double pass = (step.tokens() + step.attention()) / static_cast<double>(design.model.layers) +
                        step.head();
    QVERIFY2(module - ngram > 3 * pass && module - ngram < 4.5 * pass,
             qPrintable(QString("%1 %2").arg(module - ngram).arg(pass)));
    // Nothing samples in the middle of a prompt, so nothing is drafted.
    const PrefillChunk chunk[] = {{512, 0}};
    EngineProfile none;
    QCOMPARE(clock_of(design, profile)->seconds({0, 0, chunk, 0}),
             clock_of(design, none)->seconds({0, 0, chunk, 0}));
  }
  void the_module_belongs_to_the_last_stage() {
    const Design design = served("llama3-70b", 2, 4);
    EngineProfile profile;
    profile.draft_tokens = 3;
    const StepBatch batch{16, 16 * 1024, {}, 16, 48};
    const auto ngram = clock_of(design, profile);
    profile.draft.kind = DraftKind::Eagle;
    const auto module = clock_of(design, profile);
    const double all = module->seconds(batch) - ngram->seconds(batch),
                 slowest = module->bottleneck_seconds(batch) - ngram->bottleneck_seconds(batch);
    QVERIFY2(slowest > 0.5 * all && slowest < 1.5 * all, qPrintable(QString("%1 %2").arg(slowest).arg(all)));
  }
  // Graphs are recorded for whole sequences with their drafts.
  void recorded_sizes_have_whole_drafts() {
    const std::vector<int64_t> sizes = vllm_captured_sizes(512, 8);
    QCOMPARE(sizes.front(), int64_t{8});
    QCOMPARE(sizes.back(), int64_t{512});
    for (size_t i = 0; i < sizes.size(); ++i)
      QVERIFY(sizes[i] % 8 == 0 && (i == 0 || sizes[i] > sizes[i - 1]));
    QCOMPARE(vllm_captured_sizes(16, 3), (std::vector<int64_t>{3, 6, 9}));
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
