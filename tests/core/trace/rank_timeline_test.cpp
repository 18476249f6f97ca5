// The rows of a rank's timeline: a receive gets the first row that is free when it begins.
#include <QtTest>
#include <random>

#include "trace/rank_timeline.h"

using namespace shardscape;

class RankTimelineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void kinds() {
    TimelineTracks tracks;
    SimulatedSpan span;
    span.type = chakra::NodeType::Comp;
    QCOMPARE(tracks.track_of(span), +TimelineTracks::kCompute);
    span.type = chakra::NodeType::Coll;
    QCOMPARE(tracks.track_of(span), +TimelineTracks::kCommunication);
    QCOMPARE(tracks.count(), +TimelineTracks::kFirstReceive);
  }

  void receives_data() {
    QTest::addColumn<int>("seed");
    QTest::addColumn<int>("longest");  // of a receive, ns
    for (int seed = 0; seed < 20; ++seed)
      for (const int longest : {0, 1, 10, 300})
        QTest::addRow("seed %d, %d ns", seed, longest) << seed << longest;
  }
  void receives() {
    QFETCH(int, seed);
    QFETCH(int, longest);
    std::mt19937 random(static_cast<uint32_t>(seed));
    TimelineTracks tracks;
    std::vector<int64_t> free_at;  // by row, as the definition says
    SimulatedSpan span;
    span.type = chakra::NodeType::Recv;
    for (int i = 0; i < 500; ++i) {
      span.begin += static_cast<int64_t>(random() % 4);
      span.end = span.begin + static_cast<int64_t>(random() % static_cast<uint32_t>(longest + 1));
      const auto row = std::find_if(free_at.begin(), free_at.end(),
                                    [&](int64_t end) { return end <= span.begin; });
      const auto expected = TimelineTracks::kFirstReceive + static_cast<int>(row - free_at.begin());
      if (row == free_at.end())
        free_at.push_back(span.end);
      else
        *row = span.end;
      QCOMPARE(tracks.track_of(span), expected);
    }
    QCOMPARE(tracks.count(), TimelineTracks::kFirstReceive + static_cast<int>(free_at.size()));
  }
};

QTEST_GUILESS_MAIN(RankTimelineTest)
#include "rank_timeline_test.moc"
