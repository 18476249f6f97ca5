// Start commands of serving engines, and the rows of gpustack's performance lab that have them.
#include <QtTest>

#include "support/measured_rows.h"
#include "validation/effect_signs.h"
#include "validation/server_command.h"
#include "validation/validation.h"

using namespace shardscape;

namespace {

MeasuredSet read_rows(const std::string& rows) { return test::measured_set("{\"rows\": [" + rows + "]}"); }

std::string row(const char* engine, const char* version, const std::string& command,
                const std::string& more = "") {
  return std::string(R"({"file": "f.md", "gpu": "H100", "label": "", "sub_label": "",
      "model": "Qwen/Qwen3-8B", "engine": ")") +
         engine + R"(", "engine_version": ")" + version + R"(", "command": ")" + command + R"(",
      "dataset": "random", "client": "vllm bench serve", "max_concurrency": null, "num_requests": 40,
      "mean_input_tokens": 500.4, "mean_output_tokens": 20, "output_throughput": 900,
      "ttft_mean_ms": 300, "ttft_p50_ms": 290, "ttft_p99_ms": 500, "tpot_mean_ms": 12)" +
         more + "}";
}

void is_mapped(const MeasuredRow& of) { QVERIFY2(of.unmapped.empty(), of.unmapped.c_str()); }
void says(const MeasuredRow& of, const char* why) {
  QVERIFY2(of.unmapped.find(why) != std::string::npos, of.unmapped.c_str());
}

}  // namespace

class ServerCommandTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void commands_have_settings_data() {
    QTest::addColumn<QByteArray>("engine");
    QTest::addColumn<QByteArray>("command");
    QTest::addColumn<QByteArray>("settings");
    const auto add = [](const char* name, const char* engine, const char* command, const char* settings) {
      QTest::newRow(name) << QByteArray(engine) << QByteArray(command) << QByteArray(settings);
    };
    add("vLLM", "vllm",
        "# comment --ignored 1\nvllm serve a/b --host 0.0.0.0 -tp 4 \\\n--async-scheduling "
        "--max-num-seqs=64 --no-enable-prefix-caching --enable-expert-parallel",
        "async_scheduling=true enable_prefix_caching=false expert_parallel=true max_num_seqs=64 tp=4 ");
    add("SGLang", "sglang",
        "python3 -m sglang.launch_server --model-path a/b --tp-size 8 --dp 2 --enable-dp-attention "
        "--context-length=100",
        "context_len=100 dp=2 dp_attention=true tp=8 ");
    add("TensorRT-LLM", "trtllm", "trtllm-serve a/b --tp_size 2 --enable_chunked_prefill",
        "enable_chunked_context=true tp=2 ");
    add("environment", "vllm", "export SWITCH=0\nvllm serve a/b", "SWITCH=0 ");
  }
  void commands_have_settings() {
    QFETCH(QByteArray, engine);
    QFETCH(QByteArray, command);
    QFETCH(QByteArray, settings);
    std::string text;
    for (const auto& [name, value] : server_settings(engine.toStdString(), command.toStdString()))
      text += name + "=" + value + " ";
    QCOMPARE(text, settings.toStdString());
  }

  void commands_become_services() {
    const MeasuredSet set = read_rows(
        row("vLLM", "0.11.0", "vllm serve x -tp 2 --max-num-seqs 64 --gpu-memory-utilization 0.8") + "," +
        row("vLLM", "0.17.1", "--max-model-len=4096") + "," +
        row("SGLang", "0.5.3", "python3 -m sglang.launch_server --tp 2 --mem-fraction-static 0.7",
            R"(, "max_concurrency": 8)") +
        "," + row("TensorRT-LLM", "1.0.0", "trtllm-serve x --max_num_tokens 4096") + "," +
        row("vLLM", "0.11.0", "vllm serve x", R"(, "sub_label": "--max-num-batched-tokens 512")"));
    for (const MeasuredRow& of : set.rows) is_mapped(of);
    const auto spec = [&](size_t i) { return set.rows[i].serving->spec; };
    QCOMPARE(set.rows[0].design.parallel.tp, 2);
    QCOMPARE(spec(0).engine.max_num_seqs, 64);
    QCOMPARE(spec(0).gpu_memory_utilization, 0.8);
    QCOMPARE(spec(0).source.arrivals, ArrivalKind::AllAtOnce);
    QCOMPARE(spec(0).source.input_len, 500);
    QVERIFY(!spec(0).engine.async_scheduling);
    QVERIFY(spec(1).engine.async_scheduling);
    QCOMPARE(spec(1).engine.max_model_len, 4096);
    QCOMPARE(spec(2).engine.engine, EngineKind::Sglang);
    QCOMPARE(spec(2).mem_fraction_static, 0.7);
    QCOMPARE(spec(2).source.users, 8);
    QCOMPARE(spec(3).engine.trtllm.max_num_tokens, 4096);
    QCOMPARE(spec(4).engine.max_num_batched_tokens, 512);
  }

  void rows_with_unknown_settings_say_which() {
    const MeasuredSet set = read_rows(row("vLLM", "0.11.0", "vllm serve x --attention-backend y") + "," +
                                      row("SGLang", "0.5.3", "x --speculative-algorithm EAGLE") + "," +
                                      row("MindIE", "1", "x") + "," +
                                      row("vLLM", "0.11.0", "x", R"(, "ambiguous_copy": true)") + "," +
                                      row("vLLM", "0.11.0", "x", R"(, "dataset": "ShareGPT")"));
    says(set.rows[0], "attention_backend");
    says(set.rows[1], "speculative_algorithm");
    says(set.rows[2], "engine MindIE");
    says(set.rows[3], "another GPU");
    says(set.rows[4], "the lengths of the data set are missing");
  }

  // Pages repeat commands of other pages, and name the best engine next to commands of others.
  void commands_name_engine_and_model() {
    const std::string page = R"(, "file": "qwen3-8b/h100.md")";
    const MeasuredSet set = read_rows(
        row("vLLM", "0.11.0", "vllm serve x", page) + "," +
        row("TensorRT-LLM", "1.0.0", "vllm serve x --max-num-seqs 8", page) + "," +
        row("vLLM", "0.11.0", "vllm serve x --max-num-seqs 9", page + R"(, "model": "openai/gpt-oss-120b")"));
    for (const MeasuredRow& of : set.rows) is_mapped(of);
    QCOMPARE(set.rows[1].serving->cell.engine, std::string("vllm"));
    QCOMPARE(set.rows[1].serving->engine_version, std::string("0.11.0"));
    QCOMPARE(set.rows[2].serving->cell.model, std::string("qwen3-8b"));
  }

  void flags_without_effect_are_no_settings() {
    const MeasuredSet set = read_rows(
        row("SGLang", "0.5.3", "x --tp 2 --enable-dp-attention --chunked-prefill-size 8192") + "," +
        row("SGLang", "0.5.3", "x --tp 2 --chunked-prefill-size 4096"));
    for (const MeasuredRow& of : set.rows) is_mapped(of);
    QCOMPARE(set.rows[0].serving->settings.count("dp_attention"), size_t{0});
    QCOMPARE(set.rows[0].serving->settings.count("chunked_prefill_size"), size_t{0});
    QCOMPARE(set.rows[1].serving->settings.count("chunked_prefill_size"), size_t{1});
  }

  void flags_change_the_design() {
    const std::string deepseek = R"(, "model": "deepseek-ai/DeepSeek-V3.2", "gpu": "H200")";
    const MeasuredSet set = read_rows(
        row("SGLang", "0.5.14", "x --tp 8 --dp 8 --enable-dp-attention --moe-a2a-backend=deepep", deepseek) +
        "," +
        row("SGLang", "0.5.3",
            "x --tp 8 --speculative-algorithm EAGLE --speculative-num-steps 1 --speculative-eagle-topk 1 "
            "--speculative-num-draft-tokens 2",
            deepseek) +
        "," +
        row("vLLM", "0.13.0",
            "vllm serve x -tp 8 --speculative-config "
            "{'method':'mtp','num_speculative_tokens':1}",
            deepseek) +
        "," + row("SGLang", "0.5.3", "x --attention-backend fa3"));
    for (const MeasuredRow& of : set.rows) is_mapped(of);
    QCOMPARE(set.rows[0].design.parallel.ep, 8);
    QCOMPARE(set.rows[0].design.parallel.dispatcher, Dispatcher::Flex);
    const EngineSettings &sglang = set.rows[1].serving->spec.engine, &vllm = set.rows[2].serving->spec.engine;
    QCOMPARE(sglang.speculation.num_speculative_tokens, 1);
    QCOMPARE(sglang.sglang.max_running_requests, 48);
    QVERIFY(sglang.sglang.disable_overlap_schedule);
    QCOMPARE(vllm.speculation.method, SpeculativeMethod::Mtp);
    QCOMPARE(set.rows[3].serving->settings.count("attention_backend"), size_t{0});
  }

  void clients_have_rates_and_bursts() {
    const char* client = R"(, "max_concurrency": 31, "arrivals": "constant rate 8/s", "section": "x")";
    const char*
        own = R"(, "arrivals": "constant rate 8/s", "section": "Other / Rate 4", "max_concurrency": 9)";
    const char* burst = R"(, "arrivals": "constant rate 1000/s", "max_concurrency": 77, "section": "y")";
    const MeasuredSet set = read_rows(row("vLLM", "0.17.1", "vllm serve x", client) + "," +
                                      row("vLLM", "0.17.1", "vllm serve x", own) + "," +
                                      row("vLLM", "0.17.1", "vllm serve x", burst));
    for (const MeasuredRow& of : set.rows) is_mapped(of);
    const auto source = [&](size_t i) { return set.rows[i].serving->spec.source; };
    QCOMPARE(source(0).users, 0);  // 31 requests were in flight, which is no limit of the client
    QCOMPARE(source(0).arrivals, ArrivalKind::Constant);
    QCOMPARE(source(0).rate, 8.0);
    QCOMPARE(source(1).rate, 4.0);
    QCOMPARE(source(2).users, 512);
  }

  void one_command_for_several_servers_is_refused() {
    const std::string both = row("vLLM", "0.17.1", "vllm serve x");
    const MeasuredSet set = read_rows(both + "," + both);
    for (const MeasuredRow& of : set.rows) says(of, "one command for several servers");
  }

  // The throughput of few sequences is less than that of many, in the simulation too.
  void effects_of_one_setting() {
    int section = 0;
    const auto with = [&](const char* throughput, const std::string& command) {
      const std::string more = ", \"section\": \"" + std::to_string(++section) + "\"";
      QByteArray text = QByteArray::fromStdString(row("vLLM", "0.11.0", command, more));
      return text.replace("\"output_throughput\": 900", QByteArray("\"output_throughput\": ") + throughput)
          .toStdString();
    };
    const MeasuredSet set = read_rows(
        with("900", "vllm serve x") + "," + with("400", "vllm serve x --max-num-seqs 2") + "," +
        with("700", "vllm serve x --max-num-seqs 1") + "," +
        with("600", "vllm serve x --max-model-len 4096") + "," +          // no effect in the simulation
        with("500", "vllm serve x --attention-backend y") + "," +         // no design
        with("300", "vllm serve x --max-num-batched-tokens 512") + "," +  // measured three times
        with("1000", "vllm serve x --max-num-batched-tokens 512") + "," +
        with("905", "vllm serve x --gpu-memory-utilization 0.8"));  // below 3 %
    const Validation v = validate_set(set, {});
    const auto metric = std::find_if(v.metrics.begin(), v.metrics.end(),
                                     [](const ValidatedMetric& of) { return of.name == "throughput"; });
    QVERIFY(metric != v.metrics.end());
    const std::vector<EffectPair> pairs = effect_pairs(*metric);
    const auto counts = effect_counts(pairs);
    QCOMPARE(counts.size(), size_t{4});
    QCOMPARE(counts.at("max_num_seqs").right, size_t{2});
    QCOMPARE(counts.at("max_num_seqs").wrong, size_t{1});  // 1 is not faster than 2
    QCOMPARE(counts.at("max_model_len").zero, size_t{1});
    QCOMPARE(counts.at("attention_backend").unmapped, size_t{1});
    QCOMPARE(counts.at("max_num_batched_tokens").noise, size_t{1});
    QCOMPARE(counts.at("max_num_batched_tokens").pairs(), size_t{0});
    const EffectPair& first = pairs.front();
    QCOMPARE(first.setting + " " + first.before + ">" + first.after, std::string("max_num_seqs >2"));
    QVERIFY(std::abs(first.measured_percent - 100 * (400.0 / 900 - 1)) < 1e-9);
    QCOMPARE(repeated_runs(*metric).servers, size_t{1});
    const std::string text = QByteArray::fromStdString(validation_text(v)).simplified().toStdString();
    QVERIFY2(text.find("all settings but the engine 4 2 1 1 1 1 configurations measured several times: 1") !=
                 std::string::npos,
             text.c_str());
    const std::string json = validation_json(v);
    QVERIFY(json.find("\"predicted_percent\": null") != std::string::npos);
    QVERIFY(json.find("\"sign\": \"noise\"") != std::string::npos);
  }
};

QTEST_GUILESS_MAIN(ServerCommandTest)
#include "server_command_test.moc"
