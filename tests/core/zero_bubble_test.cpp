// Schedules with split backwards and their relatives: that they hold, what they keep, and how long they idle.
#include <QtTest>

#include "schedule/timing.h"

using namespace shardscape;
using Kind = ActionKind;

Q_DECLARE_METATYPE(shardscape::ScheduleKind)

namespace {

struct Named {
  ScheduleKind kind;
  const char* name;
};
constexpr Named kKinds[] = {{ScheduleKind::ZbH1, "zb-h1"}, {ScheduleKind::ZbH2, "zb-h2"}, {ScheduleKind::ZbV, "zb-v"},
                            {ScheduleKind::DualPipe, "dualpipe"}, {ScheduleKind::DualPipeV, "dualpipe-v"}};

int chunks_of(ScheduleKind kind) { return stage_layout(kind) == StageLayout::Round ? 1 : 2; }

// Chunks in flight at most, gradients of weights included.
int most(const Schedule& schedule) {
  const std::vector<int> all = microbatches_in_flight(schedule);
  return *std::max_element(all.begin(), all.end());
}

}  // namespace

class ZeroBubbleTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void hold_data();
  void hold();
  void flexible_data();
  void flexible();
  void published_bubbles_data();
  void published_bubbles();
  void ideal_bubbles_data();
  void ideal_bubbles();
  void layouts_data();
  void layouts();
};

void ZeroBubbleTest::hold_data() {
  QTest::addColumn<ScheduleKind>("kind");
  QTest::addColumn<int>("pp");
  QTest::addColumn<int>("m");
  for (const auto& [kind, name] : kKinds)
    for (int pp : {1, 2, 3, 4, 6, 8, 16})
      for (int m : {1, 2, 3, 4, 5, 8, 12, 16, 31, 32, 64, 128}) {
        const bool dual = kind == ScheduleKind::DualPipe, early = dual || kind == ScheduleKind::DualPipeV;
        if ((dual && (pp % 2 != 0 || m % 2 != 0)) || (early && m < 2 * pp)) continue;
        QTest::addRow("%s pp %d m %d", name, pp, m) << kind << pp << m;
      }
}

// Peaks: arXiv 2401.10241 table 1 (pp, 2 pp - 1, pp of whole stages) and the README of DualPipe (pp + 1 of its stages).
void ZeroBubbleTest::hold() {
  QFETCH(ScheduleKind, kind);
  QFETCH(int, pp);
  QFETCH(int, m);
  const Schedule schedule = make_schedule(kind, pp, m, chunks_of(kind));
  const std::vector<std::string> found = violations(schedule);
  QVERIFY2(found.empty(), found.empty() ? "" : found.front().c_str());
  switch (kind) {
    case ScheduleKind::ZbH1: QCOMPARE(most(schedule), std::min(pp, m)); break;
    case ScheduleKind::ZbH2: QCOMPARE(most(schedule), std::min(2 * pp - 1, m)); break;
    case ScheduleKind::ZbV: QVERIFY(most(schedule) <= 2 * pp); if (m >= 2 * pp) QCOMPARE(most(schedule), 2 * pp); break;
    case ScheduleKind::DualPipe: QCOMPARE(most(schedule), pp + 1); break;
    default: QCOMPARE(most(schedule), 2 * pp + 1);
  }
}

void ZeroBubbleTest::flexible_data() {
  QTest::addColumn<int>("pp");
  QTest::addColumn<int>("v");
  QTest::addColumn<int>("m");
  QTest::addColumn<int>("group");
  for (int pp : {2, 3, 4, 8})
    for (int v : {2, 3, 5})
      for (int m : {1, 2, 3, 5, 8, 9, 16, 23, 40})
        for (int group : {pp, pp + 1, 2 * pp, 3 * pp + 1, 64}) QTest::addRow("pp %d v %d m %d in groups of %d", pp, v, m, group) << pp << v << m << group;
}

void ZeroBubbleTest::flexible() {
  QFETCH(int, pp);
  QFETCH(int, v);
  QFETCH(int, m);
  QFETCH(int, group);
  const Schedule schedule = make_schedule(ScheduleKind::Flexible, pp, m, v, group);
  const std::vector<std::string> found = violations(schedule);
  QVERIFY2(found.empty(), found.empty() ? "" : found.front().c_str());
  // In groups as large as the pipeline it is interleaved 1F1B.
  if (group == pp && m % pp == 0 && m > pp) {
    QVERIFY(schedule.actions == make_schedule(ScheduleKind::OneFOneB, pp, m, v).actions);
  }
}

void ZeroBubbleTest::published_bubbles_data() {
  QTest::addColumn<int>("pp");
  QTest::addColumn<int>("m");
  QTest::addColumn<QList<double>>("times");
  QTest::addColumn<QList<double>>("rates");
  // arXiv 2401.10241: tables 9 (milliseconds of F, B, W and messages) and 5 (1F1B, ZB-H1, ZB-H2).
  const auto row = [](const char* name, int pp, int m, QList<double> times, QList<double> rates) { QTest::newRow(name) << pp << m << times << rates; };
  row("1.5B m 24", 8, 24, {18.522, 18.086, 9.337, 0.601}, {0.2431, 0.1585, 0.1083});
  row("1.5B m 64", 8, 64, {18.546, 18.097, 9.321, 0.762}, {0.1240, 0.0674, 0.0444});
  row("6.2B", 8, 32, {29.802, 29.428, 19.53, 0.577}, {0.1898, 0.1045, 0.0559});
  row("14.6B m 48", 16, 48, {11.347, 11.248, 8.132, 0.377}, {0.2552, 0.1397, 0.0672});
  row("14.6B m 128", 16, 128, {11.325, 11.308, 8.109, 0.378}, {0.1251, 0.0576, 0.0266});
  row("28.3B", 32, 128, {10.408, 10.204, 7.703, 0.408}, {0.2168, 0.1106, 0.0490});
}

void ZeroBubbleTest::published_bubbles() {
  QFETCH(int, pp);
  QFETCH(int, m);
  QFETCH(QList<double>, times);
  QFETCH(QList<double>, rates);
  const ActionTimes given{times[0], times[1], times[2], times[3]};
  const ScheduleKind kinds[] = {ScheduleKind::OneFOneB, ScheduleKind::ZbH1, ScheduleKind::ZbH2};
  for (int i = 0; i < 3; ++i) {
    const double rate = time_schedule(make_schedule(kinds[i], pp, m), given).bubble();
    QVERIFY2(std::abs(rate - rates[i]) < 0.5e-4, qPrintable(QString::number(rate)));
  }
  // Two chunks, each half a stage.
  const double v = time_schedule(make_schedule(ScheduleKind::ZbV, pp, m, 2), {times[0] / 2, times[1] / 2, times[2] / 2, times[3]}).bubble();
  qInfo("zb-v %.4f", v);
}

void ZeroBubbleTest::ideal_bubbles_data() {
  QTest::addColumn<int>("pp");
  QTest::addColumn<int>("m");
  for (int pp : {2, 4, 8}) QTest::addRow("pp %d", pp) << pp << 4 * pp;
}

// Closed forms with F, B and W of one length.
void ZeroBubbleTest::ideal_bubbles() {
  QFETCH(int, pp);
  QFETCH(int, m);
  const ActionTimes one{1, 1, 1, 0};
  const auto idle = [&](ScheduleKind kind) {
    const TimedSchedule timed = time_schedule(make_schedule(kind, pp, m, chunks_of(kind)), one);
    return timed.stage_time - timed.busy.front();
  };
  QCOMPARE(idle(ScheduleKind::OneFOneB), 3.0 * (pp - 1));
  QCOMPARE(idle(ScheduleKind::ZbH1), 1.0 * (pp - 1));
  QCOMPARE(idle(ScheduleKind::ZbH2), 0.0);
  qInfo("zbv %g dual %g dualv %g", idle(ScheduleKind::ZbV), idle(ScheduleKind::DualPipe), idle(ScheduleKind::DualPipeV));
}

void ZeroBubbleTest::layouts_data() {
  QTest::addColumn<ScheduleKind>("kind");
  for (const auto& [kind, name] : kKinds) QTest::newRow(name) << kind;
  QTest::newRow("1f1b") << ScheduleKind::OneFOneB;
}

void ZeroBubbleTest::layouts() {
  QFETCH(ScheduleKind, kind);
  const PipelineLayout places{stage_layout(kind), 4, chunks_of(kind)};
  std::vector<int> seen(static_cast<size_t>(places.virtual_stages()));
  for (int64_t stage = 0; stage < 4; ++stage)
    for (int64_t chunk = 0; chunk < places.chunks; ++chunk) {
      const StagePlace at{stage, chunk};
      ++seen[static_cast<size_t>(places.virtual_stage(at))];
      if (const auto next = places.after(at)) {
        QCOMPARE(places.virtual_stage(*next), places.virtual_stage(at) + 1);
        QVERIFY(places.before(*next) == at);
      } else {
        QVERIFY(places.last(at));
      }
    }
  for (const int times : seen) QCOMPARE(times, kind == ScheduleKind::DualPipe ? 2 : 1);
}

QTEST_APPLESS_MAIN(ZeroBubbleTest)
#include "zero_bubble_test.moc"
