// The command machines: the list, the sources, and a person's own files.
#include <QJsonArray>
#include <QTemporaryDir>
#include <QtTest>

#include "cli_run.h"

using namespace shardscape::test;

class MachinesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void lists();
  void one_machine();
  void of_a_design();
  void wrong_words_data();
  void wrong_words();
  void own_files_data();
  void own_files();
};

namespace {

QJsonObject value_of(const QJsonObject& machine, const QString& key) {
  for (const QJsonValue section : machine["sections"].toArray())
    for (const QJsonValue value : section.toObject()["values"].toArray())
      if (value.toObject()["key"] == key) return value.toObject();
  return {};
}

// A catalogue of that name in a person's own folder.
CliRun with_own(const QString& name, const QByteArray& text, const QString& words) {
  QTemporaryDir home;
  const QString folder = home.path() + "/shardscape/resources/catalogue";
  if (!QDir().mkpath(folder)) qFatal("no folder");
  QFile file(folder + "/" + name);
  if (!file.open(QIODevice::WriteOnly)) qFatal("no file");
  file.write(text);
  file.close();
  return run_cli(words.split(' '), {}, {"XDG_DATA_HOME=" + home.path()});
}

}  // namespace

void MachinesTest::lists() {
  const CliRun text = run_line("machines"), json = run_line("machines --json");
  QCOMPARE(text.exit_code, 0);
  QVERIFY(text.err.isEmpty());
  for (const QJsonValue a : json.json()["accelerators"].toArray())
    QVERIFY(text.out.contains(a.toObject()["id"].toString()));
  for (const QJsonValue n : json.json()["networks"].toArray())
    QVERIFY(text.out.contains(n.toObject()["id"].toString()));
  QVERIFY(json.json()["accelerators"].toArray().size() >= 17 &&
          json.json()["networks"].toArray().size() >= 16);
}

void MachinesTest::one_machine() {
  const CliRun run = run_line("machines h100 --json"), text = run_line("machines h100");
  QCOMPARE(run.exit_code, 0);
  QCOMPARE(value_of(run.json(), "memory_gbps")["value"].toDouble(), 3350.0);
  QCOMPARE(value_of(run.json(), "memory_gbps")["unit"].toString(), QString("GB/s"));
  QCOMPARE(value_of(run.json(), "launch_us")["unit"].toString(), QString("µs"));
  QCOMPARE(value_of(run.json(), "matmul.bfloat16")["origin"].toString(), QString("calibration"));
  for (const QJsonValue section : run.json()["sections"].toArray())
    for (const QJsonValue value : section.toObject()["values"].toArray()) {
      QVERIFY(!value.toObject()["source"].toString().isEmpty());
      QVERIFY(text.out.contains(value.toObject()["label"].toString()));
    }
  // The id of a network is enough: its accelerator is one that it is sold with.
  const QJsonObject roce = run_line("machines grand-teton-roce --json").json();
  QVERIFY(value_of(roce, "nic_latency_us")["source"].toString().contains("2505.09343"));
  QCOMPARE(value_of(roce, "oversubscription")["value"].toDouble(), 7.0);
  QCOMPARE(value_of(run_line("machines gb200 --json").json(), "gpus_per_node")["value"].toDouble(), 4.0);
}

void MachinesTest::of_a_design() {
  const QJsonObject of = run_line("machines --accelerator h100 --nic-bandwidth 200 --json").json();
  QCOMPARE(value_of(of, "nic_gbps")["value"].toDouble(), 200.0);
  QCOMPARE(value_of(of, "nic_gbps")["origin"].toString(), QString("design"));
  QVERIFY(value_of(of, "nic_gbps")["source"].toString().contains("--nic-bandwidth"));
}

void MachinesTest::wrong_words_data() {
  QTest::addColumn<QString>("words");
  QTest::addColumn<QString>("says");
  QTest::newRow("typo") << "machines h200-sxm-14gb"
                        << "h200-sxm-141gb";
  QTest::newRow("both") << "machines h100 --rails 4"
                        << "either named or described";
}

void MachinesTest::wrong_words() {
  QFETCH(QString, words);
  QFETCH(QString, says);
  const CliRun run = run_line(words);
  QCOMPARE(run.exit_code, 2);
  QVERIFY2(run.err.contains(says), qPrintable(run.err));
  QVERIFY(run.out.isEmpty());
}

void MachinesTest::own_files_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QString>("words");
  QTest::addColumn<QString>("says");   // on standard error; empty: nothing
  QTest::addColumn<QString>("shows");  // on standard output
  const QByteArray device =
      R"({"accelerators": [{"id": "mine", "name": "Mine", "bf16_tflops": 1, "memory_gb": 2,
        "memory_gbps": 3, SOURCES}]})";
  const auto with = [&](const char* sources) { return QByteArray(device).replace("SOURCES", sources); };
  QTest::newRow("one source") << "accelerators.json" << with(R"("source": "my bench")") << "machines mine"
                              << ""
                              << "my bench";
  QTest::newRow("by value") << "accelerators.json"
                            << with(R"("sources": {"*": "my bench", "memory_gb": "a label"})")
                            << "machines mine"
                            << ""
                            << "a label";
  QTest::newRow("none") << "accelerators.json" << with(R"("note": "x")") << "machines"
                        << "\"bf16_tflops\" of \"mine\" has no source"
                        << "h100-sxm-80gb";
  QTest::newRow("one lacks") << "accelerators.json"
                             << with(R"("sources": {"bf16_tflops": "a", "memory_gb": "b"})") << "machines"
                             << "\"memory_gbps\" of \"mine\" has no source"
                             << "h100-sxm-80gb";
  QTest::newRow("of nothing") << "accelerators.json" << with(R"("sources": {"*": "a", "nic_gbps": "b"})")
                              << "machines"
                              << "\"nic_gbps\", which the entry lacks"
                              << "h100-sxm-80gb";
  QTest::newRow("misspelt") << "accelerators.json" << with(R"("sources": {"*": "a", "memory": "b"})")
                            << "machines"
                            << "\"memory\", which the entry lacks"
                            << "h100-sxm-80gb";
  QTest::newRow("empty") << "accelerators.json" << with(R"("sources": {"*": ""})") << "machines"
                         << "has no source"
                         << "h100-sxm-80gb";
  QTest::newRow("network")
      << "clusters.json"
      << QByteArray(
             R"({"networks": [{"id": "lab", "name": "Lab", "accelerators": ["h100-sxm-80gb"],
                 "nic_latency_us": 4, "sources": {"rails": "x"}}]})")
      << "machines"
      << "which the entry lacks"
      << "dgx-h100";
  QTest::newRow("leaf")
      << "clusters.json"
      << QByteArray(
             R"({"networks": [{"id": "lab", "name": "Lab", "accelerators": ["h100-sxm-80gb"],
                 "gpus_per_node": 8, "leaf": 12, "source": "x"}]})")
      << "machines"
      << "is not a multiple of the GPUs per node"
      << "dgx-h100";
}

void MachinesTest::own_files() {
  QFETCH(QString, name);
  QFETCH(QByteArray, text);
  QFETCH(QString, words);
  QFETCH(QString, says);
  QFETCH(QString, shows);
  const CliRun run = with_own(name, text, words);
  QCOMPARE(run.exit_code, 0);
  QVERIFY2(says.isEmpty() ? run.err.isEmpty() : run.err.contains(says), qPrintable(run.err));
  QVERIFY2(run.out.contains(shows), qPrintable(run.out));
}

QTEST_GUILESS_MAIN(MachinesTest)
#include "machines_test.moc"
