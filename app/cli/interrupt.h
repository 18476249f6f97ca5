// Ctrl+C and termination signals as a stop token, so that commands can clean up.
#pragma once

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

 private:
  void watch();
  sigset_t signals_{}, before_{};
  std::stop_source source_;
  std::thread watcher_;
};

}  // namespace shardscape
