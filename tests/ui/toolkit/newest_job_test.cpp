// Jobs of pages: the newest one counts, and an exception in one does not end the program.
#include <QSignalSpy>
#include <QtTest>
#include <new>

#include "ui/toolkit/newest_job.h"

using namespace shardscape::ui;

class NewestJobTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void deliversInTheThreadOfTheWindow() {
    NewestJob job(this);
    const QThread* thread = nullptr;
    job.start([&](const NewestJob::Post& post, std::stop_token) {
      post([&] { thread = QThread::currentThread(); });
    });
    QTRY_COMPARE(thread, QThread::currentThread());
  }

  void aNewerJobStopsTheOlder() {
    NewestJob job(this);
    std::atomic<bool> began = false;
    QStringList delivered;
    job.start([&](const NewestJob::Post& post, std::stop_token stop) {
      began = true;
      while (!stop.stop_requested()) std::this_thread::yield();
      post([&] { delivered << "first"; });
    });
    QTRY_VERIFY(began);
    job.start([&](const NewestJob::Post& post, std::stop_token) { post([&] { delivered << "second"; }); });
    QTRY_COMPARE(delivered, QStringList{"second"});
  }

  void anExceptionIsAMessage_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("words");
    QTest::newRow("no memory") << 0 << "no more memory";
    QTest::newRow("another") << 1 << "unexpected failure: a test";
  }
  void anExceptionIsAMessage() {
    QFETCH(int, kind);
    QFETCH(QString, words);
    QSignalSpy failures(&JobFailures::instance(), &JobFailures::failed);
    NewestJob job(this);
    QSignalSpy failed(&job, &NewestJob::failed);
    job.start([kind](const NewestJob::Post&, std::stop_token) {
      if (kind == 0) throw std::bad_alloc();
      throw std::runtime_error("a test");
    });
    QTRY_COMPARE(failures.size(), 1);
    QCOMPARE(failed.size(), 1);
    QCOMPARE(failures[0][0].value<const QObject*>(), &job);
    QVERIFY2(failures[0][1].toString().contains(words), qPrintable(failures[0][1].toString()));
    // The thread goes on.
    bool done = false;
    job.start([&](const NewestJob::Post& post, std::stop_token) { post([&] { done = true; }); });
    QTRY_VERIFY(done);
  }
};

QTEST_GUILESS_MAIN(NewestJobTest)
#include "newest_job_test.moc"
