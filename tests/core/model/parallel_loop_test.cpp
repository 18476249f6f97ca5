// Loops on several threads: every index once, the caller's model library, exceptions, nested loops.
#include "model/parallel_loop.h"

#include <QtTest>
#include <atomic>
#include <numeric>
#include <stdexcept>

#include "model/library.h"

namespace shardscape {

class ParallelLoopTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void calls_every_index_once_data() {
    QTest::addColumn<int>("count");
    QTest::addColumn<int>("threads");
    for (const int count : {0, 1, 2, 1000})
      for (const int threads : {0, 1, 3})
        QTest::addRow("%d calls, %d threads", count, threads) << count << threads;
  }
  void calls_every_index_once() {
    QFETCH(int, count);
    QFETCH(int, threads);
    std::vector<int> calls(static_cast<size_t>(count));
    with_loop_threads(threads, [&] {
      if (threads > 0) QCOMPARE(loop_threads(), static_cast<size_t>(threads));
      parallel_loop(calls.size(), [&](size_t i) { ++calls[i]; });
    });
    QCOMPARE(calls, std::vector<int>(static_cast<size_t>(count), 1));
  }

  void nested_loops_call_every_index_once() {
    std::atomic<int> calls{0};
    with_loop_threads(
        3, [&] { parallel_loop(20, [&](size_t) { parallel_loop(30, [&](size_t) { ++calls; }); }); });
    QCOMPARE(calls.load(), 600);
  }

  void calls_read_the_library_of_the_caller() {
    const ModelLibrary own = ModelLibrary::load(ModelLibrary::folders());
    const ModelLibrary::Scope scope(own);
    std::atomic<int> others{0};
    with_loop_threads(
        3, [&] { parallel_loop(100, [&](size_t) { others += &ModelLibrary::instance() != &own; }); });
    QCOMPARE(others.load(), 0);
  }

  void an_exception_reaches_the_caller() {
    std::atomic<int> calls{0};
    const auto loop = [&] {
      parallel_loop(100000, [&](size_t i) {
        ++calls;
        if (i == 7) throw std::runtime_error("seven");
      });
    };
    QVERIFY_EXCEPTION_THROWN(with_loop_threads(3, loop), std::runtime_error);
    QVERIFY(calls < 100000);
  }
};

}  // namespace shardscape

QTEST_APPLESS_MAIN(shardscape::ParallelLoopTest)
#include "parallel_loop_test.moc"
