// Bundles, searches and commands of which a part is odd: each gives an answer or a message.
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include "cli/cli_run.h"

using namespace shardscape::test;

namespace {

void write(const QString& path, const QByteArray& text) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(text);
}

QByteArray read(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

// A bundle of `ranks` traces with one all-reduce each.
void write_bundle(const QDir& folder, int ranks, const QByteArray& network, const QByteArray& all_reduce,
                  const QByteArray& others) {
  write(folder.filePath("network.yml"), network);
  write(folder.filePath("system.json"),
        R"({"preferred-dataset-splits": 1, "endpoint-delay": 10, "local-mem-bw": 1000, "peak-perf": 100,
            "roofline-enabled": 0, "all-reduce-implementation": )" +
            all_reduce + R"(, "all-gather-implementation": )" + others +
            R"(, "reduce-scatter-implementation": )" + others + R"(, "all-to-all-implementation": )" +
            others + "}");
  for (int rank = 0; rank < ranks; ++rank)
    write(folder.filePath(QString("t.%1.et").arg(rank)),
          R"({"id": 1, "name": "a", "type": 7, "comm_type": 0, "comm_size": 1024})");
}

}  // namespace

class OddBundlesTest : public QObject {
  Q_OBJECT

 private slots:
  // Algorithms that need powers of two read outside of their ranks.
  void algorithms_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<QByteArray>("network");
    QTest::addColumn<QByteArray>("all_reduce");
    QTest::addColumn<QByteArray>("others");
    QTest::addColumn<QString>("said");
    const QByteArray four = "topology: [ Switch ]\nnpus_count: [ 4 ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n";
    const QByteArray six =
        "topology: [ Ring, Switch ]\nnpus_count: [ 2, 3 ]\nbandwidth: [ 50, 50 ]\nlatency: [ 500, 500 ]\n";
    QTest::newRow("a trace is missing, halving") << 3 << four << QByteArray("[\"halvingDoubling\"]")
                                                 << QByteArray("[\"ring\"]") << "group 0 has 3 ranks";
    QTest::newRow("a trace is missing, tree") << 3 << four << QByteArray("[\"doubleBinaryTree\"]")
                                              << QByteArray("[\"ring\"]") << "group 0 has 3 of 4 ranks";
    QTest::newRow("the whole job in the second dimension")
        << 6 << six << QByteArray("[\"ring\", \"oneHalvingDoubling\"]") << QByteArray("[\"ring\", \"ring\"]")
        << "dimension 1 has 3 ranks";
  }
  void algorithms() {
    QFETCH(int, ranks);
    QFETCH(QByteArray, network);
    QFETCH(QByteArray, all_reduce);
    QFETCH(QByteArray, others);
    QFETCH(QString, said);
    QTemporaryDir folder;
    write_bundle(QDir(folder.path()), ranks, network, all_reduce, others);
    const CliRun run = run_cli({"simulate", folder.path()});
    QVERIFY2(run.err.contains(said), qPrintable(run.err + run.out));
    QCOMPARE(run.exit_code, 1);
  }

  void commands_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<QString>("said");
    QTest::addColumn<int>("exit_code");
    const QString ranges = QStringList(QList<QString>(2000, "1..100000")).join(',');
    QTest::newRow("ranges of values")
        << "explore --model llama3-8b --gpus 8 --tp " + ranges << "more than 100,000 values" << 2;
    QTest::newRow("constraints") << "explore --model llama3-8b --gpus 8" +
                                        QString(" --where tp<9").repeated(101)
                                 << "at most 100 constraints" << 2;
    QTest::newRow("truth values") << "explore --model llama3-8b --gpus 1 --sequence-parallel " +
                                         QString("1,").repeated(60000) + "1"
                                  << "1...\" is neither true nor false" << 2;
    QTest::newRow("a setting without effect")
        << "serve --model llama3-8b --requests 10 --effects --draft-tensor-parallel-size 5000000000000000000"
        << "" << 0;
    QTest::newRow("prompts of one token")
        << "fleet --model llama3-8b --input-len 1 --output-len 1 --max-num-batched-tokens 1073741824 "
           "--num-gpu-blocks 100000 --requests 100 --engine-gpus 1 --slo p99~ttft<2s"
        << "" << 0;
    QTest::newRow("combinations") << "fleet --model llama3-8b --try max_num_seqs=" +
                                         QString("1,").repeated(256) + "2"
                                  << "more than 256 combinations" << 2;
  }
  void commands() {
    QFETCH(QString, line);
    QFETCH(QString, said);
    QFETCH(int, exit_code);
    QStringList words = line.split(' ');
    words.replaceInStrings("~", " ");
    const CliRun run = run_cli(words);
    QVERIFY2((run.out + run.err).contains(said), qPrintable(run.err.left(2000)));
    QVERIFY2(run.exit_code == exit_code, qPrintable(QString::number(run.exit_code) + run.err.left(2000)));
  }

  // A result without best designs, and a number of designs that no search has.
  void results() {
    QTemporaryDir folder;
    const QString path = folder.filePath("r.json");
    const CliRun made = run_cli({"explore", "--model", "llama3-8b", "--gpus", "16", "--tp", "1,2,4,8", "--pp",
                                 "1,2", "--microbatch", "1,2,4", "-o", path});
    QVERIFY2(made.exit_code == 0, qPrintable(made.err));
    QJsonObject root = QJsonDocument::fromJson(read(path)).object();
    QVERIFY(root["front"].toArray().size() > 1);
    root["best"] = QJsonArray();
    write(path, QJsonDocument(root).toJson());
    const CliRun merged = run_cli({"merge", path});
    QVERIFY2(merged.out.contains("Pareto front"), qPrintable(merged.out + merged.err));
  }

  void traces_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QStringList>("flags");
    QTest::addColumn<QString>("said");
    QTest::newRow("sizes beyond all numbers")
        << QByteArray(R"({"schema": "1.0.2-chakra.0.0.4", "nodes": [{"id": 1, "name": "record_param_comms",
             "ctrl_deps": 1, "inputs": {"values": [[[0, 0, 0, -1e300, 1, "cuda:0"]], "allreduce"]}}]})")
        << QStringList{"--json"} << "\"comm_size\": 0";
    QByteArray kinds;
    for (int i = 0; i < 60000; ++i)
      kinds += "{\"id\": " + QByteArray::number(i) + ", \"type\": " + QByteArray::number(100000 + i) + "}\n";
    QTest::newRow("kinds of nodes") << kinds << QStringList{"--json"} << "\"nodes\": 60000";
  }
  void traces() {
    QFETCH(QByteArray, content);
    QFETCH(QStringList, flags);
    QFETCH(QString, said);
    QTemporaryDir folder;
    const QString path = folder.filePath("F.json");
    write(path, content);
    const CliRun run = run_cli(QStringList{"trace", path} + flags);
    QVERIFY2(run.out.contains(said), qPrintable(run.err + run.out.left(2000)));
  }
};

QTEST_GUILESS_MAIN(OddBundlesTest)
#include "odd_bundles_test.moc"
