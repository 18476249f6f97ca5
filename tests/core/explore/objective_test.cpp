// Objectives of searches: their values, and designs whose objective is unknown.
#include <QtTest>
#include <algorithm>
#include <cmath>

#include "explore/search.h"
#include "support/spaces.h"

using namespace shardscape;
using namespace shardscape::test;

class ObjectiveTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void objectives_of_a_design();
  void unknown_objectives();
  void texts_have_units_data();
  void texts_have_units();
};

void ObjectiveTest::objectives_of_a_design() {
  Design d = small_gpt();
  d.parallel.dp = 4;
  Evaluation e;
  e.step_seconds = 2;
  e.tokens_per_second = 1000;
  e.memory = 30;
  e.capacity = 100;
  e.mfu = 0.5;
  const ObjectiveValues v = objective_values({d, e, 3.6});
  const auto value = [&](const char* id) { return v[size_t(find_objective(id))]; };
  QCOMPARE(value("step_time"), 2.0);
  QCOMPARE(value("tokens_per_gpu"), 250.0);
  QCOMPARE(value("cost"), 1e6 * 4 * 3.6 / 3600 / 1000);
  QCOMPARE(value("headroom"), 70.0);
  QCOMPARE(value("memory"), 30.0);
  QCOMPARE(value("energy"), 4 * 700.0 / 1000);  // H100
  QCOMPARE(value("mfu"), 0.5);
  QCOMPARE(value("gpus"), 4.0);
  QCOMPARE(find_objective("speed"), -1);
  QVERIFY(score(find_objective("mfu"), 0.5) < score(find_objective("mfu"), 0.4));
}

void ObjectiveTest::unknown_objectives() {
  SpaceSpec spec = small_space("8");
  spec.dimensions.emplace_back("accelerator", "h100,tpu-v5p");
  SearchOptions options;
  options.result.objective = find_objective("cost");
  // Those of an accelerator without a price are counted; all others are ranked by the price of their own.
  const SearchResult some = found(made(spec), options);
  QCOMPARE(some.counts.unknown.size(), size_t{1});
  QCOMPARE(some.counts.unknown.begin()->first, std::string("the price of tpu-v5p is unknown"));
  QVERIFY(some.counts.all_unknown() > 0 && some.counts.timed > 0);
  QCOMPARE(some.counts.valid() + some.counts.all_invalid() + some.counts.all_excluded(),
           some.counts.enumerated);
  for (const Point& p : some.best)
    QVERIFY(some.space->design_at(p.index).cluster.accelerator == "h100-sxm-80gb" &&
            std::isfinite(p.values[size_t(options.result.objective)]));
  const auto reasons = infeasible(some.counts);
  QVERIFY(std::any_of(reasons.begin(), reasons.end(),
                      [](const auto& reason) { return reason.first.find("tpu-v5p") != std::string::npos; }));
  QCOMPARE(result_json(reread(some)), result_json(some));
  options.shards = 2;
  const SearchResult first = found(made(spec), options);
  options.shard = 1;
  const auto merged = merge_results({first, found(made(spec), options)});
  QCOMPARE(result_json(std::get<SearchResult>(merged)), result_json(some));
  options.shards = 1;
  options.shard = 0;
  // As a second objective they are left out of the front only.
  options.result.objective = find_objective("tokens_per_gpu");
  options.result.front_y = find_objective("cost");
  const SearchResult fronted = found(made(spec), options);
  QCOMPARE(fronted.counts.timed, some.counts.timed + some.counts.all_unknown());
  QVERIFY(fronted.counts.unknown.empty() && !fronted.front.empty());
  for (const Point& p : fronted.front) QVERIFY(std::isfinite(p.values[size_t(options.result.front_y)]));
  // Prices and powers are those of each accelerator, unless a person sets one.
  spec.dimensions.back().second = "h100,a100";
  const auto ratio = [&](const char* objective, double price) {
    options.result.price_per_hour = price;
    double sum[2] = {0, 0};
    const SearchResult both = found(made(spec), options);
    for (const auto& group : both.groups)
      for (const auto& p : group) {
        if (!p) continue;
        const Design d = both.space->design_at(p->index);
        sum[d.cluster.accelerator == "a100-sxm-80gb"] = p->values[size_t(find_objective(objective))] *
                                                        p->evaluation.tokens_per_second / double(d.world());
      }
    return sum[0] / sum[1];
  };
  QVERIFY(std::abs(ratio("cost", 0) - 3.24 / 1.99) < 1e-6 && std::abs(ratio("cost", 2) - 1) < 1e-6 &&
          std::abs(ratio("energy", 0) - 700.0 / 400) < 1e-6);
  spec.dimensions.back().second = "tpu-v5p,tpu-v4";
  options.result = {};
  options.result.objective = find_objective("cost");
  const auto refused = search(made(spec), options);
  QVERIFY(std::holds_alternative<Problem>(refused));
  QVERIFY(std::get<Problem>(refused).code == ProblemCode::ObjectiveUnavailable);
  QVERIFY2(std::get<Problem>(refused).what.find("price of tpu-v") != std::string::npos,
           std::get<Problem>(refused).what.c_str());
  QVERIFY(std::get<Problem>(refused).accepted.find("--price") != std::string::npos);
}

void ObjectiveTest::texts_have_units_data() {
  QTest::addColumn<double>("value");
  QTest::addColumn<QString>("text");
  QTest::newRow("step_time") << 9.84 << "9.84 s";
  QTest::newRow("tokens_per_gpu") << 1043.0 << "1,043 tokens/s";
  QTest::newRow("cost") << 0.25 << "$0.250";
  QTest::newRow("headroom") << 1610612736.0 << "1.50 GiB";
  QTest::newRow("memory") << 1610612736.0 << "1.50 GiB";
  QTest::newRow("energy") << 2.8 << "2.800 J";
  QTest::newRow("mfu") << 0.5 << "50.0 %";
  QTest::newRow("gpus") << 4096.0 << "4,096 GPUs";
}

void ObjectiveTest::texts_have_units() {
  QFETCH(double, value);
  QFETCH(QString, text);
  const int objective = find_objective(QTest::currentDataTag());
  QCOMPARE(QString::fromStdString(objective_text(objective, value)), text);
  QCOMPARE(objective_text(objective, std::nan("")), std::string("unknown"));
}

QTEST_APPLESS_MAIN(ObjectiveTest)
#include "objective_test.moc"
