// Ctrl+C during commands that take long: they end with exit code 130, print no result and leave no file.
#include <unistd.h>

#include <QThread>
#include <csignal>

#include "faults/fault_run.h"

using namespace shardscape::test;

class InterruptTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void ends_a_long_command_data();
  void ends_a_long_command();
  void other_signals_change_nothing();
};

namespace {

// Seconds of processor time that a process has used: /proc/PID/stat, fields 14 and 15 (proc(5)).
double processor_seconds(qint64 pid) {
  QFile stat(QString("/proc/%1/stat").arg(pid));
  if (!stat.open(QIODevice::ReadOnly)) return 0;
  const QList<QByteArray> fields = stat.readAll().split(')').last().split(' ');  // [1] is the third field
  if (fields.size() < 14) return 0;
  return static_cast<double>(fields[12].toLongLong() + fields[13].toLongLong()) /
         static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// Whether the program takes signals over: SigBlk of /proc/PID/status, a bit per signal, from 1 (proc(5)).
bool blocks(qint64 pid, int signal) {
  QFile status(QString("/proc/%1/status").arg(pid));
  if (!status.open(QIODevice::ReadOnly)) return false;
  for (const QByteArray& line : status.readAll().split('\n'))
    if (line.startsWith("SigBlk:"))
      return (line.mid(7).trimmed().toULongLong(nullptr, 16) >> (signal - 1)) & 1;
  return false;
}

// Returns when the command works.
void start_busy(QProcess& process, const QString& folder, const QString& line) {
  prepare(process, folder, {});
  process.start(SHARDSCAPE_CLI, line.split(' '));
  QVERIFY(process.waitForStarted(kLongestRun));
  while (process.state() == QProcess::Running && processor_seconds(process.processId()) < 0.3) {
    QThread::msleep(5);
    process.waitForFinished(0);
  }
  QVERIFY2(process.state() == QProcess::Running, "the command ended before the signal");
}

}  // namespace

// Each line takes many times longer than the processor time after which the signal comes.
void InterruptTest::ends_a_long_command_data() {
  QTest::addColumn<QString>("line");
  QTest::newRow("layout") << "layout --model mixtral-8x7b --layers 16384 --gpus 64";
  QTest::newRow("serve") << "serve --model llama3-8b --rate 4 --requests 1000000";
  QTest::newRow("serve with steps") << "serve --model llama3-8b --rate 4 --requests 1000000 --csv steps.csv";
  QTest::newRow("rates") << "serve --model llama3-8b --rates 1,2,4,8 --requests 1000000";
  QTest::newRow("count")
      << "explore --gpus 131072 --tp all --pp all --ep all --cp all --layers 1..16384 --count";
}

void InterruptTest::ends_a_long_command() {
  QFETCH(QString, line);
  const QTemporaryDir folder;
  QProcess process;
  start_busy(process, folder.path(), line);
  ::kill(static_cast<pid_t>(process.processId()), SIGINT);
  const FaultRun run = finish(process);
  // Before the program takes the signal over, the system ends it.
  QVERIFY2(run.exit_code == 130 || run.signal == SIGINT, qPrintable(run.err));
  QVERIFY2(run.out.isEmpty(), qPrintable(run.out));
  QVERIFY(contents_of(folder.path()).isEmpty());
}

// Schedulers send SIGUSR1 as a warning. Ctrl+C ends the command after it, too.
void InterruptTest::other_signals_change_nothing() {
  const QTemporaryDir folder;
  QProcess process;
  start_busy(process, folder.path(), "serve --model llama3-8b --rate 4 --requests 1000000");
  QTRY_VERIFY_WITH_TIMEOUT(blocks(process.processId(), SIGUSR1), kLongestRun);
  ::kill(static_cast<pid_t>(process.processId()), SIGUSR1);
  QThread::msleep(100);
  ::kill(static_cast<pid_t>(process.processId()), SIGINT);
  const FaultRun run = finish(process);
  QVERIFY2(run.exit_code == 130, qPrintable(run.err));
}

QTEST_GUILESS_MAIN(InterruptTest)
#include "interrupt_test.moc"
