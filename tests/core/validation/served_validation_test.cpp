// Sets of measured serving points: every format maps to designs and services, or says why not; the
// predictions are those of the simulated service.
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <fstream>

#include "serving/requests/speculation.h"
#include "serving/service/service.h"
#include "validation/inferencex_recipes.h"
#include "validation/rank_correlation.h"
#include "validation/served_validation.h"
#include "validation/validation.h"

using namespace shardscape;

namespace {

MeasuredSet read_set(const QTemporaryDir& folder, const std::string& text) {
  const std::string path = folder.filePath("set.json").toStdString();
  std::ofstream(path) << text;
  auto result = read_measured_set(path);
  if (auto* problem = std::get_if<Problem>(&result)) qFatal("%s", to_string(*problem).c_str());
  return std::get<MeasuredSet>(std::move(result));
}
MeasuredSet read_rows(const std::string& rows, const std::string& more = {}) {
  QTemporaryDir folder;
  return read_set(folder, "{\"source\": \"a test\", " + more + "\"rows\": [" + rows + "]}");
}

double figure(const MeasuredRow& row, const char* metric) {
  for (const ServedFigure& of : row.serving->figures)
    if (of.metric == metric) return of.value;
  return 0;
}
const ValidatedMetric& metric_of(const Validation& v, const char* name) {
  for (const ValidatedMetric& m : v.metrics)
    if (m.name == name) return m;
  qFatal("there is no metric %s", name);
}
void is_mapped(const MeasuredRow& row) { QVERIFY2(row.unmapped.empty(), row.unmapped.c_str()); }
void says(const MeasuredRow& row, const char* why) {
  QVERIFY2(row.unmapped.find(why) != std::string::npos, row.unmapped.c_str());
}

std::string aiconfigurator(const std::string& id, const std::string& fields) {
  return R"({"id": ")" + id + R"(", "mode": "agg", "isl": 512, "osl": 64, "concurrency": 2, "pp": 1, )" +
         fields + "}";
}
// The parser of moc fails on literals of several lines in the class.
std::string inferencex(const char* engine, const char* gpu, int users, int input) {
  return std::string(R"({"engine": ")") + engine + R"(", "gpu": ")" + gpu +
         R"(", "model": "DeepSeek-R1-0528", "precision": "fp8", "gpus": 8, "prefill": {}, )"
         R"("decode": {"tp": 8, "ep": 1, "dp_attention": false}, "osl": 1024, "date": "2030-01-01", )"
         R"("output_tokens_per_s_per_gpu": 20, "ttft_ms": {"mean": 200}, "tpot_ms": {"mean": 20}, )"
         R"("speculative": "none", "disaggregated": false, "isl": )" +
         std::to_string(input) + R"(, "concurrency": )" + std::to_string(users) + "}";
}
std::string drafting(const char* engine, const char* dp, const char* more) {
  return R"({"gpu": "h200", "model": "DeepSeek-R1-0528", "precision": "fp8", "gpus": 8, "prefill": {}, )"
         R"("isl": 1024, "osl": 1024, "concurrency": 16, "output_tokens_per_s_per_gpu": 20, )"
         R"("date": "2030-01-01", "disaggregated": false, "ttft_ms": {"p50": 150}, )"
         R"("e2e_ms": {"p50": 19000}, "speculative": "mtp", "engine": ")" +
         std::string(engine) + R"(", "decode": {"tp": 8, "ep": 8, "dp_attention": )" + dp + "}, " + more +
         "}";
}
constexpr char
    kDense[] = R"("model": "meta-llama/Llama-3.1-8B-Instruct", "gpu": "h100_sxm", "engine": "vllm", )"
               R"("engine_version": "9.9", "precision": "bf16", "gemm": null, "moe": null, "tp": 1, )"
               R"("attention_dp": 1, "moe_tp": 1, "moe_ep": 1, "ttft_mean_ms": 30, "tpot_mean_ms": 7)";

}  // namespace

class ServedValidationTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void layouts_of_the_accuracy_set() {
    const auto moe = [](const char* id, int tp, const char* dp, int moe_tp, int moe_ep, const char* more) {
      return aiconfigurator(
          id, std::string(R"("model": "deepseek-ai/DeepSeek-V3", "gpu": "b200_sxm", "engine": "sglang",
              "engine_version": "9.9", "precision": "fp8", "gemm": "fp8", "moe": "fp8_block", "tp": )") +
                  std::to_string(tp) + R"(, "attention_dp": )" + dp + R"(, "moe_tp": )" +
                  std::to_string(moe_tp) + R"(, "moe_ep": )" + std::to_string(moe_ep) +
                  R"(, "ttft_mean_ms": 100, "tpot_mean_ms": )" + more);
    };
    const MeasuredSet set = read_rows(
        moe("tp", 8, "1", 8, 1, "11") + "," + moe("experts", 64, "1", 8, 8, "12") + "," +
        moe("attention", 1, "64", 8, 8, "13") + "," + moe("literal", 4, "null", 2, 4, "14"));
    const int expected[][3] = {{8, 1, 1}, {8, 1, 8}, {1, 8, 8}, {4, 2, 4}};  // tp, dp, ep
    for (size_t i = 0; i < 4; ++i) {
      is_mapped(set.rows[i]);
      const ParallelSpec& p = set.rows[i].design.parallel;
      QCOMPARE(p.tp, expected[i][0]);
      QCOMPARE(p.dp, expected[i][1]);
      QCOMPARE(p.ep, expected[i][2]);
      QCOMPARE(set.rows[i].serving->cell, (ServedCell{"b200-hgx-180gb", "deepseek-v3", "sglang", "fp8"}));
      QCOMPARE(weight_formats_text(set.rows[i].design.model.weight_formats).find("nvfp4"), std::string::npos);
      QVERIFY(!set.rows[i].design.model.weight_formats.empty());
    }
    // The cache of SGLang on B200 in InferenceX's script; literal rows keep the default.
    QCOMPARE(set.rows[0].design.workload.kv_cache_dtype, DType::FP8);
    QCOMPARE(set.rows[3].design.workload.kv_cache_dtype, DType::BF16);
    // InferenceX draws lengths from 0.8 of the longest; literal rows have equal lengths.
    QCOMPARE(set.rows[0].serving->spec.source.range_ratio, 0.8);
    QCOMPARE(set.rows[3].serving->spec.source.range_ratio, 1.0);
    QCOMPARE(set.rows[0].serving->spec.source.users, 2);
    QCOMPARE(set.rows[0].serving->spec.source.requests, 20);
  }

  // Rows without attention_dp: servers that AIConfigurator's generator starts, 20 requests of each user.
  void the_generator_limits_steps_and_sequences() {
    std::string rows;
    for (const char* server :
         {R"("vllm", "engine_version": "9.9")", R"("trtllm", "engine_version": "9.9")",
          R"("sglang", "engine_version": "9.9")", R"("sglang", "engine_version": "0.5.1.post1")"}) {
      std::string row = aiconfigurator(std::to_string(rows.size()), kDense);
      const auto put = [&](const std::string& old, const std::string& text) {
        row.replace(row.find(old), old.size(), text);
      };
      put(R"("attention_dp": 1)", R"("attention_dp": null)");
      put(R"("vllm", "engine_version": "9.9")", server);
      put("\"ttft_mean_ms\": 30", "\"ttft_mean_ms\": 3" + std::to_string(rows.size()));
      rows += (rows.empty() ? "" : ",") + row;
    }
    const MeasuredSet set = read_rows(rows);
    for (const MeasuredRow& row : set.rows) is_mapped(row);
    const auto engine = [&](size_t row) { return set.rows[row].serving->spec.engine; };
    QCOMPARE(engine(0).max_num_batched_tokens, 2 + 512 + 1500);
    QCOMPARE(engine(0).max_num_seqs, 2);
    QCOMPARE(engine(1).trtllm.max_num_tokens, 2 + 512 + 1500);
    QCOMPARE(engine(1).trtllm.max_batch_size, 2);
    QCOMPARE(engine(2).sglang.max_prefill_tokens, 512 + 1500);
    QVERIFY(engine(2).sglang.enable_mixed_chunk && !engine(3).sglang.enable_mixed_chunk);
    QCOMPARE(engine(3).sglang.max_prefill_tokens, EngineSettings{}.sglang.max_prefill_tokens);
    QCOMPARE(set.rows[0].serving->spec.source.requests, 40);
    QCOMPARE(set.rows[3].serving->spec.source.requests, 20);
  }

  void rows_without_a_design_say_why_data() {
    QTest::addColumn<QByteArray>("replace");
    QTest::addColumn<QByteArray>("with");
    QTest::addColumn<QByteArray>("why");
    QTest::newRow("engine") << QByteArray("vllm") << QByteArray("mindie") << QByteArray("engine mindie");
    QTest::newRow("GPU") << QByteArray("h100_sxm") << QByteArray("abacus") << QByteArray("no accelerator");
    QTest::newRow("model") << QByteArray("Llama-3.1-8B-Instruct") << QByteArray("Unheard")
                           << QByteArray("no preset");
    QTest::newRow("disaggregated") << QByteArray("\"agg\"") << QByteArray("\"disagg\"")
                                   << QByteArray("separate machines");
    QTest::newRow("precision") << QByteArray("bf16") << QByteArray("int2") << QByteArray("in int2");
    QTest::newRow("load") << QByteArray("\"concurrency\": 2") << QByteArray("\"concurrency\": null")
                          << QByteArray("no concurrency");
  }
  void rows_without_a_design_say_why() {
    QFETCH(QByteArray, replace);
    QFETCH(QByteArray, with);
    QFETCH(QByteArray, why);
    QByteArray row = QByteArray::fromStdString(aiconfigurator("a", kDense));
    row.replace(replace, with);
    const MeasuredSet set = read_rows(row.toStdString());
    says(set.rows[0], why.constData());
    const Validation v = validate_set(set, {});
    QCOMPARE(metric_of(v, "ttft").unmapped.size(), size_t{1});
    QVERIFY(metric_of(v, "ttft").rows.empty());
  }

  void equal_measurements_count_once() {
    const MeasuredSet set = read_rows(aiconfigurator("first", kDense) + "," +
                                      aiconfigurator("second", kDense));
    is_mapped(set.rows[0]);
    says(set.rows[1], "the same measurement as first");
  }

  void inferencex_has_percentiles_and_throughput() {
    const auto row = [](const char* more) {
      return std::string(
                 R"({"gpu": "h200", "engine": "sglang", "model": "DeepSeek-R1-0528", "precision": "fp8",
        "gpus": 64, "prefill": {}, "decode": {"tp": 8, "ep": 8, "dp_attention": true}, "isl": 1024,
        "osl": 1024, "concurrency": 16, "output_tokens_per_s_per_gpu": 20, "date": "2030-01-01",
        "ttft_ms": {"mean": 200, "p50": 150, "p99": 900}, "tpot_ms": {"p50": 20, "p99": 25},
        "itl_ms": {"p50": 210}, "e2e_ms": {"p50": 19000}, )") +
             more + "}";
    };
    const MeasuredSet set = read_rows(row(R"("speculative": "none", "disaggregated": false)") + "," +
                                      row(R"("speculative": "mtp", "disaggregated": false)") + "," +
                                      row(R"("speculative": "none", "disaggregated": true)"));
    is_mapped(set.rows[0]);
    const ParallelSpec& p = set.rows[0].design.parallel;
    QCOMPARE(p.tp, 1);
    QCOMPARE(p.dp, 8);
    QCOMPARE(p.ep, 8);
    // InferenceX's own script: cache in bfloat16, 32,768 tokens a step.
    QCOMPARE(set.rows[0].design.workload.kv_cache_dtype, DType::BF16);
    const EngineSettings& engine = set.rows[0].serving->spec.engine;
    QCOMPARE(engine.engine, EngineKind::Sglang);
    QCOMPARE(engine.sglang.chunked_prefill_size, 32768);
    QVERIFY(engine.sglang.disable_radix_cache);
    QCOMPARE(set.rows[0].serving->spec.mem_fraction_static, 0.82);
    QCOMPARE(figure(set.rows[0], "ttft"), 0.2);
    QCOMPARE(figure(set.rows[0], "ttft_p50"), 0.15);
    QCOMPARE(figure(set.rows[0], "ttft_p99"), 0.9);
    QCOMPARE(figure(set.rows[0], "tpot"), 0.02);  // the median where there is no mean
    QCOMPARE(figure(set.rows[0], "tpot_p50"), 0.0);
    QCOMPARE(figure(set.rows[0], "throughput"), 160.0);  // of 8 GPUs
    QCOMPARE(figure(set.rows[0], "itl"), 0.0);           // gaps between chunks of ten tokens
    says(set.rows[2], "the degrees do not give the GPUs of a worker");
  }

  // Each engine has its own scheduler, with the settings of InferenceX's scripts. SGLang on B200 looks for
  // requests every 10 decode steps, from 16 users on every 30. TensorRT-LLM's steps hold a prompt and a token
  // of each user.
  void engines_have_the_settings_of_their_scripts() {
    const auto row = inferencex;
    const MeasuredSet set = read_rows(row("sglang", "b200", 8, 1024) + "," + row("sglang", "b200", 16, 1024) +
                                      "," + row("sglang", "h200", 16, 1024) + "," +
                                      row("trt", "h200", 64, 1024) + "," + row("trt", "h200", 64, 8192));
    const int64_t intervals[] = {10, 30, 1};
    for (size_t i = 0; i < 3; ++i) {
      is_mapped(set.rows[i]);
      QCOMPARE(set.rows[i].serving->spec.engine.engine, EngineKind::Sglang);
      QCOMPARE(set.rows[i].serving->spec.engine.sglang.scheduler_recv_interval, intervals[i]);
    }
    QCOMPARE(set.rows[0].serving->spec.engine.sglang.max_running_requests, 128);
    QCOMPARE(set.rows[2].serving->spec.engine.sglang.max_running_requests, 512);
    // Servers with multi-token prediction on Blackwell have a script of their own.
    std::string drafts = drafting("sglang", "false", R"("itl_ms": {"p50": 210})");
    drafts.replace(drafts.find("h200"), 4, "b300");
    const MeasuredSet predicting = read_rows(drafts);
    is_mapped(predicting.rows[0]);
    QCOMPARE(predicting.rows[0].serving->spec.engine.sglang.max_running_requests, 512);
    QCOMPARE(predicting.rows[0].serving->spec.engine.sglang.chunked_prefill_size, 16384);
    const int64_t tokens[] = {8192, 8320};
    for (const size_t i : {0, 1}) {
      const ServiceSpec& spec = set.rows[3 + i].serving->spec;
      QCOMPARE(spec.engine.engine, EngineKind::Trtllm);
      QCOMPARE(spec.engine.trtllm.max_num_tokens, tokens[i]);
      QVERIFY(!spec.engine.trtllm.enable_block_reuse);
      QCOMPARE(spec.free_gpu_memory_fraction, 0.75);
    }
    const auto predictions = predict_serving(set);
    // The same server, which looks for requests less often.
    const auto run = [&](int64_t interval) {
      ServiceSpec spec = set.rows[1].serving->spec;
      spec.engine.sglang.scheduler_recv_interval = interval;
      return std::get<0>(run_service(set.rows[1].design, spec))->results.ttft.mean;
    };
    QVERIFY(run(30) > run(1));
    QVERIFY(predictions[1].values[0] >= run(30));
  }

  // The drafts of InferenceX's scripts. Gaps of messages of ten or thirty steps over the time per token give
  // the tokens per step; rows without means have the rate of such rows, or that of other DeepSeek servers.
  void inferencex_predicts_tokens() {
    const char* ten = R"("tpot_ms": {"mean": 10}, "itl_ms": {"mean": 215})";
    const char* thirty = R"("tpot_ms": {"mean": 10}, "itl_ms": {"mean": 660})";
    const char* medians = R"("tpot_ms": {"p50": 10}, "itl_ms": {"p50": 215})";
    const MeasuredSet set = read_rows(
        drafting("sglang", "false", ten) + "," + drafting("sglang", "false", thirty) + "," +
        drafting("trt", "false", medians) + "," + drafting("trt", "true", medians) + "," +
        drafting("vllm", "false", ten) + "," + drafting("sglang", "true", medians));
    struct Expected {
      int64_t tokens;
      double length;
    };
    const Expected expected[] = {{2, 2.15}, {2, 2.2}, {3, 0}, {1, 0}};
    for (size_t i = 0; i < 4; ++i) {
      is_mapped(set.rows[i]);
      const SpeculativeSettings& s = set.rows[i].serving->spec.engine.speculation;
      QCOMPARE(s.method, SpeculativeMethod::Mtp);
      QCOMPARE(s.num_speculative_tokens, expected[i].tokens);
      const double length = expected[i].length;
      QVERIFY(std::abs(figure(set.rows[i], "tokens_per_step") - length) < 1e-9);
      QCOMPARE(s.acceptance.size(), size_t{1});
      QVERIFY(std::abs(s.acceptance[0] -
                       (length > 0 ? rate_of_length(length, s.num_speculative_tokens) : 0.85)) < 1e-9);
    }
    says(set.rows[4], "draft tokens is not known");
    // Two draft tokens of SGLang, as in the first two rows.
    const auto rate = [&](size_t i) {
      return set.rows[i].serving->spec.engine.speculation.acceptance.front();
    };
    QCOMPARE(rate(5), (rate(0) + rate(1)) / 2);
    // Rows without an own acceptance have that of the model's report, in a cell of their own.
    for (const size_t i : {size_t{0}, size_t{2}, size_t{5}})
      QCOMPARE(set.rows[i].serving->cell.precision, i == 2 ? std::string("fp8") + kAssumedAcceptance : "fp8");
  }

  // A server that preempts nothing is no row, unless the simulation preempts. 3,000 blocks hold all prompts,
  // but not their answers.
  void preemptions_are_counted() {
    const auto sweep = [](const char* count) {
      return std::string(R"({"run": "r", "concurrency": 32, "budget_requests_per_slot": 1, "repeat": 1,
        "requests": 32, "ttft_ms": {"mean": 300}, "num_speculative_tokens": null, "server": )") +
             count + "}";
    };
    MeasuredSet set = read_rows(sweep(R"({"preemptions": 0.0})") + "," + sweep(R"({"preemptions": 2})") +
                                    "," + sweep("null") + "," + sweep(R"({"preemptions": 0})"),
                                R"("setup": {"gpu": "H200 SXM", "model": "openai/gpt-oss-120b", "tp": 1}, )");
    for (const size_t i : {1, 3}) {
      ServiceSpec& spec = set.rows[i].serving->spec;
      spec.engine.num_gpu_blocks = 3000;
      spec.source.input_len = 1000;
      spec.source.output_len = 4000;
    }
    const Validation v = validate_set(set, {});
    const ValidatedMetric& m = metric_of(v, "preemptions");
    QCOMPARE(m.unmapped.size(), size_t{2});
    QCOMPARE(m.unmapped[0].second, std::string("no preemption, neither measured nor simulated"));
    QCOMPARE(m.unmapped[1].second, std::string("the row has no preemptions"));
    QCOMPARE(m.rows.size(), size_t{2});
    QCOMPARE(m.rows[0].measured, 2.0);
    QVERIFY(m.rows[0].predicted > 0);
    QCOMPARE(m.rows[1].error_percent(), 100.0);
    QCOMPARE(figure_text(m, 129), std::string("129"));
  }

  // vLLM's log gives the acceptance of each position. The simulated drafts yield as many tokens per step.
  void eagle_has_its_acceptance() {
    const auto sweep = [](const char* acceptance) {
      return std::string(R"({"run": "r", "concurrency": 4, "budget_requests_per_slot": 5, "repeat": null,
        "requests": 12, "output_tokens_per_s": 700, "ttft_ms": {"mean": 300}, "tpot_ms": {"mean": 6},
        "itl_ms": {"mean": 10}, "e2e_ms": {"mean": 6000}, "num_speculative_tokens": 2,
        "acceptance_per_position": )") +
             acceptance + "}";
    };
    const MeasuredSet set = read_rows(
        sweep("[0.6, 0.3]") + "," + sweep("[0.6]"),
        R"("setup": {"gpu": "H200 SXM", "model": "openai/gpt-oss-120b", "tp": 1}, )");
    is_mapped(set.rows[0]);
    const SpeculativeSettings& s = set.rows[0].serving->spec.engine.speculation;
    QCOMPARE(s.method, SpeculativeMethod::Eagle);
    QCOMPARE(s.acceptance, (std::vector<double>{0.6, 0.3}));
    QCOMPARE(figure(set.rows[0], "tokens_per_step"), 1.9);
    says(set.rows[1], "acceptance for each position");
    const Validation v = validate_set(set, {});
    const ValidatedMetric& tokens = metric_of(v, "tokens_per_step");
    QCOMPARE(std::string(tokens.unit()), std::string("tokens per step"));
    QCOMPARE(tokens.rows.size(), size_t{1});
    QVERIFY2(std::abs(tokens.rows[0].error_percent()) < 2,
             qPrintable(QString::number(tokens.rows[0].predicted)));
    QVERIFY(validation_text(v).find("1.9") != std::string::npos);
    // Chunks of several tokens: their gaps are longer than the time per token.
    QVERIFY(metric_of(v, "itl").rows[0].predicted > 1.6 * metric_of(v, "tpot").rows[0].predicted);
  }

  void wide_experts_decode_alone() {
    const auto row = [](const char* phase, const char* mtp) {
      return std::string(R"({"model": "DeepSeek-V3", "precision": null, "engine": "SGLang", "gpu": "H200",
        "nodes": 2, "gpus": 16, "parallelism": "DP16 attention", "isl": 4096, "osl": 1024, "kv_len": null,
        "batch_per_gpu": 2, "tokens_per_gpu_batch": null, "tok_s_per_gpu": 80, "kind": "measured",
        "phase": ")") +
             phase + R"(", "mtp": ")" + mtp + "\"}";
    };
    const MeasuredSet set = read_rows(row("decode", "off") + "," +
                                      row("decode", "3 tokens, acceptance 2.18") + "," +
                                      row("decode", "mtp3") + "," + row("prefill", "off"));
    is_mapped(set.rows[0]);
    is_mapped(set.rows[1]);
    QCOMPARE(figure(set.rows[0], "tpot"), 0.025);
    QCOMPARE(set.rows[0].design.parallel.dp, 16);
    QCOMPARE(set.rows[0].serving->spec.engine.speculation, SpeculativeSettings{});
    const SpeculativeSettings& s = set.rows[1].serving->spec.engine.speculation;
    QCOMPARE(s.num_speculative_tokens, int64_t{2});  // and the last sampled token
    QVERIFY(std::abs(s.acceptance[0] - rate_of_length(2.18, 2)) < 1e-9);
    says(set.rows[2], "without its acceptance");
    says(set.rows[3], "prompts alone");
    const auto predictions = predict_serving(set);
    QVERIFY2(predictions[0].problem.empty(), predictions[0].problem.c_str());
    QVERIFY2(predictions[1].problem.empty(), predictions[1].problem.c_str());
    QVERIFY(predictions[1].values[0] < predictions[0].values[0]);
  }

  void other_closed_loops() {
    const MeasuredSet slo = read_rows(
        R"({"name": "a", "model": "MiniMaxAI/MiniMax-M2.5", "parallel": "tep8", "isl": 2048, "osl": 128,
            "concurrency": 4, "requests": 24, "request_rate": "inf", "output_tokens_per_s": 300,
            "ttft_ms": {"p50": 100, "p99": 200}, "tpot_ms": {"p50": 9}, "e2e_ms": {"p50": 1300},
            "gpu": "h200", "gpus": 8, "engine": "vllm", "precision": null, "speculative": null})");
    is_mapped(slo.rows[0]);
    QCOMPARE(slo.rows[0].design.parallel.tp, 8);
    QCOMPARE(slo.rows[0].design.parallel.ep, 8);
    QCOMPARE(slo.rows[0].serving->spec.source.requests, 24);
    QCOMPARE(slo.rows[0].serving->spec.source.range_ratio, 1.0);

    const auto sweep = [](const char* draft) {
      return std::string(R"({"run": "r", "concurrency": 8, "budget_requests_per_slot": 5, "repeat": 3,
        "requests": 40, "output_tokens_per_s": 700, "ttft_ms": {"mean": 300}, "tpot_ms": {"mean": 8},
        "itl_ms": {"mean": 8}, "e2e_ms": {"mean": 8000}, "num_speculative_tokens": )") +
             draft + "}";
    };
    const MeasuredSet loops = read_rows(
        sweep("null") + "," + sweep("3"),
        R"("setup": {"gpu": "H200 SXM", "model": "openai/gpt-oss-120b", "tp": 1, "max_num_seqs": 64,
                     "max_num_batched_tokens": 4096, "max_model_len": 10240,
                     "gpu_memory_utilization": 0.8}, )");
    is_mapped(loops.rows[0]);
    const ServiceSpec& spec = loops.rows[0].serving->spec;
    QCOMPARE(spec.engine.max_num_seqs, 64);
    QCOMPARE(spec.engine.max_num_batched_tokens, 4096);
    QCOMPARE(spec.gpu_memory_utilization, 0.8);
    QCOMPARE(spec.source.seed, 3);
    says(loops.rows[1], "speculative decoding");
  }

  void stages_send_the_same_prompts_again() {
    const auto stage = [](const char* of, const char* succeeded) {
      return std::string(R"({"experiment": "e", "model": "meta-llama/Llama-2-70b-hf", "gpu": "H100-SXM-80GB",
        "tp": 4, "precision": "fp16", "engine": "vllm", "max_model_len": 4096, "max_num_batched_tokens": 2048,
        "max_num_seqs": 128, "workload": "w", "rate": 2, "requests": 30, "chunk_gap_ms_reported": {},
        "lengths": {"effective_num_groups": 2, "effective_num_prompts_per_group": 3, "system_prompt_len": 40},
        "prompt_tokens": {"mean": 100.4}, "output_tokens": {"mean": 19.6}, "tpot_mean_ms": 18,
        "throughput": {"output_tokens_per_sec": 40}, "ttft_ms": {"mean": 60, "p50": 50, "p99": 90},
        "e2e_ms": {"mean": 400, "p50": 390, "p99": 500}, "stage": )") +
             of + R"(, "succeeded": )" + succeeded + "}";
    };
    const MeasuredSet set = read_rows(stage("0", "30") + "," + stage("-1", "30") + "," + stage("1", "20"));
    is_mapped(set.rows[0]);
    QCOMPARE(figure(set.rows[0], "tpot"), 0.018);
    const Workload workload = std::get<Workload>(set.rows[0].serving->requests());
    QCOMPARE(workload.requests.size(), size_t{30});
    QCOMPARE(workload.requests[1].prompt, 100);
    QCOMPARE(workload.requests[1].output, 20);
    QCOMPARE(workload.requests[3].arrival - workload.requests[1].arrival, 1.0);
    const auto hashes = [&](size_t i) {
      const auto span = workload.hashes_of(workload.requests[i]);
      return std::vector<uint64_t>(span.begin(), span.end());
    };
    QCOMPARE(hashes(0).size(), size_t{6});
    QCOMPARE(hashes(0), hashes(6));  // the seventh request repeats the first
    // Two blocks of the system prompt are common to a group; the others are not.
    QCOMPARE(hashes(0)[1], hashes(2)[1]);
    QVERIFY(hashes(0)[2] != hashes(2)[2] && hashes(0)[0] != hashes(1)[0]);
    says(set.rows[1], "summary");
    says(set.rows[2], "failed");
  }

  void recorded_requests_arrive_as_recorded() {
    const std::string row = R"({"run": "r", "gpu": "H100", "model": "meta-llama/Llama-3.1-8B",
        "vllm_version": "9.9", "engine_kwargs": {"tensor_parallel_size": 1, "data_parallel_size": 1,
        "max_num_seqs": 8, "max_num_batched_tokens": 512, "max_model_len": 4096, "dtype": "bfloat16"},
        "kv_cache": {"num_kv_tokens": 1000}, "request_columns": [],
        "requests": [[0, 64, 11, 0.0, 0.0, 0.0, 0.1, 1.1, 0, null],
                     [1, 80, 21, 0.5, 0.5, 0.5, 0.9, 2.9, 32, 0]]})";
    QByteArray unknown = QByteArray::fromStdString(row);
    unknown.replace("H100", "RTX 4090 24GB");
    const MeasuredSet set = read_rows(row + "," + unknown.toStdString());
    is_mapped(set.rows[0]);
    QCOMPARE(figure(set.rows[0], "ttft"), (0.1 + 0.4) / 2);
    QVERIFY(std::abs(figure(set.rows[0], "tpot") - 0.1) < 1e-12);
    QCOMPARE(figure(set.rows[0], "capacity"), 1000.0);
    const Workload workload = std::get<Workload>(set.rows[0].serving->requests());
    QCOMPARE(workload.requests[1].arrival, 0.5);
    QCOMPARE(workload.hashes_of(workload.requests[0])[1], workload.hashes_of(workload.requests[1])[1]);
    QVERIFY(workload.hashes_of(workload.requests[0])[2] != workload.hashes_of(workload.requests[1])[2]);
    says(set.rows[1], "the catalogue has no accelerator RTX 4090");
  }

  void capacity_is_that_of_the_engine() {
    const auto row = [](const char* engine, const char* kind) {
      return std::string(R"({"model": "meta-llama/Llama-3.1-8B", "precision": "bf16", "gpu": "H100", "tp": 1,
        "memory_fraction": 0.8, "max_num_batched_tokens": 2048, "max_num_seqs": 256, "kv_tokens": 400000,
        "block_size": 16, "engine": ")") +
             engine + R"(", "kind": ")" + kind + "\"}";
    };
    const MeasuredSet set = read_rows(row("vLLM", "measured") + "," + row("SGLang", "measured") + "," +
                                      row("vLLM", "published estimate"));
    const Validation v = validate_set(set, {});
    const ValidatedMetric& capacity = metric_of(v, "capacity");
    QCOMPARE(capacity.rows.size(), size_t{2});
    QCOMPARE(capacity.unmapped.size(), size_t{1});
    QCOMPARE(std::string(capacity.unit()), std::string("tokens"));
    for (const size_t i : {0, 1}) {
      const ServiceSpec& spec = set.rows[i].serving->spec;
      const auto expected = service_cache(set.rows[i].design, spec);
      QCOMPARE(memory_share(spec), 0.8);
      QCOMPARE(capacity.rows[i].predicted, static_cast<double>(std::get<0>(expected).tokens));
    }
    // SGLang's share of the memory does not contain activations.
    QVERIFY(capacity.rows[1].predicted > capacity.rows[0].predicted);
  }

  void static_batches_read_all_prompts_in_one_step() {
    const auto row = [](const char* gpu) {
      return std::string(R"({"model": "llama2-70b", "tp": 8, "batch": 4, "prompt_tokens": 512,
        "output_tokens": 8, "prefill_ms": 200, "decode_step_ms": 30, "e2e_ms": 440, "gpu": ")") +
             gpu + "\"}";
    };
    const MeasuredSet set = read_rows(row("h100-80gb") + "," + row("h100-80gb-pcap"));
    says(set.rows[1], "power cap");
    const auto run = run_service(set.rows[0].design, set.rows[0].serving->spec);
    const RequestSimulation& simulation = std::get<0>(run)->simulation;
    QCOMPARE(simulation.step_count, 8);
    QCOMPARE(simulation.steps[0].prefill_tokens, 2048);
    QCOMPARE(set.rows[0].serving->figures.size(), size_t{2});
  }

  // Rows that share an engine and its clock have the figures of a service of their own.
  void predictions_are_those_of_the_service() {
    std::string other = aiconfigurator("b", kDense);
    other.replace(other.find("\"concurrency\": 2"), 16, "\"concurrency\": 5");
    const MeasuredSet set = read_rows(aiconfigurator("a", kDense) + "," + other);
    const auto predictions = predict_serving(set);
    for (size_t i = 0; i < 2; ++i) {
      is_mapped(set.rows[i]);
      const auto run = run_service(set.rows[i].design, set.rows[i].serving->spec);
      const ServiceResults& results = std::get<0>(run)->results;
      const std::vector<Request>& requests = std::get<0>(run)->workload.requests;
      double prompt = 0;
      for (const Request& request : requests) prompt += request.prompt;
      prompt /= static_cast<double>(requests.size());
      QCOMPARE(predictions[i].values.size(), size_t{2});
      // A client also measures the time of a request outside of the engine.
      const EngineProfile host = service_profile(set.rows[i].design, set.rows[i].serving->spec);
      QVERIFY(host.request_seconds > 0 && host.prompt_seconds > 0);
      QCOMPARE(predictions[i].values[0],
               results.ttft.mean + host.request_seconds + prompt * host.prompt_seconds);
      QCOMPARE(predictions[i].values[1], results.tpot.mean);
    }
    QVERIFY(predictions[0].values[1] < predictions[1].values[1]);
  }

  void engines_have_their_own_kernels_and_host() {
    QByteArray other = QByteArray::fromStdString(aiconfigurator("b", kDense));
    other.replace("\"vllm\"", "\"trtllm\"");
    const MeasuredSet set = read_rows(aiconfigurator("a", kDense) + "," + other.toStdString());
    QCOMPARE(set.rows[0].design.workload.profile, std::string("vllm"));
    QCOMPARE(set.rows[1].design.workload.profile, std::string("trtllm"));
    const auto host = [&](size_t i) {
      return service_profile(set.rows[i].design, set.rows[i].serving->spec);
    };
    QCOMPARE(host(0).engine, std::string("vllm"));
    QCOMPARE(host(1).engine, std::string("trtllm"));
    const auto predictions = predict_serving(set);
    QVERIFY(predictions[0].values[1] != predictions[1].values[1]);
  }

  void requests_that_the_engine_refuses_are_a_reason() {
    std::string row = aiconfigurator("a", kDense);
    row.replace(row.find("\"isl\": 512"), 10, "\"isl\": 2000000");
    const Validation v = validate_set(read_rows(row), {});
    QCOMPARE(metric_of(v, "tpot").unmapped.size(), size_t{1});
    QVERIFY(metric_of(v, "tpot").unmapped[0].second.find("longer than the longest sequence") !=
            std::string::npos);
  }

  void errors_by_cell_the_worst_first() {
    ValidatedMetric m{"ttft", {}, {}};
    const ServedCell good{"g", "m", "vllm", "fp8"}, bad{"g", "m", "sglang", "fp8"};
    m.rows = {{"a", 1, 1.1, good, "s", "c1"}, {"b", 1, 0.7, good, "s", "c2"}, {"c", 1, 2, bad, "s", "c1"}};
    const auto cells = m.cells();
    QCOMPARE(cells.size(), size_t{2});
    QCOMPARE(cells[0].cell, bad);
    QCOMPARE(cells[1].rows, size_t{2});
    QVERIFY(std::abs(cells[1].mean_abs_error_percent - 20) < 1e-9);
    QVERIFY(std::abs(m.median_abs_error_percent() - 30) < 1e-9);
    m.unmapped = {{"x", "why"}, {"y", "why"}, {"z", "other"}};
    const std::string text = validation_text({"set", "", {m}}), json = validation_json({"set", "", {m}});
    QVERIFY(text.find("g, m, sglang, fp8") < text.find("g, m, vllm, fp8"));
    QVERIFY(text.find("not mapped: 2 rows, the first is x: why") != std::string::npos);
    QVERIFY(text.find("not mapped: z: other") != std::string::npos);
    for (const char* part : {"\"cells\"", "\"engine\": \"sglang\"", "\"median_abs_error_percent\""})
      QVERIFY2(json.find(part) != std::string::npos, part);
  }

  void rank_correlation_is_spearmans() {
    const std::vector<double> up{1, 2, 3, 4}, down{9, 7, 5, 1}, ties{1, 1, 2, 3}, equal{5, 5, 5, 5};
    QCOMPARE(*rank_correlation(up, up), 1.0);
    QCOMPARE(*rank_correlation(up, down), -1.0);
    // Ranks 0.5, 0.5, 2, 3 against 0, 1, 2, 3: 4.5 / sqrt(5 * 4.5).
    QVERIFY(std::abs(*rank_correlation(up, ties) - 4.5 / std::sqrt(5 * 4.5)) < 1e-12);
    QVERIFY(!rank_correlation(up, equal));
  }

  void configurations_are_ranked_in_their_series() {
    ValidatedMetric m{"throughput", {}, {}};
    const auto row = [&](const char* series, const char* load, double measured, double predicted) {
      m.rows.push_back({"r", measured, predicted, {"g", "m", "vllm", "fp8"}, series, load});
    };
    for (const double x : {1.0, 2.0, 3.0}) row("a", "c1", x, -x);
    for (const double x : {10.0, 20.0, 30.0}) row("a", "c2", x, x);
    row("b", "c1", 1, 1);  // too few
    const auto equal = m.correlation(true), all = m.correlation(false);
    QCOMPARE(equal->value, 0.0);  // 1 and -1
    QCOMPARE(equal->series, size_t{2});
    QCOMPARE(all->series, size_t{1});
    QVERIFY(all->value > 0.5);
    const std::string json = validation_json({"set", "", {m}});
    QVERIFY(json.find("rank_correlation_at_equal_load") != std::string::npos);
    QVERIFY(validation_text({"set", "", {m}}).find("rank correlation of configurations at equal load 0.00") !=
            std::string::npos);
  }
};

QTEST_GUILESS_MAIN(ServedValidationTest)
#include "served_validation_test.moc"
