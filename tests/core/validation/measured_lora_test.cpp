// Measured fine-tuning with LoRA: a row becomes the design that ran, or says why not, and memory is as
// measured. The figures are those of MLPerf Training v5.0 (Apache-2.0) and of litgpt's resource tables
// (Apache-2.0).
#include <QtTest>
#include <cmath>

#include "support/measured_rows.h"
#include "validation/validation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

MeasuredSet read(const std::string& row) { return measured_set(R"({"source": "s", "rows": [)" + row + "]}"); }

// A row of MLPerf: values that do not matter to the test, then `fields`, which may replace them.
std::string mlperf(const std::string& fields) {
  return R"({"benchmark": "llama2_70b_lora", "round": "v5.0", "system": "s", "gpu": "b200", "tp": 1, "pp": 1,
    "cp": 1, "dp": 8, "mbs": 1, "gbs": 8, "seq": 8192, "micro_batches": 1, "precision": "fp8",
    "fp8_attention": true, "fp8_params": false, "step_seconds": 1, )" +
         fields + "}";
}
std::string litgpt(const std::string& fields) {
  return R"({"table": "t", "method": "LoRA", "gpu": "A100-SXM4-40GB", "gpus": 1, "model": "Llama 2 13 B",
    "micro_batch": 1, "longest_sequence": 1304, "memory_gb": 1, "oom": false, )" +
         fields + "}";
}

// Error of the peak memory of a set with one row, in percent.
double memory_error_percent(const MeasuredSet& set) {
  const Validation v = validate_set(set, [](const Report&) { return std::optional<double>(); });
  for (const ValidatedMetric& metric : v.metrics)
    if (metric.name == "memory" && metric.rows.size() == 1) return metric.mean_abs_error_percent();
  return std::nan("");
}

}  // namespace

class MeasuredLoraTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void rowsBecomeDesigns_data() {
    QTest::addColumn<QString>("row");
    QTest::addColumn<QString>("knobs");  // "knob=value", separated by spaces
    const auto row = [](const char* name, const std::string& text, const char* knobs) {
      QTest::newRow(name) << QString::fromStdString(text) << QString(knobs);
    };
    row("Blackwell without cp", mlperf(R"("cp": 1)"),
        "lora_rank=16 lora_modules=q,k,v,o lora_packed=true lora_dropout=true fp8_params=true "
        "fp8_attention=true activation_cache=fp8-inputs");
    row("Blackwell with cp", mlperf(R"("cp": 8, "dp": 1, "gbs": 1)"),
        "context=ulysses activation_cache=same fp8_params=true");
    row("Hopper with cp", mlperf(R"("gpu": "h100_sxm", "tp": 4, "cp": 2, "fp8_attention": false,
        "sequence_parallel": true)"),
        "context=zigzag fp8_attention=false tp_comm_overlap=true tp_comm_overlap_rs_dgrad=false");
    row("Hopper without cp", mlperf(R"("gpu": "h100_sxm", "tp": 4, "sequence_parallel": true)"),
        "tp_comm_overlap_rs_dgrad=true fp8_attention=true");
    row("v4.0", mlperf(R"("round": "v4.0", "gpu": "h100_sxm", "tp": 4, "sequence_parallel": true)"),
        "tp_comm_overlap_rs_dgrad=false");
    row("some layers again", mlperf(R"("gpu": "mi300x", "recompute": "full block 21 layers")"),
        "recompute=full recompute_method=block recompute_num_layers=21 activation_cache=fp8-inputs");
    row("graphs of layers", mlperf(R"("gpu": "b200", "cuda_graph": true)"), "cuda_graphs=layer");
    row("DeepSpeed", mlperf(R"("gpu": "h100_sxm", "zero_stage": 3, "precision": "bf16")"),
        "sync=zero-3 lora_packed=false lora_dropout=true profile=transformers-flash");
    row("litgpt", litgpt(R"("quantization": "bnb.nf4-dq")"),
        "frozen_dtype=nf4-double lora_rank=8 lora_modules=q,v lora_dropout=true profile=litgpt seq=1304");
    row("litgpt, GPT-NeoX", litgpt(R"("model": "StableLM Alpha 3 B", "quantization": "bnb.nf4")"),
        "frozen_dtype=nf4 layers=16 vocab=50688 tied_embeddings=false");
  }
  void rowsBecomeDesigns() {
    QFETCH(QString, row);
    QFETCH(QString, knobs);
    const MeasuredSet set = read(row.toStdString());
    QCOMPARE(QString::fromStdString(set.rows.at(0).unmapped), QString());
    QCOMPARE(QString::fromStdString(differing_knob(set.rows.at(0).design, knobs)), QString());
  }

  void otherRowsSayWhyNot_data() {
    QTest::addColumn<QString>("row");
    QTest::addColumn<QString>("why");
    const auto row = [](const char* name, const std::string& text, const char* why) {
      QTest::newRow(name) << QString::fromStdString(text) << QString(why);
    };
    row("adapters between layers", litgpt(R"("method": "Adapter v2")"), "not low-rank matrices");
    row("FSDP1", litgpt(R"("gpus": 2)"), "one flat parameter");
    row("another model", litgpt(R"("model": "Falcon")"), "StableLM Alpha 3 B and Llama 2 13 B: Falcon");
    row("out of memory", litgpt(R"("oom": true)"), "ran out of memory");
    const auto torchtune = [](const char* method) {
      return std::string(R"({"table": "t", "model": "Llama3.1-8B", "gpu": "1x A6000", "micro_batch": 2,
        "memory_gib": 1, "method": ")") +
             method + "\"}";
    };
    row("chunks of the loss", torchtune("LoRA"), "in chunks of the sequence");
    row("optimizer in the backward", torchtune("full"), "inside the backward");
    row("offload", torchtune("full, CPU offload"), "to the host");
  }
  void otherRowsSayWhyNot() {
    QFETCH(QString, row);
    QFETCH(QString, why);
    const QString unmapped = QString::fromStdString(read(row.toStdString()).rows.at(0).unmapped);
    QVERIFY2(unmapped.contains(why), qPrintable(unmapped));
  }

  // Peaks of rank 0, in GiB, of NVIDIA's and Oracle's runs. Nothing is fitted.
  void memoryIsAsMeasured_data() {
    QTest::addColumn<QString>("row");
    QTest::newRow("cp 1") << R"("gpu": "b200", "memory_gib": 168.83)";
    QTest::newRow("cp 2") << R"("gpu": "gb200", "cp": 2, "dp": 2, "memory_gib": 134.2)";
    QTest::newRow("cp 8") << R"("gpu": "gb200", "cp": 8, "dp": 9, "gbs": 9, "memory_gib": 82.3)";
  }
  void memoryIsAsMeasured() {
    QFETCH(QString, row);
    const double error = memory_error_percent(read(mlperf(row.toStdString())));
    QVERIFY2(error < 1, qPrintable(QString::number(error)));
  }
};

QTEST_APPLESS_MAIN(MeasuredLoraTest)
#include "measured_lora_test.moc"
