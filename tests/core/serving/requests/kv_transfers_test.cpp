// Transfers of KV caches that share ports.
#include <QtTest>
#include <cmath>
#include <map>

#include "serving/requests/kv_transfers.h"
#include "serving/requests/random.h"

using namespace shardscape;

namespace {

// The ends of all transfers that are under way.
std::map<int32_t, double> ends(KvTransfers& transfers, double until = Engine::kIdle) {
  std::map<int32_t, double> out;
  while (transfers.time() < until) {
    const double now = transfers.time();
    if (const auto request = transfers.run()) out[*request] = now;
  }
  return out;
}

}  // namespace

class KvTransfersTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void one_transfer_takes_latency_and_bytes() {
    KvTransfers transfers({100, 50, 0.25}, 1, 1);
    transfers.start(1, 7, 0, 0, 200);
    QCOMPARE(ends(transfers), (std::map<int32_t, double>{{7, 1 + 4 + 0.25}}));
    transfers.start(10, 8, 0, 0, 0);
    QCOMPARE(ends(transfers), (std::map<int32_t, double>{{8, 10.25}}));
    // A connector's time comes on top, and keeps no port busy.
    transfers.start(20, 1, 0, 0, 50, 0.5);
    transfers.start(21, 2, 0, 0, 50);
    QCOMPARE(ends(transfers), (std::map<int32_t, double>{{1, 21.75}, {2, 22.25}}));
    transfers.start(30, 8, 0, 0, 0, 0.5);
    QCOMPARE(ends(transfers), (std::map<int32_t, double>{{8, 30.75}}));
    KvTransfers endless({0, 0, 0.5}, 1, 1);
    endless.start(1, 7, 0, 0, 1e12);
    QCOMPARE(ends(endless), (std::map<int32_t, double>{{7, 1.5}}));
  }

  // The first transfer is alone for 0.5 s. Then both have half of the port: 50 bytes take 1 s. The second one
  // then has the port for its last 50 bytes.
  void transfers_to_one_receiver_share_it() {
    KvTransfers transfers({1000, 100, 0}, 2, 1);
    transfers.start(0, 1, 0, 0, 100);
    transfers.start(0.5, 2, 1, 0, 100);
    QCOMPARE(ends(transfers), (std::map<int32_t, double>{{1, 1.5}, {2, 2.0}}));
  }
  void transfers_of_one_sender_share_it() {
    KvTransfers transfers({100, 1000, 0}, 1, 2);
    transfers.start(0, 1, 0, 0, 100);
    transfers.start(0, 2, 0, 1, 100);
    QCOMPARE(ends(transfers), (std::map<int32_t, double>{{1, 2.0}, {2, 2.0}}));
  }

  // Receiver 1 divides 2 bytes/s between two transfers. Sender 0 has 3, so 2 are left for its other transfer.
  void rates_are_max_min_fair() {
    KvTransfers transfers({3, 2, 0}, 2, 2);
    transfers.start(0, 1, 0, 0, 10);
    transfers.start(0, 2, 0, 1, 5);
    transfers.start(0, 3, 1, 1, 5);
    QCOMPARE(ends(transfers), (std::map<int32_t, double>{{1, 5.0}, {2, 5.0}, {3, 5.0}}));
  }

  void cancelled_transfers_leave_their_share() {
    KvTransfers transfers({100, 100, 0.125}, 2, 1);
    transfers.start(0, 1, 0, 0, 100);
    transfers.start(0, 2, 1, 0, 100);
    transfers.cancel(1, 2);  // 50 bytes of each are left
    QCOMPARE(ends(transfers), (std::map<int32_t, double>{{1, 1.625}}));
  }

  // Every transfer ends once. No port moves more bytes than its rate allows, and the fullest port works all
  // the time if all transfers use it.
  void ports_keep_their_rates() {
    for (uint64_t seed = 0; seed < 200; ++seed) {
      Random random(seed, 97);
      const int32_t senders = 1 + static_cast<int32_t>(random.below(4));
      const double send = 1 + random.uniform() * 9;
      const bool one_receiver = random.below(2);
      const int32_t receivers = one_receiver ? 1 : 1 + static_cast<int32_t>(random.below(4));
      const double receive = one_receiver ? send / senders / 2 : 1 + random.uniform() * 9;
      KvTransfers transfers({send, receive, 0}, senders, receivers);
      std::vector<double> sent(static_cast<size_t>(senders)), received(static_cast<size_t>(receivers));
      std::map<int32_t, double> all;
      for (int32_t i = 0; i < 30; ++i) {
        const auto from = static_cast<int32_t>(random.below(senders)),
                   to = static_cast<int32_t>(random.below(receivers));
        const double bytes = 1 + random.uniform() * 20, now = i * 0.1;
        for (const auto& [request, end] : ends(transfers, now)) QVERIFY(all.insert({request, end}).second);
        transfers.start(now, i, from, to, bytes);
        sent[static_cast<size_t>(from)] += bytes;
        received[static_cast<size_t>(to)] += bytes;
      }
      for (const auto& [request, end] : ends(transfers)) QVERIFY(all.insert({request, end}).second);
      QCOMPARE(all.size(), size_t{30});
      double last = 0;
      for (const auto& [request, end] : all) {
        QVERIFY(end > request * 0.1);
        last = std::max(last, end);
      }
      for (const double bytes : sent) QVERIFY(bytes <= send * last * (1 + 1e-9));
      for (const double bytes : received) QVERIFY(bytes <= receive * last * (1 + 1e-9));
      if (one_receiver) QVERIFY(std::abs(received[0] / receive / last - 1) < 1e-6);
    }
  }
};

QTEST_APPLESS_MAIN(KvTransfersTest)
#include "kv_transfers_test.moc"
