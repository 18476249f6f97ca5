// Limits, full disks, folders without rights, two programs on one target, no HOME, other locales, a clock
// that jumps, and targets that are no regular files.
#include <fcntl.h>
#include <locale.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <QStorageInfo>
#include <QThread>
#include <csignal>

#include "faults/fault_run.h"

using namespace shardscape::test;

class SurroundingsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void limit_of_file_size();
  void folder_without_rights();
  void full_disk_data();
  void full_disk();
  void two_programs();
  void environment_data();
  void environment();
  void not_a_regular_file_data();
  void not_a_regular_file();
  void pipe();
  void read_only_file();
  void longest_names();
  void two_interrupts();

 private:
  std::vector<Writer> writers_;
};

namespace {

const QString kExport = "export --model llama3-8b --layers 2 --dp 2 --tp 2 --seq 128 --batch ";
const QString kTimeline = "timeline --layers 2 -o ";

}  // namespace

void SurroundingsTest::initTestCase() {
  writers_ = {{"folder", kExport + "2 -o job", kExport + "4 --replace -o job"},
              {"archive", kExport + "2 -o job.tar", kExport + "4 --replace -o job.tar"},
              {"file", kTimeline + "t.json", "timeline --layers 4 -o t.json"}};
  for (Writer& writer : writers_) writer.record();
}

void SurroundingsTest::limit_of_file_size() {
  const auto limit = [] {
    const rlimit both{2048, 2048};
    ::setrlimit(RLIMIT_FSIZE, &both);
  };
  for (const Writer& writer : writers_) {
    const QTemporaryDir folder;
    write_contents(writer.before, folder.path());
    const FaultRun run = run_faulty(writer.new_line, folder.path(), {.child = limit});
    QCOMPARE(run.exit_code, 3);
    QVERIFY2(run.err.contains("File too large"), qPrintable(run.err));
    QVERIFY2(contents_of(folder.path()) == writer.before, writer.name);
  }
}

void SurroundingsTest::folder_without_rights() {
  for (const Writer& writer : writers_) {
    const QTemporaryDir folder;
    write_contents(writer.before, folder.path());
    ::chmod(qPrintable(folder.path()), 0555);
    const auto other_user = [] {
      // Root may write everywhere.
      if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(99);
    };
    const FaultRun run = run_faulty(writer.new_line, folder.path(), {.child = other_user});
    if (run.exit_code < 0) QSKIP("another user cannot run the program here");
    QCOMPARE(run.exit_code, 3);
    QVERIFY2(run.err.contains("Permission denied") || run.err.contains("read-only"), qPrintable(run.err));
    QVERIFY2(contents_of(folder.path()) == writer.before, writer.name);
    ::chmod(qPrintable(folder.path()), 0755);
  }
}

void SurroundingsTest::full_disk_data() {
  QTest::addColumn<bool>("inodes");
  QTest::newRow("no bytes") << false;
  QTest::newRow("no inodes") << true;
}

void SurroundingsTest::full_disk() {
  QFETCH(bool, inodes);
  for (const Writer& writer : writers_) {
    const QTemporaryDir folder;
    const auto names = static_cast<int>(writer.before.size());
    // Room for the old files alone; the root folder takes an inode too.
    qint64 bytes = 0;
    for (const QByteArray& file : writer.before) bytes += (file.size() + 4095) / 4096 * 4096;
    const QByteArray options = inodes ? QString("nr_inodes=%1,size=64m").arg(names + 1).toUtf8()
                                      : QString("size=%1").arg(bytes).toUtf8();
    if (::mount("tmpfs", qPrintable(folder.path()), "tmpfs", 0, options.constData()) != 0)
      QSKIP("this user cannot mount a file system");
    write_contents(writer.before, folder.path());
    const FaultRun run = run_faulty(writer.new_line, folder.path());
    const Contents left = contents_of(folder.path());
    ::umount2(qPrintable(folder.path()), MNT_DETACH);
    QVERIFY2(run.exit_code == 3, qPrintable(run.err));
    QVERIFY2(run.err.contains("no free inodes") == inodes, qPrintable(run.err));
    QVERIFY2(inodes || run.err.contains("No space left") || run.err.contains("but the disk has"),
             qPrintable(run.err));
    QVERIFY2(final_names(left) == writer.before, writer.name);
  }
}

// Both end with a message or a result, and the target is that of one of them.
void SurroundingsTest::two_programs() {
  for (const Writer& writer : writers_) {
    for (int i = 0; i < 3; ++i) {
      const QTemporaryDir folder;
      write_contents(writer.before, folder.path());
      QProcess both[2];
      for (QProcess& process : both) {
        prepare(process, folder.path(), {});
        process.start(SHARDSCAPE_CLI, writer.new_line.split(' '));
      }
      for (QProcess& process : both) {
        const FaultRun run = finish(process);
        QVERIFY2(run.exit_code == 0 || (run.exit_code == 3 && run.err.contains("error: ")),
                 qPrintable(run.err));
      }
      QVERIFY2(contents_of(folder.path()) == writer.after, writer.name);
    }
  }
}

void SurroundingsTest::environment_data() {
  QTest::addColumn<QStringList>("env");
  QTest::newRow("no HOME") << QStringList{"HOME", "XDG_DATA_HOME"};
  QTest::newRow("HOME that is no folder") << QStringList{"HOME=/dev/null", "XDG_DATA_HOME"};
  QTest::newRow("decimal comma") << QStringList{"LC_ALL=de_DE.UTF-8"};
  QTest::newRow("clock jumps back") << QStringList{"SHARDSCAPE_CLOCK_JUMP=2:-100000000"};
  QTest::newRow("clock jumps ahead") << QStringList{"SHARDSCAPE_CLOCK_JUMP=2:100000000"};
}

// The files are the same.
void SurroundingsTest::environment() {
  QFETCH(QStringList, env);
  if (env.front().startsWith("LC_ALL")) {
    const locale_t german = ::newlocale(LC_ALL_MASK, "de_DE.UTF-8", nullptr);
    if (!german) QSKIP("the locale de_DE.UTF-8 is not installed");
    ::freelocale(german);
  }
  for (const Writer& writer : writers_) {
    const QTemporaryDir folder;
    write_contents(writer.before, folder.path());
    const FaultRun run = run_faulty(writer.new_line, folder.path(), {.env = env});
    QVERIFY2(run.exit_code == 0, qPrintable(run.err));
    QVERIFY2(contents_of(folder.path()) == writer.after, writer.name);
  }
}

void SurroundingsTest::not_a_regular_file_data() {
  QTest::addColumn<QString>("link");  // empty: a device
  QTest::newRow("device") << "";
  QTest::newRow("link to a device") << "/dev/null";
  QTest::newRow("link to standard output") << "/proc/self/fd/1";
  QTest::newRow("link to a file") << "file.json";
  QTest::newRow("link to a new file") << "new.json";
}

// Bytes go to what the path names; the path stays what it is.
void SurroundingsTest::not_a_regular_file() {
  QFETCH(QString, link);
  const QTemporaryDir folder;
  const QString target = folder.filePath("target");
  write_contents({{"file.json", "old"}}, folder.path());
  if (link.isEmpty()) {
    if (::mknod(qPrintable(target), S_IFCHR | 0666, makedev(1, 3)) != 0) QSKIP("devices need root");
  } else {
    QCOMPARE(::symlink(qPrintable(link), qPrintable(target)), 0);
  }
  struct stat before {
  }, after{};
  QCOMPARE(::lstat(qPrintable(target), &before), 0);
  const FaultRun run = run_faulty(kTimeline + "target", folder.path());
  if (link.isEmpty() && run.err.contains("Permission denied")) QSKIP("devices have no effect here");
  QVERIFY2(run.exit_code == 0, qPrintable(run.err));
  QCOMPARE(::lstat(qPrintable(target), &after), 0);
  QCOMPARE(after.st_ino, before.st_ino);
  QCOMPARE(after.st_mode, before.st_mode);
  const QByteArray json = writers_.back().before["t.json"];
  if (link.contains("fd/1")) QVERIFY2(run.out.toUtf8().contains(json), qPrintable(run.out.left(200)));
  const Contents files = contents_of(folder.path());
  if (link.endsWith(".json")) QVERIFY(files[link] == json);
  if (link != "file.json") QCOMPARE(files["file.json"], QByteArray("old"));
  QCOMPARE(files.size(), link == "new.json" ? 3 : 2);
}

void SurroundingsTest::pipe() {
  const QTemporaryDir folder;
  QCOMPARE(::mkfifo(qPrintable(folder.filePath("pipe")), 0600), 0);
  QProcess reader;
  reader.start("cat", {folder.filePath("pipe")});
  QVERIFY(reader.waitForStarted(kLongestRun));
  QCOMPARE(run_faulty(kTimeline + "pipe", folder.path()).exit_code, 0);
  QVERIFY(reader.waitForFinished(kLongestRun));
  QCOMPARE(reader.readAllStandardOutput(), writers_.back().before["t.json"]);
}

void SurroundingsTest::read_only_file() {
  const QTemporaryDir folder;
  write_contents(writers_.back().before, folder.path());
  ::chmod(qPrintable(folder.filePath("t.json")), 0444);
  const FaultRun run = run_faulty(writers_.back().new_line, folder.path());
  QCOMPARE(run.exit_code, 3);
  QVERIFY2(run.err.contains("t.json") && run.err.contains("read-only"), qPrintable(run.err));
  QVERIFY(contents_of(folder.path()) == writers_.back().before);
}

void SurroundingsTest::longest_names() {
  const QTemporaryDir folder;
  const QString longest(255, 'n');
  for (const QString& line : {kTimeline + longest, kExport + "2 -o " + QString(240, 'e'),
                              kExport + "2 -o " + QString(251, 'a') + ".tar"}) {
    const FaultRun run = run_faulty(line, folder.path());
    QVERIFY2(run.exit_code == 0, qPrintable(run.err));
  }
  QCOMPARE(QDir(folder.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot).size(), 3);
  const FaultRun longer = run_faulty(kTimeline + longest + "n", folder.path());
  QCOMPARE(longer.exit_code, 3);
  QVERIFY2(longer.err.contains("File name too long"), qPrintable(longer.err));
}

// As timeout(1) does, which sends a signal to a process and to its group.
void SurroundingsTest::two_interrupts() {
  for (int i = 0; i < 3; ++i) {
    const QTemporaryDir folder;
    if (QStorageInfo(folder.path()).bytesAvailable() < qint64{3} << 30) QSKIP("less than 3 GiB free");
    QProcess process;
    prepare(process, folder.path(), {});
    process.start(
        SHARDSCAPE_CLI,
        QString("export --model llama3.1-405b --tp 8 --pp 16 --dp 64 --batch 256 -o job").split(' '));
    const QDir::Filters all = QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot;
    const auto writes = [&] {
      const QStringList made = QDir(folder.path()).entryList(all);
      return !made.isEmpty() && QDir(folder.filePath(made.front())).entryList(all).size() > 5;
    };
    QTRY_VERIFY_WITH_TIMEOUT(writes(), kLongestRun);
    for (int signal = 0; signal < 2; ++signal) {
      ::kill(static_cast<pid_t>(process.processId()), SIGINT);
      QThread::msleep(5);
    }
    // The second signal may come after the files are removed; it then ends the program, as a shell shows it.
    const FaultRun run = finish(process);
    QVERIFY2(run.exit_code == 130 || run.signal == SIGINT, qPrintable(run.err));
    QVERIFY(contents_of(folder.path()).isEmpty());
  }
}

QTEST_GUILESS_MAIN(SurroundingsTest)
#include "support/longest_run.h"
#include "surroundings_test.moc"
