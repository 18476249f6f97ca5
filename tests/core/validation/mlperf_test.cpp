// Results of MLPerf Inference as serving points: samples, engines and their settings.
#include <QDir>
#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

#include "serving/service/service.h"
#include "validation/served_validation.h"
#include "validation/validation.h"

using namespace shardscape;

namespace {

// Two samples of Llama 3.1 8B; 10 and 30 tokens.
MeasuredSet read_set(const std::string& rows) {
  QTemporaryDir folder;
  const auto path = [&](const char* name) { return folder.filePath(name).toStdString(); };
  if (!QDir(folder.path()).mkpath("lengths") || !QDir(folder.path()).mkpath("measured")) qFatal("no folder");
  for (const char* file : {"lengths/mlperf_llama3-1-8b-datacenter.csv", "lengths/mlperf_llama2-70b-99.csv"})
    std::ofstream(path(file)) << "input_length,output_length\n100,10\n200,30\n";
  std::ofstream(path("measured/set.json")) << "{\"rows\": [" << rows << "]}";
  const auto read = read_measured_set(path("measured/set.json"));
  if (const auto* problem = std::get_if<Problem>(&read)) qFatal("%s", to_string(*problem).c_str());
  MeasuredSet set = std::get<MeasuredSet>(read);
  // The requests read the files, which the folder removes with it.
  for (MeasuredRow& row : set.rows)
    if (row.unmapped.empty()) row.serving->requests = [made = row.serving->requests()] { return made; };
  return set;
}

QByteArray row(const char* framework, const char* scenario, const char* more = "\"nodes\": 1") {
  return QByteArray(R"({"round": "v0", "submitter": "s", "system": "y", "model": "llama3.1-8b",
    "accelerator": "NVIDIA H100-SXM-80GB", "accelerators": 2, "weight_dtype": "fp8",
    "samples_per_s": 3, "tokens_per_s": 120, "target_qps": 3, "performance_sample_count": 50.0,
    "latency_ms": {"mean": 900, "p99": 1000}, "ttft_ms": {"mean": 40, "p99": 90},
    "tpot_ms": {"mean": 9, "p99": 12}, "framework": ")") +
         framework + R"(", "scenario": ")" + scenario + "\", " + more + "}";
}
// As NVIDIA's configurations of round 5.1.
constexpr char kConfig[] =
    R"("config": {"gpu_batch_size": {"llama3_1-8b": 600}, "precision": "fp8", "tensor_parallelism": 2,
    "server_target_qps": 9, "trtllm_build_flags": {"max_num_tokens": 4096, "max_seq_len": 2668,
    "tokens_per_block": 32}, "trtllm_runtime_flags": {"max_num_tokens": 1536,
    "batch_scheduler_policy": "max_util", "context_chunking_policy": "first_come_first_served",
    "enable_chunked_context": true, "kvcache_free_gpu_mem_frac": 0.95}})";

double figure(const MeasuredRow& row, const char* metric) {
  for (const ServedFigure& of : row.serving->figures)
    if (of.metric == metric) return of.value;
  return 0;
}
void is_mapped(const MeasuredRow& row) { QVERIFY2(row.unmapped.empty(), row.unmapped.c_str()); }
void says(const MeasuredRow& row, const char* why) {
  QVERIFY2(row.unmapped.find(why) != std::string::npos, row.unmapped.c_str());
}

}  // namespace

class MlperfTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void answers_are_scaled_to_those_of_the_run() {
    const MeasuredSet set = read_set(
        (row("vLLM 9.9, Linux", "Server") + "," + row("vLLM 9.9", "Offline")).toStdString());
    is_mapped(set.rows[0]);
    QCOMPARE(set.rows[0].serving->spec.replicas, 2);
    const Workload server = std::get<Workload>(set.rows[0].serving->requests());
    QCOMPARE(server.requests.size(), size_t{1800});  // ten minutes
    // 40 tokens on average instead of 20.
    for (const Request& request : server.requests) QCOMPARE(request.output, request.prompt == 100 ? 20 : 60);
    QVERIFY(server.requests[1].arrival > 0);
    const Workload offline = std::get<Workload>(set.rows[1].serving->requests());
    QCOMPARE(offline.requests.back().arrival, 0.0);
    QCOMPARE(figure(set.rows[1], "ttft"), 0.0);
    QCOMPARE(figure(set.rows[1], "throughput"), 120.0);
  }

  // No answer of Llama 3.1 8B has more than 128 tokens.
  void answers_end_at_the_limit_of_the_benchmark_data() {
    QTest::addColumn<double>("mean");
    QTest::addColumn<int>("shorter");
    QTest::addColumn<int>("longer");
    QTest::newRow("no answer at the limit") << 80.0 << 40 << 120;
    QTest::newRow("one answer at the limit") << 100.0 << 72 << 128;
    QTest::newRow("all answers at the limit") << 128.0 << 128 << 128;
    QTest::newRow("with the token that ends an answer") << 129.0 << 128 << 128;
  }
  void answers_end_at_the_limit_of_the_benchmark() {
    QFETCH(double, mean);
    QFETCH(int, shorter);
    QFETCH(int, longer);
    QByteArray text = row("vLLM", "Server");
    text.replace("\"tokens_per_s\": 120", "\"tokens_per_s\": " + QByteArray::number(3 * mean));
    const MeasuredSet set = read_set(text.toStdString());
    const Workload made = std::get<Workload>(set.rows[0].serving->requests());
    for (const Request& request : made.requests)
      QCOMPARE(request.output, request.prompt == 100 ? shorter : longer);
  }

  void engines_have_the_settings_of_the_submission() {
    const MeasuredSet set = read_set(row("TensorRT 10", "Server", kConfig).toStdString());
    const MeasuredRow& only = set.rows[0];
    is_mapped(only);
    QCOMPARE(only.design.parallel.tp, 2);
    QCOMPARE(only.serving->spec.replicas, 1);
    QCOMPARE(only.serving->spec.free_gpu_memory_fraction, 0.95);
    QCOMPARE(only.serving->spec.router, Router::LeastOutstanding);
    const TrtllmSettings& engine = only.serving->spec.engine.trtllm;
    QCOMPARE(engine.max_batch_size, 600);
    QCOMPARE(engine.max_num_tokens, 1536);  // of the runtime
    QCOMPARE(engine.max_seq_len, 2668);
    QCOMPARE(engine.tokens_per_block, 32);
    QCOMPARE(engine.capacity_scheduler_policy, CapacityPolicy::MaxUtilization);
    QVERIFY(engine.enable_chunked_context && !engine.enable_block_reuse);
    QCOMPARE(only.design.workload.kv_cache_dtype, DType::FP8);
  }

  // Built engines run on the C++ executor, one step after the other; the PyTorch flow has workers.
  void built_engines_have_their_own_host() {
    QByteArray pytorch = row("TensorRT 10", "Server", kConfig);
    const QByteArray built = pytorch;
    pytorch.replace("\"enable_chunked_context\"", "\"workers_per_core\": 2, \"enable_chunked_context\"");
    const MeasuredSet set = read_set((built + "," + pytorch).toStdString());
    const auto host = [&](size_t i) {
      is_mapped(set.rows[i]);
      return service_profile(set.rows[i].design, set.rows[i].serving->spec);
    };
    QCOMPARE(host(0).engine, std::string("trtllm-engine"));
    QCOMPARE(host(1).engine, std::string("trtllm"));
    QVERIFY(host(0).step_seconds > 5 * host(1).step_seconds);
    QVERIFY(set.rows[0].serving->spec.engine.trtllm.disable_overlap_scheduler);
    QVERIFY(!set.rows[1].serving->spec.engine.trtllm.disable_overlap_scheduler);
    const auto predictions = predict_serving(set);
    QVERIFY(predictions[0].values[2] > predictions[1].values[2] + 4e-3);
  }

  void verdicts_compare_the_limits_at_the_submitted_rate() {
    const auto with = [](const char* ttft, const char* tpot) {
      QByteArray limits = QByteArray("\"ttft_limit_ms\": ") + ttft + ", \"tpot_limit_ms\": " + tpot;
      return row("vLLM 9.9", "Server", limits.constData());
    };
    // Measured: 90 and 12 ms. The simulation needs 15 to 40 ms and a few milliseconds.
    const MeasuredSet set = read_set((with("2000.0", "100.0") + "," + with("2000.0", "0.5") + "," +
                                      with("1.0", "100.0") + "," + with("80.0", "100.0") + "," +
                                      row("vLLM 9.9", "Server") + "," +
                                      row("vLLM 9.9", "Offline", "\"ttft_limit_ms\": 2000.0"))
                                         .toStdString());
    for (const MeasuredRow& only : set.rows) is_mapped(only);
    const Validation v = validate_set(set, {});
    const bool measured[] = {true, false, false, false}, predicted[] = {true, false, false, true};
    QCOMPARE(v.verdicts.size(), std::size(measured));
    for (size_t i = 0; i < std::size(measured); ++i) {
      QCOMPARE(v.verdicts[i].measured, measured[i]);
      QCOMPARE(v.verdicts[i].predicted, predicted[i]);
    }
    QCOMPARE(v.verdicts[0].level, std::string("p99 ttft<2 s, p99 tpot<100 ms"));
    QCOMPARE(v.right_verdicts(), size_t{3});
    const std::string text = validation_text(v), json = validation_json(v);
    QVERIFY2(text.find("4 rows, verdict right in 3 (75.0 %)") != std::string::npos, text.c_str());
    QVERIFY2(json.find("\"right\": 3") != std::string::npos, json.c_str());
  }

  // Configurations of round 4.1 name FP16 inputs and switch FP8 on.
  void engines_of_round_4_1() {
    const MeasuredSet set = read_set(
        row("TensorRT 10", "Offline",
            R"("config": {"gpu_batch_size": {"llama2-70b": 806}, "precision": "fp16", "use_fp8": true,
               "max_num_tokens": 4096, "kvcache_free_gpu_mem_frac": 0.9, "class": "H100x8"})")
            .toStdString());
    const MeasuredRow& only = set.rows[0];
    is_mapped(only);
    QCOMPARE(only.serving->cell.precision, std::string("fp8"));
    QCOMPARE(only.serving->spec.replicas, 2);
    QCOMPARE(only.serving->spec.router, Router::RoundRobin);
    const TrtllmSettings& engine = only.serving->spec.engine.trtllm;
    QCOMPARE(engine.max_batch_size, 806);
    QCOMPARE(engine.max_num_tokens, 4096);
    QCOMPARE(engine.tokens_per_block, 64);
    QCOMPARE(engine.capacity_scheduler_policy, CapacityPolicy::MaxUtilization);
    QVERIFY(!engine.enable_chunked_context);
    // The scripts that run vLLM in this round quantize, too.
    QByteArray vllm = row("vLLM 9.9", "Offline");
    vllm.replace("\"fp8\"", "\"fp16\"");
    QCOMPARE(read_set(vllm.toStdString()).rows[0].serving->cell.precision, std::string("fp16"));
    vllm.replace("\"v0\"", "\"v4.1\"");
    QCOMPARE(read_set(vllm.toStdString()).rows[0].serving->cell.precision, std::string("fp8"));
  }

  // Submitters use NVIDIA's configurations. Rates and names do not tell them apart.
  void rows_without_settings_have_those_of_their_kind() {
    QByteArray other = row("TensorRT 10", "Server", kConfig), alike = other;
    alike.replace("\"server_target_qps\": 9", "\"server_target_qps\": 8, \"class\": \"c\"");
    const QByteArray bare = row("TensorRT 10", "Server");
    const MeasuredSet agree = read_set((other + "," + bare + "," + alike).toStdString());
    is_mapped(agree.rows[1]);
    QCOMPARE(agree.rows[1].serving->spec.engine, agree.rows[0].serving->spec.engine);
    QCOMPARE(agree.rows[1].design.parallel.tp, 2);
    other.replace("1536", "256");
    const MeasuredSet differ = read_set((other + "," + bare + "," + alike).toStdString());
    is_mapped(differ.rows[0]);
    says(differ.rows[1], "does not give the settings of its engines");
    says(read_set(row("TensorRT 10", "Offline").toStdString()).rows[0], "does not give the settings");
  }

  void rows_without_a_design_say_why_data() {
    QTest::addColumn<QByteArray>("replace");
    QTest::addColumn<QByteArray>("with");
    QTest::addColumn<QByteArray>("why");
    QTest::newRow("links of another product")
        << QByteArray("H100-SXM-80GB") << QByteArray("H100-NVL-94GB") << QByteArray("no accelerator");
    QTest::newRow("processor of another product")
        << QByteArray("NVIDIA H100-SXM-80GB") << QByteArray("NVIDIA GH200 Grace Hopper Superchip 144GB")
        << QByteArray("no accelerator");
    QTest::newRow("power cap") << QByteArray("\"precision\": \"fp8\"")
                               << QByteArray("\"power_limit\": 500, \"precision\": \"fp8\"")
                               << QByteArray("power cap");
    QTest::newRow("engines") << QByteArray("\"tensor_parallelism\": 2")
                             << QByteArray("\"tensor_parallelism\": 4") << QByteArray("do not divide");
    QTest::newRow("several kinds") << QByteArray("H100-SXM-80GB") << QByteArray("H100 (x4), NVIDIA H200 (x4)")
                                   << QByteArray("machines of several kinds");
  }
  void rows_without_a_design_say_why() {
    QFETCH(QByteArray, replace);
    QFETCH(QByteArray, with);
    QFETCH(QByteArray, why);
    QByteArray text = row("TensorRT 10", "Server", kConfig);
    text.replace(replace, with);
    says(read_set(text.toStdString()).rows[0], why.constData());
  }
};

QTEST_GUILESS_MAIN(MlperfTest)
#include "mlperf_test.moc"
