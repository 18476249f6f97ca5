// Loops on several threads: every index once, the caller's model library, exceptions, nested loops, counts.
#include "model/parallel_loop.h"

#include <QtTest>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "model/library.h"
#include "model/progress_count.h"

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

  void helpers_begin_once_before_their_calls() {
    static thread_local int begun = 0;
    on_loop_helper([] { ++begun; });
    std::atomic<int> wrong{0};
    for (int run = 0; run < 20; ++run)
      with_loop_threads(4, [&] {
        const auto caller = std::this_thread::get_id();
        parallel_loop(1000,
                      [&](size_t) { wrong += begun != (std::this_thread::get_id() == caller ? 0 : 1); });
      });
    on_loop_helper(nullptr);
    QCOMPARE(wrong.load(), 0);
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

  // One call of tell() at a time: it writes without a lock.
  void a_count_never_falls() {
    std::vector<size_t> told, expected(20000);
    std::iota(expected.begin(), expected.end(), size_t{3});
    const ProgressCount::Tell tell = [&](size_t done, size_t of) {
      told.push_back(done);
      if (of != expected.size() + 2) told.push_back(0);
    };
    ProgressCount count(tell, 2);
    with_loop_threads(
        4, [&] { parallel_loop(expected.size(), [&](size_t) { count.step(expected.size() + 2); }); });
    QVERIFY(told == expected);
    QCOMPARE(count.done(), expected.size() + 2);
  }

  void a_count_needs_no_listener() {
    const ProgressCount::Tell nobody;
    ProgressCount count(nobody);
    parallel_loop(100, [&](size_t) { count.step(100); });
    QCOMPARE(count.done(), size_t{100});
  }
};

}  // namespace shardscape

QTEST_APPLESS_MAIN(shardscape::ParallelLoopTest)
#include "parallel_loop_test.moc"
