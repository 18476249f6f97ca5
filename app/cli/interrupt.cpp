#include "app/cli/interrupt.h"

#include <unistd.h>

#include "app/cli/exit_code.h"

namespace shardscape {
namespace {

constexpr int kWakeUp = SIGUSR1;  // ends the watcher thread

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
  pthread_kill(watcher_.native_handle(), kWakeUp);
  watcher_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interrupt::watch() {
  for (int signal = 0; sigwait(&signals_, &signal) == 0 && signal != kWakeUp;) {
    if (source_.stop_requested()) _exit(kInterrupted);
    source_.request_stop();
  }
}

}  // namespace shardscape
