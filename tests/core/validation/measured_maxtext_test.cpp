// Measured sets of MaxText: a row becomes the design that ran, or says why not. The figures are those of
// AI-Hypercomputer/tpu-recipes @c8cfe2f and AI-Hypercomputer/maxtext @e591f30cb (both Apache-2.0).
#include <QtTest>
#include <cmath>

#include "support/measured_rows.h"
#include "validation/measured_set.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

MeasuredSet read(const QString& row) {
  return measured_set(std::string(R"({"source": "s", "rows": [)") + row.toStdString() + "]}");
}

// A recipe: `layout` has MaxText's arguments, `fields` the rest of the row.
std::string recipe(const std::string& fields, const std::string& layout = "") {
  return R"({"device_type": null, "tflops_per_gpu": 1, "tp": 1, "pp": 1, "cp": 1, "ep": 1,
    "precision": "bf16", )" +
         fields + R"(, "layout": {)" + layout + "}}";
}

// A row of the tables: Llama's blocks with sizes of their own, and a rate instead of a step time.
std::string table(const std::string& fields) {
  return R"({"model": "maxtext-16b", "dims": {"hidden": 4096, "heads": 64, "kv_heads": 64, "head_dim": 128,
    "ffn": 28672, "layers": 32, "vocab": 32000}, "device_type": "v5e-256", "step_seconds": null, "seq": 2048,
    "tp": 1, "pp": 1, "cp": 1, "recompute": "full", "precision": "bf16", )" +
         fields + "}";
}

const std::string kQkv =
    R"("remat_policy": "custom", "query_proj": "offload", "key_proj": "offload", "value_proj": "offload")";
const std::string kLlama8 =
    R"("gpu": "tpu_v6e_trillium", "model": "llama3.1-8b", "gpus": 8, "slices": 1, "seq": 8192, "gbs": 24,
    "step_seconds": 3.443)";
const std::string kGemma =
    R"("gpu": "tpu_v6e_trillium", "model": "gemma3-12b", "gpus": 512, "slices": 2, "seq": 32768, "gbs": 512,
    "step_seconds": 7.793)";
const std::string kLlama405 =
    R"("gpu": "tpu_v6e_trillium", "model": "llama3.1-405b", "gpus": 512, "slices": 2, "seq": 8192,
    "gbs": 512, "step_seconds": 54.803)";
const std::string kMixtral =
    R"("gpu": "tpu_v6e_trillium", "model": "mixtral-8x22b", "gpus": 256, "slices": 1, "seq": 4096,
    "gbs": 2048, "ep": 4, "step_seconds": 24.706)";
const std::string kFull = R"("remat_policy": "full")";
const std::string kV5e = R"("gpu": "tpu_v5e", "slices": 2, "gpus": 512, "gbs": 3072, "tflops_per_gpu": 117)";
const std::string kV5p =
    R"("gpu": "tpu_v5p", "slices": 1, "gpus": 128, "gbs": 128, "tp": 8, "recompute": "minimal",
    "dims": {"hidden": 8192, "heads": 128, "kv_heads": 128, "head_dim": 128, "ffn": 57344, "layers": 64,
    "vocab": 32000}, "tflops_per_gpu": 315)";

}  // namespace

class MeasuredMaxTextTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void rowsBecomeDesigns_data() {
    QTest::addColumn<QString>("row");
    QTest::addColumn<QString>("knobs");
    const auto row = [](const char* name, const std::string& text, const char* knobs) {
      QTest::newRow(name) << QString::fromStdString(text) << QString(knobs);
    };
    row("fsdp over a slice", recipe(kLlama8, kQkv),
        "accelerator=tpu-v6e dp=8 dp_shard=0 sync=fsdp2 batch=24 microbatch=3 recompute=selective "
        "recompute_modules=core_attn,layernorm,mlp");
    row("data over slices", recipe(kGemma, kFull),
        "layers=48 hidden=3840 dp=512 dp_shard=256 scaleup_domain=256 recompute=full microbatch=1");
    row("fsdp over slices", recipe(kLlama405, R"("dcn_fsdp_parallelism": 2, "remat_policy": "custom",
               "decoder_layer_input": "offload")"),
        "dp=512 dp_shard=0 scaleup_domain=256 recompute=full");
    row("data inside a slice", recipe(kLlama8, kFull + R"(, "ici_data_parallelism": 2)"), "dp=8 dp_shard=4");
    row("accumulation", recipe(kLlama8, kFull + R"(, "gradient_accumulation_steps": 3)"),
        "batch=24 microbatch=1");
    row("dropping experts", recipe(kMixtral, kQkv + R"(, "sparse_matmul": false, "capacity_factor": 1.25)"),
        "ep=4 dp=256 capacity_factor=1.25 pad_to_capacity=true recompute_modules=core_attn,layernorm,moe");
    row("dropless experts", recipe(kMixtral, kQkv + R"(, "sparse_matmul": true, "capacity_factor": 1.25)"),
        "pad_to_capacity=false");
    row("table of sizes", table(kV5e),
        "accelerator=tpu-v5e hidden=4096 head_dim=128 dp=512 dp_shard=256 microbatch=6 recompute=full");
    row("AQT", recipe(kLlama8, kFull + R"(, "quantization": "int8")"), "compute=int8 fp8_params=false");
    row("tensor axis", table(kV5p),
        "accelerator=tpu-v5p tp=8 dp=16 sequence_parallel=true tp_comm_overlap=true "
        "recompute_modules=core_attn,layernorm,mlp_act");
  }
  void rowsBecomeDesigns() {
    QFETCH(QString, row);
    QFETCH(QString, knobs);
    const MeasuredSet set = read(row);
    QCOMPARE(set.rows.size(), size_t{1});
    QVERIFY2(set.rows[0].unmapped.empty(), set.rows[0].unmapped.c_str());
    QVERIFY(set.rows[0].seconds);
    const std::string differing = differing_knob(set.rows[0].design, knobs);
    QVERIFY2(differing.empty(), differing.c_str());
  }

  void otherRowsSayWhyNot_data() {
    QTest::addColumn<QString>("row");
    QTest::addColumn<QString>("why");
    const auto row = [](const char* name, const std::string& text, const char* why) {
      QTest::newRow(name) << QString::fromStdString(text) << QString(why);
    };
    row("GPU", table(R"("gpu": "h100_sxm", "slices": 1, "gpus": 8, "gbs": 8, "tflops_per_gpu": 492)"),
        "\"h100_sxm\" is not one of");
    row("no batch", table(R"("gpu": "tpu_v5e", "slices": 1, "gpus": 8, "gbs": null, "tflops_per_gpu": 1)"),
        "no gbs");
    row("policy", recipe(kLlama8, R"("remat_policy": "save_out_proj")"), "\"save_out_proj\" is not one of");
    row("slices", recipe(kLlama8, kFull + R"(, "dcn_fsdp_parallelism": 3)"), "does not divide the slices");
    row("data axis", recipe(kLlama8, kFull + R"(, "ici_data_parallelism": 3)"), "does not divide 8 replicas");
    row("batch", recipe(kLlama8, kFull + R"(, "gradient_accumulation_steps": 2)"), "does not split into 8");
  }
  void otherRowsSayWhyNot() {
    QFETCH(QString, row);
    QFETCH(QString, why);
    const MeasuredSet set = read(row);
    QCOMPARE(set.rows.size(), size_t{1});
    QVERIFY2(QString::fromStdString(set.rows[0].unmapped).contains(why), set.rows[0].unmapped.c_str());
  }

  // MaxText counts 6 FLOPs per weight of GEMMs and token, and attention without the causal half.
  void stepsFollowFromRates() {
    const double layer = 3.0 * 4096 * 28672 + 4.0 * 4096 * 8192;
    const double token = 6 * (32 * layer + 4096.0 * 32000) + 12.0 * 32 * 2048 * 8192;
    const MeasuredSet set = read(QString::fromStdString(table(kV5e)));
    QVERIFY(set.rows.at(0).seconds);
    QVERIFY(std::abs(*set.rows[0].seconds / (token * 6 * 2048 / 117e12) - 1) < 1e-12);
  }

  // One published figure per machine, and the present error with a small margin.
  void stepsAreAsMeasured_data() {
    QTest::addColumn<QString>("row");
    QTest::addColumn<double>("percent");
    const auto row = [](const char* name, const std::string& text, double percent) {
      QTest::newRow(name) << QString::fromStdString(text) << percent;
    };
    row("Trillium", recipe(kLlama8, kQkv + R"(, "out_proj": "offload")"), 12);
    row("v5p", table(kV5p), 3);
    row("v5e, two slices", table(kV5e), 16);
  }
  void stepsAreAsMeasured() {
    QFETCH(QString, row);
    QFETCH(double, percent);
    const double error = step_error_percent(read(row));
    QVERIFY2(std::abs(error) < percent, qPrintable(QString::number(error)));
  }
};

QTEST_GUILESS_MAIN(MeasuredMaxTextTest)
#include "measured_maxtext_test.moc"
