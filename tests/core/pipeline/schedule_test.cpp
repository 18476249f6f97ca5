// Pipeline schedules: the generated actions, and invariants that find every broken schedule.
#include <QtTest>
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "pipeline/peak_candidates.h"
#include "pipeline/schedule.h"

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

// "FFB": forwards and backwards without numbers, as the recordings of Megatron-LM give them.
std::string letters(const Schedule& schedule, int stage) {
  std::string text;
  for (const Action& action : schedule.actions[static_cast<size_t>(stage)]) {
    if (action.kind == Kind::Forward || action.kind == Kind::Backward)
      text += action.kind == Kind::Forward ? 'F' : 'B';
  }
  return text;
}

// "F0 F1 B0": forwards and backwards only.
std::string work(const Schedule& schedule, int stage) {
  std::string text;
  for (const Action& action : schedule.actions[static_cast<size_t>(stage)]) {
    if (action.kind != Kind::Forward && action.kind != Kind::Backward) continue;
    if (!text.empty()) text += ' ';
    text += (action.kind == Kind::Forward ? 'F' : 'B') + std::to_string(action.microbatch);
    if (schedule.chunks > 1) text += static_cast<char>('a' + action.chunk);
  }
  return text;
}

std::vector<Action>::iterator find(Schedule& schedule, int stage, Kind kind, int microbatch, int chunk = 0) {
  auto& actions = schedule.actions[static_cast<size_t>(stage)];
  return std::find(actions.begin(), actions.end(), Action{kind, microbatch, chunk});
}

void swap(Schedule& schedule, int stage, Action a, Action b) {
  std::iter_swap(find(schedule, stage, a.kind, a.microbatch, a.chunk),
                 find(schedule, stage, b.kind, b.microbatch, b.chunk));
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
  void interleaved_data();
  void interleaved();
  void known_orders();
  void forwards_first();
  void pairs();
  void recorded_orders();
  void peak_candidates_are_complete();
  void few_microbatches_have_all_peak_candidates_data();
  void few_microbatches_have_all_peak_candidates();
  void refuses_nothing_to_do();
  void every_loss_is_caught_data();
  void every_loss_is_caught();
  void every_doubling_is_caught_data() { every_loss_is_caught_data(); }
  void every_doubling_is_caught();
  void every_wrong_number_is_caught_data() { every_loss_is_caught_data(); }
  void every_wrong_number_is_caught();
  void broken_data();
  void broken();
  void broken_chunks_data();
  void broken_chunks();
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
        QTest::addRow("%s pp %d m %d", kind == ScheduleKind::GPipe ? "gpipe" : "1f1b", pp, m)
            << kind << pp << m;
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
    QCOMPARE(in_flight[static_cast<size_t>(stage)],
             kind == ScheduleKind::GPipe ? m : std::min(pp - stage, m));
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

void ScheduleTest::interleaved_data() {
  QTest::addColumn<int>("pp");
  QTest::addColumn<int>("v");
  QTest::addColumn<int>("m");
  for (int pp : {2, 3, 4, 8}) {
    for (int v : {2, 3, 5}) {
      for (int groups : {1, 2, 3, 7})
        QTest::addRow("pp %d v %d m %d", pp, v, groups * pp) << pp << v << groups * pp;
    }
  }
}

void ScheduleTest::interleaved() {
  QFETCH(int, pp);
  QFETCH(int, v);
  QFETCH(int, m);
  const Schedule schedule = make_schedule(ScheduleKind::OneFOneB, pp, m, v);
  const std::vector<std::string> found = violations(schedule);
  QVERIFY2(found.empty(), found.empty() ? "" : found.front().c_str());
  const std::vector<int> in_flight = microbatches_in_flight(schedule);
  for (int stage = 0; stage < pp; ++stage) {
    const int ends = (stage == 0) + (stage + 1 == pp);
    QCOMPARE(order_of(schedule, stage, Kind::Forward).size(), static_cast<size_t>(m * v));
    const auto sends = order_of(schedule, stage, Kind::SendForward).size() +
                       order_of(schedule, stage, Kind::SendBackward).size();
    const auto receives = order_of(schedule, stage, Kind::ReceiveForward).size() +
                          order_of(schedule, stage, Kind::ReceiveBackward).size();
    QCOMPARE(sends, static_cast<size_t>(m * (2 * v - ends)));
    QCOMPARE(receives, sends);
    // Three groups of microbatches have all peak candidates of longer schedules.
    std::vector<std::vector<int64_t>> each_chunk(static_cast<size_t>(v),
                                                 std::vector<int64_t>(static_cast<size_t>(v), 0));
    for (size_t c = 0; c < each_chunk.size(); ++c) each_chunk[c][c] = 1;
    auto all = pareto_peaks(schedule.actions[static_cast<size_t>(stage)], each_chunk);
    auto few = pareto_peaks(make_stage_schedule(ScheduleKind::OneFOneB, stage, pp, std::min(m, 3 * pp), v),
                            each_chunk);
    std::sort(all.begin(), all.end());
    std::sort(few.begin(), few.end());
    QVERIFY(all == few);
    // One more than the warm-up, unless everything is warm-up.
    const int warmup = (pp - stage - 1) * 2 + (v - 1) * pp;
    QCOMPARE(in_flight[static_cast<size_t>(stage)], std::min(warmup + 1, m * v));
  }
}

// Recorded orders of Megatron-LM (commit fc7f4f0) on each of 4 stages with 8 microbatches. Interleaved: 2
// chunks.
void ScheduleTest::recorded_orders() {
  const char* plain[] = {"FFFFBFBFBFBFBBBB", "FFFBFBFBFBFBFBBB", "FFBFBFBFBFBFBFBB", "FBFBFBFBFBFBFBFB"};
  const char* interleaved[] = {"FFFFFFFFFFFBFBFBFBFBFBBBBBBBBBBB", "FFFFFFFFFBFBFBFBFBFBFBFBBBBBBBBB",
                               "FFFFFFFBFBFBFBFBFBFBFBFBFBBBBBBB", "FFFFFBFBFBFBFBFBFBFBFBFBFBFBBBBB"};
  const Schedule one = make_schedule(ScheduleKind::OneFOneB, 4, 8),
                 two = make_schedule(ScheduleKind::OneFOneB, 4, 8, 2);
  for (int stage = 0; stage < 4; ++stage) {
    QCOMPARE(letters(one, stage), std::string(plain[stage]));
    QCOMPARE(letters(two, stage), std::string(interleaved[stage]));
  }
}

void ScheduleTest::peak_candidates_are_complete() {
  const Schedule schedule = make_schedule(ScheduleKind::OneFOneB, 4, 8, 2);
  using Candidates = std::vector<std::vector<int64_t>>;
  // Chunks in flight, and the first chunk's microbatches: 8 of the latter among 11 dominate the earlier 7
  // among 11.
  QCOMPARE(pareto_peaks(schedule.actions[0], {{1, 1}, {1, 0}}), (Candidates{{11, 8}}));
  QCOMPARE(pareto_peaks(schedule.actions[3], {{1, 0}, {1, 1}}), (Candidates{{5, 1}}));
  // With different weights per chunk, neither of two candidates dominates.
  const Candidates apart = pareto_peaks(schedule.actions[0], {{1, 0}, {0, 1}});
  QVERIFY(apart.size() > 1);
  for (const auto& a : apart)
    for (const auto& b : apart) QVERIFY(a == b || a[0] < b[0] || a[1] < b[1]);
}

void ScheduleTest::known_orders() {
  // arXiv 2104.04473 figure 4 (bottom): two chunks, a and b, shortened to 4 microbatches on 2 stages.
  const Schedule round = make_schedule(ScheduleKind::OneFOneB, 2, 4, 2);
  QCOMPARE(work(round, 0), std::string("F0a F1a F0b F1b F2a B0b F3a B1b F2b B0a F3b B1a B2b B3b B2a B3a"));
  QCOMPARE(work(round, 1), std::string("F0a F1a F0b B0b F1b B1b F2a B0a F3a B1a F2b B2b F3b B3b B2a B3a"));
  // arXiv 2104.04473 figure 4 (top), shortened to 4 microbatches on 3 stages.
  const Schedule one = make_schedule(ScheduleKind::OneFOneB, 3, 4);
  QCOMPARE(work(one, 0), std::string("F0 F1 F2 B0 F3 B1 B2 B3"));
  QCOMPARE(work(one, 1), std::string("F0 F1 B0 F2 B1 F3 B2 B3"));
  QCOMPARE(work(one, 2), std::string("F0 B0 F1 B1 F2 B2 F3 B3"));
  const Schedule gpipe = make_schedule(ScheduleKind::GPipe, 2, 3);
  QCOMPARE(work(gpipe, 0), std::string("F0 F1 F2 B0 B1 B2"));
  QCOMPARE(work(gpipe, 1), std::string("F0 F1 F2 B0 B1 B2"));
}

// As many microbatches as stages. Megatron-core's warm-up since 2024-11-01 depends only on stages and virtual
// stages; before, all forwards ran first. Other numbers of microbatches have one order.
void ScheduleTest::forwards_first() {
  const Schedule now = make_schedule(ScheduleKind::OneFOneB, 4, 4, 2),
                 before = make_schedule(ScheduleKind::OneFOneBForwardsFirst, 4, 4, 2);
  QCOMPARE(work(now, 3), std::string("F0a F1a F2a F3a F0b B0b F1b B1b F2b B2b F3b B3b B0a B1a B2a B3a"));
  QCOMPARE(work(now, 2), std::string("F0a F1a F2a F3a F0b F1b F2b B0b F3b B1b B2b B3b B0a B1a B2a B3a"));
  for (int stage = 0; stage < 4; ++stage)
    QCOMPARE(work(before, stage),
             std::string("F0a F1a F2a F3a F0b F1b F2b F3b B0b B1b B2b B3b B0a B1a B2a B3a"));
  QVERIFY(violations(before).empty());
  QVERIFY(make_schedule(ScheduleKind::OneFOneBForwardsFirst, 4, 8, 2).actions ==
          make_schedule(ScheduleKind::OneFOneB, 4, 8, 2).actions);
  ParallelSpec parallel;
  parallel.pp = 4;
  parallel.virtual_stages = 2;
  parallel.forwards_first = true;
  QVERIFY(make_schedule(parallel, 4).actions == before.actions);
  parallel.virtual_stages = 1;
  QVERIFY(schedule_of(parallel) == ScheduleKind::OneFOneB);
}

// Megatron-core's combined 1F1B: one more forward ahead, then a forward and a backward at once.
void ScheduleTest::pairs() {
  QCOMPARE(work(make_schedule(ScheduleKind::OneFOneBPairs, 1, 4), 0), std::string("F0 F1 B0 F2 B1 F3 B2 B3"));
  QCOMPARE(work(make_schedule(ScheduleKind::OneFOneBPairs, 1, 1), 0), std::string("F0 B0"));
  const Schedule round = make_schedule(ScheduleKind::OneFOneBPairs, 2, 4, 2);
  QCOMPARE(work(round, 1), std::string("F0a F1a F0b F1b B0b F2a B1b F3a B0a F2b B1a F3b B2b B3b B2a B3a"));
  // As many microbatches as stages: in pairs they are not all warm-up.
  const Schedule few = make_schedule(ScheduleKind::OneFOneBPairs, 4, 4, 2);
  QCOMPARE(work(few, 1), std::string("F0a F1a F2a F3a F0b F1b F2b F3b B0b B1b B2b B3b B0a B1a B2a B3a"));
  QCOMPARE(work(few, 2), std::string("F0a F1a F2a F3a F0b F1b F2b F3b B0b B1b B2b B3b B0a B1a B2a B3a"));
  QCOMPARE(work(few, 3), std::string("F0a F1a F2a F3a F0b F1b B0b F2b B1b F3b B2b B3b B0a B1a B2a B3a"));
  for (const auto& [pp, m, v] :
       {std::tuple{1, 7, 1}, {2, 2, 2}, {2, 8, 3}, {4, 4, 2}, {4, 16, 2}, {3, 9, 4}}) {
    const Schedule paired = make_schedule(ScheduleKind::OneFOneBPairs, pp, m, v),
                   plain = make_schedule(ScheduleKind::OneFOneB, pp, m, v);
    QVERIFY2(violations(paired).empty(),
             violations(paired).empty() ? "" : violations(paired).front().c_str());
    for (int stage = 0; stage < pp; ++stage) {
      const auto s = static_cast<size_t>(stage);
      const int warmup = std::min(m * v, 2 * (pp - stage - 1) + (v - 1) * pp + 1);
      QCOMPARE(microbatches_in_flight(paired)[s], std::min(m * v, warmup + 1));
      if (m > pp) QVERIFY(microbatches_in_flight(paired)[s] == microbatches_in_flight(plain)[s] + 1);
      int together = 0;
      for (const Action& a : paired.actions[s]) together += a.overlapped && a.kind == ActionKind::Forward;
      QCOMPARE(together, m * v - warmup);
    }
  }
}

void ScheduleTest::few_microbatches_have_all_peak_candidates_data() {
  QTest::addColumn<ScheduleKind>("kind");
  QTest::addColumn<int>("chunks");
  QTest::addColumn<int>("group");  // in pipeline lengths
  QTest::newRow("1F1B") << ScheduleKind::OneFOneB << 1 << 0;
  QTest::newRow("interleaved") << ScheduleKind::OneFOneB << 3 << 0;
  QTest::newRow("1F1B in pairs") << ScheduleKind::OneFOneBPairs << 2 << 0;
  QTest::newRow("GPipe, all of which are told") << ScheduleKind::GPipe << 1 << 0;
  QTest::newRow("flexible") << ScheduleKind::Flexible << 2 << 0;
  QTest::newRow("flexible in longer groups") << ScheduleKind::Flexible << 3 << 3;
  QTest::newRow("flexible on one chunk") << ScheduleKind::Flexible << 1 << 2;
  QTest::newRow("ZB-H1") << ScheduleKind::ZbH1 << 1 << 0;
  QTest::newRow("ZB-H2") << ScheduleKind::ZbH2 << 1 << 0;
  QTest::newRow("ZB-V") << ScheduleKind::ZbV << 2 << 0;
  QTest::newRow("ZB from times, all of which are told") << ScheduleKind::ZbAuto << 1 << 0;
  QTest::newRow("DualPipe") << ScheduleKind::DualPipe << 1 << 0;
  QTest::newRow("DualPipeV") << ScheduleKind::DualPipeV << 2 << 0;
}

// The peak candidates of a stage are equal with the fewest sufficient microbatches and with many more.
void ScheduleTest::few_microbatches_have_all_peak_candidates() {
  QFETCH(ScheduleKind, kind);
  QFETCH(int, chunks);
  QFETCH(int, group);
  // By running action: counts in flight and of deferred weight gradients, without dominated ones.
  using Full = std::map<std::array<int, 3>, std::set<std::vector<int32_t>>>;
  const auto full = [](const std::vector<PeakCandidate>& moments) {
    Full out;
    for (const PeakCandidate& m : moments) {
      std::vector<int32_t> held;
      for (const ChunkState& h : m.before) held.insert(held.end(), {h.in_flight, h.deferred});
      out[{static_cast<int>(m.action.kind), m.action.chunk, m.concurrent ? m.concurrent->chunk : -1}].insert(
          held);
    }
    for (auto& [what, sets] : out) {
      const auto all = sets;
      std::erase_if(sets, [&](const std::vector<int32_t>& one) {
        return std::any_of(all.begin(), all.end(), [&](const std::vector<int32_t>& other) {
          return other != one && std::equal(one.begin(), one.end(), other.begin(), std::less_equal<>());
        });
      });
    }
    return out;
  };
  for (const int stages : {2, 4, 6}) {
    ParallelSpec parallel;
    parallel.pp = stages;
    parallel.virtual_stages = chunks;
    parallel.schedule = kind == ScheduleKind::OneFOneBPairs ? ScheduleKind::OneFOneB : kind;
    if ((parallel.ep_comm_overlap = kind == ScheduleKind::OneFOneBPairs)) parallel.ep = 2;
    parallel.microbatch_group = int64_t{group} * stages;
    QVERIFY(schedule_of(parallel) == kind);
    std::vector<int> classes(static_cast<size_t>(pipeline_layout(parallel).chunks));
    for (size_t c = 0; c < classes.size(); ++c) classes[c] = static_cast<int>(c);
    const int many = 24 * std::max(1, group) * stages, few = representative_microbatches(parallel, many);
    QCOMPARE(few < many, kind != ScheduleKind::GPipe && kind != ScheduleKind::ZbAuto);
    for (int stage = 0; stage < stages; ++stage)
      QVERIFY(full(peak_candidates(make_stage_schedule(parallel, stage, many), classes)) ==
              full(peak_candidates(make_stage_schedule(parallel, stage, few), classes)));
    if (kind == ScheduleKind::Flexible) {  // groups that are not filled all differ
      const int odd = many + stages + 1;
      QCOMPARE(representative_microbatches(parallel, odd), odd);
    }
  }
}

void ScheduleTest::refuses_nothing_to_do() {
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, make_schedule(ScheduleKind::GPipe, 0, 4));
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, make_schedule(ScheduleKind::OneFOneB, 2, 0));
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, make_schedule(ScheduleKind::OneFOneB, 2, 4, 0));
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, make_schedule(ScheduleKind::OneFOneB, 2, 5, 2));
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, make_schedule(ScheduleKind::OneFOneB, 1, 4, 2));
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, make_schedule(ScheduleKind::GPipe, 2, 4, 2));
}

void ScheduleTest::every_loss_is_caught_data() {
  QTest::addColumn<ScheduleKind>("kind");
  QTest::addColumn<int>("pp");
  QTest::addColumn<int>("m");
  QTest::addColumn<int>("chunks");
  QTest::newRow("gpipe") << ScheduleKind::GPipe << 3 << 4 << 1;
  QTest::newRow("1f1b") << ScheduleKind::OneFOneB << 4 << 5 << 1;
  QTest::newRow("one stage") << ScheduleKind::OneFOneB << 1 << 3 << 1;
  QTest::newRow("interleaved") << ScheduleKind::OneFOneB << 2 << 4 << 2;
  QTest::newRow("pairs") << ScheduleKind::OneFOneBPairs << 1 << 3 << 1;
  QTest::newRow("pairs, interleaved") << ScheduleKind::OneFOneBPairs << 2 << 4 << 2;
  QTest::newRow("flexible") << ScheduleKind::Flexible << 2 << 5 << 2;
  QTest::newRow("zb-h1") << ScheduleKind::ZbH1 << 3 << 4 << 1;
  QTest::newRow("zb-h2") << ScheduleKind::ZbH2 << 3 << 6 << 1;
  QTest::newRow("zb-v") << ScheduleKind::ZbV << 3 << 6 << 2;
  QTest::newRow("zb-auto") << ScheduleKind::ZbAuto << 3 << 6 << 1;
  QTest::newRow("dualpipe") << ScheduleKind::DualPipe << 4 << 10 << 2;
  QTest::newRow("dualpipe-v") << ScheduleKind::DualPipeV << 2 << 5 << 2;
}

void ScheduleTest::every_loss_is_caught() {
  QFETCH(ScheduleKind, kind);
  QFETCH(int, pp);
  QFETCH(int, m);
  QFETCH(int, chunks);
  const Schedule whole = make_schedule(kind, pp, m, chunks);
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
  QFETCH(int, chunks);
  const Schedule whole = make_schedule(kind, pp, m, chunks);
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
  QFETCH(int, chunks);
  const Schedule whole = make_schedule(kind, pp, m, chunks);
  for (size_t stage = 0; stage < whole.actions.size(); ++stage) {
    for (size_t i = 0; i < whole.actions[stage].size(); ++i) {
      for (int wrong : {-2, -1, 0, 1, m, m + 7}) {
        if (whole.actions[stage][i].microbatch == wrong) continue;
        Schedule schedule = whole;
        schedule.actions[stage][i].microbatch = wrong;
        QVERIFY(!violations(schedule).empty());
      }
      for (int wrong : {-1, 0, 1, chunks, chunks + 5}) {
        if (whole.actions[stage][i].chunk == wrong) continue;
        Schedule schedule = whole;
        schedule.actions[stage][i].chunk = wrong;
        QVERIFY(!violations(schedule).empty());
      }
    }
  }
}

void ScheduleTest::broken_data() {
  QTest::addColumn<Change>("change");
  QTest::addColumn<QString>("message");
  const auto row = [](const char* name, const char* message, Change change) {
    QTest::newRow(name) << change << message;
  };
  row("forward before its input", "forward 2 comes before receive_forward 2", [](Schedule& s) {
    swap(s, 1, {Kind::Forward, 2}, {Kind::ReceiveForward, 2});
  });
  row("sent before it is made", "send_forward 1 comes before forward 1", [](Schedule& s) {
    swap(s, 0, {Kind::Forward, 1}, {Kind::SendForward, 1});
  });
  row("backward before forward", "backward 0 comes before forward 0", [](Schedule& s) {
    swap(s, 2, {Kind::Forward, 0}, {Kind::Backward, 0});
  });
  row("backward before its gradient", "backward 3 comes before receive_backward 3", [](Schedule& s) {
    swap(s, 0, {Kind::Backward, 3}, {Kind::ReceiveBackward, 3});
  });
  row("gradient sent before it is made", "send_backward 0 comes before backward 0", [](Schedule& s) {
    swap(s, 2, {Kind::Backward, 0}, {Kind::SendBackward, 0});
  });
  row("reduced too early", "grad_reduce comes before backward 3", [](Schedule& s) {
    swap(s, 1, {Kind::GradReduce, -1}, {Kind::Backward, 3});
  });
  row("stepped too early", "optimizer comes before grad_reduce", [](Schedule& s) {
    swap(s, 0, {Kind::GradReduce, -1}, {Kind::Optimizer, -1});
  });
  row("received in another order", "receive_forward 1 meets send_forward 0 of stage 0", [](Schedule& s) {
    swap(s, 1, {Kind::ReceiveForward, 0}, {Kind::ReceiveForward, 1});
  });
  row("gradients sent in another order", "receive_backward 2 meets send_backward 3 of stage 2",
      [](Schedule& s) {
        swap(s, 2, {Kind::SendBackward, 2}, {Kind::SendBackward, 3});
      });
  row("missing", "stage 1: forward 2 is missing",
      [](Schedule& s) { s.actions[1].erase(find(s, 1, Kind::Forward, 2)); });
  row("twice", "stage 2: backward 1 is there twice", [](Schedule& s) {
    s.actions[2].push_back({Kind::Backward, 1});
  });
  row("send from the last stage", "stage 2: send_forward 0 has no stage on the other end", [](Schedule& s) {
    s.actions[2].push_back({Kind::SendForward, 0});
  });
  row("unknown microbatch", "stage 0: forward names microbatch 9", [](Schedule& s) {
    s.actions[0].push_back({Kind::Forward, 9});
  });
  row("send lost", "3 times send_forward of stage 0",
      [](Schedule& s) { s.actions[0].erase(find(s, 0, Kind::SendForward, 3)); });
  row("waits for ever", "stage 1: never gets past receive_forward 3",
      [](Schedule& s) { s.actions[0].erase(find(s, 0, Kind::SendForward, 3)); });
  row("stage lost", "actions are given for 2 stages, not for 3", [](Schedule& s) { s.actions.pop_back(); });
  row("no microbatches", "a schedule needs a stage and a microbatch",
      [](Schedule& s) { s.microbatches = 0; });
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

void ScheduleTest::broken_chunks_data() {
  QTest::addColumn<Change>("change");
  QTest::addColumn<QString>("message");
  const auto row = [](const char* name, const char* message, Change change) {
    QTest::newRow(name) << change << message;
  };
  row("second chunk first", "forward 1 of chunk 1 comes before forward 1 of chunk 0", [](Schedule& s) {
    swap(s, 0, {Kind::Forward, 1, 0}, {Kind::Forward, 1, 1});
  });
  row("first chunk's backward first", "backward 0 of chunk 0 comes before backward 0 of chunk 1",
      [](Schedule& s) {
        swap(s, 1, {Kind::Backward, 0, 0}, {Kind::Backward, 0, 1});
      });
  row("unknown chunk", "forward names chunk 2", [](Schedule& s) {
    s.actions[0].push_back({Kind::Forward, 0, 2});
  });
  row("chunk missing", "stage 1: backward 3 of chunk 0 is missing",
      [](Schedule& s) { s.actions[1].erase(find(s, 1, Kind::Backward, 3, 0)); });
  row("received round the pipeline in another order",
      "receive_forward 1 of chunk 1 meets send_forward 0 of chunk 0 of stage 1", [](Schedule& s) {
        swap(s, 0, {Kind::ReceiveForward, 0, 1}, {Kind::ReceiveForward, 1, 1});
      });
  row("gradient sent round from the end of the model",
      "stage 1: receive_backward 0 of chunk 1 has no stage on the other end", [](Schedule& s) {
        s.actions[1].push_back({Kind::ReceiveBackward, 0, 1});
      });
  row("no chunks", "a stage needs a chunk", [](Schedule& s) { s.chunks = 0; });
}

void ScheduleTest::broken_chunks() {
  QFETCH(Change, change);
  QFETCH(QString, message);
  Schedule schedule = make_schedule(ScheduleKind::OneFOneB, 2, 4, 2);
  change(schedule);
  QStringList found;
  for (const std::string& text : violations(schedule)) found << QString::fromStdString(text);
  QVERIFY2(!found.filter(message).isEmpty(), qPrintable("found: " + found.join(" | ")));
}

void ScheduleTest::deadlock_alone() {
  // Both ends pair in order and every stage keeps its own dependencies, yet each waits for the other.
  Schedule schedule{2, 2, {}};
  schedule.actions = {{{Kind::Forward, 0},
                       {Kind::SendForward, 0},
                       {Kind::ReceiveBackward, 0},
                       {Kind::Backward, 0},
                       {Kind::Forward, 1},
                       {Kind::SendForward, 1},
                       {Kind::ReceiveBackward, 1},
                       {Kind::Backward, 1},
                       {Kind::GradReduce},
                       {Kind::Optimizer}},
                      {{Kind::ReceiveForward, 0},
                       {Kind::Forward, 0},
                       {Kind::ReceiveForward, 1},
                       {Kind::Forward, 1},
                       {Kind::Backward, 0},
                       {Kind::SendBackward, 0},
                       {Kind::Backward, 1},
                       {Kind::SendBackward, 1},
                       {Kind::GradReduce},
                       {Kind::Optimizer}}};
  QCOMPARE(violations(schedule), (std::vector<std::string>{"stage 0: never gets past receive_backward 0",
                                                           "stage 1: never gets past receive_forward 1"}));
}

void ScheduleTest::other_orders_may_be_right() {
  // GPipe's paper runs the backwards last microbatch first; a send may also come later than right away.
  Schedule schedule = make_schedule(ScheduleKind::GPipe, 2, 2);
  for (auto& actions : schedule.actions) {
    for (Action& action : actions) {
      const bool backward = action.kind == Kind::Backward || action.kind == Kind::SendBackward ||
                            action.kind == Kind::ReceiveBackward;
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
