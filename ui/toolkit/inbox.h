// Calls that another thread leaves for the thread of the window. Qt's queue orders what both threads write,
// but ThreadSanitizer does not see into Debian's Qt; an atomic of our own shows it the order.
#pragma once

#include <QObject>
#include <atomic>
#include <functional>

namespace shardscape::ui {

// A member of the object that is called, declared before the threads that post to it.
class Inbox : public QObject {
 public:
  using QObject::QObject;
  // From any thread. The call runs later, in the thread of the inbox. The end of the inbox drops calls that
  // have not run.
  void post(std::function<void()> call);

 protected:
  bool event(QEvent* event) override;

 private:
  std::atomic<uint64_t> posted_ = 0;
};

}  // namespace shardscape::ui
