// profile: where the time of a profiled run goes.
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include "cli/cli_run.h"
#include "support/profile_trace.h"

using namespace shardscape::test;

namespace {

// Two steps of 1 ms with a product, an exposed all-reduce and a launch gap. slower: microseconds.
ProfileTrace training(double slower = 0) {
  ProfileTrace trace;
  for (int64_t i = 0; i < 2; ++i) {
    const double at = 1000.0 * static_cast<double>(i);
    trace.annotation("ProfilerStep#" + std::to_string(i), at, 1000);
    trace.launch(10 * i, at + 10).kernel("sm90_xmma_gemm", at + 20, 300 + slower, 10 * i);
    trace.launch(10 * i + 1, at + 30);
    trace.collective("ncclDevKernel_AllReduce", "allreduce", at + 320 + slower, 200, 10 * i + 1, 1 << 20,
                     1 << 20, 2);
    trace.launch(10 * i + 2, at + 700).kernel("flash_fwd", at + 710, 100, 10 * i + 2);
  }
  return trace;
}

QString write(const QTemporaryDir& folder, const char* name, const ProfileTrace& trace, int rank = 0) {
  const QString file = folder.filePath(name);
  trace.write(file.toStdString(), rank, 2);
  return file;
}

}  // namespace

class ProfileTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void text() {
    QTemporaryDir folder;
    const CliRun run = run_cli({"profile", write(folder, "r0.json", training())});
    QCOMPARE(run.exit_code, 0);
    for (const char* word : {"rank 0 of 2, Test GPU", "step 1.00 ms on the device", "mean of 2 steps",
                             "Launch gaps", "Exposed collectives", "all_reduce over 2 ranks, bfloat16",
                             "2.00 MiB", "sm90_xmma_gemm", "busy 60.0 %"})
      QVERIFY2(run.out.contains(word), qPrintable(run.out));
  }

  void json() {
    QTemporaryDir folder;
    const QJsonObject out = run_cli({"profile", write(folder, "r0.json", training()), "--json"}).json();
    const QJsonObject step = out["profiles"].toArray()[0].toObject()["step"].toObject();
    QCOMPARE(step["steps"].toInt(), 2);
    double sum = 0;
    for (const auto& seconds : step["categories"].toObject()) sum += seconds.toDouble();
    QVERIFY(std::abs(sum - step["seconds"].toDouble()) < 1e-9);
    QVERIFY(!out.contains("comparison"));
  }

  // Several ranks: one row each, and the details of the one that computes longest.
  void ranks() {
    QTemporaryDir folder;
    write(folder, "a.json", training(), 1);
    write(folder, "b.json", training(100), 0);
    const CliRun run = run_cli({"profile", folder.path()});
    QVERIFY2(run.out.contains("2 profiles") && run.out.contains("b.json\nrank 0 of 2") &&
                 run.out.contains("computes 25.0 % longer than the median"),
             qPrintable(run.out));
    const CliRun other = run_cli({"profile", folder.path(), "--rank", "1"});
    QVERIFY2(other.out.contains("a.json\nrank 1 of 2"), qPrintable(other.out));
  }

  void with_a_design() {
    QTemporaryDir folder;
    const QString file = write(folder, "r0.json", training());
    const QStringList words{"profile", file, "--model", "llama3-8b", "--dp", "2"};
    const CliRun run = run_cli(words);
    QCOMPARE(run.exit_code, 0);
    for (const char* word : {"predicted", "the run takes", "difference", "Llama 3 8B"})
      QVERIFY2(run.out.contains(word), qPrintable(run.out));
    const QJsonObject comparison = run_cli(words + QStringList{"--json"}).json()["comparison"].toObject();
    double predicted = 0;
    for (const auto& part : comparison["parts"].toArray())
      predicted += part.toObject()["predicted"].toDouble();
    const double step = comparison["step"].toObject()["predicted"].toDouble();
    QVERIFY(step > 0 && std::abs(predicted - step) < 1e-9 * step);
  }

  void mistakes_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("message");
    QTest::addColumn<int>("exit_code");
    QTest::newRow("no file") << QStringList{} << "the profile is missing" << 2;
    QTest::newRow("missing") << QStringList{"nowhere.json"} << "the file cannot be read" << 3;
    QTest::newRow("steps") << QStringList{"FILE", "--steps", "0"} << "1 to 1000000" << 2;
    QTest::newRow("rank") << QStringList{"FILE", "--rank", "7"} << "no profile is of rank 7" << 2;
    QTest::newRow("model") << QStringList{"FILE", "--model", "none"} << "there is no preset" << 2;
  }
  void mistakes() {
    QFETCH(QStringList, words);
    QFETCH(QString, message);
    QFETCH(int, exit_code);
    QTemporaryDir folder;
    words.replaceInStrings("FILE", write(folder, "r0.json", training()));
    const CliRun run = run_cli(QStringList{"profile"} + words);
    QVERIFY2(run.err.contains(message), qPrintable(run.err));
    QCOMPARE(run.exit_code, exit_code);
  }

  void calibrate_reads_profiles() {
    QTemporaryDir folder;
    ProfileTrace trace;
    trace.op(1, "aten::mm", 0, 1,
             ", \"Input Dims\": [[4096, 4096], [4096, 4096]], \"Input type\": [\"c10::BFloat16\", "
             "\"c10::BFloat16\"]");
    trace.kernel("gemm", 10, 250, 1);
    const CliRun run = run_cli({"calibrate", write(folder, "r0.json", trace), "--accelerator", "h100"});
    QCOMPARE(run.exit_code, 0);
    QVERIFY2(run.out.contains("matmul bfloat16"), qPrintable(run.out));
    QVERIFY2(run.err.contains("Test GPU"), qPrintable(run.err));
    const CliRun none = run_cli({"calibrate", write(folder, "r1.json", training()), "--accelerator", "h100"});
    QVERIFY2(none.err.contains("record_shapes=True"), qPrintable(none.err));
  }

  void audit_reads_profiles() {
    QTemporaryDir folder;
    const CliRun run = run_cli(
        {"audit", write(folder, "r0.json", training()), "--model", "llama3-8b", "--dp", "2"});
    QCOMPARE(run.exit_code, 1);
    const CliRun alone = run_cli({"audit", folder.filePath("r0.json")});
    QVERIFY2(alone.err.contains("a profile does not say which design it ran"), qPrintable(alone.err));
    QVERIFY2(run.out.contains("all_reduce over 2 ranks bfloat16") && run.out.contains("FAIL"),
             qPrintable(run.out));
  }
};

QTEST_APPLESS_MAIN(ProfileTest)
#include "profile_test.moc"
