// Measured sets of Gaudi, Trainium, Ascend and AMD: a row becomes the design that ran, or says why not. The
// figures are those of the sources that docs/accuracy.md names.
#include <QtTest>

#include "support/measured_rows.h"
#include "validation/validation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

MeasuredSet read(const std::string& rows) {
  return measured_set(std::string(R"({"source": ["first", "second"], "rows": [)") + rows + "]}");
}

// A row: values that do not matter to the test, then `fields`, which may replace them.
std::string gaudi(const std::string& fields) {
  return R"json({"dataset": "wikitext", "lora_rank": null, "dp": 8, "tp": 1, "pp": 1, "micro_batch": 4,
    "global_batch": 32, "devices": 8, "seq": 1024, "samples_per_s": 1, "hardware": "Gaudi 2 (96 GB)", )json" +
         fields + "}";
}
std::string trainium(const std::string& fields) {
  return R"({"chips": 512, "neuron_cores": 1024, "mbs": 1, "gbs": 1024, "seq": 2048,
    "precision": "Autocast:BF16+SR", "model": "GPT3-46B", )" +
         fields + "}";
}
std::string ascend(const std::string& fields) {
  return R"({"npus": 8, "seq": 8192, "tokens_per_s_per_npu": 1, "cp": 1, "ep": 1, "sequence_parallel": true,
    "flash_attention": true, "precision": "bf16", )" +
         fields + "}";
}

const std::string kGemma = R"("model": "gemma-2b-it", "method": "full")";
const std::string
    kTopology = R"("tp": 8, "pp": 8, "dp": 16, "check_topology": true, "sequences_per_s": 47.4)";
const std::string kAscendLayout =
    R"("tp": 2, "pp": 2, "dp": 2, "micro_batch": 1, "global_batch": 64, "step_seconds_est": 29.507, )"
    R"("layers": 40, "hidden": 4096, "ffn": 13696, "heads": 32, "kv_heads": 2)";
const std::string kPrimus =
    R"({"source_path": "p", "schedule": null, "gpu": "MI325X", "tp": 1, "pp": 1, "cp": 1, "ep": 1, )";

}  // namespace

class MeasuredVendorsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void rowsBecomeDesigns_data();
  void rowsBecomeDesigns();
  void otherRowsSayWhyNot_data();
  void otherRowsSayWhyNot();
  void theLastVersionOfATrainiumRowCounts();
  void stepsAreAsMeasured_data();
  void stepsAreAsMeasured();
  void sourcesMayBeAList() { QCOMPARE(read(gaudi(kGemma)).source, std::string("first; second")); }
};

void MeasuredVendorsTest::rowsBecomeDesigns_data() {
  QTest::addColumn<QString>("row");
  QTest::addColumn<QString>("knobs");  // "knob=value", separated by spaces
  const auto row = [](const char* name, const std::string& text, const char* knobs) {
    QTest::newRow(name) << QString::fromStdString(text) << QString(knobs);
  };
  row("Gaudi, one device",
      gaudi(kGemma + R"(, "dp": 1, "global_batch": 4, "devices": 1, "parallel": "single")"),
      "accelerator=gaudi2-96gb dp=1 sync=ddp-buckets microbatch=4 batch=4");
  row("Gaudi, ZeRO-2 without reduce-scatter", gaudi(kGemma + R"(, "parallel": "DeepSpeed ZeRO-2")"),
      "sync=zero-1 grad_dtype=bf16 dp=8 batch=32");
  row("Gaudi, ZeRO-3", gaudi(kGemma + R"(, "parallel": "DeepSpeed ZeRO-3", "recompute": "full")"),
      "sync=zero-3 recompute=full");
  row("Gaudi, GPT-NeoX",
      gaudi(
          R"json("model": "gpt-neox-20b", "method": "full", "parallel": "DDP",
            "hardware": "Gaudi 3 (128 GB)")json"),
      "layers=44 hidden=6144 ffn=24576 vocab=50432 accelerator=gaudi3-128gb");
  row("Trainium, NeMo", trainium(kTopology),
      "layers=56 hidden=8192 recompute=full sync=ddp-flat accelerator=trainium1-core-16gb");
  row("Trainium, NxD",
      trainium(
          kTopology +
          R"(, "model": "Llama-3.1-70B", "precision": "Autocast:BF16+FP32Optimizer", "tp": 32, "dp": 4)"),
      "sync=zero-1 recompute=none tp=32 dp=4 pp=8");
  row("Ascend, sizes of the row",
      ascend(R"("model": "GLM4 9B", "distributed_optimizer": true, "overlap_grad": true, )" + kAscendLayout),
      "vocab=151552 ffn=13696 kv_heads=2 sync=distributed-optimizer accelerator=ascend-910b2-64gb");
  row("Ascend, blocks of recomputed layers",
      ascend(R"("model": "LLaMA2 7B", "recompute_method": "block", "recompute_layers": 30, )" +
             kAscendLayout),
      "recompute=full recompute_method=block recompute_num_layers=20");
  row("AMD, sharded",
      kPrimus + R"("model": "Llama-3.1-70B", "gpus": 8, "fsdp": true, "micro_batch": 1, "seq": 8192,
        "precision": "bf16", "tokens_per_s_per_gpu": 1135})",
      "dp=8 batch=32 sync=fsdp2 recompute_num_layers=72 accelerator=mi325x-256gb");
  row("AMD, float8",
      kPrimus + R"("model": "Llama-3.1-8B", "gpus": 64, "fsdp": false, "micro_batch": 2, "seq": 8192,
        "precision": "fp8", "tokens_per_s_per_gpu": 16186})",
      "dp=64 batch=512 compute=fp8 sync=distributed-optimizer");
}

void MeasuredVendorsTest::rowsBecomeDesigns() {
  QFETCH(QString, row);
  QFETCH(QString, knobs);
  const MeasuredSet set = read(row.toStdString());
  QCOMPARE(set.rows.size(), size_t{1});
  QVERIFY2(set.rows[0].unmapped.empty(), set.rows[0].unmapped.c_str());
  const std::string differing = differing_knob(set.rows[0].design, knobs);
  QVERIFY2(differing.empty(), differing.c_str());
}

void MeasuredVendorsTest::otherRowsSayWhyNot_data() {
  QTest::addColumn<QString>("row");
  QTest::addColumn<QString>("why");
  const auto row = [](const char* name, const std::string& text, const char* why) {
    QTest::newRow(name) << QString::fromStdString(text) << QString(why);
  };
  row("LoRA", gaudi(R"("model": "llama-7b", "method": "LoRA", "parallel": "DDP")"), "LoRA");
  row("Gaudi 1", gaudi(kGemma + R"(, "parallel": "DDP", "hardware": "Gaudi 1")"), "no Gaudi 1");
  row("another sync", gaudi(kGemma + R"(, "parallel": "FSDP")"), "\"FSDP\" is not one of");
  row("encoder", trainium(R"("model": "BERT-Large Ph1", )" + kTopology), "BERT is an encoder");
  row("wrong topology",
      trainium(R"("tp": 8, "pp": 8, "dp": 4, "check_topology": false, "sequences_per_s": 45)"),
      "is not the number of NeuronCores");
  row("float32", trainium(kTopology + R"(, "precision": "FP32")"), "precision FP32 is not one of");
  row("no layout", ascend(R"("model": "MiniCPM 2B", "tp": null)"), "no layout");
  row("hybrid context parallelism",
      ascend(R"("model": "LLaMA2 7B", "cp_algorithm": "hybrid_cp_algo", )" + kAscendLayout + R"(, "cp": 2)"),
      "without its degree");
  row("unknown variable",
      ascend(R"("model": "LLaMA2 7B", "cp_algorithm": "CP_TYPE", )" + kAscendLayout + R"(, "cp": 2)"),
      "cp_algorithm CP_TYPE is not one of");
  row("swapped activations", ascend(R"("model": "LLaMA2 7B", "swap_attention": true, )" + kAscendLayout),
      "does not say which");
  row("no microbatch",
      kPrimus + R"("model": "Llama2-7B", "gpus": 8, "seq": null, "tokens_per_s_per_gpu": 10057})",
      "no sequence length and no microbatch");
}

void MeasuredVendorsTest::otherRowsSayWhyNot() {
  QFETCH(QString, row);
  QFETCH(QString, why);
  const Validation v = validate_set(read(row.toStdString()),
                                    [](const Report&) { return std::optional<double>(1); });
  const MeasuredSet set = read(row.toStdString());
  QVERIFY2(set.rows.at(0).unmapped.find(why.toStdString()) != std::string::npos,
           set.rows[0].unmapped.c_str());
  for (const ValidatedMetric& m : v.metrics) QVERIFY(m.rows.empty());
}

void MeasuredVendorsTest::theLastVersionOfATrainiumRowCounts() {
  const std::string same = R"(, "neuron_version": "2.13.0", "sequences_per_s": 13.9)";
  const MeasuredSet set = read(trainium(R"("tp": 8, "pp": 1, "dp": 128, "check_topology": true)" + same) +
                               "," +
                               trainium(R"("tp": 8, "pp": 8, "dp": 16, "check_topology": true)" + same));
  QCOMPARE(set.rows.at(0).unmapped,
           std::string("a later version of the table has this measurement with tp8 pp8 dp16"));
  QVERIFY(set.rows.at(1).unmapped.empty());
}

// One published figure per machine, and the present error with a small margin.
void MeasuredVendorsTest::stepsAreAsMeasured_data() {
  QTest::addColumn<QString>("row");
  QTest::addColumn<double>("percent");
  const auto row = [](const char* name, const std::string& text, double percent) {
    QTest::newRow(name) << QString::fromStdString(text) << percent;
  };
  row("Gaudi 2, DDP", gaudi(kGemma + R"(, "parallel": "DDP", "step_seconds_est": 0.3385)"), 12);
  row("Gaudi 3, DDP",
      gaudi(kGemma +
            R"json(, "parallel": "DDP", "hardware": "Gaudi 3 (128 GB)", "step_seconds_est": 0.2007)json"),
      14);
  row("Trainium 1", trainium(kTopology + R"(, "step_seconds": 21.6034)"), 4);
  row("Ascend 910B",
      ascend(R"("model": "GLM4 9B", "distributed_optimizer": true, "overlap_grad": true, )" + kAscendLayout),
      14);
  row("MI325X",
      kPrimus + R"("model": "Llama-3.1-8B", "gpus": 64, "fsdp": false, "micro_batch": 2, "seq": 8192,
        "precision": "fp8", "tokens_per_s_per_gpu": 16186})",
      3);
}

void MeasuredVendorsTest::stepsAreAsMeasured() {
  QFETCH(QString, row);
  QFETCH(double, percent);
  const double error = step_error_percent(read(row.toStdString()));
  QVERIFY2(std::abs(error) < percent, qPrintable(QString::number(error)));
}

QTEST_GUILESS_MAIN(MeasuredVendorsTest)
#include "measured_vendors_test.moc"
