// Small inputs that asked for very much: time without end, all memory, or a deep recursion. Each gives an
// answer or a message. Fuzzing with short inputs and one file at a time does not find them.
#include <QTest>

#include "cli/file_rows.h"

using namespace shardscape::test;

namespace {

QByteArray repeated(const QByteArray& text, int times) { return text.repeated(times); }

// A merge of ten merges of ten merges: 10^20 mappings, none with a value.
QByteArray merged_mappings() {
  QByteArray out = "a: &a {<<: z}\n";
  for (char name = 'b'; name <= 'u'; ++name) {
    const QByteArray before = QByteArray(",*") + static_cast<char>(name - 1);
    out += QByteArray(1, name) + ": &" + name + " {<<: [" + repeated(before, 10).mid(1) + "]}\n";
  }
  return out + "MODEL_ARGS:\n  --num-layers: 4\n";
}

QByteArray llama(const QByteArray& more) {
  return R"({"architectures": ["LlamaForCausalLM"], "hidden_act": "silu", "hidden_size": 4096,
    "intermediate_size": 14336, "max_position_embeddings": 8192, "model_type": "llama",
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
    "rope_theta": 500000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 128256,
    "quantization_config": {"quant_method": "compressed-tensors", "format": "float-quantized", )" +
         more + R"("config_groups": {"g": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float",
    "strategy": "channel"}, "input_activations": null}}}})";
}

// Expressions that fit no module, and of which the last is not read: there are too many.
QByteArray many_expressions() {
  QByteArray out;
  for (int i = 0; i < 5000; ++i) out += "\"re:.*layers\\\\.[0-9]+\\\\.x" + QByteArray::number(i) + "$\", ";
  return "\"ignore\": [" + out + "\"lm_head\"], ";
}

QByteArray card(const QByteArray& digits) {
  return R"({"rows": [{"card": "qwen3-8b", "item": "pretrain/H100", "hardware": "H100", "gpus": 16,
    "mode": "pretrain", "precision": "bf16", "recipe": "r",
    "recipe_text": "cfg.model.tensor_model_parallel_size = )" +
         digits + R"(", "summary": "TP)" + digits + R"("}]})";
}

QByteArray hash_ranges(int ranges) {
  return "arrival_s,input_tokens,output_tokens,block_hashes_1\n0,1073741824,1," +
         repeated("0-999999 ", ranges) + "\n";
}

QByteArray exports(int lines) {
  QByteArray out = "#!/bin/bash\n";
  for (int i = 0; i < lines; ++i) out += "export A" + QByteArray::number(i) + "=1\n";
  return out +
         "torchrun pretrain_gpt.py --num-layers 4 --hidden-size 512 --num-attention-heads 8 --seq-length "
         "1024 --max-position-embeddings 1024\n";
}

// Kernels whose times differ by more than 63 bits of nanoseconds hold.
QByteArray far_kernels() {
  const auto kernel = [](const QByteArray& begin) {
    return R"({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 1, "tid": 1, "ts": )" + begin +
           R"(, "dur": 4e15, "args": {"stream": 1, "device": 0, "correlation": 1}})";
  };
  return "{\"traceEvents\": [" + kernel("-4e15") + ", " + kernel("4e15") + "]}";
}

}  // namespace

class SmallBombsTest : public QObject {
  Q_OBJECT

 private slots:
  void files_data() {
    add_file_columns();
    const auto row = add_file_row;
    const QByteArray filling = repeated("0,1073741824,1073741824\n", 16);
    row("contents of a cache", "serve --model llama3-8b --trace F.csv",
        "arrival_s,input_tokens,output_tokens\n" + filling + repeated("0,1000,10\n", 3) + filling +
            "1,1000,10\n",
        kWrongContent, "different cache blocks");
    row("hashes of a request", "serve --model llama3-8b --trace F.csv", hash_ranges(400), kWrongContent,
        "F.csv:2: the rows have more block hashes");
    row("merges of merges", "import F.yaml", merged_mappings(), kWrongContent, "references");
    row("an expression with a repeated repetition", "import F.json",
        llama("\"ignore\": [\"re:([a-z0-9_.]+)+X\"], "), kAnswer, "F.json: weight_formats");
    row("many expressions", "import F.json", llama(many_expressions()), kWrongContent,
        "is one of more than 64 regular expressions");
    row("digits of a card", "validate F.json", card(QByteArray(100000, '1')), kAnswer, "");
    row("exports of a script", "import --gpus 8 F.sh", exports(20000), kAnswer, "");
    row("far kernels", "profile F.json", far_kernels(), kAnswer, "1 of them without a usable time");
  }
  void files() { run_file_row(); }

  void flags_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<QString>("said");
    QTest::newRow("contents of a cache")
        << "serve --model llama3-8b --requests 34500 --input-len 1000000 --output-len 1"
        << "fewer or shorter";
    QTest::newRow("period without requests")
        << "serve --model llama3-8b --requests 1000 --rate-profile 0,1,1e-30,1 --rate-period 1e-30"
        << "a period of the rates";
  }
  void flags() {
    QFETCH(QString, line);
    QFETCH(QString, said);
    const CliRun run = run_line(line);
    QVERIFY2(run.err.contains(said), qPrintable(run.err.left(2000)));
    QVERIFY2(run.exit_code == 1 || run.exit_code == 2, qPrintable(QString::number(run.exit_code)));
  }

  // Counts of a model are sums over its variants of layers.
  void variants() {
    QByteArray variants, pattern;
    for (int i = 0; i < 1000; ++i) {
      const QByteArray name = "v" + QByteArray::number(i);
      variants += (i > 0 ? "; " : "") + name + ": layer ffn=" + QByteArray::number(2 * i + 2);
      pattern += (i > 0 ? ", " : "") + name;
    }
    const CliRun run = run_cli(
        {"report", "--model", "llama3-8b", "--variants", variants, "--layer-pattern", pattern});
    QVERIFY2(run.err.contains("there are more than 256 variants"), qPrintable(run.err.left(2000)));
    QCOMPARE(run.exit_code, 2);
    QVERIFY(run.err.size() < 20000);
  }
};

QTEST_MAIN(SmallBombsTest)
#include "small_bombs_test.moc"
