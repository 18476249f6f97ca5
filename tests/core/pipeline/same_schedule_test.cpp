// Schedules that run the same actions, although designs choose them by other fields.
#include <QtTest>

#include "pipeline/same_schedule.h"
#include "pipeline/schedule.h"

using namespace shardscape;

namespace {

ParallelSpec pipeline(ScheduleKind kind, int64_t pp, int64_t virtual_stages = 1) {
  ParallelSpec p;
  p.schedule = kind;
  p.pp = pp;
  p.virtual_stages = virtual_stages;
  return p;
}

}  // namespace

class SameScheduleTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void one_stage();
  void one_microbatch();
  void groups();
  void searched_orders();
  void by_actions();
};

void SameScheduleTest::one_stage() {
  const ParallelSpec usual = pipeline(ScheduleKind::OneFOneB, 1);
  for (const ScheduleKind kind :
       {ScheduleKind::ZbH1, ScheduleKind::ZbH2, ScheduleKind::ZbV, ScheduleKind::DualPipe,
        ScheduleKind::DualPipeV, ScheduleKind::Flexible, ScheduleKind::ZbAuto})
    QVERIFY(same_schedule(usual, pipeline(kind, 1), 8));
  QVERIFY(!same_schedule(usual, pipeline(ScheduleKind::GPipe, 1), 8));
}

void SameScheduleTest::one_microbatch() {
  const ParallelSpec a = pipeline(ScheduleKind::OneFOneB, 4), b = pipeline(ScheduleKind::GPipe, 4);
  QVERIFY(same_schedule(a, b, 1));
  QVERIFY(!same_schedule(a, b, 2));
  QVERIFY(!same_schedule(a, pipeline(ScheduleKind::OneFOneB, 2), 1));
}

void SameScheduleTest::groups() {
  const ParallelSpec interleaved = pipeline(ScheduleKind::OneFOneB, 4, 2);
  ParallelSpec flexible = pipeline(ScheduleKind::Flexible, 4, 2);
  QVERIFY(same_schedule(interleaved, flexible, 16));
  flexible.microbatch_group = 4;
  QVERIFY(same_schedule(interleaved, flexible, 16));
  flexible.microbatch_group = 8;
  QVERIFY(!same_schedule(interleaved, flexible, 16));
}

// The order that zb-auto finds may be one of the published orders.
void SameScheduleTest::searched_orders() {
  PlanCache cache;
  ParallelSpec a = pipeline(ScheduleKind::ZbAuto, 4), b = a;
  b.passes.most_in_flight = 8;  // 2 pp, what 0 stands for
  QVERIFY(same_schedule(a, b, 12, &cache));
  b.passes.most_in_flight = 4;
  QVERIFY(!same_schedule(a, b, 12, &cache));
}

// Against the whole schedules.
void SameScheduleTest::by_actions() {
  const ScheduleKind kinds[] = {ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::ZbH1,
                                ScheduleKind::ZbH2, ScheduleKind::ZbAuto};
  int same = 0;
  for (const int64_t pp : {2, 3, 4})
    for (const int microbatches : {1, 2, 4, 9})
      for (const ScheduleKind x : kinds)
        for (const ScheduleKind y : kinds) {
          const ParallelSpec a = pipeline(x, pp), b = pipeline(y, pp);
          const bool equal = splits_backward(x) == splits_backward(y) &&
                             make_schedule(a, microbatches).actions == make_schedule(b, microbatches).actions;
          QCOMPARE(same_schedule(a, b, microbatches), equal);
          same += x < y && equal;
        }
  QVERIFY(same > 0);
}

QTEST_APPLESS_MAIN(SameScheduleTest)
#include "same_schedule_test.moc"
