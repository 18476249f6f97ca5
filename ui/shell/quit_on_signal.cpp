#include "ui/shell/quit_on_signal.h"

#include <sys/socket.h>
#include <unistd.h>
#include <csignal>

#include <QCoreApplication>
#include <QSocketNotifier>

namespace shardscape::ui {
namespace {

int ends[2] = {-1, -1};

// Only async-signal-safe calls here. The event loop quits the program.
void wake(int) {
  const char byte = 1;
  [[maybe_unused]] const ssize_t written = write(ends[0], &byte, 1);
}

}  // namespace

void quitOnSignal(QObject* parent) {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  auto* notifier = new QSocketNotifier(ends[1], QSocketNotifier::Read, parent);
  QObject::connect(notifier, &QSocketNotifier::activated, notifier, [notifier] {
    notifier->setEnabled(false);
    QCoreApplication::exit(0);  // quit() would ask about unsaved changes
  });
  struct sigaction action = {};
  action.sa_handler = wake;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);  // a second signal ends the program at once
  struct sigaction before = {};
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (signal != SIGHUP || sigaction(signal, nullptr, &before) != 0 ||
        before.sa_handler != SIG_IGN)  // nohup
      sigaction(signal, &action, nullptr);
}

}  // namespace shardscape::ui
