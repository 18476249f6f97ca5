// The system gives no memory or no thread: a message, or the work goes on with less.
#include <sys/resource.h>

#include "faults/fault_run.h"

using namespace shardscape::test;

class MemoryFaultsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void no_memory();
  void no_thread();
  void little_memory_data();
  void little_memory();
  void huge_work_under_a_limit();

 private:
  std::vector<Writer> writers_;
};

void MemoryFaultsTest::initTestCase() {
  SKIP_WITHOUT_SHIM();
  const QString bundle = "export --model llama3-8b --layers 2 --dp 2 --tp 2 --seq 128 --batch ";
  const QString
      search = "explore --model llama3-8b --layers 4 --seq 128 --batch 4 --gpus 8 --tp all --pp all ";
  writers_ = {{"export", bundle + "2 -o job", bundle + "4 --replace -o job"},
              {"timeline", "timeline --layers 2 -o t.json", "timeline --layers 4 -o t.json"},
              {"search", search + "-o e.json", search + "--top 3 -o e.json"}};
  for (Writer& writer : writers_) writer.record();
}

void MemoryFaultsTest::no_memory() {
  for (const Writer& writer : writers_) {
    QVERIFY(writer.calls["memory"] > 0);
    for (const int call : calls_to_fail(writer.calls["memory"], 6)) {
      writer.fail(with_errno("memory", call, ENOMEM));
      writer.fail(QString("memory:%1+:%2").arg(call).arg(ENOMEM));
    }
  }
}

void MemoryFaultsTest::no_thread() {
  for (const Writer& writer : writers_) {
    QVERIFY(writer.calls["thread"] > 0);
    for (const int call : calls_to_fail(writer.calls["thread"], 2)) {
      writer.fail(with_errno("thread", call, EAGAIN));
      writer.fail(QString("thread:%1+:%2").arg(call).arg(EAGAIN));
    }
  }
}

void MemoryFaultsTest::little_memory_data() {
  QTest::addColumn<int>("mebibytes");
  for (const int mebibytes : {80, 120, 160, 200, 250, 300, 400, 600})
    QTest::addRow("%d MiB", mebibytes) << mebibytes;
}

void MemoryFaultsTest::little_memory() {
  QFETCH(int, mebibytes);
  const auto limit = [mebibytes] {
    const rlim_t bytes = static_cast<rlim_t>(mebibytes) << 20;
    const rlimit both{bytes, bytes};
    ::setrlimit(RLIMIT_AS, &both);
  };
  for (const Writer& writer : writers_) {
    const QTemporaryDir folder;
    write_contents(writer.before, folder.path());
    const FaultRun run = run_faulty(writer.new_line, folder.path(), {.child = limit});
    const QByteArray what = QString("%1: exit code %2, signal %3\n%4")
                                .arg(writer.name)
                                .arg(run.exit_code)
                                .arg(run.signal)
                                .arg(run.err)
                                .toUtf8();
    QVERIFY2(run.signal == 0 && run.exit_code >= 0, what);
    QVERIFY2(run.exit_code == 0 || says_why(run), what);
    QVERIFY2(contents_of(folder.path()) == (run.exit_code == 0 ? writer.after : writer.before), what);
  }
}

// Work that needs gigabytes is refused before it starts.
void MemoryFaultsTest::huge_work_under_a_limit() {
  const auto limit = [] {
    const rlimit both{rlim_t{700} << 20, rlim_t{700} << 20};
    ::setrlimit(RLIMIT_AS, &both);
  };
  const QTemporaryDir folder;
  const FaultRun run = run_faulty("timeline --model gpt3-175b --pp 8 --batch 100000 -o t.json", folder.path(),
                                  {.child = limit});
  QVERIFY2(run.exit_code == 1 && run.signal == 0, qPrintable(run.err));
  QVERIFY2(run.err.contains("batch: simulating a step of 100,000 microbatches"), qPrintable(run.err));
  QVERIFY(contents_of(folder.path()).isEmpty());
}

QTEST_GUILESS_MAIN(MemoryFaultsTest)
#include "memory_faults_test.moc"
