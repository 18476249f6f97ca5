// The batch and the designs of a step of a run.
#include <QtTest>
#include <algorithm>

#include "plan/report.h"
#include "serving/service/step_designs.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

struct Served {
  Design design;
  ServiceSpec spec;
  std::shared_ptr<const ServiceRun> run;
};

// Requests with prompts of two chunks at most, so that many steps are mixed.
Served served(const char* preset, int64_t tp, int64_t pp, const char* engine) {
  Served out{preset_design(preset, tp, pp, 1), {}, {}};
  out.design.cluster.accelerator = "h200-sxm-141gb";
  ServiceSpec& spec = out.spec;
  set_setting(spec, *find_setting("engine"), engine);
  spec.source.requests = 24;
  spec.source.rate = 40;
  spec.source.input_len = 3000;
  spec.source.output_len = 40;
  spec.source.range_ratio = 0.2;
  const auto made = run_service(out.design, spec);
  if (const auto* problem = std::get_if<Problem>(&made)) qFatal("%s", to_string(*problem).c_str());
  out.run = std::get<0>(made);
  return out;
}

StepDesigns designs_of(const ServiceRun& run, size_t step) {
  const auto made = step_designs(run, step);
  if (const auto* problem = std::get_if<Problem>(&made)) qFatal("%s", to_string(*problem).c_str());
  return std::get<StepDesigns>(made);
}

}  // namespace

class StepDesignsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void runs_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("pp");
    QTest::addColumn<QString>("engine");
    QTest::newRow("vllm") << "llama3-8b" << 2 << 1 << "vllm";
    QTest::newRow("vllm, two stages") << "llama3-8b" << 1 << 2 << "vllm";
    QTest::newRow("sglang") << "qwen3-30b-a3b" << 2 << 1 << "sglang";
    QTest::newRow("trtllm") << "llama3-8b" << 1 << 1 << "trtllm";
  }

  void batches_have_the_seconds_of_their_steps_data() { runs_data(); }
  // The batch of a step is complete: the clock of the engine needs exactly the seconds of the step for it.
  void batches_have_the_seconds_of_their_steps() {
    QFETCH(QString, preset);
    QFETCH(int, tp);
    QFETCH(int, pp);
    QFETCH(QString, engine);
    const Served of = served(preset.toUtf8(), tp, pp, engine.toUtf8());
    const auto clock = service_clock(of.design, of.spec);
    QVERIFY(std::holds_alternative<std::unique_ptr<StepClock>>(clock));
    const RequestSimulation& simulation = of.run->simulation;
    size_t chunks = 0;
    for (size_t step = 0; step < simulation.steps.size(); ++step) {
      const StepBatch batch = batch_of(simulation, step);
      QCOMPARE(std::get<0>(clock)->seconds(batch), simulation.steps[step].seconds);
      int64_t tokens = 0;
      for (const PrefillChunk& chunk : batch.chunks) tokens += chunk.tokens;
      QCOMPARE(tokens, int64_t{simulation.steps[step].prefill_tokens});
      chunks += batch.chunks.size();
    }
    QCOMPARE(chunks, simulation.chunks.size());
    QVERIFY(chunks >= 24);
  }

  void designs_compute_what_the_step_computes_data() { runs_data(); }
  void designs_compute_what_the_step_computes() {
    QFETCH(QString, preset);
    QFETCH(int, tp);
    QFETCH(int, pp);
    QFETCH(QString, engine);
    const Served of = served(preset.toUtf8(), tp, pp, engine.toUtf8());
    int prompts = 0, decodes = 0, mixed = 0;
    for (size_t step = 0; step < of.run->simulation.steps.size(); ++step) {
      const StepRecord& record = of.run->simulation.steps[step];
      const StepDesigns designs = designs_of(*of.run, step);
      QCOMPARE(designs.prefill.has_value(), record.prefill_tokens > 0);
      QCOMPARE(designs.decode.has_value(), record.decode_sequences > 0);
      mixed += designs.prefill && designs.decode;
      if (designs.prefill) {
        const WorkloadSpec& w = designs.prefill->workload;
        QCOMPARE(w.mode, Mode::Prefill);
        const auto chunks = static_cast<int64_t>(batch_of(of.run->simulation, step).chunks.size());
        QCOMPARE(w.microbatch, chunks);
        const int64_t tokens = w.seq * w.microbatch;
        QVERIFY(tokens >= record.prefill_tokens && tokens < record.prefill_tokens + chunks * tp);
        if (prompts++ < 3) QVERIFY(make_report(*designs.prefill)->valid());
      }
      if (designs.decode) {
        const WorkloadSpec& w = designs.decode->workload;
        QCOMPARE(w.mode, Mode::Decode);
        QVERIFY(w.microbatch >= record.decode_sequences && w.microbatch < record.decode_sequences + tp);
        const int64_t context = w.context_length * record.decode_sequences;
        QVERIFY(context >= record.decode_context &&
                context < record.decode_context + record.decode_sequences);
        if (decodes++ < 3) QVERIFY(make_report(*designs.decode)->valid());
      }
    }
    QVERIFY(prompts > 0 && decodes > 0);
    QCOMPARE(mixed > 0, engine != "sglang");
  }

  void other_steps_are_a_problem() {
    const Served of = served("llama3-8b", 1, 1, "vllm");
    const auto made = step_designs(*of.run, of.run->simulation.steps.size());
    QVERIFY(std::holds_alternative<Problem>(made));
    QCOMPARE(std::get<Problem>(made).code, ProblemCode::RangeInvalid);
  }
};

QTEST_APPLESS_MAIN(StepDesignsTest)
#include "step_designs_test.moc"
