// Ctrl+C and polite requests to end, as a stop token: what runs can clean up behind itself.
#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

namespace shardscape {

// While it lives, the first SIGINT, SIGTERM or SIGHUP asks to stop and a second one ends the process. Make it
// before any thread starts: they inherit the blocked signals.
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
