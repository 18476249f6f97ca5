#include "model/parallel_loop.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "model/library.h"

namespace shardscape {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr bool kOwnThreads = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool kOwnThreads = true;
#else
constexpr bool kOwnThreads = false;
#endif
#else
constexpr bool kOwnThreads = false;
#endif

std::atomic<void (*)()> begin_helper = nullptr;
thread_local void (*begun)() = nullptr;  // what this thread has run

void begin_once() {
  void (*const begin)() = begin_helper.load();
  if (std::exchange(begun, begin) != begin && begin) begin();
}

// Threads take indices from one counter. Used under ThreadSanitizer only.
[[maybe_unused]] void loop_on_own_threads(size_t count, const std::function<void(size_t)>& body) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto work = [&] {
    try {
      for (size_t i; (i = next.fetch_add(1)) < count;) body(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      thrown = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < std::min(loop_threads(), count); ++i) others.emplace_back(work);
    work();
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace

void parallel_loop(size_t count, const std::function<void(size_t)>& body) {
  const ModelLibrary& library = ModelLibrary::instance();
  const std::thread::id caller = std::this_thread::get_id();
  const auto call = [&](size_t i) {
    if (std::this_thread::get_id() != caller) begin_once();
    const ModelLibrary::Scope scope(library);
    body(i);
  };
  if constexpr (kOwnThreads)
    loop_on_own_threads(count, call);
  else
    tbb::this_task_arena::isolate([&] { tbb::parallel_for(size_t{0}, count, call); });
}

void on_loop_helper(void (*begin)()) { begin_helper = begin; }

size_t loop_threads() { return static_cast<size_t>(tbb::this_task_arena::max_concurrency()); }

void with_loop_threads(int threads, const std::function<void()>& work) {
  tbb::task_arena arena(threads > 0 ? threads : tbb::task_arena::automatic);
  const ModelLibrary& library = ModelLibrary::instance();
  arena.execute([&] {
    const ModelLibrary::Scope scope(library);
    work();
  });
}

}  // namespace shardscape
