// Drafts of speculative decoding: the module of a model as a graph of its own, and models of their own.
#include <QtTest>

#include "plan/report.h"
#include "serving/engine/cache_capacity.h"
#include "serving/engine/engine_clock.h"
#include "serving/service/service_draft.h"
#include "support/served_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design served(const char* preset, int64_t tp, int64_t pp = 1) {
  return decode_engine(preset, tp, pp, "h200-sxm-141gb");
}

std::shared_ptr<const Report> report_of(const Design& design) {
  auto report = make_report(design, std::make_shared<PlanCache>());
  for (const Problem& problem : report->problems)
    if (problem.severity == Severity::Error) qFatal("%s", to_string(problem).c_str());
  return report;
}

int64_t weights_of(const Draft& draft, const Design& model) {
  const auto read = draft_weights(draft, *report_of(model), std::make_shared<PlanCache>());
  if (const auto* problem = std::get_if<Problem>(&read)) qFatal("%s", to_string(*problem).c_str());
  return std::get<int64_t>(read);
}

ServiceSpec spec_of(SpeculativeMethod method, const char* model) {
  ServiceSpec spec;
  spec.engine.speculation.method = method;
  spec.draft_model = model;
  return spec;
}

}  // namespace

class DraftTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The module stores the parameters that training adds for one depth, in the type of the model. Biases of
  // routers are no weights, and those of several residual streams are in float32.
  void modules_have_the_parameters_of_training_data() {
    QTest::addColumn<QString>("preset");
    for (const char* preset :
         {"deepseek-v3", "glm-4.5", "glm-5", "mimo-7b", "mimo-v2-flash", "qwen3-next-80b-a3b",
          "deepseek-v4-flash", "step-3.7-flash", "qwen3.5-27b", "nemotron3-ultra-550b-a55b", "minimax-m3"})
      QTest::newRow(preset) << preset;
  }
  void modules_have_the_parameters_of_training() {
    QFETCH(QString, preset);
    Design design = served(preset.toUtf8().constData(), 1);
    design.model.weight_formats.clear();
    for (LayerVariant& variant : design.model.variants) variant.formats.clear();
    Design training = design;
    training.workload.mode = Mode::Train;
    training.model.mtp_layers = 1;
    const auto counts = model_counts(*report_of(training));
    const auto published = static_cast<double>(2 * counts.parts[static_cast<size_t>(ModelPart::Mtp)]),
               stored = static_cast<double>(weights_of({DraftKind::Module, module_design(design)}, design));
    QVERIFY2(std::abs(stored / published - 1) < 2e-4,
             qPrintable(QString("%1 %2").arg(stored).arg(published)));
  }
  // DeepSeek-V3: a projection of 2 D x D, latent attention and experts in one layer, whose cache is that of a
  // layer of the model. The step of the module in decode has one layer, whatever the layers of the model.
  void the_module_is_one_layer() {
    const auto report = report_of(module_design(served("deepseek-v3", 8)));
    QCOMPARE(report->graph().kinds(), 1);
    const Segment& layer = report->graph().segments[1];
    std::set<std::string> blocks;
    for (const BlockInstance& block : layer.blocks) blocks.insert(block.template_id);
    for (const char* block : {"mtp_projection", "absorbed_latent_attention", "sigmoid_moe", "shared_mlp"})
      QVERIFY2(blocks.contains(block), block);
    QVERIFY(!blocks.contains("token_embedding"));  // the embedding of the step looks up the tokens
    QCOMPARE(static_cast<int64_t>(report->kv_cache_bytes.value), int64_t{(512 + 64) * 2});
  }
  // One pass on all tokens, the others on one token of each sequence; the head for each sequence.
  void passes_take_their_graph() {
    const Design design = served("deepseek-v3", 8);
    EngineProfile profile;
    profile.draft_tokens = 3;
    const StepBatch batch{16, 16 * 1024, {}, 16, 48};
    const double ngram = clock_of(design, profile)->seconds(batch);
    profile.draft = {DraftKind::Module, module_design(design)};
    const double more = clock_of(design, profile)->seconds(batch) - ngram;
    const auto pass = [&](int64_t sequences) {
      Design step = module_design(design);
      step.workload.batch = step.workload.microbatch = sequences;
      step.workload.context_length = 1024;
      return forward_seconds(*report_of(step));
    };
    const ForwardSeconds one = pass(16), all = pass(64);
    // The first pass also verifies: its attention has four queries of each sequence.
    const double least = all.tokens() + one.attention() + 2 * (one.tokens() + one.attention()) +
                         3 * one.head();
    QVERIFY2(more > 0.999 * least && more < least + 4 * one.attention(),
             qPrintable(QString("%1 %2").arg(more).arg(least)));
  }
  // A model of its own has layers, head and cache of its own; a larger one takes longer.
  void draft_models_take_time_and_memory() {
    const Design design = served("llama3.1-405b", 8, 2);
    const StepBatch batch{8, 8 * 2048, {}, 8, 24};
    EngineProfile profile;
    profile.draft_tokens = 3;
    double before = clock_of(design, profile)->seconds(batch);
    CacheSettings settings;
    const Design one_stage = served("llama3.1-405b", 8);
    const CacheCapacity plain = std::get<0>(cache_capacity(one_stage, settings));
    for (const auto& [name, layers, head] : {std::tuple{"llama3.2-1b", 16, 64}, {"llama3.2-3b", 28, 128}}) {
      const auto draft = service_draft(design, spec_of(SpeculativeMethod::DraftModel, name));
      QVERIFY(std::holds_alternative<Draft>(draft));
      profile.draft = std::get<Draft>(draft);
      const double now = clock_of(design, profile)->seconds(batch);
      QVERIFY2(now > before * 1.01, name);
      before = now;
      const int64_t weights = weights_of(profile.draft, design);
      const auto parameters = static_cast<double>(report_of(*profile.draft.design)->model_parameters.value);
      QVERIFY(std::abs(static_cast<double>(weights) / (parameters * 2 / 8) - 1) < 0.01);
      settings.draft = profile.draft;
      const CacheCapacity with = std::get<0>(cache_capacity(one_stage, settings));
      QCOMPARE(with.states - plain.states, weights);
      QCOMPARE(with.token_bytes - plain.token_bytes, int64_t{layers} * 2 * head * 2);  // one KV head of eight
      QVERIFY(with.tokens < plain.tokens);
      // On one rank, every rank computes the whole model.
      ServiceSpec alone = spec_of(SpeculativeMethod::DraftModel, name);
      alone.draft_tensor_parallel_size = 1;
      const Draft whole = std::get<Draft>(service_draft(design, alone));
      QVERIFY(weights_of(whole, design) > 7 * weights);
    }
  }
  void settings_that_fit_nothing_are_named() {
    const Design design = served("llama3.1-405b", 8);
    const auto refused = [&](const ServiceSpec& spec) {
      const auto read = service_draft(design, spec);
      const auto* problem = std::get_if<Problem>(&read);
      return problem ? QString::fromStdString(problem->where + ": " + problem->what) : QString();
    };
    QVERIFY(refused(spec_of(SpeculativeMethod::DraftModel, "llama3.2-1")).contains("llama3.2-1b"));
    QVERIFY(refused(spec_of(SpeculativeMethod::DraftModel, "qwen3-0.6b")).contains("151,936"));
    QVERIFY(refused(spec_of(SpeculativeMethod::DraftModel, "")).startsWith("draft_model"));
    QVERIFY(refused(spec_of(SpeculativeMethod::Mtp, "llama3.2-1b")).startsWith("draft_model"));
    QVERIFY(refused(spec_of(SpeculativeMethod::None, "llama3.2-1b")).startsWith("draft_model"));
    ServiceSpec wide = spec_of(SpeculativeMethod::DraftModel, "llama3.2-1b");
    wide.draft_tensor_parallel_size = 16;
    QVERIFY(refused(wide).startsWith("draft_tensor_parallel_size"));
    // 24 heads on 16 ranks.
    const auto split = service_draft(served("llama3.1-405b", 16),
                                     spec_of(SpeculativeMethod::DraftModel, "llama3.2-3b"));
    QVERIFY(std::holds_alternative<Problem>(split));
    QCOMPARE(QString::fromStdString(std::get<Problem>(split).where), QString("draft_tensor_parallel_size"));
    QVERIFY(refused(spec_of(SpeculativeMethod::Eagle, "")).isEmpty());
    QVERIFY(refused(spec_of(SpeculativeMethod::Eagle, "llama3.2-1b")).isEmpty());
  }
  // An EAGLE layer from a config.json: one layer of its own sizes, and the product that joins its inputs. The
  // tables are those of the model.
  void eagle_layers_come_from_files() {
    QTemporaryDir folder;
    QFile file(folder.filePath("config.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 16384,
      "intermediate_size": 53248, "num_hidden_layers": 1, "num_attention_heads": 128,
      "num_key_value_heads": 8,
      "vocab_size": 128256, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "hidden_act": "silu",
      "tie_word_embeddings": false})");
    file.close();
    const Design design = served("llama3.1-405b", 8);
    const auto read = service_draft(design, spec_of(SpeculativeMethod::Eagle, qPrintable(file.fileName())));
    if (const auto* problem = std::get_if<Problem>(&read)) QFAIL(to_string(*problem).c_str());
    const Draft draft = std::get<Draft>(read);
    const int64_t attention = int64_t{16384} * (128 + 16 + 128) * 128, mlp = int64_t{3} * 16384 * 53248,
                  joined = int64_t{2} * 16384 * 16384;
    QCOMPARE(weights_of(draft, design), 2 * ((attention + mlp) / 8 + joined + 3 * 16384));
  }
};

QTEST_APPLESS_MAIN(DraftTest)
#include "draft_test.moc"
