// Measured sets of NVIDIA's recipes: a row becomes the design that ran, or says why not. The figures are
// those of the sources that docs/accuracy.md names.
#include <QtTest>

#include "support/measured_rows.h"
#include "validation/measured_set.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

MeasuredSet read(const std::string& rows, const char* key = "rows") {
  return measured_set(std::string(R"({"source": "s", ")") + key + R"(": [)" + rows + "]}");
}

// A row: values that do not matter to the test, then `fields`, which may replace them.
std::string cloud(const std::string& fields) {
  return R"({"framework": "NeMo", "task": "pretrain", "printed_model_flops_per_sequence": 1,
    "gpu": "H100-SXM5-80GB", "precision": "bf16", "ep": 1, "cp": null, "vp": null, "layers": null, )" +
         fields + "}";
}
std::string card(const std::string& fields) {
  return R"({"card": "qwen3-8b", "item": "pretrain/H100", "hardware": "H100", "gpus": 16, "mode": "pretrain",
    "precision": "bf16", "recipe": "r", "recipe_text": "cfg.model.tensor_model_parallel_size = 1\n)"
         R"(cfg.train.global_batch_size = 512\ncfg.train.global_batch_size = 1024\n)"
         R"(cfg.train.micro_batch_size = 1", "expected_result": "",
    "overrides": ["--seq_length 4096", "--max_steps 100"],
    "metrics": {"last_10_steps_step_time_ms_avg": 25070.32, "peak_allocated_memory_gib": null}, )" +
         fields + "}";
}
// A sweep: its first fields, then `fields`.
std::string sweep(const std::string& fields) {
  return R"({"id": "s", "model": "Qwen3 30B-A3B", "hw": "16 H100", )" + fields + "}";
}
std::string release(const std::string& fields) {
  return R"({"set": "NeMo 24.07 DGX-H100", "machine": "m", "grad_accum_derived": 1, "task": "pretrain",
    "gpu": "H100-SXM5-80GB", "precision": "fp8", "fsdp": null, "tp": 1, "pp": 1, "cp": 1, "vp": 1, "ep": 1,
    "micro_batch": 1, "gpus": 8, "global_batch": 128, "step_seconds_est": 1, )" +
         fields + "}";
}

const std::string k70B = R"("model": "Llama 3.1 70B", "gpus": 64, "tp": 4, "pp": 4, "cp": 2, "vp": 5,
  "micro_batch": 1, "global_batch": 128, "seq": 8192, "step_seconds": 14.72)";
const std::string k15B = R"("model": "Nemotron-4 15B", "gpus": 64, "tp": 4, "pp": 1, "micro_batch": 4,
  "global_batch": 256, "seq": 4096, "step_seconds": 2.86)";
const std::string k8B = R"("model": "LLAMA3-8B", "seq": 8192)";

}  // namespace

class MeasuredNvidiaTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void rowsBecomeDesigns_data();
  void rowsBecomeDesigns();
  void cardsAndSweepsBecomeDesigns();
  void otherRowsSayWhyNot_data();
  void otherRowsSayWhyNot();
  void stepsAreAsMeasured_data();
  void stepsAreAsMeasured();
};

void MeasuredNvidiaTest::rowsBecomeDesigns_data() {
  QTest::addColumn<QString>("row");
  QTest::addColumn<QString>("knobs");  // "knob=value", separated by spaces
  const auto row = [](const char* name, const std::string& text, const char* knobs) {
    QTest::newRow(name) << QString::fromStdString(text) << QString(knobs);
  };
  row("DGX Cloud, 70B", cloud(k70B),
      "dp=2 tp=4 pp=4 cp=2 virtual_stages=5 context=zigzag batch=128 compute=storage grad_dtype=bf16 "
      "sequence_parallel=true tp_comm_overlap=true overlap_param_gather=true sync=distributed-optimizer "
      "accelerator=h100 profile=megatron-core-te-1");
  row("DGX Cloud, no overlap", cloud(k70B + R"(, "precision": "fp8", "tp_comm_overlap": false,
        "overlap_grad": false, "overlap_param": false)"),
      "compute=fp8 sequence_parallel=true tp_comm_overlap=false overlap_grad_reduce=false "
      "overlap_param_gather=false");
  row("Nemotron-4", cloud(k15B), "layers=32 hidden=6144 kv_heads=8 vocab=256000 dp=16 microbatch=4");
  row("GPT-3 with dropout", cloud(R"("model": "GPT-3 175B", "precision": "fp8", "gpus": 128, "tp": 4, "pp": 8,
        "vp": 12, "micro_batch": 1, "global_batch": 256, "seq": 2048, "step_seconds": 5.92)"),
      "dropout=true fp8_params=true vocab=51200 dp=4");
  row("fewer layers", cloud(k70B + R"(, "layers": 40, "vp": 5)"), "layers=40 virtual_stages=5");
  row("NeMo release", release(k8B), "dp=8 batch=128 compute=fp8 profile=megatron-core-te-1");
  row("later NeMo release", release(k8B + R"json(, "set": "NeMo 25.07 DGX-GB200", "gpu": "GB200",
        "precision": "fp8 (per-tensor)")json"),
      "compute=fp8 accelerator=gb200 transposed_weights=false profile=megatron-core-te-fused-loss");
  row("FSDP", release(k8B + R"(, "fsdp": 1)"), "sync=megatron-fsdp dp=8");
  row("Megatron-Bridge", release(k8B + R"(, "set": "Megatron-Bridge 25.11 DGX-GB200", "gpu": "GB200",
        "precision": "FP8-MX", "micro_batch": 2)"),
      "compute=mxfp8 fp8_params=true microbatch=2 batch=128");
  row("second granularity on H100", release(k8B + R"json(, "set": "Megatron-Bridge 25.09 DGX-H100",
        "gpu": "H100", "precision": "fp8, second granularity (blocks)")json"),
      "compute=fp8-blockwise");
}

void MeasuredNvidiaTest::rowsBecomeDesigns() {
  QFETCH(QString, row);
  QFETCH(QString, knobs);
  const MeasuredSet set = read(row.toStdString());
  QCOMPARE(set.rows.size(), size_t{1});
  QVERIFY2(set.rows[0].unmapped.empty(), set.rows[0].unmapped.c_str());
  QVERIFY(set.rows[0].seconds.has_value());
  const std::string differing = differing_knob(set.rows[0].design, knobs);
  QVERIFY2(differing.empty(), differing.c_str());
}

void MeasuredNvidiaTest::cardsAndSweepsBecomeDesigns() {
  // The last value that the recipe assigns counts, and the summary of the run before the recipe.
  const MeasuredRow of_recipe = read(card("\"x\": 1")).rows.at(0);
  QVERIFY2(of_recipe.unmapped.empty(), of_recipe.unmapped.c_str());
  QCOMPARE(of_recipe.design.workload.batch, int64_t{1024});
  QCOMPARE(of_recipe.design.workload.seq, int64_t{4096});
  QCOMPARE(of_recipe.design.parallel.dp, int64_t{16});
  QCOMPARE(of_recipe.seconds.value_or(0), 25.07032);
  QVERIFY(!of_recipe.bytes);
  const MeasuredRow of_summary = read(card(R"("expected_result": "at TP2/PP2/CP1/EP1/ETP1, GBS/MBS 256/2")"))
                                     .rows.at(0);
  QCOMPARE(of_summary.design.parallel.tp, int64_t{2});
  QCOMPARE(of_summary.design.parallel.pp, int64_t{2});
  QCOMPARE(of_summary.design.workload.batch, int64_t{256});
  QCOMPARE(of_summary.design.workload.microbatch, int64_t{2});
  QVERIFY(read(card(R"("mode": "lora")")).rows.at(0).unmapped.find("fine-tuning") != std::string::npos);

  const MeasuredSet sweeps = read(sweep(R"("cfg": "BF16 tp1 pp1 ep8 mbs 2 gbs 512 alltoall",
      "columns": ["case", "step s", "peak GB"],
      "rows": [["no EP overlap", 41.25, 62], ["EP overlap", 31.31, null],
               ["EP overlap + delay wgrad", 31.2, null]])"),
                                  "sweeps");
  QCOMPARE(sweeps.rows.size(), size_t{3});
  const MeasuredRow &plain = sweeps.rows[0], &overlapped = sweeps.rows[1];
  QVERIFY2(plain.unmapped.empty(), plain.unmapped.c_str());
  QVERIFY2(overlapped.unmapped.empty(), overlapped.unmapped.c_str());
  QVERIFY(!plain.design.parallel.ep_comm_overlap && overlapped.design.parallel.ep_comm_overlap);
  QCOMPARE(plain.design.parallel.ep, int64_t{8});
  QCOMPARE(plain.design.workload.batch, int64_t{512});
  QCOMPARE(plain.design.workload.microbatch, int64_t{2});
  QCOMPARE(plain.seconds.value_or(0), 41.25);
  QCOMPARE(plain.bytes.value_or(0), 62e9);
  QVERIFY(!sweeps.rows[2].unmapped.empty());
  const MeasuredSet modules = read(sweep(
                                       R"json("cfg": "BF16 ep16 alltoall", "columns": ["recompute", "step s"],
            "rows": [["none", 42.21], ["core_attn", 42.92], ["moe_act (OOM after iteration 1)", 1]])json"),
                                   "sweeps");
  QVERIFY(modules.rows.at(0).design.workload.recompute != modules.rows.at(1).design.workload.recompute);
  // A failed run has no figures.
  const MeasuredRow& failed = modules.rows.at(2);
  QVERIFY2(failed.unmapped.empty(), failed.unmapped.c_str());
  QVERIFY(modules.rows[0].ran == true && failed.ran == false && !failed.seconds);
  const MeasuredSet graphs = read(
      sweep(R"("cfg": "BF16 ep16 flex HybridEP TE graphs moe_router+moe_preprocess",
            "columns": ["case", "step s"], "rows": [["overlap off", 24.7]])"),
      "sweeps");
  QCOMPARE(graphs.rows.at(0).design.workload.cuda_graphs, CudaGraphs::Router);
  const MeasuredSet unknown = read(
      sweep(R"("model": "Moonlight 16B", "cfg": "", "columns": ["case", "step s"], "rows": [["a", 1]])"),
      "sweeps");
  QVERIFY(unknown.rows.at(0).unmapped.find("no preset") != std::string::npos);
  QCOMPARE(unknown.rows[0].no_seconds, unknown.rows[0].unmapped);
}

void MeasuredNvidiaTest::otherRowsSayWhyNot_data() {
  QTest::addColumn<QString>("row");
  QTest::addColumn<QString>("why");
  const auto row = [](const char* name, const std::string& text, const char* why) {
    QTest::newRow(name) << QString::fromStdString(text) << QString(why);
  };
  row("MaxText", cloud(k70B + R"(, "framework": "MaxText")"), "MaxText shards by named axes");
  row("LoRA", cloud(k70B + R"(, "task": "lora")"), "adapters (LoRA)");
  row("doubtful layout", cloud(k70B + R"(, "suspect_layout": "PP printed as 41")"), "PP printed as 41");
  row("no micro batch", cloud(k70B + R"(, "micro_batch": null)"), "no micro_batch");
  row("unknown model", cloud(k70B + R"(, "model": "Grok 9")"), "no preset has this architecture");
  row("unknown recipe", release(k8B + R"json(, "precision": "fp8 (other recipe, not stated)")json"),
      "the recipe of the precision is not known");
  row("doubtful release",
      release(k8B + R"(, "set": "Megatron-Bridge 25.11 DGX-H100", "suspect": "two figures")"), "two figures");
}

void MeasuredNvidiaTest::otherRowsSayWhyNot() {
  QFETCH(QString, row);
  QFETCH(QString, why);
  const MeasuredSet set = read(row.toStdString());
  QVERIFY2(set.rows.at(0).unmapped.find(why.toStdString()) != std::string::npos,
           set.rows[0].unmapped.c_str());
}

// One published figure per kind of row, and the present error with a small margin.
void MeasuredNvidiaTest::stepsAreAsMeasured_data() {
  QTest::addColumn<QString>("row");
  QTest::addColumn<double>("percent");
  QTest::newRow("Llama 3.1 70B") << QString::fromStdString(cloud(k70B)) << 5.0;
  QTest::newRow("Nemotron-4 15B") << QString::fromStdString(cloud(k15B)) << 8.0;
  QTest::newRow("Llama 3 8B on B200")
      << QString::fromStdString(release(k8B + R"(, "set": "NeMo 25.02 DGX-B200", "gpu": "B200",
           "micro_batch": 2, "step_seconds_est": 5.0401)"))
      << 4.0;
}

void MeasuredNvidiaTest::stepsAreAsMeasured() {
  QFETCH(QString, row);
  QFETCH(double, percent);
  const double error = step_error_percent(read(row.toStdString()));
  QVERIFY2(std::abs(error) < percent, qPrintable(QString::number(error)));
}

QTEST_GUILESS_MAIN(MeasuredNvidiaTest)
#include "measured_nvidia_test.moc"
