// Searches: counts and kept designs do not depend on threads, shards and interruptions.
#include <unistd.h>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <set>

#include "explore/search.h"
#include "memory/estimate.h"
#include "pipeline/same_schedule.h"
#include "support/spaces.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

class SearchTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void by_brute_force();
  void keeper_by_brute_force();
  void whatever_the_threads_and_shards_data();
  void whatever_the_threads_and_shards();
  void interrupted_and_resumed_data();
  void interrupted_and_resumed();
  void checkpoints_are_resumed();
  void points_come_in_order();
  void a_thousand_million_designs();
  void scattered_routes_visit_all();
  void guided_finds_the_best();
  void guided_is_deterministic();
  void equal_schedules_appear_once();
  void equal_schedules_that_are_excluded();
  void margin();
  void shards_data();
  void shards();
};

namespace {

SearchOptions sampled() {
  SearchOptions options;
  options.result.sample = 16;
  options.result.top = 7;
  return options;
}

// Schedules that split the backward, among others that share their graphs' segments.
std::shared_ptr<const Space> split_schedules() {
  SpaceSpec spec;
  spec.base = small_gpt();
  spec.gpus = "8";
  spec.dimensions = {{"tp", "1,2"},
                     {"pp", "2,4"},
                     {"virtual_stages", "1,2"},
                     {"schedule", "1f1b,gpipe,zb-h1,zb-v,dualpipe-v"},
                     {"recompute", "none,selective"},
                     {"sync", "ddp-flat,distributed-optimizer"}};
  return made(spec);
}

void search_spaces() {
  QTest::addColumn<bool>("split");
  QTest::newRow("1F1B") << false;
  QTest::newRow("split backwards") << true;
}

int64_t resident_pages() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident;
}

}  // namespace

void SearchTest::by_brute_force() {
  SpaceSpec spec = small_space("8");
  spec.constraints = {"tp<=2 or pp>1"};
  for (auto& [id, values] : spec.dimensions)
    if (id == "microbatch") values = "1,4";  // of which 8 replicas have too many
  const auto space = made(spec);
  const SearchResult result = found(space);
  int64_t valid = 0, timed = 0, excluded = 0, repeated = 0;
  double fastest = 0;
  Wide best = -1;
  std::map<std::string, int64_t> invalid;
  for (Wide i = 0; i < space->size(); ++i) {
    const Design d = space->design_at(i);
    if (d.parallel.tp > 2 && d.parallel.pp == 1) {
      ++excluded;
      continue;
    }
    const auto report = estimate(d);
    if (!report->valid()) {
      ++invalid[report->problems.front().where];
      continue;
    }
    ++valid;
    if ((d.parallel.tp == 1 && d.parallel.sequence_parallel) ||
        (d.parallel.dp == 1 && d.parallel.sync != SyncStrategy::DdpFlat)) {
      ++repeated;
      continue;
    }
    ++timed;  // they all fit
    const double rate = simulate(*report)->tokens_per_second;
    if (rate > fastest) {
      fastest = rate;
      best = i;
    }
  }
  QVERIFY(valid > 50 && repeated > 0 && excluded > 0 && !invalid.empty());
  QCOMPARE(result.counts.enumerated, static_cast<int64_t>(space->size()));
  QCOMPARE(result.counts.valid(), valid);
  QCOMPARE(result.counts.repeated, repeated);
  QCOMPARE(result.counts.timed, timed);
  QCOMPARE(result.counts.all_excluded(), excluded);
  QVERIFY(result.counts.invalid == invalid);
  QVERIFY(result.complete());
  QVERIFY(std::abs(result.best.front().evaluation.tokens_per_second / fastest - 1) < 0.01);
  QVERIFY(std::abs(simulate(*estimate(space->design_at(best)))->tokens_per_second /
                       simulate(*estimate(space->design_at(result.best.front().index)))->tokens_per_second -
                   1) < 0.01);
  QCOMPARE(result.best.size(), size_t{10});
}

// Points of made-up figures, in any order and split any way.
void SearchTest::keeper_by_brute_force() {
  const auto space = constrained_space();
  std::mt19937 random(17);
  for (int round = 0; round < 20; ++round) {
    std::vector<Point> points;
    for (Wide i = 0; i < space->size(); ++i) {
      if (random() % 3 == 0) continue;
      Point p{i, {}, {}};
      for (double& value : p.values) value = static_cast<double>(random() % 40);  // with ties
      points.push_back(std::move(p));
    }
    ResultOptions options{
        find_objective("step_time"), find_objective("step_time"), find_objective("headroom"), 9, 25, 0};
    std::shuffle(points.begin(), points.end(), random);
    std::vector<ResultCollector> parts(3, ResultCollector(space, options));
    for (const Point& p : points) parts[random() % 3].add(p, space->values_at(p.index));
    ResultCollector whole(space, options);
    for (const ResultCollector& part : parts) whole.add(part.result());
    const SearchResult result = whole.result();
    const auto step = [](const Point& p) { return p.values[size_t(find_objective("step_time"))]; };
    const auto room = [](const Point& p) { return p.values[size_t(find_objective("headroom"))]; };
    const auto better = [&](const Point& a, const Point& b) {
      return step(a) != step(b) ? step(a) < step(b) : a.index < b.index;
    };
    std::sort(points.begin(), points.end(), better);
    const auto indices = [](const std::vector<Point>& list) {
      std::vector<int64_t> out;
      for (const Point& p : list) out.push_back(static_cast<int64_t>(p.index));
      return out;
    };
    QCOMPARE(indices(result.best), indices({points.begin(), points.begin() + 9}));
    std::vector<Point> front;
    for (const Point& p : points) {
      const bool beaten = std::any_of(points.begin(), points.end(), [&](const Point& q) {
        const bool as_good = step(q) <= step(p) && room(q) >= room(p);
        return as_good && (step(q) != step(p) || room(q) != room(p) || q.index < p.index);
      });
      if (!beaten) front.push_back(p);
    }
    QCOMPARE(indices(result.front), indices(front));
    for (size_t a = 0; a < space->axes().size(); ++a)
      for (size_t v = 0; v < space->axes()[a].values.size(); ++v) {
        const auto first = std::find_if(points.begin(), points.end(), [&](const Point& p) {
          return space->values_at(p.index)[a] == static_cast<int>(v);
        });
        QCOMPARE(result.groups[a][v].has_value(), first != points.end());
        if (first != points.end())
          QCOMPARE(static_cast<int64_t>(result.groups[a][v]->index), static_cast<int64_t>(first->index));
      }
    QCOMPARE(result.sample.size(), size_t{25});
    QVERIFY(std::is_sorted(result.sample.begin(), result.sample.end(),
                           [](const Point& a, const Point& b) { return a.index < b.index; }));
  }
}

void SearchTest::whatever_the_threads_and_shards_data() { search_spaces(); }

void SearchTest::whatever_the_threads_and_shards() {
  QFETCH(bool, split);
  const auto space = split ? split_schedules() : constrained_space();
  SearchOptions options = sampled();
  const std::string whole = result_json(found(space, options));
  for (int threads : {1, 2, 4}) {
    options.threads = threads;
    QCOMPARE(result_json(found(space, options)), whole);
  }
  for (int64_t shards : {1, 2, 3, 50}) {
    std::vector<SearchResult> parts;
    for (int64_t i = shards; i-- > 0;) {
      options.shard = i;
      options.shards = shards;
      options.threads = static_cast<int>(1 + i % 2);
      parts.push_back(reread(found(space, options)));
    }
    const auto merged = merge_results(parts);
    QVERIFY(std::holds_alternative<SearchResult>(merged));
    QCOMPARE(result_json(std::get<SearchResult>(merged)), whole);
    if (shards == 1) continue;
    parts.pop_back();
    QVERIFY(!std::get<SearchResult>(merge_results(parts)).complete());
  }
}

void SearchTest::interrupted_and_resumed_data() { search_spaces(); }

void SearchTest::interrupted_and_resumed() {
  QFETCH(bool, split);
  const auto space = split ? split_schedules() : constrained_space();
  SearchOptions options = sampled();
  const std::string whole = result_json(found(space, options));
  options.threads = 1;  // so that little is under way when it stops
  std::optional<SearchResult> so_far;
  int runs = 0;
  while (!so_far || !so_far->complete()) {
    std::stop_source stop;
    SearchCallbacks callbacks;
    callbacks.points = [&](std::span<const Point>) { stop.request_stop(); };
    options.resume = so_far ? &*so_far : nullptr;
    auto result = search(space, options, callbacks, stop.get_token());
    QVERIFY(std::holds_alternative<SearchResult>(result));
    so_far = reread(std::get<SearchResult>(result));
    QVERIFY(++runs < 1000);
  }
  QVERIFY(runs > 1);
  QCOMPARE(result_json(*so_far), whole);
  SearchOptions other = sampled();
  other.result.top = 8;
  other.resume = &*so_far;
  QVERIFY(std::holds_alternative<Problem>(search(space, other)));
}

// Every checkpoint is a result that a search continues to the result of one run.
void SearchTest::checkpoints_are_resumed() {
  const auto space = constrained_space();
  SearchOptions options = sampled();
  options.shards = 2;
  options.shard = 1;
  const std::string whole = result_json(found(space, options));
  for (const int threads : {1, 4}) {
    options.threads = threads;
    options.resume = nullptr;
    std::vector<SearchResult> checkpoints;
    SearchCallbacks callbacks;
    callbacks.checkpoint_seconds = 0;
    callbacks.checkpoint = [&](const SearchResult& result) { checkpoints.push_back(reread(result)); };
    QVERIFY(std::holds_alternative<SearchResult>(search(space, options, callbacks)));
    QVERIFY(checkpoints.size() > 2);
    for (size_t i = 0; i < checkpoints.size(); ++i) {
      QCOMPARE(checkpoints[i].complete(), false);  // the other shard is missing
      QCOMPARE(checkpoints[i].parts.front().done, static_cast<Wide>(i + 1));
      options.resume = &checkpoints[i];
      QCOMPARE(result_json(found(space, options)), whole);
    }
  }
  options.resume = nullptr;
  // None is due within an hour.
  SearchCallbacks rare;
  rare.checkpoint_seconds = 3600;
  rare.checkpoint = [](const SearchResult&) { QFAIL("a checkpoint too early"); };
  QVERIFY(std::holds_alternative<SearchResult>(search(space, options, rare)));
}

void SearchTest::points_come_in_order() {
  const auto space = constrained_space();
  for (int threads : {1, 4}) {
    std::vector<int64_t> order;
    SearchOptions options;
    options.threads = threads;
    SearchCallbacks callbacks;
    callbacks.points = [&](std::span<const Point> points) {
      for (const Point& p : points) order.push_back(static_cast<int64_t>(p.index));
    };
    Wide total = 0, done = 0;
    callbacks.progress = [&](const SearchProgress& p) {
      QVERIFY(p.done >= done && p.done <= p.total);
      done = p.done;
      total = p.total;
    };
    QVERIFY(std::holds_alternative<SearchResult>(search(space, options, callbacks)));
    QVERIFY(std::is_sorted(order.begin(), order.end()));
    QVERIFY(order.size() > 50 && done == total && done == space->size());
  }
}

// Started, watched and cancelled: memory stays what it was.
void SearchTest::a_thousand_million_designs() {
  SpaceSpec spec = small_space("64");
  for (const char* id : {"vocab_multiple", "nic_bandwidth"}) spec.dimensions.emplace_back(id, "1..2000");
  spec.dimensions.emplace_back("dropout", "all");
  const auto space = made(spec);
  QVERIFY(space->size() > 1'000'000'000);
  std::stop_source stop;
  SearchCallbacks callbacks;
  int64_t timed = 0, at_first = 0;
  std::set<int> layouts;
  callbacks.points = [&](std::span<const Point> points) {
    timed += static_cast<int64_t>(points.size());
    for (const Point& p : points) layouts.insert(space->digits_at(p.index).front());
    if (at_first == 0 && timed > 500) at_first = resident_pages();
    if (timed > 2000) stop.request_stop();
  };
  const auto result = search(space, sampled(), callbacks, stop.get_token());
  const SearchResult& known = std::get<SearchResult>(result);
  QVERIFY(!known.complete() && known.counts.timed >= 2000 && known.best.size() == 7);
  const int64_t grown = (resident_pages() - at_first) * sysconf(_SC_PAGESIZE);
  QVERIFY2(grown < 64 << 20, qPrintable(QString::number(grown)));
  QVERIFY(layouts.size() > 1);  // not one corner only
}

// Scattered blocks visit every design once: counted without evaluation.
void SearchTest::scattered_routes_visit_all() {
  SpaceSpec spec = small_space("8");
  spec.dimensions.emplace_back("vocab_multiple", "1..20000");
  spec.constraints = {"vocab_multiple>20000"};  // excludes all, at no cost
  const auto space = made(spec);
  QVERIFY(space->size() > Wide{1} << 21);
  const SearchResult result = found(space);
  QVERIFY(result.complete());
  QCOMPARE(result.counts.enumerated, static_cast<int64_t>(space->size()));
  QCOMPARE(result.counts.all_excluded(), static_cast<int64_t>(space->size()));
}

void SearchTest::guided_finds_the_best() {
  std::mt19937 random(23);
  int searched = 0;
  for (int round = 0; round < 12; ++round) {
    const auto space = made(random_space(random));
    const SearchResult whole = found(space);
    if (whole.counts.timed < 40) continue;
    SearchOptions options;
    // Less than all of them, so that it has to choose.
    options.guided = Guided{
        1, std::min<int64_t>(whole.counts.timed / 2 + 20, static_cast<int64_t>(space->size()) - 1)};
    const SearchResult guided = found(space, options);
    QVERIFY(guided.counts.timed <= options.guided->budget + 256);
    QVERIFY2(guided.best.front().values[1] == whole.best.front().values[1],
             qPrintable(QString("space %1: %2 instead of %3, %4 of %5 timed")
                            .arg(round)
                            .arg(guided.best.front().values[1])
                            .arg(whole.best.front().values[1])
                            .arg(guided.counts.timed)
                            .arg(whole.counts.timed)));
    ++searched;
  }
  QVERIFY(searched >= 6);
}

void SearchTest::guided_is_deterministic() {
  const auto space = made(small_space("16"));
  SearchOptions options = sampled();
  options.guided = Guided{5, 60};
  const std::string first = result_json(found(space, options));
  for (int threads : {1, 3}) {
    options.threads = threads;
    QCOMPARE(result_json(found(space, options)), first);
  }
  QCOMPARE(result_json(reread(found(space, options))), first);
  options.guided->budget = 1'000'000;  // more than there are: all are visited
  options.guided->seed = 2;
  QCOMPARE(found(space, options).counts.enumerated, static_cast<int64_t>(space->size()));
  options.shards = 2;
  QVERIFY(std::holds_alternative<Problem>(search(space, options)));
}

// On one stage, schedules other than GPipe are one design. Figures of repeated designs equal those of a timed
// design.
void SearchTest::equal_schedules_appear_once() {
  SpaceSpec spec;
  spec.base = small_gpt();
  spec.gpus = "4";
  spec.dimensions = {{"pp", "1,2,4"}, {"schedule", "all"}, {"virtual_stages", "1,2"}};
  const auto space = made(spec);
  SearchOptions options;
  options.result.top = 1000;
  const SearchResult all = found(space, options);
  std::map<std::pair<int64_t, double>, std::vector<Design>> by_figures;
  int alone = 0;
  for (const Point& point : all.best) {
    const Design d = space->design_at(point.index);
    if (d.parallel.pp == 1) ++alone;
    by_figures[{point.evaluation.memory, point.evaluation.step_seconds}].push_back(d);
  }
  QCOMPARE(alone, 2);  // 1F1B and GPipe
  QVERIFY(all.counts.repeated > 6);
  for (const auto& [figures, designs] : by_figures)
    for (size_t i = 1; i < designs.size(); ++i)
      QVERIFY2(designs[i].parallel.pp != designs[0].parallel.pp ||
                   !same_schedule(designs[i].parallel, designs[0].parallel,
                                  static_cast<int>(16 / designs[0].parallel.dp)),
               "two equal designs are timed");
}

// A design whose equal is excluded or invalid is not lost.
void SearchTest::equal_schedules_that_are_excluded() {
  SpaceSpec spec;
  spec.base = small_gpt();
  spec.gpus = "4";
  spec.dimensions = {{"pp", "1,2"}, {"schedule", "1f1b,zb-h1,zb-h2"}};
  spec.constraints = {"schedule == zb-h1|zb-h2"};
  const auto space = made(spec);
  SearchOptions options;
  options.result.top = 100;
  const SearchResult all = found(space, options);
  std::vector<ScheduleKind> alone;
  for (const Point& point : all.best) {
    const Design d = space->design_at(point.index);
    if (d.parallel.pp == 1) alone.push_back(d.parallel.schedule);
  }
  QCOMPARE(alone.size(), size_t{1});
  QVERIFY(alone.front() == ScheduleKind::ZbH1);
}

void SearchTest::margin() {
  SpaceSpec spec = small_space("8");
  const SearchResult all = found(made(spec));
  QCOMPARE(all.counts.too_large, int64_t{0});
  std::vector<double> used;
  for (const auto& group : all.groups)
    for (const auto& p : group)
      if (p)
        used.push_back(static_cast<double>(p->evaluation.memory) /
                       static_cast<double>(p->evaluation.capacity));
  spec.memory_margin = 1 - (*std::min_element(used.begin(), used.end()) +
                            *std::max_element(used.begin(), used.end())) /
                               2;
  const SearchResult some = found(made(spec));
  QVERIFY(some.counts.too_large > 0 && some.counts.timed > 0);
  QCOMPARE(some.counts.valid(), all.counts.valid());
  QCOMPARE(infeasible(some.counts).front().second >= some.counts.too_large, true);
  for (const Point& p : some.best)
    QVERIFY(static_cast<double>(p.evaluation.memory) <=
            (1 - spec.memory_margin) * static_cast<double>(p.evaluation.capacity));
}

void SearchTest::shards_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<int>("shard");
  QTest::addColumn<int>("shards");
  QTest::newRow("from 0") << "0/4" << 0 << 4;
  QTest::newRow("from 1") << "4/4" << 0 << 4;
  QTest::newRow("between") << "3/4" << 3 << 4;
  for (const char* text : {"", "3", "5/4", "-1/4", "1/0", "a/b", "1/2/3"})
    QTest::newRow(qPrintable(QString("wrong: ") + text)) << text << -1 << 0;
}

void SearchTest::shards() {
  QFETCH(QString, text);
  QFETCH(int, shard);
  QFETCH(int, shards);
  const auto read = parse_shard(text.toStdString());
  QCOMPARE(std::holds_alternative<Problem>(read), shard < 0);
  if (shard < 0) {
    QVERIFY(std::get<Problem>(read).code == ProblemCode::ShardInvalid);
    return;
  }
  QCOMPARE(std::get<0>(read).first, int64_t{shard});
  QCOMPARE(std::get<0>(read).second, int64_t{shards});
}

QTEST_GUILESS_MAIN(SearchTest)
#include "search_test.moc"
