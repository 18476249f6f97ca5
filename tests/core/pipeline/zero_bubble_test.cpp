// Schedules with split backwards and related ones: invariants, microbatches in flight, and idle time.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>
#include <algorithm>
#include <functional>
#include <random>

#include "support/schedule_times.h"

using namespace shardscape;
using namespace shardscape::test;
using Kind = ActionKind;

Q_DECLARE_METATYPE(shardscape::ScheduleKind)

namespace {

struct Named {
  ScheduleKind kind;
  const char* name;
};
constexpr Named kKinds[] = {{ScheduleKind::ZbH1, "zb-h1"},
                            {ScheduleKind::ZbH2, "zb-h2"},
                            {ScheduleKind::ZbV, "zb-v"},
                            {ScheduleKind::DualPipe, "dualpipe"},
                            {ScheduleKind::DualPipeV, "dualpipe-v"}};

int chunks_of(ScheduleKind kind) { return chunk_layout(kind) == ChunkLayout::Round ? 1 : 2; }

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
  void from_times();
  void from_times_of_a_limit();
  void published_bubbles_data();
  void published_bubbles();
  void ideal_bubbles_data();
  void ideal_bubbles();
  void what_waits();
  void broken_data();
  void broken();
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

// Peaks: arXiv 2401.10241 table 1 (pp, 2 pp - 1, pp of whole stages) and the README of DualPipe (pp + 1 of
// its stages).
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
    case ScheduleKind::ZbV:
      QVERIFY(most(schedule) <= 2 * pp);
      if (m >= 2 * pp) QCOMPARE(most(schedule), 2 * pp);
      break;
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
        for (int group : {pp, pp + 1, 2 * pp, 3 * pp + 1, 64})
          QTest::addRow("pp %d v %d m %d in groups of %d", pp, v, m, group) << pp << v << m << group;
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

// For random pass times: the schedule is valid, stays within its memory limit, and idles at most as long as
// ZB-H1 and ZB-H2 with the same memory.
void ZeroBubbleTest::from_times() {
  std::mt19937 random(11);
  const auto of = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  int shorter = 0;
  for (int i = 0; i < 600; ++i) {
    const int pp = static_cast<int>(of(1, 12)), m = static_cast<int>(of(0, 1) ? of(1, 3) : of(1, 8 * pp));
    PassPlan passes{
        {of(1, 300), of(1, 500), of(1, 300), of(0, 3) ? of(0, 80) : 0}, of(0, 1) ? pp : 2 * pp, 100};
    if (i % 7 == 0) passes.times.clear();
    const bool equal = passes.times.empty();
    const ActionTimes times{equal ? 1 : double(passes.times[0]), equal ? 1 : double(passes.times[1]),
                            equal ? 1 : double(passes.times[2]), equal ? 0 : double(passes.times[3])};
    const Schedule schedule = make_schedule(ScheduleKind::ZbAuto, pp, m, 1, 0, passes);
    const std::vector<std::string> found = violations(schedule);
    const auto what = [&](double a, double b) {
      return qPrintable(
          QString("pp %1 m %2, at most %3: %4 %5").arg(pp).arg(m).arg(passes.most_in_flight).arg(a).arg(b));
    };
    QVERIFY2(found.empty(), found.empty() ? "" : found.front().c_str());
    QVERIFY2(most(schedule) <= passes.most_in_flight, what(most(schedule), 0));
    const ScheduleKind by_hand = passes.most_in_flight == pp ? ScheduleKind::ZbH1 : ScheduleKind::ZbH2;
    const double mine = time_schedule(schedule, times).stage_time,
                 theirs = time_schedule(make_schedule(by_hand, pp, m), times).stage_time;
    QVERIFY2(mine <= theirs * (1 + 1e-12), what(mine, theirs));
    shorter += mine < theirs * 0.999;
    if (mine > theirs * (1 - 1e-12)) {
      QVERIFY2(most(schedule) <= most(make_schedule(by_hand, pp, m)),
               what(most(schedule), most(make_schedule(by_hand, pp, m))));  // more memory must save time
    }
  }
  QVERIFY2(shorter > 50, qPrintable(QString::number(shorter)));
}

// Limits down to a single microbatch, and deferred weight gradients that count less than a microbatch.
void ZeroBubbleTest::from_times_of_a_limit() {
  std::mt19937 random(12);
  const auto of = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int i = 0; i < 300; ++i) {
    const int pp = static_cast<int>(of(1, 8)), m = static_cast<int>(of(1, 40));
    const PassPlan passes{{of(1, 300), of(1, 500), of(1, 300), of(0, 80)}, of(1, 3 * pp), of(0, 100)};
    const Schedule schedule = make_schedule(ScheduleKind::ZbAuto, pp, m, 1, 0, passes);
    const std::vector<std::string> found = violations(schedule);
    QVERIFY2(found.empty(), found.empty() ? "" : found.front().c_str());
    for (const std::vector<Action>& actions : schedule.actions) {
      int64_t held = 0;  // in percent of a microbatch
      for (const Action& a : actions) {
        held += a.kind == Kind::Forward          ? 100
                : a.kind == Kind::BackwardInput  ? passes.waiting_percent - 100
                : a.kind == Kind::BackwardWeight ? -passes.waiting_percent
                                                 : 0;
        QVERIFY(held <= 100 * passes.most_in_flight);
      }
      QCOMPARE(held, int64_t{0});
    }
  }
}

void ZeroBubbleTest::published_bubbles_data() {
  QTest::addColumn<QJsonObject>("row");
  QFile file(SHARDSCAPE_TEST_DATA "/zero_bubble.json");
  QVERIFY(file.open(QIODevice::ReadOnly));
  for (const QJsonValue& row : QJsonDocument::fromJson(file.readAll()).object()["rows"].toArray())
    QTest::addRow("%s, m %d", qPrintable(row.toObject()["model"].toString()),
                  row.toObject()["microbatches"].toInt())
        << row.toObject();
}

// To all digits that are printed, where nothing else is said.
void ZeroBubbleTest::published_bubbles() {
  QFETCH(QJsonObject, row);
  const int pp = row["stages"].toInt(), m = row["microbatches"].toInt();
  const ActionTimes given{row["forward_ms"].toDouble(), row["backward_input_ms"].toDouble(),
                          row["backward_weight_ms"].toDouble(), row["message_ms"].toDouble()};
  const QJsonObject rates = row["bubble"].toObject();
  for (const auto& [kind, name] : {Named{ScheduleKind::OneFOneB, "1f1b"}, Named{ScheduleKind::ZbH1, "zb-h1"},
                                   Named{ScheduleKind::ZbH2, "zb-h2"}}) {
    const double rate = time_schedule(make_schedule(kind, pp, m), given).bubble();
    QVERIFY2(std::abs(rate - rates[QLatin1String(name)].toDouble()) < 0.5e-4,
             qPrintable(QString("%1: %2").arg(name).arg(rate)));
  }
  // ZB-1p and ZB-2p, found from the pass times, with the memory of pp and of 2 pp microbatches. Deferred
  // weight gradients read 32 of the 34 + 5 a s / h bytes per token and hidden unit that a layer saves
  // (section 2.1 there; heads, sequence and hidden size: table 3).
  PassPlan passes;
  for (const char* key : {"forward_ms", "backward_input_ms", "backward_weight_ms", "message_ms"})
    passes.times.push_back(std::llround(row[key].toDouble() * 1000));
  const double saved = 34 + 5 * row["heads"].toDouble() * row["seq"].toDouble() / row["hidden"].toDouble();
  passes.waiting_percent = std::lround(100 * 32 / saved);
  for (const auto& [limit, name] : {std::pair{pp, "zb-1p"}, {2 * pp, "zb-2p"}}) {
    passes.most_in_flight = limit;
    const double rate = time_schedule(make_schedule(ScheduleKind::ZbAuto, pp, m, 1, 0, passes), given)
                            .bubble();
    QVERIFY2(std::abs(rate - rates[QLatin1String(name)].toDouble()) < 0.5e-4,
             qPrintable(QString("%1: %2").arg(name).arg(rate)));
  }
  // Interleaved 1F1B with chunks of one layer agrees within 0.005. The order is Megatron-LM's. The longest
  // path has 2 (v pp - 1) messages, pp more than the paper's figures. Without the time of these pp messages,
  // all printed digits agree.
  const int chunks = row["chunks"].toInt();
  const ActionTimes part{given.forward / chunks, given.backward_input / chunks,
                         given.backward_weight / chunks, given.message};
  const TimedSchedule interleaved = time_schedule(make_schedule(ScheduleKind::OneFOneB, pp, m, chunks), part);
  const double printed = rates["1f1b-interleaved"].toDouble(), busy = interleaved.busy.front();
  QVERIFY2(std::abs(interleaved.bubble() - printed) < 0.005,
           qPrintable(QString("interleaved: %1").arg(interleaved.bubble())));
  const double fewer = 1 - busy / (interleaved.stage_time - pp * given.message);
  QVERIFY2(std::abs(fewer - printed) < 1e-4,
           qPrintable(QString("interleaved, pp messages less: %1").arg(fewer)));
  // ZB-V idles less than ZB-H2. Each of its two chunks is half a stage.
  const ActionTimes half{given.forward / 2, given.backward_input / 2, given.backward_weight / 2,
                         given.message};
  const double v = time_schedule(make_schedule(ScheduleKind::ZbV, pp, m, 2), half).bubble();
  QVERIFY2(v > 0 && v < rates["zb-h2"].toDouble(), qPrintable(QString::number(v)));
}

void ZeroBubbleTest::ideal_bubbles_data() {
  QTest::addColumn<int>("pp");
  QTest::addColumn<int>("m");
  for (int pp : {2, 4, 8}) QTest::addRow("pp %d", pp) << pp << 4 * pp;
}

// Closed forms with F, B and W of one length: of DualPipe (its README) (pp/2 - 1)(F&B + B - 3W) with B whole,
// of DualPipeV as many for twice the stages.
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
  QCOMPARE(idle(ScheduleKind::ZbV), 0.0);
  QCOMPARE(idle(ScheduleKind::DualPipe), 2.0 * (pp / 2 - 1));
  QCOMPARE(idle(ScheduleKind::DualPipeV), 2.0 * (pp - 1));
}

// On the last stage of ZB-H1 nothing but gradients of weights piles up.
void ZeroBubbleTest::what_waits() {
  using Moments = std::vector<std::vector<int64_t>>;
  const Schedule schedule = make_schedule(ScheduleKind::ZbH1, 4, 8);
  Moments last = pareto_peaks(schedule.actions[3], {{1, 0}}, {{0, 1}}),
          first = pareto_peaks(schedule.actions[0], {{1, 0}}, {{0, 1}});
  std::sort(last.begin(), last.end());
  QCOMPARE(last, (Moments{{0, 4}, {1, 3}}));
  QCOMPARE(first, (Moments{{4, 0}, {3, 1}}));
}

using Change = std::function<void(Schedule&)>;
Q_DECLARE_METATYPE(Change)

void ZeroBubbleTest::broken_data() {
  QTest::addColumn<ScheduleKind>("kind");
  QTest::addColumn<Change>("change");
  QTest::addColumn<QString>("message");
  const auto row = [](const char* name, ScheduleKind kind, const char* message, Change change) {
    QTest::newRow(name) << kind << change << message;
  };
  const auto at = [](Schedule& s, int stage, Kind kind, int m, int chunk = 0) {
    auto& actions = s.actions[static_cast<size_t>(stage)];
    return std::find_if(actions.begin(), actions.end(), [=](const Action& a) {
      return a.kind == kind && a.microbatch == m && a.chunk == chunk;
    });
  };
  row("weights first", ScheduleKind::ZbH1, "backward_weight 2 comes before backward_input 2",
      [=](Schedule& s) {
        std::iter_swap(at(s, 1, Kind::BackwardInput, 2), at(s, 1, Kind::BackwardWeight, 2));
      });
  row("no weights", ScheduleKind::ZbH2, "stage 1: backward_weight 3 is missing",
      [=](Schedule& s) { s.actions[1].erase(at(s, 1, Kind::BackwardWeight, 3)); });
  row("both and whole", ScheduleKind::ZbH1, "backward_weight 3 repeats the backward",
      [=](Schedule& s) { at(s, 1, Kind::BackwardInput, 3)->kind = Kind::Backward; });
  row("reduced too early", ScheduleKind::ZbH2, "grad_reduce comes before backward_weight 7",
      [=](Schedule& s) {
        std::iter_swap(at(s, 0, Kind::BackwardWeight, 7), at(s, 0, Kind::GradReduce, -1));
      });
  row("a turn too soon", ScheduleKind::ZbV, "stage 1: forward 0 of chunk 1 comes before forward 0 of chunk 0",
      [=](Schedule& s) { std::iter_swap(at(s, 1, Kind::Forward, 0, 0), at(s, 1, Kind::Forward, 0, 1)); });
  row("message to itself", ScheduleKind::ZbV,
      "stage 1: send_forward 0 of chunk 0 has no stage on the other end", [=](Schedule& s) {
        s.actions[1].push_back({Kind::SendForward, 0, 0});
      });
  row("wrong way", ScheduleKind::DualPipe, "stage 0: forward 0 of chunk 1 goes the other way",
      [=](Schedule& s) {
        s.actions[0].push_back({Kind::Forward, 0, 1});
      });
  row("overlapped alone", ScheduleKind::DualPipeV, "overlaps nothing",
      [=](Schedule& s) { at(s, 0, Kind::Forward, 0)->overlapped = true; });
}

void ZeroBubbleTest::broken() {
  QFETCH(ScheduleKind, kind);
  QFETCH(Change, change);
  QFETCH(QString, message);
  Schedule schedule = make_schedule(kind, 2, 8, chunks_of(kind));
  change(schedule);
  QStringList found;
  for (const std::string& text : violations(schedule)) found << QString::fromStdString(text);
  QVERIFY2(!found.filter(message).isEmpty(), qPrintable("found: " + found.join(" | ")));
}

void ZeroBubbleTest::layouts_data() {
  QTest::addColumn<ScheduleKind>("kind");
  for (const auto& [kind, name] : kKinds) QTest::newRow(name) << kind;
  QTest::newRow("1f1b") << ScheduleKind::OneFOneB;
}

void ZeroBubbleTest::layouts() {
  QFETCH(ScheduleKind, kind);
  const PipelineLayout places{chunk_layout(kind), 4, chunks_of(kind)};
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
