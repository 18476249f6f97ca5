// Calls of the system that fail while a bundle replaces another, as a folder and as an archive.
#include <csignal>

#include "faults/fault_run.h"

using namespace shardscape::test;

class ExportFaultsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void a_call_fails_data();
  void a_call_fails();
  void a_folder_filled_meanwhile_stays_data();
  void a_folder_filled_meanwhile_stays();

 private:
  Writer folder_{"folder", "", ""}, archive_{"archive", "", ""};
};

namespace {

const QString kExport = "export --model llama3-8b --layers 2 --dp 2 --tp 2 --seq 128 --batch ";

}  // namespace

void ExportFaultsTest::initTestCase() {
  SKIP_WITHOUT_SHIM();
  for (auto& [writer, target] : {std::pair(&folder_, "job"), {&archive_, "job.tar"}}) {
    writer->old_line = kExport + "2 -o " + target;
    writer->new_line = kExport + "4 --replace -o " + target;
    writer->record();
  }
}

void ExportFaultsTest::a_call_fails_data() {
  QTest::addColumn<QString>("target");
  QTest::addColumn<QString>("kind");
  QTest::addColumn<int>("error");
  const std::pair<const char*, int> faults[] = {{"write", ENOSPC}, {"write", EIO},   {"open", EACCES},
                                                {"open", ENOSPC},  {"rename", EIO},  {"rename", EINVAL},
                                                {"sync", EIO},     {"sync", ENOSPC}, {"remove", EACCES}};
  for (const char* target : {"folder", "archive"})
    for (const auto& [kind, error] : faults)
      QTest::addRow("%s: %s %s", target, kind, strerrorname_np(error)) << target << kind << error;
}

void ExportFaultsTest::a_call_fails() {
  QFETCH(QString, target);
  QFETCH(QString, kind);
  QFETCH(int, error);
  const Writer& writer = target == "folder" ? folder_ : archive_;
  QVERIFY(kind == "remove" || writer.calls[kind] > 0);
  for (const int call : calls_to_fail(writer.calls[kind], 3)) writer.fail(with_errno(kind, call, error));
}

void ExportFaultsTest::a_folder_filled_meanwhile_stays_data() {
  QTest::addColumn<bool>("replace");
  QTest::newRow("new folder") << false;
  QTest::newRow("old bundle") << true;
}

// Other programs fill the target after the export has looked at it. The export deletes nothing of theirs.
void ExportFaultsTest::a_folder_filled_meanwhile_stays() {
  QFETCH(bool, replace);
  const QTemporaryDir folder;
  if (replace) write_contents(folder_.before, folder.path());
  QProcess process;
  // The shim stops the program before its first rename, where the export has looked for the last time.
  prepare(process, folder.path(), {.fault = "rename:1:STOP"});
  process.start(SHARDSCAPE_CLI, folder_.new_line.split(' '));
  QVERIFY(process.waitForStarted());
  const QString state = QString("/proc/%1/stat").arg(process.processId());
  const auto stopped = [&] {
    QFile file(state);
    return file.open(QIODevice::ReadOnly) && file.readAll().contains(") T ");
  };
  QTRY_VERIFY_WITH_TIMEOUT(stopped(), kLongestRun);
  QDir(folder.path()).mkpath("job");
  QFile thesis(folder.filePath("job/thesis.txt"));
  QVERIFY(thesis.open(QIODevice::WriteOnly));
  thesis.write("years of work");
  thesis.close();
  ::kill(static_cast<pid_t>(process.processId()), SIGCONT);
  const FaultRun run = finish(process);
  QCOMPARE(run.exit_code, 3);
  QVERIFY2(run.err.contains(replace ? "thesis.txt" : "job"), qPrintable(run.err));
  Contents left = contents_of(folder.path());
  QCOMPARE(left.take("job/thesis.txt"), QByteArray("years of work"));
  left.remove("job/");
  Contents before = replace ? folder_.before : Contents{};
  before.remove("job/");
  QVERIFY(left == before);
}

QTEST_GUILESS_MAIN(ExportFaultsTest)
#include "export_faults_test.moc"
