// Ctrl+C and termination signals as a stop token, so that commands can clean up.
#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>

namespace shardscape {

// During its lifetime, the first SIGINT, SIGTERM or SIGHUP requests a stop; a second one, half
// a second later or more, ends the process.
// Create it before any thread: threads inherit the blocked signals.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  std::stop_token token() const { return source_.get_token(); }
  bool requested() const { return source_.stop_requested(); }
  // work(), which has nothing to clean up: meanwhile the first signal ends the process with kInterrupted.
  template <typename Work>
  auto end_at_once_during(const Work& work) {
    at_once_ = true;
    auto made = work();
    at_once_ = false;
    return made;
  }

 private:
  void watch();
  sigset_t signals_{}, before_{};
  std::stop_source source_;
  std::atomic<bool> at_once_ = false, ending_ = false;
  std::thread watcher_;
};

}  // namespace shardscape
