// The command serve: output, files, exit codes.
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include "cli/cli_run.h"

using namespace shardscape::test;

namespace {

QList<QByteArray> lines_of(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return {};
  return file.readAll().trimmed().split('\n');
}

}  // namespace

class ServeCommandTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void text() {
    const CliRun run = run_line("serve --model llama3-8b --rate 4 --requests 50 --ttft-limit 2s");
    QCOMPARE(run.exit_code, 0);
    for (const char* words : {"50 requests on 1 vLLM engine, 1 GPU: 50 answered", "TTFT", "TPOT", "ITL",
                              "queueing", "KV cache of an engine", "goodput", "per million output tokens"})
      QVERIFY2(run.out.contains(words), words);
  }
  // Equal seeds give equal bytes; another seed other arrivals.
  void seeds() {
    const QString command = "serve --model llama3-8b --rate 4 --requests 50 --json";
    const CliRun one = run_line(command), again = run_line(command);
    QCOMPARE(one.exit_code, 0);
    QCOMPARE(one.out, again.out);
    QVERIFY(run_line(command + " --seed 2").json()["seconds"] != one.json()["seconds"]);
    QCOMPARE(one.json()["finished"].toInt(), 50);
    QCOMPARE(one.json()["settings"].toObject()["max_num_seqs"].toString(), QString("256"));
  }
  // The scheduler of each engine, with settings of its own only.
  void engines() {
    const QString command = "serve --model llama3-8b --rate 20 --requests 100 --json --engine ";
    const QJsonObject vllm = run_line(command + "vllm").json();
    for (const char* line : {"sglang --chunked-prefill-size 512", "trtllm --max-batch-size 32"}) {
      const CliRun run = run_line(command + line);
      QCOMPARE(run.exit_code, 0);
      const QJsonObject settings = run.json()["settings"].toObject();
      QCOMPARE(settings["engine"].toString(), QString(line).section(' ', 0, 0));
      QVERIFY(!settings.contains("max_num_seqs"));
      QCOMPARE(run.json()["finished"].toInt(), 100);
      QVERIFY(run.json()["steps"] != vllm["steps"]);
    }
    QVERIFY(run_line("serve --model llama3-8b --requests 5 --engine sglang").out.contains("1 SGLang engine"));
  }
  // Prefill and decode replicas: both pools, the transfers, and the times of each request.
  // A part of a prompt ends where a state is stored, and leaves some tokens of a mixed chunk.
  void mixed_chunks_with_states() {
    const CliRun run = run_line(
        "serve --model jamba-v0.1 --tp 8 --requests 5 --input-len 30000 --output-len 10 --rate 100 "
        "--engine sglang --enable-mixed-chunk --json");
    QVERIFY2(run.exit_code == 0, qPrintable(run.err));
    QCOMPARE(run.json()["finished"].toInt(), 5);
  }

  void separate_prefill() {
    const QTemporaryDir folder;
    const QString csv = folder.filePath("requests.csv"), timeline = folder.filePath("serve.json");
    const QString command =
        "serve --model llama3-8b --rate 4 --requests 50 --prefill-replicas 1 "
        "--decode-replicas 2 ";
    const CliRun run = run_line(command + "--json --csv " + csv + " --perfetto " + timeline);
    QCOMPARE(run.exit_code, 0);
    const QJsonArray pools = run.json()["pools"].toArray();
    QCOMPARE(pools.size(), 2);
    QCOMPARE(pools[0].toObject()["role"].toString(), QString("prefill"));
    QCOMPARE(pools[1].toObject()["replicas"].toInt(), 2);
    QVERIFY(pools[0].toObject()["gpu_seconds"].toDouble() > 0);
    QCOMPARE(run.json()["accelerators"].toInt(), 3);
    const QJsonObject transfers = run.json()["transfers"].toObject();
    QCOMPARE(transfers["transfer_seconds"].toObject()["count"].toInt(), 50);
    const QList<QByteArray> heading = lines_of(csv)[0].split(','), row = lines_of(csv)[1].split(',');
    QCOMPARE(row.size(), heading.size());
    QVERIFY(row[heading.indexOf("transfer_end_s")].toDouble() >
            row[heading.indexOf("prefilled_s")].toDouble());
    QCOMPARE(row[heading.indexOf("prefill_replica")], QByteArray("0"));
    QVERIFY(lines_of(timeline)[0].contains("\"prefill engine 0\"") &&
            lines_of(timeline)[0].contains("\"transfer\""));
    // The table is a trace, too.
    QCOMPARE(run_line("serve --model llama3-8b --json --trace " + csv).json()["finished"].toInt(), 50);
    const CliRun text = run_line(command);
    for (const char* words : {"KV transfer", "1 prefill replica:", "2 decode replicas:", "GPU-seconds"})
      QVERIFY2(text.out.contains(words), words);
    QCOMPARE(run_line("serve --model llama3-8b --decode-replicas 2").exit_code, 1);
  }
  void failures_and_scaling() {
    const QString command = "serve --model llama3-8b --rate 20 --requests 200 --replicas 3 --json ";
    QVERIFY(run_line(command).json()["transfers"].isNull());
    const CliRun failed = run_line(command + "--failure-time 2 --failure-seconds 3");
    QVERIFY(failed.json()["restarts"].toInt() > 0);
    QCOMPARE(failed.json()["finished"].toInt(), 200);
    const CliRun scaled = run_line(command + "--least-replicas 1 --requests-per-replica 8 --start-seconds 2");
    const QJsonObject pool = scaled.json()["pools"].toArray()[0].toObject();
    QVERIFY(pool["replicas_over_time"].toArray().size() > 1);
    QVERIFY(pool["gpu_seconds"].toDouble() < 3 * scaled.json()["seconds"].toDouble());
  }
  // Drafts shorten answers. Text and JSON say how many tokens they yield; without drafts the member is null.
  void speculative_decoding() {
    const QString command = "serve --model llama3-8b --users 4 --requests 20 ";
    const CliRun plain = run_line(command + "--json");
    QVERIFY(plain.json()["speculation"].isNull());
    const QString
        draft = "--speculative-method mtp --num-speculative-tokens 2 --acceptance-per-position 0.8,0.5 ";
    const CliRun run = run_line(command + draft + "--json");
    QCOMPARE(run.exit_code, 0);
    const QJsonObject speculation = run.json()["speculation"].toObject();
    QVERIFY(std::abs(speculation["acceptance_length"].toDouble() / 2.3 - 1) < 0.05);
    QCOMPARE(speculation["acceptance_per_position"].toArray().size(), 2);
    QCOMPARE(run.json()["settings"].toObject()["acceptance_per_position"].toString(), QString("0.8,0.5"));
    const auto tpot = [](const CliRun& of) {
      return of.json()["latencies"].toObject()["tpot_seconds"].toObject()["mean"].toDouble();
    };
    QVERIFY(tpot(run) < 0.8 * tpot(plain));
    QVERIFY(run_line(command + draft).out.contains("tokens per step and sequence; accepted per position:"));
    const CliRun wrong = run_line(command + "--speculative-method mtp --acceptance-per-position 0.4,0.5");
    QVERIFY(wrong.exit_code != 0);
    QVERIFY2(wrong.err.contains("--acceptance-per-position"), qPrintable(wrong.err));
  }
  // A smaller model proposes tokens: its time and its memory count. Names that fit nothing are refused.
  void draft_models() {
    const QString command =
        "serve --model llama3.1-405b --accelerator h200-sxm-141gb --tp 8 --users 4 "
        "--requests 10 --output-len 32 ";
    const QString method = "--speculative-method draft-model --num-speculative-tokens 2 ";
    const CliRun one = run_line(command + method + "--draft-model llama3.2-1b --json"),
                 three = run_line(command + method + "--draft-model llama3.2-3b --json"),
                 ngram = run_line(command + "--speculative-method ngram --num-speculative-tokens 2 --json");
    QCOMPARE(one.exit_code, 0);
    const auto tpot = [](const CliRun& of) {
      return of.json()["latencies"].toObject()["tpot_seconds"].toObject()["mean"].toDouble();
    };
    QVERIFY(tpot(ngram) > 0 && tpot(ngram) < tpot(one) && tpot(one) < tpot(three));
    QCOMPARE(one.json()["settings"].toObject()["draft_model"].toString(), QString("llama3.2-1b"));
    const std::pair<const char*, const char*> refused[] = {{"--draft-model llama3.2-1", "llama3.2-1b"},
                                                           {"", "no model is named"},
                                                           {"--draft-model qwen3-0.6b", "151,936"}};
    for (const auto& [flags, words] : refused) {
      const CliRun run = run_line(command + method + flags);
      QVERIFY(run.exit_code != 0);
      QVERIFY2(run.err.contains("--draft-model") && run.err.contains(words), qPrintable(run.err));
    }
  }
  // More load never makes requests faster, and replicas share it.
  void load_and_replicas() {
    const auto ttft = [](const char* flags) {
      const CliRun run = run_line(
          qPrintable(QString("serve --model llama3-8b --requests 200 --input-len 2000 --json ") + flags));
      return run.json()["latencies"].toObject()["ttft_seconds"].toObject()["p99"].toDouble();
    };
    const double low = ttft("--rate 1"), high = ttft("--rate 40"), shared = ttft("--rate 40 --dp 4");
    QVERIFY(low > 0 && high > 2 * low && shared < high);
  }
  void files() {
    QTemporaryDir folder;
    const QString table = folder.filePath("requests.csv"), timeline = folder.filePath("serve.json");
    const CliRun run = run_line(("serve --model llama3-8b --requests 20 --max-model-len 1100 " +
                                 QString("--csv %1 --perfetto %2").arg(table, timeline)));
    QCOMPARE(run.exit_code, 0);
    // No request is dropped silently: 1,024 and 128 tokens are longer than the model.
    QVERIFY2(run.out.contains("refused: 20"), qPrintable(run.out));
    const QList<QByteArray> rows = lines_of(table);
    QCOMPARE(rows.size(), 21);
    for (const QByteArray& row : rows) QCOMPARE(row.count(','), rows[0].count(','));
    QVERIFY(rows[1].contains("longer than the longest sequence"));
    QVERIFY(QJsonDocument::fromJson(lines_of(timeline).join('\n')).object().value("traceEvents").isArray());
  }
  // What the table says is what the simulation reads again.
  void a_table_is_a_trace() {
    QTemporaryDir folder;
    const QString table = folder.filePath("requests.csv");
    const QString base = "serve --model llama3-8b --requests 40 --rate 3 --json";
    const CliRun drawn = run_line((base + " --csv " + table));
    const CliRun read = run_line((base + " --trace " + table));
    QCOMPARE(read.exit_code, 0);
    const auto p99 = [](const CliRun& run) {
      return run.json()["latencies"].toObject()["ttft_seconds"].toObject()["p99"].toDouble();
    };
    QVERIFY(std::abs(p99(read) / p99(drawn) - 1) < 1e-6);
  }
  // A cell never has a separator of thousands, which would be one of columns.
  void a_long_run_has_all_columns() {
    QTemporaryDir folder;
    const QString table = folder.filePath("requests.csv");
    QCOMPARE(run_line("serve --model llama3-8b --requests 20 --rate 0.01 --csv " + table).exit_code, 0);
    const QList<QByteArray> rows = lines_of(table);
    for (const QByteArray& row : rows) QCOMPARE(row.count(','), rows[0].count(','));
    QVERIFY(rows.back().split(',').front().toDouble() > 1000);
  }
  // Steps of a replica as a bundle, by number and by time.
  void bundles_of_steps() {
    QTemporaryDir folder;
    const QString base = "serve --model llama3-8b --tp 2 --dp 2 --requests 20 --rate 20 --bundle ";
    const QString numbers = folder.filePath("numbers"), times = folder.filePath("times");
    const CliRun run = run_line(base + numbers + " --steps 2:4 --replica 1");
    QCOMPARE(run.exit_code, 0);
    QVERIFY2(run.err.contains("3 steps of 2 ranks"), qPrintable(run.err));
    QVERIFY(run.out.contains("wrote the traces of 2 ranks"));
    QCOMPARE(run_line("check " + numbers).exit_code, 0);
    QFile file(numbers + "/manifest.json");
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonArray steps = QJsonDocument::fromJson(file.readAll()).object()["steps"].toArray();
    QCOMPARE(steps.size(), 3);
    QCOMPARE(steps[0].toObject()["step"].toInt(), 2);
    QCOMPARE(steps[0].toObject()["replica"].toInt(), 1);
    const CliRun json = run_line(base + times + " --steps 0s:200ms --json");
    QCOMPARE(json.json()["finished"].toInt(), 20);
    QCOMPARE(run_line("check " + times).exit_code, 0);
    QVERIFY(run_line(base + times + " --replace").exit_code == 0);
  }
  // A table of rates, and the largest one within the limits.
  void rates() {
    QTemporaryDir folder;
    const QString table = folder.filePath("rates.csv");
    const QString base = "serve --model llama3-8b --requests 100 --tpot-limit 12ms ";
    const CliRun json = run_line(base + "--rates 8,2,40 --json --csv " + table);
    QCOMPARE(json.exit_code, 0);
    const QJsonArray rates = json.json()["rates"].toArray();
    QCOMPARE(rates.size(), 3);
    QCOMPARE(rates[0].toObject()["rate"].toDouble(), 2.0);
    const auto tpot = [&](int i) {
      return rates[i].toObject()["latencies"].toObject()["tpot_seconds"].toObject()["p99"].toDouble();
    };
    QVERIFY(tpot(1) <= 0.012 && tpot(2) > 0.012);
    QCOMPARE(json.json()["knee"].toDouble(), 8.0);
    QVERIFY(!json.json()["settings"].toObject().contains("rate"));
    const QList<QByteArray> rows = lines_of(table);
    QCOMPARE(rows.size(), 4);
    for (const QByteArray& row : rows) QCOMPARE(row.count(','), rows[0].count(','));
    const CliRun text = run_line(base + "--rates auto");
    QCOMPARE(text.exit_code, 0);
    QCOMPARE(text.out.count("largest rate within the limits"), 1);
    QVERIFY(text.out.contains("over the limits"));
  }
  // Another engine and more replicas under the same requests. Each figure is that of a run of its own.
  void services_next_to_each_other() {
    QTemporaryDir folder;
    const QString table = folder.filePath("services.csv");
    const QString base = "serve --model llama3-8b --requests 60 --rate 10 ";
    const CliRun run = run_line(
        base + "--against engine=sglang;chunked_prefill_size=2048 --against replicas=2 --json --csv " +
        table);
    QVERIFY2(run.exit_code == 0, qPrintable(run.err));
    QCOMPARE(run.json()["services"].toArray().size(), 3);
    const QJsonObject settings = run.json()["settings"].toObject();
    QCOMPARE(settings["engine"].toArray()[1].toString(), QString("sglang"));
    QCOMPARE(settings["replicas"].toArray()[2].toString(), QString("2"));
    QVERIFY(!settings.contains("rate"));
    const auto ttft = [](const CliRun& of) {
      return of.json()["latencies"].toObject()["ttft_seconds"].toObject()["p99"].toDouble();
    };
    const char* const alone[] = {"--json", "--json --engine sglang --chunked-prefill-size 2048",
                                 "--json --replicas 2"};
    for (const auto& one : run.json()["figures"].toArray()) {
      const QJsonObject figure = one.toObject();
      if (figure["id"].toString() == "ttft_p99_seconds")
        for (int i = 0; i < 3; ++i)
          QCOMPARE(figure["values"].toArray()[i].toDouble(), ttft(run_line(base + alone[i])));
      if (figure["id"].toString() == "accelerators") QCOMPARE(figure["values"].toArray()[2].toInt(), 2);
    }
    const QList<QByteArray> rows = lines_of(table);
    QVERIFY(rows.size() > 30 && rows[0].startsWith("figure,\""));
    const CliRun text = run_line(base + "--against replicas=2");
    for (const char* words : {"Replicas", "TTFT p99", "Output tokens/s", "better"})
      QVERIFY2(text.out.contains(words), words);
  }
  // Percentiles as text: what a run reaches, and the largest rate that keeps them.
  void service_level() {
    const auto run = [](const QString& flags, const QString& level) {
      const QString base = "serve --model llama3-8b --requests 100 --rate 4 " + flags;
      const QStringList limits = level.isEmpty() ? QStringList() : QStringList{"--slo", level};
      return run_cli(base.split(' ', Qt::SkipEmptyParts) + limits);
    };
    const CliRun text = run("", "p99 ttft<2s, p50 tpot<1us");
    QCOMPARE(text.exit_code, 0);
    QVERIFY(text.out.contains("p99 ttft<2 s is kept: "));
    QVERIFY(text.out.contains("p50 tpot<1 us is exceeded: "));
    const CliRun json = run("--ttft-limit 2s --json", "p50 tpot<1us");
    const QJsonArray level = json.json()["service_level"].toArray();
    QCOMPARE(level.size(), 2);
    QVERIFY(!level[0].toObject()["kept"].toBool() && level[1].toObject()["kept"].toBool());
    QCOMPARE(level[1].toObject()["limit"].toString(), QString("p99 ttft<2 s"));
    const QJsonObject limits = run("--rates 8,2,40 --json --tpot-limit 12ms", "").json(),
                      percentiles = run("--rates 8,2,40 --json", "p99 tpot<12ms").json();
    QVERIFY(limits["knee"].toDouble() > 0);
    QCOMPARE(percentiles["knee"], limits["knee"]);
    QCOMPARE(percentiles["rates"], limits["rates"]);
    const CliRun wrong = run("", "p98 ttft<2s");
    QVERIFY(wrong.exit_code != 0);
    QVERIFY2(wrong.err.contains("--slo: \"p98 ttft<2s\" has no percentile \"p98\""), qPrintable(wrong.err));
  }
  void mistakes_data() {
    QTest::addColumn<QString>("flags");
    QTest::addColumn<QString>("words");
    QTest::newRow("choice") << "--arrivals possion"
                            << "all-at-once, constant, poisson or gamma";
    QTest::newRow("range") << "--rate -1"
                           << "--rate: the value is -1.00";
    QTest::newRow("no number") << "--max-num-seqs many"
                               << "a whole number";
    QTest::newRow("layout") << "--tp 3"
                            << "tp";
    QTest::newRow("no room") << "--model llama3-70b"
                             << "no room for a KV cache";
    QTest::newRow("no rate") << "--rates 1,fast"
                             << "--rates: \"fast\"";
    QTest::newRow("rate of users") << "--rates auto --users 4"
                                   << "--users: users of a closed loop have no rate";
    QTest::newRow("timeline of rates") << "--rates auto --perfetto x.json"
                                       << "--perfetto: --rates has several runs, and no timeline";
    QTest::newRow("bundle of rates") << "--rates auto --bundle x"
                                     << "--bundle: --rates has several runs, and no timeline";
    QTest::newRow("two questions") << "--rates auto --against engine=sglang"
                                   << "--rates: it does not go with --against";
    QTest::newRow("against no file") << "--against nowhere.json"
                                     << "nowhere.json";
    QTest::newRow("against other requests") << "--against rate=3"
                                            << "--against: \"rate\" is the same for all services";
    QTest::newRow("against another engine") << "--against engine=sglang;max_num_seqs=3"
                                            << "it is a setting of vLLM, and the engine is SGLang";
    QTest::newRow("against a wrong value") << "--against max_num_seqs=many"
                                           << "max_num_seqs accepts a whole number";
    QTest::newRow("steps without a bundle") << "--steps 0:3"
                                            << "--steps: there is no bundle";
    QTest::newRow("no range") << "--bundle x --steps 3"
                              << "--steps: \"3\" is not a range of steps";
    QTest::newRow("no replica") << "--bundle x --replica 1"
                                << "--replica: there is no replica 1";
    QTest::newRow("other engine") << "--engine sglang --max-num-seqs 8"
                                  << "--max-num-seqs: it is a setting of vLLM, and the engine is SGLang";
    QTest::newRow("unknown engine") << "--engine llamacpp"
                                    << "vllm, sglang or trtllm";
    QTest::newRow("no file") << "--trace nowhere.csv"
                             << "nowhere.csv";
  }
  void mistakes() {
    QFETCH(QString, flags);
    QFETCH(QString, words);
    const CliRun run = run_line(("serve --model llama3-8b --requests 10 " + flags));
    QVERIFY(run.exit_code != 0);
    QVERIFY2(run.err.contains(words), qPrintable(run.err));
  }
};

QTEST_GUILESS_MAIN(ServeCommandTest)
#include "serve_test.moc"
