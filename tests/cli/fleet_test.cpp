// The command fleet, and the effects of serve: output, files, exit codes.
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include "cli/cli_run.h"

using namespace shardscape::test;

namespace {

CliRun fleet(const QString& flags, const QString& level = "p99 ttft<1s, p99 tpot<30ms") {
  const QString base = "fleet --model llama3-8b --requests 200 --rate 40 --engine-gpus 1,2 " + flags;
  return run_cli(base.split(' ', Qt::SkipEmptyParts) + QStringList{"--slo", level});
}

}  // namespace

class FleetCommandTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void text() {
    const CliRun run = fleet("--accelerators h100-sxm-80gb,a100-sxm-80gb");
    QCOMPARE(run.exit_code, 0);
    for (const char* words : {"200 requests within p99 ttft<1 s, p99 tpot<30 ms", "a100-sxm-80gb, 1 GPU",
                              "h100-sxm-80gb, tp 2", "replicas", "$/Mtoken"})
      QVERIFY2(run.out.contains(words), qPrintable(run.out));
  }
  // Equal arguments, equal bytes; the cheapest fleet first; a row for every candidate.
  void json_and_table() {
    QTemporaryDir folder;
    const QString table = folder.filePath("fleet.csv"), flags = "--try max_num_seqs=64,128 --json";
    const CliRun run = fleet(flags + " --csv " + table);
    QCOMPARE(run.exit_code, 0);
    QCOMPARE(fleet(flags).out, run.out);
    const QJsonArray all = run.json()["candidates"].toArray();
    QCOMPARE(all.size(), 6);
    double before = 0;
    for (int i = 0; i < run.json()["sized"].toInt(); ++i) {
      const QJsonObject one = all[i].toObject();
      QCOMPARE(one["end"].toString(), QString("sized"));
      QVERIFY(one["dollars_per_hour"].toDouble() >= before);
      before = one["dollars_per_hour"].toDouble();
      QVERIFY(one["p99"].toObject()["ttft_seconds"].toDouble() <= 1);
    }
    QFile file(table);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll().trimmed().split('\n').size(), 7);
  }
  // Prefill and decode engines compete with engines that do both. The ratio of the cheapest fleet is stated.
  void prefill_and_decode_engines() {
    QTemporaryDir folder;
    const QString table = folder.filePath("fleet.csv");
    const QString flags =
        "--disaggregate --prefill-accelerators h100-sxm-80gb,h200-sxm-141gb "
        "--prefill-engine-gpus 1 ";
    const CliRun run = fleet(flags + "--json --csv " + table);
    QCOMPARE(run.exit_code, 0);
    QCOMPARE(fleet(flags + "--json").out, run.out);
    QVERIFY(run.json()["pairs"].toInt() >= 4);
    int pairs = 0, others = 0;
    for (const auto& one : run.json()["candidates"].toArray()) {
      const QJsonObject of = one.toObject(), prefill = of["prefill"].toObject();
      (prefill.isEmpty() ? others : pairs) += 1;
      if (prefill.isEmpty() || of["end"].toString() != "sized") continue;
      QVERIFY(prefill["replicas"].toInt() >= 1 && prefill["replicas"].toInt() < of["replicas"].toInt());
      QCOMPARE(prefill["engine_accelerators"].toInt(), 1);
      QVERIFY(of["p99"].toObject()["ttft_seconds"].toDouble() <= 1);
    }
    QVERIFY(pairs > 0 && others > 0);
    QFile file(table);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QList<QByteArray> rows = file.readAll().trimmed().split('\n');
    QVERIFY(rows[0].endsWith("prefill_accelerator,prefill_layout,prefill_replicas,prefill_accelerators"));
    const CliRun text = fleet(flags);
    QVERIFY2(text.out.contains("cheapest: ") && text.out.contains("pairs of prefill and decode engines"),
             qPrintable(text.out));
    QVERIFY(!fleet("").out.contains("cheapest:"));
  }
  void no_fleet_is_a_negative_answer() {
    const CliRun run = fleet("", "p99 tpot<1us");
    QCOMPARE(run.exit_code, 1);
    QVERIFY(run.out.contains("no kind of engine keeps the limits"));
    QVERIFY(run.out.contains("exceed p99 tpot<1 us"));
  }
  void mistakes_data() {
    QTest::addColumn<QString>("flags");
    QTest::addColumn<QString>("words");
    const char* const rows[][2] = {
        {"--accelerators h1000", "--accelerators: there is no accelerator"},
        {"--engine-gpus x", "--engine-gpus"},
        {"--try max_num_seqs", "--try: \"max_num_seqs\" has no ="},
        {"--try rate=2", "--try rate: it is no setting that a fleet search varies"},
        {"--most-engines 0", "--most-engines"},
        {"--prefill-engine-gpus 1", "--prefill-engine-gpus: no engine computes prompts only"},
        {"--prefill-design x.json", "--prefill-design: no engine computes prompts only"},
        {"--disaggregate --prefill-design nowhere.json", "nowhere.json"},
        {"--try decode_replicas=2", "--try decode_replicas: it is no setting that a fleet search varies"},
        {"--slo ttft<2s", "--slo: \"ttft<2s\" needs a percentile and a latency"}};
    for (const auto& row : rows) QTest::newRow(row[0]) << QString(row[0]) << QString(row[1]);
  }
  void mistakes() {
    QFETCH(QString, flags);
    QFETCH(QString, words);
    const CliRun run = run_line("fleet --model llama3-8b --requests 10 --ttft-limit 2s " + flags);
    QVERIFY(run.exit_code != 0);
    QVERIFY2(run.err.contains(words), qPrintable(run.err));
  }
  void a_level_is_needed() {
    const CliRun run = run_line("fleet --model llama3-8b");
    QCOMPARE(run.exit_code, 1);
    QVERIFY2(run.err.contains("--slo: no limit is given"), qPrintable(run.err));
  }
  // One step of each setting, the largest effect first.
  void effects() {
    QTemporaryDir folder;
    const QString table = folder.filePath("effects.csv"),
                  base = "serve --model llama3-8b --requests 200 --rate 30 --ttft-limit 1s --effects ";
    const QJsonArray all = run_line(base + "--json --csv " + table).json()["effects"].toArray();
    QVERIFY(all.size() > 8);
    QVERIFY(all[0].toObject()["change"].toDouble() > all[all.size() - 1].toObject()["change"].toDouble());
    QFile file(table);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QList<QByteArray> rows = file.readAll().trimmed().split('\n');
    QCOMPARE(rows.size(), all.size() + 2);
    for (const QByteArray& row : rows) QCOMPARE(row.count(','), rows[0].count(','));
    const CliRun text = run_line(base);
    QVERIFY(text.out.contains("(as given)") && text.out.contains("max_num_batched_tokens"));
    QVERIFY(run_line(base + "--rates auto").err.contains("--effects: it does not go with --rates"));
  }
  // Explore by the largest rate within a service level, and what it does not go with.
  void explore_by_goodput() {
    const auto run = [](const QString& flags) {
      const QString base = "explore --model llama3-8b --gpus 2 --mode decode --batch 8 --tp all --pp all " +
                           flags;
      return run_cli(base.split(' ', Qt::SkipEmptyParts) + QStringList{"--slo", "p99 tpot<15ms"});
    };
    const CliRun text = run("--objective goodput --requests 100 --evaluate 2");
    QCOMPARE(text.exit_code, 0);
    QVERIFY2(text.out.contains("different engines, 2 simulated"), qPrintable(text.out));
    QVERIFY(text.out.contains("best by goodput within p99 tpot<15 ms"));
    const QJsonArray all = run("--objective goodput --requests 100 --json").json()["goodput"].toArray();
    QVERIFY(all.size() >= 3);
    double before = 1e9;
    for (const auto& one : all) {
      const double rate = one.toObject()["requests_per_second_and_gpu"].toDouble();
      QVERIFY(rate <= before);
      before = rate;
    }
    QVERIFY(run("--requests 100").err.contains("only a search by goodput has a service"));
    QVERIFY(run("--objective goodput --mode train").err.contains("mode"));
    QCOMPARE(run("--objective goodput --users 4").exit_code, 2);
  }
  // Shards of a search by goodput merge to the bytes of one run, on standard output and in the file.
  void goodput_in_shards() {
    QTemporaryDir folder;
    const auto path = [&](const char* name) { return folder.filePath(name); };
    const auto run = [](const QString& flags) {
      const QString base =
          "explore --model llama3-8b --gpus 4 --mode decode --batch 16 --tp all --pp all "
          "--objective goodput --requests 60 --evaluate 2 --json -o " +
          flags;
      return run_cli(base.split(' ', Qt::SkipEmptyParts) + QStringList{"--slo", "p99 tpot<15ms"});
    };
    const auto bytes = [](const QString& name) {
      QFile file(name);
      return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    };
    const CliRun one = run(path("one.json"));
    QCOMPARE(one.exit_code, 0);
    for (const char* shard : {"1/2", "2/2"}) {
      const CliRun part = run(path(shard[0] == '1' ? "a.json" : "b.json") + " --shard " + shard);
      QVERIFY2(part.exit_code == 0, qPrintable(part.err));
    }
    QVERIFY(!bytes(path("one.json")).isEmpty());
    for (const auto& [first, second] : {std::pair{"a.json", "b.json"}, {"b.json", "a.json"}}) {
      const CliRun merged = run_line("merge --json -o " + path("all.json") + " " + path(first) + " " +
                                     path(second));
      QCOMPARE(merged.exit_code, 0);
      QCOMPARE(merged.out, one.out);
      QCOMPARE(bytes(path("all.json")), bytes(path("one.json")));
    }
    // A complete file has nothing left to do; another service is another search.
    QCOMPARE(run(path("again.json") + " --resume " + path("one.json")).out, one.out);
    QCOMPARE(bytes(path("again.json")), bytes(path("one.json")));
    const CliRun other = run(path("x.json") + " --input-len 99 --resume " + path("one.json"));
    QVERIFY2(other.err.contains("one.json: the file has another service"), qPrintable(other.err));
  }
};

QTEST_GUILESS_MAIN(FleetCommandTest)
#include "fleet_test.moc"
