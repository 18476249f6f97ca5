// Calls of the system that fail while a command replaces a single file, or the tables of a folder.
#include "faults/fault_run.h"

using namespace shardscape::test;

class FileFaultsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void a_call_fails_data();
  void a_call_fails();
  void no_table_changes_alone_data();
  void no_table_changes_alone();

 private:
  std::vector<Writer> writers_;
};

namespace {

const QString
    kSearch = "explore --model llama3-8b --layers 4 --seq 128 --batch 4 --gpus 8 --tp all --pp all ";

}  // namespace

void FileFaultsTest::initTestCase() {
  SKIP_WITHOUT_SHIM();
  writers_ = {
      {"timeline", "timeline --layers 2 -o t.json", "timeline --layers 4 -o t.json"},
      {"page", "report --layers 2 --markdown r.md", "report --layers 4 --markdown r.md"},
      {"page as HTML", "report --layers 2 --html r.html", "report --layers 4 --html r.html"},
      {"design", "report --layers 2 --save-design d.json", "report --layers 4 --save-design d.json"},
      {"search", kSearch + "-o e.json", kSearch + "--top 3 -o e.json"},
      {"search as CSV", kSearch + "--csv e.csv", kSearch + "--top 3 --csv e.csv"},
      {"saved study", "study old s.json", "study new s.json", SHARDSCAPE_SAVER},
      {"unsaved work", "unsaved old windows", "unsaved new windows", SHARDSCAPE_SAVER},
  };
  for (Writer& writer : writers_) {
    writer.record();
  }
}

void FileFaultsTest::a_call_fails_data() {
  QTest::addColumn<QString>("kind");
  QTest::addColumn<int>("error");
  const std::pair<const char*, int> faults[] = {
      {"write", ENOSPC}, {"open", EACCES}, {"open", ENOSPC}, {"rename", EIO}, {"sync", EIO}};
  for (const auto& [kind, error] : faults)
    QTest::addRow("%s %s", kind, strerrorname_np(error)) << kind << error;
}

void FileFaultsTest::a_call_fails() {
  QFETCH(QString, kind);
  QFETCH(int, error);
  for (const Writer& writer : writers_) {
    QVERIFY2(writer.calls[kind] > 0, writer.name);
    for (const int call : calls_to_fail(writer.calls[kind], 3)) {
      writer.fail(with_errno(kind, call, error));
    }
  }
}

void FileFaultsTest::no_table_changes_alone_data() {
  QTest::addColumn<QString>("kind");
  QTest::addColumn<int>("error");
  const std::pair<const char*, int> faults[] = {{"write", ENOSPC}, {"open", EACCES}, {"sync", EIO}};
  for (const auto& [kind, error] : faults)
    QTest::addRow("%s %s", kind, strerrorname_np(error)) << kind << error;
}

void FileFaultsTest::no_table_changes_alone() {
  SKIP_WITHOUT_SHIM();
  QFETCH(QString, kind);
  QFETCH(int, error);
  Writer tables{"tables", "report --layers 2 --tables t", "report --layers 4 --tables t"};
  tables.record();
  QVERIFY(tables.calls[kind] > 3);
  for (const int call : calls_to_fail(tables.calls[kind], 6)) tables.fail(with_errno(kind, call, error));
}

QTEST_GUILESS_MAIN(FileFaultsTest)
#include "file_faults_test.moc"
