// The command trace, comparisons of traces, and bundles whose files lie elsewhere.
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QtTest>

#include "cli_run.h"

using namespace shardscape::test;

class TraceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    for (const QString bundle : {"a", "b"})
      QCOMPARE(run_line("export --model llama3-8b --layers 2 --dp 2 --tp 2 --seq 1024 --batch " +
                            QString(bundle == "a" ? "4" : "8") + " -o " + bundle,
                        root())
                   .exit_code,
               0);
  }

  void overview() {
    const CliRun run = run_line("trace a", root());
    QCOMPARE(run.exit_code, 0);
    for (const char* part : {"traces of 4 ranks", "COMP_NODE", "ALL_REDUCE", "ranks in group",
                             "check: 0 errors, 0 warnings; every rank finishes", "0-3"})
      QVERIFY2(run.out.contains(part), qPrintable(run.out));
    const QJsonObject json = run_line("trace a --json", root()).json();
    QCOMPARE(json["ranks"].toInt(), 4);
    QVERIFY(json["check"].toObject()["ok"].toBool());
    const QJsonObject checked = run_line("check a --json", root()).json();
    int nodes = 0;
    for (const QJsonValue kind : json["kinds"].toObject()) nodes += kind.toObject()["nodes"].toInt();
    QCOMPARE(nodes, checked["nodes"].toInt());
  }

  void one_trace_and_its_nodes() {
    QVERIFY(run_line("trace a --rank 2", root()).out.contains("the longest chain of dependencies has"));
    const CliRun found = run_line("trace a/trace.1.et --find ATTENTION --json", root());
    QCOMPARE(found.exit_code, 0);
    const QJsonObject node = found.json()["nodes"].toArray().first().toObject();
    const QString id = QString::number(node["id"].toInt());
    const CliRun around = run_line("trace a --rank 1 --node " + id + " --depth 2 --json", root());
    QCOMPARE(around.json()["name"], node["name"]);
    QVERIFY(!around.json()["around"].toArray().isEmpty());
    QVERIFY(run_line("trace a --node " + id, root()).out.contains("nodes that depend on it"));
    QCOMPARE(run_line("trace a --find nowhere", root()).exit_code, 1);
    QCOMPARE(run_line("trace a --node 999999", root()).exit_code, 1);
    QCOMPARE(run_line("trace a --rank 4", root()).exit_code, 2);
    QCOMPARE(run_line("trace a --node x", root()).exit_code, 2);
    QCOMPARE(run_line("trace", root()).exit_code, 2);
    const CliRun none = run_line("trace nowhere", root());
    QCOMPARE(none.exit_code, 3);
    QVERIFY(none.err.contains("nowhere"));
  }

  void compressed_traces() {
    QVERIFY(QDir(root()).mkpath("z"));
    QVERIFY(QFile::copy(root() + "/a/trace.0.et", root() + "/z/trace.0.et"));
    if (QProcess::execute("gzip", {root() + "/z/trace.0.et"}) != 0) QSKIP("gzip is not installed");
    const auto kinds = [&](const char* line) {
      const QJsonObject json = run_line(line, root()).json();
      return json["kinds"].toObject();
    };
    QVERIFY(!kinds("trace z --json").isEmpty());
    QCOMPARE(kinds("trace z --json"), kinds("trace a --rank 0 --json"));
  }

  void compressed_bundles() {
    QVERIFY(QDir(root()).mkpath("y"));
    for (const QFileInfo& file : QDir(root() + "/a").entryInfoList(QDir::Files)) {
      const QString copy = root() + "/y/" + file.fileName();
      QVERIFY(QFile::copy(file.filePath(), copy));
      if (copy.endsWith(".et") && QProcess::execute("gzip", {copy}) != 0) QSKIP("gzip is not installed");
    }
    const CliRun check = run_line("check y", root());
    QVERIFY2(check.exit_code == 0 && check.out.contains("GZIP"), qPrintable(check.out + check.err));
    const QJsonObject compressed = run_line("simulate y --json", root()).json();
    QVERIFY(compressed["cycles"].toInteger() > 0);
    QCOMPARE(compressed, run_line("simulate a --json", root()).json());
  }

  void comparison() {
    const CliRun same = run_line("compare a a", root());
    QVERIFY2(same.exit_code == 0 && same.out.contains("the traces are equal"), qPrintable(same.out));
    const CliRun other = run_line("compare a b --json", root());
    QCOMPARE(other.exit_code, 1);
    QVERIFY(!other.json()["equal"].toBool());
    QVERIFY(!other.json()["differences"].toArray().isEmpty());
    QVERIFY(run_line("compare a b", root()).out.contains("the traces differ"));
    // A bundle equals the design in its manifest.
    QFile manifest(root() + "/a/manifest.json"), design(root() + "/d.shardscape.json");
    QVERIFY(manifest.open(QIODevice::ReadOnly) && design.open(QIODevice::WriteOnly));
    design.write(
        QJsonDocument(QJsonDocument::fromJson(manifest.readAll()).object()["design"].toObject()).toJson());
    design.close();
    const CliRun own = run_line("compare a d.shardscape.json", root());
    QVERIFY2(own.exit_code == 0, qPrintable(own.out + own.err));
    QCOMPARE(run_line("compare a", root()).exit_code, 2);
    QCOMPARE(run_line("compare a nowhere.et", root()).exit_code, 3);
  }

  void files_elsewhere() {
    QVERIFY(QDir(root()).mkpath("c") && QDir(root()).mkpath("files"));
    for (int rank = 0; rank < 4; ++rank) {
      const QString name = QString("/trace.%1.et").arg(rank);
      QVERIFY(QFile::copy(root() + "/a" + name, root() + "/c" + name));
    }
    for (const QString name : {"comm_groups.json", "system.json", "network.yml"})
      QVERIFY(QFile::copy(root() + "/a/" + name, root() + "/files/" + name));
    const QString
        flags = " --groups files/comm_groups.json --system files/system.json --network files/network.yml";
    const CliRun check = run_line("check c" + flags, root());
    QVERIFY2(check.exit_code == 0 && check.out.contains("0 errors"), qPrintable(check.out));
    QCOMPARE(run_line("check c", root()).exit_code, 1);
    const CliRun simulated = run_line("simulate c --json --timeline step.json" + flags, root());
    QCOMPARE(simulated.exit_code, 0);
    QCOMPARE(simulated.json()["cycles"], run_line("simulate a --json", root()).json()["cycles"]);
    QFile timeline(root() + "/step.json");
    QVERIFY(timeline.open(QIODevice::ReadOnly));
    const auto events = QJsonDocument::fromJson(timeline.readAll()).object()["traceEvents"].toArray();
    QVERIFY(events.size() > simulated.json()["nodes"].toInt());
  }

  // The simulator aborts where a trace names a group that no file has.
  void simulate_fails_where_the_simulator_aborts() {
    QVERIFY(QDir(root()).mkpath("e"));
    for (const QString& name : QDir(root() + "/a").entryList(QDir::Files))
      if (name != "comm_groups.json") QVERIFY(QFile::copy(root() + "/a/" + name, root() + "/e/" + name));
    const CliRun run = run_line("simulate e", root());
    QCOMPARE(run.exit_code, 1);
    QVERIFY2(run.out.contains("GROUP_UNKNOWN rank 0 node"), qPrintable(run.out));
  }

 private:
  QString root() const { return folder_.path(); }
  QTemporaryDir folder_;
};

QTEST_APPLESS_MAIN(TraceTest)
#include "trace_test.moc"
