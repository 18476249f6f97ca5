// Which files of a folder are the traces of its ranks: plain ones, or those compressed with gzip.
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>

#include "bundle/checker.h"
#include "support/gzip_file.h"
#include "support/trace_bundle.h"

using namespace shardscape;
using namespace shardscape::test;
namespace fs = std::filesystem;

class TraceFolderTest : public QObject {
  Q_OBJECT
 private slots:
  // The content of a file decides, not its name.
  void compressed_traces_data() {
    QTest::addColumn<QString>("ending");
    QTest::newRow("name of a compressed file") << ".et.gz";
    QTest::newRow("name of a plain file") << ".et";
  }
  void compressed_traces() {
    QFETCH(QString, ending);
    QTemporaryDir made;
    const fs::path folder = made.path().toStdString();
    BundleSpec bundle = good_bundle();
    const TraceFileSpec last = bundle.ranks[3];
    bundle.ranks.erase(3);
    bundle.save(folder);
    const fs::path file = folder / ("trace.3" + ending.toStdString());
    write_gzip(file, trace_bytes(last));
    const CheckReport report = check_bundle(folder);
    QVERIFY2(report.ok(), check_text(report).c_str());
    QCOMPARE(report.nodes, 44);
    QCOMPARE(report.findings.size(), size_t{1});
    QCOMPARE(report.findings[0].code, std::string("GZIP"));
    QCOMPARE(report.findings[0].rank, int64_t{3});
    QVERIFY(report.findings[0].message.starts_with(file.filename().string() + " is compressed"));
  }

  // A simulator reads the plain file of a rank.
  void plain_traces_come_first() {
    QTemporaryDir made;
    const fs::path folder = made.path().toStdString();
    good_bundle().save(folder);
    for (const char* rank : {"0", "1", "2", "3"})
      write_gzip(folder / ("trace." + std::string(rank) + ".et.gz"), "no trace");
    QVERIFY(check_bundle(folder).findings.empty());
  }
};

QTEST_APPLESS_MAIN(TraceFolderTest)
#include "trace_folder_test.moc"
