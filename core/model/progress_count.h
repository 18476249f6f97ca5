// How many calls of a parallel loop have ended, for a person who waits.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>

namespace shardscape {

class ProgressCount {
 public:
  using Tell = std::function<void(size_t done, size_t of)>;
  // tell: may be empty, and lives longer than the count. done: calls of earlier loops.
  explicit ProgressCount(const Tell& tell, size_t done = 0) : tell_(tell), done_(done) {}
  size_t done() const { return done_; }  // while no loop runs
  // From any thread, when a call has ended; `of` calls are known so far. Counts and tells under one lock:
  // otherwise the thread that counts first could tell last, and a person would see the number fall.
  void step(size_t of) {
    const std::lock_guard lock(mutex_);
    ++done_;
    if (tell_) tell_(done_, of);
  }

 private:
  const Tell& tell_;
  std::mutex mutex_;
  size_t done_;
};

}  // namespace shardscape
