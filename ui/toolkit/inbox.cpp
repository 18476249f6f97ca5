#include "ui/toolkit/inbox.h"

#include <QCoreApplication>
#include <QEvent>
#include <utility>

namespace shardscape::ui {
namespace {

QEvent::Type call_type() {
  static const int type = QEvent::registerEventType();
  return static_cast<QEvent::Type>(type);
}

struct CallEvent : QEvent {
  explicit CallEvent(std::function<void()> posted) : QEvent(call_type()), call(std::move(posted)) {}
  std::function<void()> call;
};

}  // namespace

void Inbox::post(std::function<void()> call) {
  auto* event = new CallEvent(std::move(call));
  posted_.fetch_add(1, std::memory_order_release);
  QCoreApplication::postEvent(this, event);  // takes the event
}

bool Inbox::event(QEvent* event) {
  (void)posted_.load(std::memory_order_acquire);  // before the event is read
  if (event->type() != call_type()) return QObject::event(event);
  static_cast<CallEvent*>(event)->call();
  return true;
}

}  // namespace shardscape::ui
