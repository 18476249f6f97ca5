// Launches of serving engines become designs and settings of a service.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "launch/launch_import.h"
#include "launch/launch_prediction.h"
#include "launch/server/python_values.h"
#include "serving/service/service_spec.h"

using namespace shardscape;

namespace {

LaunchImport imported(std::string text, const std::string& model = {}, int line = 0) {
  LaunchRequest request;
  request.text = std::move(text);
  request.where = "serve.sh";
  request.model = model;
  request.line = line;
  return import_launch(request);
}

QString knob(const LaunchImport& import, const QString& id) {
  const Knob* found = find_knob(id.toStdString());
  return found ? QString::fromStdString(knob_text(import.design, *found)) : "no such setting";
}

QString setting(const LaunchImport& import, const QString& id) {
  for (const LaunchSetting& one : import.service)
    if (one.id == id.toStdString()) return QString::fromStdString(one.value);
  return "absent";
}

QString code_of(const LaunchImport& import) {
  if (import.ok()) return "no problem";
  const std::string_view text = code_text(import.problems[0].code);
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

const LaunchField* field(const LaunchImport& import, const std::string& name) {
  for (const LaunchField& one : import.fields)
    if (one.name == name) return &one;
  return nullptr;
}

void is_valid(const LaunchImport& import) {
  QVERIFY2(import.ok(), import.ok() ? "" : to_string(import.problems[0]).c_str());
  for (const Problem& problem : validate(import.design))
    QVERIFY2(problem.severity != Severity::Error, to_string(problem).c_str());
}

// "tp 2, dp 4"
void has_knobs(const LaunchImport& import, const char* expected) {
  for (const QString& pair : QString(expected).split(", ")) {
    const QString id = pair.section(' ', 0, 0);
    QCOMPARE(id + " " + knob(import, id), pair);
  }
}
void has_settings(const LaunchImport& import, const char* expected) {
  for (const QString& pair : QString(expected).split(", ")) {
    const QString id = pair.section(' ', 0, 0);
    QCOMPARE(id + " " + setting(import, id), pair);
  }
}

QString text_of(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

const char* const kMixtral = "vllm serve mistralai/Mixtral-8x7B-Instruct-v0.1 ";

}  // namespace

class ServerLaunchTest : public QObject {
  Q_OBJECT
 private slots:
  // What a log of vLLM says of memory stands beside the prediction.
  void measured_memory_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<QString>("what");
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("unit");
    const auto row = [](const char* line, const char* what, double value, const char* unit) {
      QTest::newRow(what) << QString(line) << QString(what) << value << QString(unit);
    };
    row("[gpu_model_runner.py:2338] Model loading took 15.3906 GiB and 4.4 seconds", "memory of the weights",
        15.3906, "GiB");
    row("[gpu_worker.py:298] Available KV cache memory: 55.38 GiB", "memory of the KV cache", 55.38, "GiB");
    row("[kv_cache_utils.py:1087] GPU KV cache size: 1,810,560 tokens", "size of the KV cache", 1810560,
        "tokens");
  }
  void measured_memory() {
    QFETCH(QString, line);
    QFETCH(QString, what);
    QFETCH(double, value);
    QFETCH(QString, unit);
    const LaunchImport read = imported(
        "non-default args: {'model': 'Qwen/Qwen3-32B', 'max_model_len': 32768, 'tensor_parallel_size': 4, "
        "'gpu_memory_utilization': 0.95, 'kv_cache_dtype': 'fp8', 'max_num_seqs': 128}\nINFO " +
        line.toStdString() + "\nINFO " + line.toStdString() + "\n");
    is_valid(read);
    QCOMPARE(read.measured.size(), size_t(1));
    QCOMPARE(QString::fromStdString(read.measured[0].what), what);
    QCOMPARE(read.measured[0].value, value);
    QCOMPARE(QString::fromStdString(read.measured[0].unit), unit);
    QCOMPARE(read.measured[0].line, 2);
    const auto report = make_report(read.design);
    const auto predicted = predicted_value(read.measured[0], *report, *simulate(*report));
    QVERIFY(predicted);
    QVERIFY2(std::abs(*predicted / value - 1) < 0.1, qPrintable(QString::number(*predicted)));
  }

  // Keys of a config.json replace sizes of the model; what no size stands for is reported.
  void overridden_models_data() {
    QTest::addColumn<QString>("command");
    QTest::addColumn<QString>("knobs");
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("use");
    const auto row = [](const char* command, const char* knobs, const char* name, LaunchUse use) {
      QTest::newRow(command) << QString(command) << QString(knobs) << QString(name) << static_cast<int>(use);
    };
    row("vllm serve Qwen/Qwen3-8B --hf-overrides '{\"num_hidden_layers\":4}'", "layers 4, hidden 4096",
        "--hf-overrides.num_hidden_layers", LaunchUse::Taken);
    row("vllm serve Qwen/Qwen3-8B --hf-overrides.num_hidden_layers 4", "layers 4, hidden 4096",
        "--hf-overrides.num_hidden_layers", LaunchUse::Taken);
    row("vllm serve Qwen/Qwen3-8B --hf-overrides '{\"text_config\": {\"hidden_size\": 2048}}'",
        "layers 36, hidden 2048", "--hf-overrides.text_config.hidden_size", LaunchUse::Taken);
    row("vllm serve Qwen/Qwen3-8B --hf-overrides '{\"frobnicate\": 4}'", "layers 36",
        "--hf-overrides.frobnicate", LaunchUse::NoCounterpart);
    row("vllm serve Qwen/Qwen3-8B --hf-overrides {num_hidden_layers:4}", "layers 36", "--hf-overrides",
        LaunchUse::NoCounterpart);
    row("vllm serve Qwen/Qwen3-8B --hf-overrides '{\"rope_theta\": 10000}'", "layers 36",
        "--hf-overrides.rope_theta", LaunchUse::NoEffect);
    row("vllm serve Qwen/Qwen3-8B --hf-token abc", "layers 36", "--hf-token", LaunchUse::NoEffect);
    row("python -m sglang.launch_server --model-path Qwen/Qwen3-8B "
        "--json-model-override-args '{\"num_hidden_layers\": 4}'",
        "layers 4", "--json-model-override-args.num_hidden_layers", LaunchUse::Taken);
  }
  void overridden_models() {
    QFETCH(QString, command);
    QFETCH(QString, knobs);
    QFETCH(QString, name);
    QFETCH(int, use);
    const LaunchImport read = imported(command.toStdString());
    is_valid(read);
    has_knobs(read, qPrintable(knobs));
    const LaunchField* found = field(read, name.toStdString());
    QVERIFY(found);
    QCOMPARE(static_cast<int>(found->use), use);
  }

  // Values read by a person from files of public repositories: folder "files" of SHARDSCAPE_REFERENCE.
  void reference_files_data() {
    QTest::addColumn<QJsonObject>("row");
    for (const char* framework : {"vllm-serve", "sglang", "trtllm", "dynamo", "inferencex"}) {
      const QString path = QString(SHARDSCAPE_TEST_DATA "/launch/%1.json").arg(framework);
      const QJsonArray rows = QJsonDocument::fromJson(text_of(path).toUtf8()).array();
      QVERIFY2(!rows.isEmpty(), qPrintable(path));
      for (const QJsonValue& row : rows) {
        const QJsonObject one = row.toObject();
        const QString name = one["file"].toString().section('/', -1) + " line " +
                             QString::number(one["line"].toInt()) + " " + one["model"].toString() +
                             (one.contains("variables") ? " with variables" : "");
        QTest::newRow(qPrintable(name)) << one;
      }
    }
  }
  void reference_files() {
    QFETCH(QJsonObject, row);
    const QString folder = qEnvironmentVariable("SHARDSCAPE_REFERENCE") + "/launch/files/";
    const QString path = folder + row["file"].toString();
    if (!QFile::exists(path)) QSKIP("the file is not here");
    LaunchRequest request;
    request.text = text_of(path).toStdString();
    request.where = row["file"].toString().toStdString();
    request.model = row["model"].toString().toStdString();
    request.line = row["line"].toInt();
    const QJsonObject variables = row["variables"].toObject();
    for (auto it = variables.begin(); it != variables.end(); ++it)
      request.shell.environment[it.key().toStdString()] = it.value().toString().toStdString();
    request.shell.source = [&](const std::string& name) -> std::optional<std::string> {
      const QString beside = path.section('/', 0, -2) + "/" + QString::fromStdString(name);
      return QFile::exists(beside) ? std::optional(text_of(beside).toStdString()) : std::nullopt;
    };
    const LaunchImport read = import_launch(request);
    if (row.contains("problem")) {
      QVERIFY(!read.ok());
      QCOMPARE(code_of(read), row["problem"].toString());
      QVERIFY(!read.problems[0].accepted.empty());
      return;
    }
    is_valid(read);
    QCOMPARE(static_cast<int>(read.gpus.value_or(0)), row["gpus"].toInt());
    QCOMPARE(read.design.world(), *read.gpus);
    const QJsonObject knobs = row["knobs"].toObject(), service = row["service"].toObject();
    for (auto it = knobs.begin(); it != knobs.end(); ++it)
      QCOMPARE(it.key() + " " + knob(read, it.key()), it.key() + " " + it.value().toString());
    for (auto it = service.begin(); it != service.end(); ++it)
      QCOMPARE(it.key() + " " + setting(read, it.key()), it.key() + " " + it.value().toString());
    for (const QJsonValue& name : row["unmapped"].toArray()) {
      const LaunchField* found = field(read, name.toString().toStdString());
      QVERIFY2(found && found->use == LaunchUse::NoCounterpart, qPrintable(name.toString()));
    }
    for (const LaunchField& one : read.fields)
      QVERIFY2(one.use != LaunchUse::NotUnderstood, (one.name + ": " + one.note).c_str());
  }

  void commands_are_designs_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("knobs");
    QTest::addColumn<QByteArray>("settings");
    const auto add = [](const char* name, const std::string& text, const char* knobs, const char* settings) {
      QTest::newRow(name) << QByteArray::fromStdString(text) << QByteArray(knobs) << QByteArray(settings);
    };
    const std::string mixtral = kMixtral;
    add("vLLM, experts split over tp and dp", mixtral + "-tp 2 -dp 2",
        "tp 2, dp 2, ep 1, etp 4, dispatcher allgather, batch 2048, profile vllm", "engine vllm");
    add("vLLM, whole experts", mixtral + "-tp=2 -dp 2 --enable-expert-parallel --max-num-seqs 64",
        "tp 2, dp 2, ep 4, etp 1, batch 128, microbatch 64", "max_num_seqs 64");
    add("vLLM, DeepEP", mixtral + "-dp 4 --enable-expert-parallel --all2all-backend deepep_low_latency",
        "ep 4, dispatcher flex", "engine vllm");
    add("vLLM, pipeline",
        "vllm serve meta-llama/Llama-3.1-8B -pp 2 --max-num-seqs 256 --no-enable-prefix-caching",
        "tp 1, pp 2, dp 1, batch 256, microbatch 128",
        "enable_prefix_caching false, max_num_batched_tokens 8192");
    add("vLLM, decode context", "vllm serve deepseek-ai/DeepSeek-R1 -tp 8 -dcp 4 --kv-cache-dtype fp8",
        "tp 8, dcp 4, kv_cache_dtype fp8", "engine vllm");
    add("vLLM, prefill",
        "vllm serve meta-llama/Llama-3.1-8B --max-model-len 2048 --kv-transfer-config "
        "'{\"kv_connector\": \"NixlConnector\", \"kv_role\": \"kv_producer\"}'",
        "mode prefill, seq 2048, batch 4", "max_model_len 2048");
    add("vLLM in docker", "docker run --gpus all vllm/vllm-openai:latest --model Qwen/Qwen3-8B --port 80",
        "layers 36, tp 1", "engine vllm");
    add("vLLM by module", "python -m vllm.entrypoints.openai.api_server --model Qwen/Qwen3-8B --dtype half",
        "layers 36, dtype fp16", "engine vllm");
    add("vLLM, variables of a script",
        "TP=4\nMODEL=Qwen/Qwen3-32B\nvllm serve $MODEL --tensor_parallel_size=$TP", "layers 64, tp 4",
        "engine vllm");
    add("vLLM, options in the script",
        "cat > c.yaml << EOF\nmax-num-seqs: 32\ntensor-parallel-size: 2\nEOF\n"
        "vllm serve Qwen/Qwen3-8B --config c.yaml --max-num-seqs 16",
        "tp 2, batch 16", "max_num_seqs 16");
    add("vLLM, log",
        "INFO 01-01 [utils.py:233] non-default args: {'model_tag': 'Qwen/Qwen3-8B', 'model': "
        "'Qwen/Qwen3-8B', "
        "'tensor_parallel_size': 2, 'enable_prefix_caching': False, 'speculative_config': {'method': "
        "'ngram', "
        "'num_speculative_tokens': 4}, 'max_model_len': 4096}\nINFO next line",
        "tp 2, context_length 4096, layers 36",
        "enable_prefix_caching false, speculative_method ngram, num_speculative_tokens 4");
    add("SGLang, replicas", "python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp 2 --dp 4",
        "tp 2, dp 4, batch 8192, profile sglang", "engine sglang");
    add("SGLang, attention replicas",
        "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 16 --dp 4 --nnodes 2 "
        "--enable-dp-attention --moe-a2a-backend deepep --max-running-requests 1024 --disable-radix-cache",
        "tp 4, dp 4, ep 16, etp 1, dispatcher flex, batch 1024, microbatch 256",
        "max_running_requests 1024, disable_radix_cache true");
    add("SGLang, log",
        "[2026-01-01] server_args=ServerArgs(model_path='Qwen/Qwen3-8B', tp_size=4, dp_size=1, ep_size=1, "
        "context_length=None, max_running_requests=128, page_size=64, cuda_graph_bs=[1, 2], host='::')",
        "tp 4, dp 1, batch 128", "page_size 64");
    add("TensorRT-LLM", "trtllm-serve meta-llama/Llama-3.1-8B-Instruct --tp_size 2 --max_batch_size 64",
        "tp 2, batch 64, profile trtllm", "max_batch_size 64, engine trtllm");
    add("TensorRT-LLM, options in the script",
        "cat << EOF > x.yml\nenable_attention_dp: true\nkv_cache_config:\n  dtype: fp8\n  "
        "enable_block_reuse: false\nmoe_config:\n  backend: WIDEEP\nEOF\n"
        "trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 8 --ep_size 8 --extra_llm_api_options x.yml",
        "tp 1, dp 8, ep 8, etp 1, dispatcher alltoall, kv_cache_dtype fp8", "enable_block_reuse false");
    add("Markdown", "# Title\n\nText\n```bash\n$ vllm serve Qwen/Qwen3-8B \\\n  -tp 2\n```\n", "tp 2",
        "engine vllm");
  }
  void commands_are_designs() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, knobs);
    QFETCH(QByteArray, settings);
    const LaunchImport read = imported(text.toStdString());
    is_valid(read);
    has_knobs(read, knobs.constData());
    has_settings(read, settings.constData());
  }

  // A file of options is taken where it was read; its own settings are listed on their own.
  void files_of_options_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("use");
    const QString write = "cat <<EOF > x.yml\nmax-num-seqs: 8\nEOF\n", vllm = "vllm serve Qwen/Qwen3-8B ",
                  trtllm = "trtllm-serve Qwen/Qwen3-8B --extra_llm_api_options x.yml\n";
    const int taken = static_cast<int>(LaunchUse::Taken),
              missing = static_cast<int>(LaunchUse::NoCounterpart);
    QTest::newRow("vLLM") << write + vllm + "--config x.yml\n"
                          << "--config" << taken;
    QTest::newRow("vLLM without the file") << vllm + "--config x.yml\n"
                                           << "--config" << missing;
    QTest::newRow("TensorRT-LLM") << write + trtllm << "--extra_llm_api_options" << taken;
    QTest::newRow("TensorRT-LLM without the file") << trtllm << "--extra_llm_api_options" << missing;
  }
  void files_of_options() {
    QFETCH(QString, text);
    QFETCH(QString, name);
    QFETCH(int, use);
    const LaunchImport read = imported(text.toStdString());
    const LaunchField* found = field(read, name.toStdString());
    QVERIFY(found);
    QCOMPARE(static_cast<int>(found->use), use);
  }

  void every_argument_is_accounted_for() {
    const LaunchImport read = imported(
        "vllm serve Qwen/Qwen3-8B -tp 2 --port 8000 --max-num-seqs 8 --enable-dbo --block-size many "
        "--new-flag 3");
    const auto use = [&](const char* name) {
      const LaunchField* found = field(read, name);
      return found ? static_cast<int>(found->use) : -1;
    };
    QCOMPARE(use("-tp"), static_cast<int>(LaunchUse::Taken));
    QCOMPARE(use("--max-num-seqs"), static_cast<int>(LaunchUse::Derived));
    QCOMPARE(use("--max-num-batched-tokens"), static_cast<int>(LaunchUse::Assumed));
    QCOMPARE(use("--port"), static_cast<int>(LaunchUse::NoEffect));
    QCOMPARE(use("--enable-dbo"), static_cast<int>(LaunchUse::NoCounterpart));
    QCOMPARE(use("--new-flag"), static_cast<int>(LaunchUse::NoCounterpart));
    QCOMPARE(use("--block-size"), static_cast<int>(LaunchUse::NotUnderstood));
    QCOMPARE(field(read, "-tp")->line, 1);
  }

  void a_line_chooses_a_command() {
    const std::string text = "vllm serve Qwen/Qwen3-8B -tp 2\n\nvllm serve Qwen/Qwen3-8B -tp 4\n";
    const LaunchImport first = imported(text), second = imported(text, "", 3);
    has_knobs(first, "tp 2");
    has_knobs(second, "tp 4");
    QCOMPARE(first.notes.size(), size_t(1));
    QCOMPARE(first.notes[0].line, 3);
    QVERIFY(!imported(text, "", 2).ok());
  }

  void variables_of_inferencex() {
    LaunchRequest request;
    request.text =
        "check_env_vars CONC_LIST DECODE_TP PREFILL_NODES RANDOM_RANGE_RATIO\nexport "
        "MODEL_PATH=$MODEL_PATH\n";
    request.where = "dsr1_fp8_mi355x_sglang-disagg.sh";
    QCOMPARE(code_of(import_launch(request)), QString("launch-format"));
    request.shell.environment = {{"MODEL_PATH", "deepseek-ai/DeepSeek-R1"},
                                 {"DECODE_TP", "8"},
                                 {"DECODE_EP", "8"},
                                 {"DECODE_DP_ATTN", "true"},
                                 {"DECODE_NUM_WORKERS", "2"},
                                 {"PREFILL_NUM_WORKERS", "1"},
                                 {"PREFILL_TP", "4"}};
    const LaunchImport read = import_launch(request);
    is_valid(read);
    has_knobs(read, "tp 1, dp 8, ep 8, etp 1, profile sglang");
    has_settings(read, "engine sglang, prefill_replicas 1, decode_replicas 16");
  }

  void more_gpus_are_more_engines() {
    LaunchRequest request;
    request.text = "vllm serve Qwen/Qwen3-8B -tp 2";
    request.gpus = 8;
    const LaunchImport read = import_launch(request);
    has_settings(read, "replicas 4");
    request.gpus = 3;
    QCOMPARE(code_of(import_launch(request)), QString("launch-gpus"));
  }

  void launches_without_a_design_data() {
    QTest::addColumn<QByteArray>("text");
    for (const char* text :
         {"vllm serve $MODEL -tp 2", "vllm serve someone/Unknown-3B", "trtllm-serve", "vllm serve ",
          "python -m sglang.launch_server --tp 8", "non-default args: {'model': 'a', 'b': [",
          "python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp 8 --dp 3 --enable-dp-attention",
          "kv-cache-dtype: fp8\n  - x: [", "vllm serve Qwen/Qwen3-8B -tp 99999999999999999999"})
      QTest::newRow(text) << QByteArray(text);
  }
  void launches_without_a_design() {
    QFETCH(QByteArray, text);
    const LaunchImport read = imported(text.toStdString());
    if (read.ok()) {  // a number that is no degree is reported with the field
      const auto bad = [](const LaunchField& one) { return one.use > LaunchUse::NoEffect; };
      QVERIFY(std::any_of(read.fields.begin(), read.fields.end(), bad));
      return;
    }
    QVERIFY(!read.problems[0].where.empty());
    QVERIFY(!read.problems[0].accepted.empty());
  }

  void python_values_are_bounded() {
    QVERIFY(!read_python_values(std::string(100'000, '{')).has_value());
    QVERIFY(!read_python_values("{'a': {'b': {'c': 1}").has_value());
    std::string deep = "1";
    for (int i = 0; i < 40; ++i) deep = "{'a': " + deep + "}";
    QVERIFY(!read_python_values(deep).has_value());
    const auto read = read_python_values("(a=C(x=1, y={2}), b='it\\'s, (', c=[1, 'two'], d={})");
    QVERIFY(read.has_value());
    QCOMPARE(read->size(), size_t(4));
    QCOMPARE(read->at(0).second, std::string("C(x=1, y={2})"));
    QCOMPARE(read->at(2).second, std::string("1 two"));
  }
};

QTEST_APPLESS_MAIN(ServerLaunchTest)
#include "server_launch_test.moc"
