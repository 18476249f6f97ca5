// Calls of another thread run in the thread of the window, in order, and end with the inbox.
#include "ui/toolkit/inbox.h"

#include <QTest>
#include <QThread>
#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "offscreen.h"

using namespace shardscape;
using ui::Inbox;

class InboxTest : public QObject {
  Q_OBJECT

 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void callsRunHereInTheirOrder() {
    Inbox inbox;
    std::vector<int> seen;
    bool here = true;
    std::jthread([&] {
      for (int i = 0; i < 100; ++i)
        inbox.post([&, i] {
          here = here && QThread::currentThread() == qApp->thread();
          seen.push_back(i);
        });
    }).join();
    QVERIFY(seen.empty());  // they wait for the events of this thread
    QTRY_COMPARE(seen.size(), size_t{100});
    QVERIFY(here && std::is_sorted(seen.begin(), seen.end()));
  }

  void theEndDropsCalls() {
    auto inbox = std::make_unique<Inbox>();
    const auto kept = std::make_shared<bool>(false);
    inbox->post([kept] { *kept = true; });
    QCOMPARE(kept.use_count(), 2);
    inbox.reset();
    QCoreApplication::processEvents();
    QVERIFY(!*kept);
    QCOMPARE(kept.use_count(), 1);
  }
};

QTEST_MAIN(InboxTest)
#include "inbox_test.moc"
