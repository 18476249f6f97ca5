// Tables of papers, README files and NCCL: which rows are designs, and which designs they are.
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <fstream>

#include "validation/validation.h"

using namespace shardscape;

namespace {

MeasuredSet set_of(const char* json) {
  QTemporaryDir folder;
  const std::string path = folder.filePath("set.json").toStdString();
  std::ofstream(path) << json;
  auto read = read_measured_set(path);
  if (auto* problem = std::get_if<Problem>(&read)) qFatal("%s", to_string(*problem).c_str());
  return std::get<MeasuredSet>(std::move(read));
}

// arXiv 2104.04473, tables 1 and 2.
constexpr const char* kNarayanan = R"({"source": "arXiv 2104.04473", "table1": [
    {"params_b": 39.1, "heads": 64, "hidden": 8192, "layers": 48, "tp": 8, "pp": 2, "dp": 32, "gpus": 512,
     "gbs": 1536, "seq": 2048, "tflops_gpu": 138, "pct_peak": 44, "derived_iteration_s": 14.453}],
  "table2": [
    {"scheme": "ZeRO-3", "params_b": 174.6, "model_parallel": 1, "gbs": 1536, "gpus": 384, "mbs": 4,
     "tflops_gpu": 144},
    {"scheme": "PTD-P", "params_b": 174.6, "model_parallel": 96, "gbs": 1536, "gpus": 384, "mbs": 1,
     "tflops_gpu": 153}]})";

// arXiv 2401.10241, tables 4 and 9. The last schedule does not exist.
constexpr const char* kZeroBubble = R"({"source": "arXiv 2401.10241",
  "deterministic_schedule_test": {"rows": [
    {"model": "1.5B", "m": 24, "T_F_ms": 18.522, "T_B_ms": 18.086, "T_W_ms": 9.337, "T_comm_ms": 0.601},
    {"model": "1.5B", "m": 64, "T_F_ms": 18.546, "T_B_ms": 18.097, "T_W_ms": 9.321, "T_comm_ms": 0.762}]},
  "measured_table4": [
    {"model": "1.5B", "layers": 22, "heads": 24, "hidden": 2304, "seq": 1024, "pp": 8, "tp": 1, "dp": 1,
     "gpus": 8, "mbs": 6, "microbatches": 64, "schedule": "ZB-2p", "samples_per_gpu_s": 14, "memory_GB": 59,
     "derived_iter_s": 3.221},
    {"model": "1.5B", "layers": 22, "heads": 24, "hidden": 2304, "seq": 1024, "pp": 8, "tp": 1, "dp": 1,
     "gpus": 8, "mbs": 6, "microbatches": 64, "schedule": "1F1B", "samples_per_gpu_s": 14, "memory_GB": 30,
     "derived_iter_s": 3.529},
    {"model": "1.5B", "layers": 22, "heads": 24, "hidden": 2304, "seq": 1024, "pp": 8, "tp": 1, "dp": 1,
     "gpus": 8, "mbs": 6, "microbatches": 64, "schedule": "1F1B-I", "samples_per_gpu_s": 14, "memory_GB": 40,
     "derived_iter_s": 3.453},
    {"model": "1.5B", "layers": 22, "heads": 24, "hidden": 2304, "seq": 1024, "pp": 8, "tp": 1, "dp": 1,
     "gpus": 8, "mbs": 6, "microbatches": 64, "schedule": "ZB-3p", "samples_per_gpu_s": 14, "memory_GB": 59,
     "derived_iter_s": 3}]})";

// foundation-model-stack/fms-fsdp README @5a296af and pytorch/torchtitan nvfp4.md @b5bcd76c6.
constexpr const char* kPosts = R"({"source": ["READMEs"], "rows": [
    {"model": "Llama2-7B", "gpu": "A100-80GB", "gpus": 128, "parallel": "HSDP", "micro_batch": 2,
     "global_batch": 256, "seq": 4096, "recompute": "none", "precision": "bf16",
     "tokens_per_s_per_gpu": 4550, "network": "400 Gb/s per node", "source_path": "fms-fsdp",
     "memory_gib": null},
    {"model": "Qwen3-8B", "gpu": "Blackwell", "gpus": 4, "fsdp": 4, "parallel": "FSDP2", "micro_batch": 16,
     "global_batch": 64, "seq": 2048, "recompute": null, "precision": "bf16", "memory_gib": 112.88,
     "tokens_per_s_per_gpu": 20913, "source_path": "torchtitan"}]})";

// ai-dynamo/aiconfigurator @095f58a51; the last two rows have mistakes.
constexpr const char* kNccl = R"({"source": "aiconfigurator", "columns":
    ["system", "nccl", "op", "dtype", "num_gpus", "message_size_elements", "latency_us"], "rows": [
    ["h100_sxm", "2.29.2", "all_gather", "half", 8, 256, 10.14],
    ["h100_sxm", "2.29.2", "all_gather", "half", 8, 512, 10.4],
    ["h100_sxm", "2.29.2", "alltoall", "int8", 8, 1024, 8.13],
    ["h100_sxm", "2.29.2", "gossip", "half", 8, 512, 10.4],
    ["h100_sxm", "2.29.2", "all_gather"]]})";

}  // namespace

class MeasuredPapersTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void narayanan() {
    const MeasuredSet set = set_of(kNarayanan);
    QCOMPARE(set.rows.size(), size_t{3});
    QVERIFY(set.rows[0].unmapped.find("microbatch") != std::string::npos && set.rows[0].seconds);
    const MeasuredRow& zero = set.rows[1];
    QCOMPARE(zero.unmapped, std::string());
    QCOMPARE(zero.design.parallel.dp, 384);
    QCOMPARE(zero.design.parallel.sync, SyncStrategy::Zero3);
    QCOMPARE(zero.design.workload.microbatch, 4);
    // 90 days for 300 billion tokens (table 2) are steps of 1,536 x 2,048 tokens.
    const double printed = 90.0 * 86400 / (300e9 / (1536.0 * 2048));
    QVERIFY2(std::abs(*zero.seconds / printed - 1) < 0.02, qPrintable(QString::number(*zero.seconds)));
    QVERIFY(set.rows[2].unmapped.find("interleaving") != std::string::npos);
  }

  void zeroBubble() {
    const MeasuredSet set = set_of(kZeroBubble);
    QCOMPARE(set.rows.size(), size_t{4});
    for (size_t i = 0; i < 3; ++i) QCOMPARE(set.rows[i].unmapped, std::string());
    const ParallelSpec &zb = set.rows[0].design.parallel, &plain = set.rows[1].design.parallel,
                       &interleaved = set.rows[2].design.parallel;
    QCOMPARE(zb.schedule, ScheduleKind::ZbAuto);
    QCOMPARE(zb.passes.most_in_flight, 16);
    QCOMPARE(zb.passes.times, (std::vector<int64_t>{18546, 18097, 9321, 762}));  // of the run with 64
    QCOMPARE(plain.schedule, ScheduleKind::OneFOneB);
    QCOMPARE(plain.stage_layers, (std::vector<int64_t>{2, 3, 3, 3, 3, 3, 3, 2}));
    QCOMPARE(interleaved.virtual_stages, 3);
    QCOMPARE(interleaved.stage_layers.front(), 0);
    QCOMPARE(set.rows[0].bytes.value(), 59e9);
    QVERIFY(set.rows[3].unmapped.find("ZB-3p is not one of 1F1B") != std::string::npos);
  }

  void fsdpPosts() {
    const MeasuredSet set = set_of(kPosts);
    QCOMPARE(set.rows.size(), size_t{2});
    const MeasuredRow& hsdp = set.rows[0];
    QCOMPARE(hsdp.unmapped, std::string());
    QCOMPARE(hsdp.design.parallel.dp_shard, 8);
    QVERIFY(std::abs(*hsdp.seconds - 256.0 * 4096 / (4550 * 128)) < 1e-9);
    QVERIFY(set.rows[1].unmapped.find("recomputed") != std::string::npos);
  }

  void memoryWithoutBatch() {
    const MeasuredSet set = set_of(R"({"source": "arXiv 2511.10480", "peak_memory": [
        {"hardware": "1x8-H200", "parallel": "FSDP=8", "measured_GB": 18.1,
         "model_inferred": "GPT-3-5B"}]})");
    QCOMPARE(set.rows.size(), size_t{1});
    QVERIFY(set.rows[0].bytes && set.rows[0].unmapped.find("microbatch") != std::string::npos);
  }

  // Errors per kind, and per decade of sizes; rows with mistakes are listed.
  void collectives() {
    const MeasuredSet set = set_of(kNccl);
    QCOMPARE(set.collectives.size(), size_t{3});
    QCOMPARE(set.rows.size(), size_t{2});
    const Validation v = validate_set(set, [](const Report&) { return std::optional<double>(1); });
    QCOMPARE(v.collectives.size(), size_t{5});
    const CollectiveErrors &gathers = v.collectives[0], &exchange = v.collectives[3];
    QCOMPARE(gathers.kind, CollectiveKind::AllGather);
    QCOMPARE(gathers.rows, size_t{2});
    QVERIFY(gathers.model < 0.5);  // the program's own table
    QVERIFY(gathers.formulas > 1);
    QCOMPARE(exchange.kind, CollectiveKind::AllToAll);
    QCOMPARE(exchange.rows, size_t{1});
    const std::string text = validation_text(v), json = validation_json(v);
    QVERIFY(text.find("all_gather, all sizes") != std::string::npos);
    QVERIFY(text.find("10^2 to 10^3 bytes") != std::string::npos);
    QVERIFY(text.find("not mapped: row 4: no counterpart") != std::string::npos);
    QVERIFY(text.find("not mapped: row 5: the row is") != std::string::npos);
    QVERIFY(json.find("\"collectives\"") != std::string::npos);
  }
};

QTEST_GUILESS_MAIN(MeasuredPapersTest)
#include "measured_papers_test.moc"
