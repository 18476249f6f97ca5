// Pipeline schedules: what the generators make, and that the invariants catch whatever is broken.
#include <QtTest>
#include <algorithm>
#include <functional>

#include "schedule/schedule.h"

using namespace shardscape;
using Kind = ActionKind;

namespace {

std::vector<int> order_of(const Schedule& schedule, int stage, Kind kind) {
  std::vector<int> order;
  for (const Action& action : schedule.actions[static_cast<size_t>(stage)]) {
    if (action.kind == kind) order.push_back(action.microbatch);
  }
  return order;
}

// "F0 F1 B0": forwards and backwards only.
std::string work(const Schedule& schedule, int stage) {
  std::string text;
  for (const Action& action : schedule.actions[static_cast<size_t>(stage)]) {
    if (action.kind != Kind::Forward && action.kind != Kind::Backward) continue;
    if (!text.empty()) text += ' ';
    text += (action.kind == Kind::Forward ? 'F' : 'B') + std::to_string(action.microbatch);
  }
  return text;
}

std::vector<Action>::iterator find(Schedule& schedule, int stage, Kind kind, int microbatch) {
  auto& actions = schedule.actions[static_cast<size_t>(stage)];
  return std::find(actions.begin(), actions.end(), Action{kind, microbatch});
}

void swap(Schedule& schedule, int stage, Action a, Action b) {
  std::iter_swap(find(schedule, stage, a.kind, a.microbatch), find(schedule, stage, b.kind, b.microbatch));
}

using Change = std::function<void(Schedule&)>;

}  // namespace

Q_DECLARE_METATYPE(Change)
Q_DECLARE_METATYPE(shardscape::ScheduleKind)

class ScheduleTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void generated_data();
  void generated();
  void known_orders();
  void refuses_nothing_to_do();
  void every_loss_is_caught_data();
  void every_loss_is_caught();
  void every_doubling_is_caught_data() { every_loss_is_caught_data(); }
  void every_doubling_is_caught();
  void every_wrong_number_is_caught_data() { every_loss_is_caught_data(); }
  void every_wrong_number_is_caught();
  void broken_data();
  void broken();
  void deadlock_alone();
  void other_orders_may_be_right();
};

void ScheduleTest::generated_data() {
  QTest::addColumn<ScheduleKind>("kind");
  QTest::addColumn<int>("pp");
  QTest::addColumn<int>("m");
  for (ScheduleKind kind : {ScheduleKind::GPipe, ScheduleKind::OneFOneB}) {
    for (int pp : {1, 2, 3, 4, 7, 8, 16}) {
      for (int m : {1, 2, 3, 4, 5, 8, 31, 64}) {
        QTest::addRow("%s pp %d m %d", kind == ScheduleKind::GPipe ? "gpipe" : "1f1b", pp, m) << kind << pp << m;
      }
    }
  }
}

void ScheduleTest::generated() {
  QFETCH(ScheduleKind, kind);
  QFETCH(int, pp);
  QFETCH(int, m);
  const Schedule schedule = make_schedule(kind, pp, m);
  const std::vector<std::string> found = violations(schedule);
  QVERIFY2(found.empty(), found.empty() ? "" : found.front().c_str());
  std::vector<int> ascending;
  for (int i = 0; i < m; ++i) ascending.push_back(i);
  const std::vector<int> in_flight = microbatches_in_flight(schedule);
  for (int stage = 0; stage < pp; ++stage) {
    const bool first = stage == 0, last = stage + 1 == pp;
    QCOMPARE(in_flight[static_cast<size_t>(stage)], kind == ScheduleKind::GPipe ? m : std::min(pp - stage, m));
    QCOMPARE(order_of(schedule, stage, Kind::Forward), ascending);
    QCOMPARE(order_of(schedule, stage, Kind::Backward), ascending);
    QCOMPARE(order_of(schedule, stage, Kind::ReceiveForward), first ? std::vector<int>{} : ascending);
    QCOMPARE(order_of(schedule, stage, Kind::SendBackward), first ? std::vector<int>{} : ascending);
    QCOMPARE(order_of(schedule, stage, Kind::SendForward), last ? std::vector<int>{} : ascending);
    QCOMPARE(order_of(schedule, stage, Kind::ReceiveBackward), last ? std::vector<int>{} : ascending);
    const auto& actions = schedule.actions[static_cast<size_t>(stage)];
    QVERIFY(actions[actions.size() - 2] == (Action{Kind::GradReduce, -1}));
    QVERIFY(actions.back() == (Action{Kind::Optimizer, -1}));
  }
}

void ScheduleTest::known_orders() {
  // arXiv 2104.04473 figure 4 (top), shortened to 4 microbatches on 3 stages.
  const Schedule one = make_schedule(ScheduleKind::OneFOneB, 3, 4);
  QCOMPARE(work(one, 0), std::string("F0 F1 F2 B0 F3 B1 B2 B3"));
  QCOMPARE(work(one, 1), std::string("F0 F1 B0 F2 B1 F3 B2 B3"));
  QCOMPARE(work(one, 2), std::string("F0 B0 F1 B1 F2 B2 F3 B3"));
  const Schedule gpipe = make_schedule(ScheduleKind::GPipe, 2, 3);
  QCOMPARE(work(gpipe, 0), std::string("F0 F1 F2 B0 B1 B2"));
  QCOMPARE(work(gpipe, 1), std::string("F0 F1 F2 B0 B1 B2"));
}

void ScheduleTest::refuses_nothing_to_do() {
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, make_schedule(ScheduleKind::GPipe, 0, 4));
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, make_schedule(ScheduleKind::OneFOneB, 2, 0));
}

void ScheduleTest::every_loss_is_caught_data() {
  QTest::addColumn<ScheduleKind>("kind");
  QTest::addColumn<int>("pp");
  QTest::addColumn<int>("m");
  QTest::newRow("gpipe") << ScheduleKind::GPipe << 3 << 4;
  QTest::newRow("1f1b") << ScheduleKind::OneFOneB << 4 << 5;
  QTest::newRow("one stage") << ScheduleKind::OneFOneB << 1 << 3;
}

void ScheduleTest::every_loss_is_caught() {
  QFETCH(ScheduleKind, kind);
  QFETCH(int, pp);
  QFETCH(int, m);
  const Schedule whole = make_schedule(kind, pp, m);
  for (size_t stage = 0; stage < whole.actions.size(); ++stage) {
    for (size_t i = 0; i < whole.actions[stage].size(); ++i) {
      Schedule schedule = whole;
      schedule.actions[stage].erase(schedule.actions[stage].begin() + static_cast<std::ptrdiff_t>(i));
      QVERIFY(!violations(schedule).empty());
    }
  }
}

void ScheduleTest::every_doubling_is_caught() {
  QFETCH(ScheduleKind, kind);
  QFETCH(int, pp);
  QFETCH(int, m);
  const Schedule whole = make_schedule(kind, pp, m);
  for (size_t stage = 0; stage < whole.actions.size(); ++stage) {
    for (const Action& action : whole.actions[stage]) {
      Schedule schedule = whole;
      schedule.actions[stage].push_back(action);
      QVERIFY(!violations(schedule).empty());
    }
  }
}

void ScheduleTest::every_wrong_number_is_caught() {
  QFETCH(ScheduleKind, kind);
  QFETCH(int, pp);
  QFETCH(int, m);
  const Schedule whole = make_schedule(kind, pp, m);
  for (size_t stage = 0; stage < whole.actions.size(); ++stage) {
    for (size_t i = 0; i < whole.actions[stage].size(); ++i) {
      for (int wrong : {-2, -1, 0, 1, m, m + 7}) {
        if (whole.actions[stage][i].microbatch == wrong) continue;
        Schedule schedule = whole;
        schedule.actions[stage][i].microbatch = wrong;
        QVERIFY(!violations(schedule).empty());
      }
    }
  }
}

void ScheduleTest::broken_data() {
  QTest::addColumn<Change>("change");
  QTest::addColumn<QString>("message");
  const auto row = [](const char* name, const char* message, Change change) { QTest::newRow(name) << change << message; };
  row("forward before its input", "forward 2 comes before receive_forward 2",
      [](Schedule& s) { swap(s, 1, {Kind::Forward, 2}, {Kind::ReceiveForward, 2}); });
  row("sent before it is made", "send_forward 1 comes before forward 1",
      [](Schedule& s) { swap(s, 0, {Kind::Forward, 1}, {Kind::SendForward, 1}); });
  row("backward before forward", "backward 0 comes before forward 0",
      [](Schedule& s) { swap(s, 2, {Kind::Forward, 0}, {Kind::Backward, 0}); });
  row("backward before its gradient", "backward 3 comes before receive_backward 3",
      [](Schedule& s) { swap(s, 0, {Kind::Backward, 3}, {Kind::ReceiveBackward, 3}); });
  row("gradient sent before it is made", "send_backward 0 comes before backward 0",
      [](Schedule& s) { swap(s, 2, {Kind::Backward, 0}, {Kind::SendBackward, 0}); });
  row("reduced too early", "grad_reduce comes before backward 3",
      [](Schedule& s) { swap(s, 1, {Kind::GradReduce, -1}, {Kind::Backward, 3}); });
  row("stepped too early", "optimizer comes before grad_reduce",
      [](Schedule& s) { swap(s, 0, {Kind::GradReduce, -1}, {Kind::Optimizer, -1}); });
  row("received in another order", "receive_forward 1 meets send_forward 0 of stage 0",
      [](Schedule& s) { swap(s, 1, {Kind::ReceiveForward, 0}, {Kind::ReceiveForward, 1}); });
  row("gradients sent in another order", "receive_backward 2 meets send_backward 3 of stage 2",
      [](Schedule& s) { swap(s, 2, {Kind::SendBackward, 2}, {Kind::SendBackward, 3}); });
  row("missing", "stage 1: forward 2 is missing", [](Schedule& s) { s.actions[1].erase(find(s, 1, Kind::Forward, 2)); });
  row("twice", "stage 2: backward 1 is there twice", [](Schedule& s) { s.actions[2].push_back({Kind::Backward, 1}); });
  row("send from the last stage", "stage 2: send_forward 0 has no stage on the other end",
      [](Schedule& s) { s.actions[2].push_back({Kind::SendForward, 0}); });
  row("unknown microbatch", "stage 0: forward names microbatch 9", [](Schedule& s) { s.actions[0].push_back({Kind::Forward, 9}); });
  row("send lost", "3 times send_forward of stage 0", [](Schedule& s) { s.actions[0].erase(find(s, 0, Kind::SendForward, 3)); });
  row("waits for ever", "stage 1: waits for ever at receive_forward 3",
      [](Schedule& s) { s.actions[0].erase(find(s, 0, Kind::SendForward, 3)); });
  row("stage lost", "actions are given for 2 stages, not for 3", [](Schedule& s) { s.actions.pop_back(); });
  row("no microbatches", "a schedule needs a stage and a microbatch", [](Schedule& s) { s.microbatches = 0; });
}

void ScheduleTest::broken() {
  QFETCH(Change, change);
  QFETCH(QString, message);
  Schedule schedule = make_schedule(ScheduleKind::OneFOneB, 3, 4);
  change(schedule);
  QStringList found;
  for (const std::string& text : violations(schedule)) found << QString::fromStdString(text);
  QVERIFY2(!found.filter(message).isEmpty(), qPrintable("found: " + found.join(" | ")));
}

void ScheduleTest::deadlock_alone() {
  // Both ends pair in order and every stage keeps its own dependencies, yet each waits for the other.
  Schedule schedule{2, 2, {}};
  schedule.actions = {{{Kind::Forward, 0}, {Kind::SendForward, 0}, {Kind::ReceiveBackward, 0}, {Kind::Backward, 0},
                       {Kind::Forward, 1}, {Kind::SendForward, 1}, {Kind::ReceiveBackward, 1}, {Kind::Backward, 1},
                       {Kind::GradReduce}, {Kind::Optimizer}},
                      {{Kind::ReceiveForward, 0}, {Kind::Forward, 0}, {Kind::ReceiveForward, 1}, {Kind::Forward, 1},
                       {Kind::Backward, 0}, {Kind::SendBackward, 0}, {Kind::Backward, 1}, {Kind::SendBackward, 1},
                       {Kind::GradReduce}, {Kind::Optimizer}}};
  QCOMPARE(violations(schedule), (std::vector<std::string>{"stage 0: waits for ever at receive_backward 0",
                                                           "stage 1: waits for ever at receive_forward 1"}));
}

void ScheduleTest::other_orders_may_be_right() {
  // GPipe's paper runs the backwards last microbatch first; a send may also come later than right away.
  Schedule schedule = make_schedule(ScheduleKind::GPipe, 2, 2);
  for (auto& actions : schedule.actions) {
    for (Action& action : actions) {
      const bool backward = action.kind == Kind::Backward || action.kind == Kind::SendBackward || action.kind == Kind::ReceiveBackward;
      if (backward) action.microbatch = 1 - action.microbatch;
    }
  }
  QVERIFY(violations(schedule).empty());
  Schedule late = make_schedule(ScheduleKind::GPipe, 2, 2);
  swap(late, 0, {Kind::SendForward, 0}, {Kind::Forward, 1});
  QVERIFY(violations(late).empty());
}

QTEST_APPLESS_MAIN(ScheduleTest)
#include "schedule_test.moc"
