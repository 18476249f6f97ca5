// Measured sets, recordings and models with odd numbers: each gives an answer or a message.
#include <QTest>

#include "cli/file_rows.h"

using namespace shardscape::test;

namespace {

QByteArray llama(const QByteArray& more) {
  return R"({"architectures": ["LlamaForCausalLM"], "hidden_act": "silu", "hidden_size": 4096,
    "intermediate_size": 14336, "max_position_embeddings": 8192, "model_type": "llama",
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
    "rope_theta": 500000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 128256)" +
         more + "}";
}

QByteArray mlperf(const QByteArray& config) {
  return R"({"rows": [{"scenario": "Offline", "target_qps": 1, "performance_sample_count": 1e9,
    "framework": "TensorRT-LLM", "accelerator": "NVIDIA H100-SXM-80GB", "model": "llama2-70b",
    "config": )" +
         config + "}]}";
}

QByteArray capacity(const QByteArray& more) {
  return R"({"rows": [{"engine": "vLLM", "precision": "bf16", "tp": 1, "kind": "measured",
    "model": "meta-llama/Llama-3.1-8B-Instruct", "gpu": "H100", "kv_tokens": 1000, )" +
         more + "}]}";
}

QByteArray recorded_requests() {
  const QByteArray request = "[0, 2147483647, 1, 0, 0, 0, 0, 0, 0, -1]";
  return R"({"rows": [{"engine_kwargs": {}, "request_columns": [], "requests": [)" +
         (request + ", ").repeated(20) + request + "]}]}";
}

// MiMo-V2-Flash, whose rotary part is a share of a head.
QByteArray wide_rotation() {
  QFile file(SHARDSCAPE_TEST_DATA "/hf26/XiaomiMiMo--MiMo-V2-Flash_config.json");
  if (!file.open(QIODevice::ReadOnly)) return {};
  return file.readAll().replace("\"partial_rotary_factor\": 0.334", "\"partial_rotary_factor\": 1e30");
}

QByteArray attached_files() {
  return "%PDF-1.7\n1 0 obj\nstream\n" + QByteArray(1 << 20, 'a') + "\nendstream\nendobj\n" +
         QByteArray("/EF<</F 1 0 R>>\n").repeated(50000);
}

QByteArray huge_rows() {
  QByteArray out = "op,us,batch,heads,queries,head_dim\n";
  for (int i = 0; i < 10; ++i) out += "attention," + QByteArray::number(20 + i) + ",2,16,1024,128\n";
  return out + QByteArray("attention,10,1099511627776,8388608,128,128\n").repeated(60);
}

}  // namespace

class OddSetsTest : public QObject {
  Q_OBJECT

 private slots:
  void files_data() {
    add_file_columns();
    const auto row = add_file_row;
    row("half a degree", "validate F.json", mlperf("{\"tensor_parallelism\": 0.5}"), kAnswer, "");
    row("degrees whose product is 0", "validate F.json",
        mlperf("{\"tensor_parallelism\": 4294967296, \"pipeline_parallelism\": 4294967296}"), kAnswer, "");
    row("no tokens of a step", "validate F.json",
        capacity("\"memory_fraction\": 0.9, \"max_num_batched_tokens\": 0"), kAnswer, "");
    row("an endless share", "validate F.json", capacity("\"memory_fraction\": 1e300"), kAnswer, "");
    row("a table of positions without sizes", "audit F.json",
        R"({"source": "litgpt", "config": {}, "params_per_rank": {"total": 1, "tensors": {"wpe": []}}})",
        kWrongContent, "");
    row("a text for a number", "validate F.json",
        R"({"table1": [{"params_b": "x", "heads": 1, "pct_peak": 1, "scheme": "ZeRO-3"}]})", kWrongContent,
        "a value cannot be read");
    row("microbatches of a recording", "audit F.json",
        R"({"source": "FullyShardedDataParallel", "config": {"world": 2, "params_root": 4, "layers": 1,
            "params_block": 4, "microbatches_no_sync": 1000000000000}})",
        kWrongContent, "at most 65536 microbatches");
    row("stages of a row", "validate F.json",
        R"({"rows": [{"fsdp": 1, "lbs": 1, "ac": "none", "mode": "x", "model": "llama3.1-8b",
            "pp": 1000000000000}]})",
        kAnswer, "");
    row("hashes of recorded requests", "validate F.json", recorded_requests(), kAnswer, "");
    row("a long name of many collectives", "audit F.json",
        R"({"source": "Megatron-LM", "config": {}, "collectives": {"kinds": [{"phase": ")" +
            QByteArray(1 << 20, 'a') +
            R"(", "type": "a", "group": "g", "dtype": "d", "elements": 1, "bytes": 1}], "order": [)" +
            QByteArray("0, ").repeated(20000) + "0]}}",
        kWrongContent, "at most 1000 characters");
    row("numbers of Python", "import F.json",
        llama(", \"x\": [" + QByteArray("NaN, ").repeated(60000) + "NaN]"), kAnswer, "");
    row("attached files of a report", "report --design F.pdf", attached_files(), kWrongContent,
        "holds no design");
    row("counted repetitions", "import F.json",
        llama(R"(, "quantization_config": {"quant_method": "fp8", "modules_to_not_convert":
                  ["re:(a?){15000}"]})"),
        kWrongContent, "has a counted repetition");
    row("a rotary part", "import F.json", wide_rotation(), kWrongContent, "");
    row("sizes whose product overflows", "calibrate F.csv --accelerator h100 -o o.json", huge_rows(),
        kWrongContent, "the product of the sizes");
  }
  void files() { run_file_row(); }
};

QTEST_GUILESS_MAIN(OddSetsTest)
#include "odd_sets_test.moc"
