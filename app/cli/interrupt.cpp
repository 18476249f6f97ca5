#include "app/cli/interrupt.h"

#include <unistd.h>

#include <chrono>

#include "app/cli/exit_code.h"

namespace shardscape {
namespace {

constexpr int kWakeUp = SIGUSR1;  // ends the watcher thread
// Programs such as timeout(1) send a signal twice, to the process and to its group. The second one is the
// same.
constexpr std::chrono::milliseconds kOneSignal{500};

bool ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Interrupt::Interrupt() {
  sigemptyset(&signals_);
  for (int signal : {SIGINT, SIGTERM, kWakeUp}) sigaddset(&signals_, signal);
  if (!ignored(SIGHUP)) sigaddset(&signals_, SIGHUP);  // nohup ignores SIGHUP
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  watcher_ = std::thread([this] { watch(); });
}

Interrupt::~Interrupt() {
  ending_ = true;
  pthread_kill(watcher_.native_handle(), kWakeUp);
  watcher_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interrupt::watch() {
  std::chrono::steady_clock::time_point first;
  for (int signal = 0; sigwait(&signals_, &signal) == 0 && !ending_;) {
    if (signal == kWakeUp) continue;  // from another program
    if (at_once_) _exit(kInterrupted);
    const auto now = std::chrono::steady_clock::now();
    if (!source_.stop_requested()) {
      first = now;
      source_.request_stop();
    } else if (now - first > kOneSignal) {
      _exit(kInterrupted);
    }
  }
}

}  // namespace shardscape
