// Programs that end as by kill -9: before each call that changes files, and at random moments.
#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QThread>
#include <csignal>

#include "faults/fault_run.h"
#include "support/longest_run.h"
#include "support/test_share.h"

using namespace shardscape::test;

class KillTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void before_a_call_data();
  void before_a_call();
  void at_a_random_moment_data();
  void at_a_random_moment();
  void between_the_renames_of_folders();
  void a_running_export_keeps_its_folder();
};

namespace {

const QString kExport = "export --model llama3-8b --layers 2 --dp 2 --tp 2 --seq 128 --batch ";

void add_writers() {
  QTest::addColumn<QString>("old_line");
  QTest::addColumn<QString>("new_line");
  QTest::newRow("folder") << kExport + "2 -o job" << kExport + "4 --replace -o job";
  QTest::newRow("archive") << kExport + "2 -o job.tar" << kExport + "4 --replace -o job.tar";
  QTest::newRow("file") << "timeline --layers 2 -o t.json"
                        << "timeline --layers 4 -o t.json";
}

Writer recorded() {
  QFETCH(QString, old_line);
  QFETCH(QString, new_line);
  Writer writer{QTest::currentDataTag(), old_line, new_line};
  writer.record();
  return writer;
}

}  // namespace

void KillTest::before_a_call_data() { add_writers(); }

void KillTest::before_a_call() {
  SKIP_WITHOUT_SHIM();
  const Writer writer = recorded();
  for (const int call : calls_to_fail(writer.calls["file"], 8))
    writer.fail(QString("file:%1:KILL").arg(call));
}

void KillTest::at_a_random_moment_data() { add_writers(); }

void KillTest::at_a_random_moment() {
  const Writer writer = recorded();
  const QTemporaryDir folder;
  write_contents(writer.before, folder.path());
  QElapsedTimer clock;
  clock.start();
  run_faulty(writer.new_line, folder.path());
  const auto longest = static_cast<int>(clock.elapsed());
  QRandomGenerator random(7);
  for (int i = 0; i < cases(12); ++i) {
    QProcess process;
    prepare(process, folder.path(), {});
    process.start(SHARDSCAPE_CLI, writer.new_line.split(' '));
    QVERIFY(process.waitForStarted(kLongestRun));
    QThread::msleep(static_cast<unsigned long>(random.bounded(longest + 1)));
    process.kill();
    process.waitForFinished(kLongestRun);
    const Contents now = final_names(contents_of(folder.path()));
    QVERIFY2(now == writer.before || now == writer.after, writer.name);
  }
  QCOMPARE(run_faulty(writer.new_line, folder.path()).exit_code, 0);
  QVERIFY(contents_of(folder.path()) == writer.after);
}

// Where two folders cannot be exchanged, the old bundle gets another name before the new one gets its place.
void KillTest::between_the_renames_of_folders() {
  SKIP_WITHOUT_SHIM();
  Writer writer{"folder", kExport + "2 -o job", kExport + "4 --replace -o job"};
  writer.record();
  const QStringList no_exchange{"SHARDSCAPE_NO_EXCHANGE=1"};
  const QTemporaryDir counted;
  write_contents(writer.before, counted.path());
  const FaultRun whole = run_faulty(writer.new_line, counted.path(), {.env = no_exchange});
  QVERIFY(contents_of(counted.path()) == writer.after);
  QVERIFY(whole.calls["rename"] > writer.calls["rename"]);
  int put_back = 0;
  for (int call = 1; call <= whole.calls["rename"]; ++call) {
    const QTemporaryDir folder;
    write_contents(writer.before, folder.path());
    const QString fault = QString("rename:%1:KILL").arg(call);
    QCOMPARE(run_faulty(writer.new_line, folder.path(), {.fault = fault, .env = no_exchange}).signal, 9);
    // An export that may not replace leaves a whole bundle.
    const FaultRun refused = run_faulty(writer.old_line, folder.path(), {.env = no_exchange});
    QVERIFY2(refused.exit_code == 3, qPrintable(fault + refused.err));
    put_back += refused.err.contains("put back");
    const Contents left = final_names(contents_of(folder.path()));
    QVERIFY2(left == writer.before || left == writer.after, qPrintable(fault));
    QCOMPARE(run_faulty(writer.new_line, folder.path(), {.env = no_exchange}).exit_code, 0);
    QVERIFY2(contents_of(folder.path()) == writer.after, qPrintable(fault));
  }
  QCOMPARE(put_back, 1);
}

// An export of the same target removes what killed programs left, and nothing of a program that runs.
void KillTest::a_running_export_keeps_its_folder() {
  SKIP_WITHOUT_SHIM();
  const QTemporaryDir folder;
  QCOMPARE(run_faulty(kExport + "2 -o job", folder.path(), {.fault = "write:3:KILL"}).signal, 9);
  const QStringList killed = contents_of(folder.path()).keys();
  QVERIFY(killed.front().startsWith(".job.partial-"));
  QProcess slow;
  prepare(slow, folder.path(), {.fault = "sync:1:STOP"});
  slow.start(SHARDSCAPE_CLI, (kExport + "2 -o job").split(' '));
  QVERIFY(slow.waitForStarted(kLongestRun));
  const auto stopped = [&] {
    QFile file(QString("/proc/%1/stat").arg(slow.processId()));
    return file.open(QIODevice::ReadOnly) && file.readAll().contains(") T ");
  };
  QTRY_VERIFY_WITH_TIMEOUT(stopped(), kLongestRun);
  Contents running = contents_of(folder.path());
  QVERIFY(!running.contains(killed.front()));
  const FaultRun fast = run_faulty(kExport + "4 -o job", folder.path());
  QVERIFY2(fast.exit_code == 0, qPrintable(fast.err));
  const Contents both = contents_of(folder.path());
  for (auto it = running.begin(); it != running.end(); ++it) QVERIFY(both.value(it.key()) == it.value());
  ::kill(static_cast<pid_t>(slow.processId()), SIGCONT);
  const FaultRun run = finish(slow);
  QCOMPARE(run.exit_code, 3);
  QVERIFY2(run.err.contains("not empty"), qPrintable(run.err));
  QVERIFY(contents_of(folder.path()) == final_names(both));
}

QTEST_GUILESS_MAIN(KillTest)
#include "kill_test.moc"
