// Fleet sizing: the least number of replicas, the order of costs, what is left out, and the effect of
// settings.
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <set>

#include "design/cluster.h"
#include "model/parallel_loop.h"
#include "serving/service/fleet_search.h"
#include "serving/service/setting_effects.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

FleetCandidate candidate(const char* accelerator, int64_t tp, const ServiceSpec& spec) {
  FleetCandidate out;
  out.design = preset_design("llama3-8b", tp, 1, 1);
  out.design.cluster.accelerator = accelerator;
  out.spec = spec;
  out.layout = "tp " + std::to_string(tp);
  return out;
}

ServiceSpec busy_spec(const char* level = "p99 ttft<1s, p99 tpot<20ms") {
  ServiceSpec spec;
  spec.source.requests = 300;
  spec.source.rate = 60;
  spec.level = std::get<ServiceLevel>(parse_service_level(level, "slo"));
  return spec;
}

std::vector<FleetCandidate> some(const ServiceSpec& spec) {
  return {candidate("a100-sxm-80gb", 1, spec), candidate("h100-sxm-80gb", 1, spec),
          candidate("h100-sxm-80gb", 2, spec), candidate("h200-sxm-141gb", 1, spec)};
}

std::shared_ptr<const FleetSearch> searched(std::vector<FleetCandidate> list, const ServiceSpec& spec,
                                            const FleetOptions& options = {}) {
  const auto made = search_fleet(std::move(list), spec, options);
  if (const auto* problem = std::get_if<Problem>(&made)) qFatal("%s", to_string(*problem).c_str());
  return std::get<0>(made);
}

}  // namespace

class FleetSearchTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Simulations of every smaller fleet, one by one, exceed the level.
  void the_least_number_of_replicas() {
    const ServiceSpec spec = busy_spec();
    const auto search = searched(some(spec), spec);
    QCOMPARE(search->sized, size_t{4});
    bool several = false;
    for (const FleetEntry& entry : search->entries) {
      QCOMPARE(entry.accelerators, entry.replicas * entry.candidate.design.world());
      several = several || entry.replicas > 2;
      for (int64_t replicas = 1; replicas <= entry.replicas; ++replicas) {
        ServiceSpec own = entry.candidate.spec;
        own.replicas = replicas;
        const auto run = std::get<0>(run_service(entry.candidate.design, own));
        QCOMPARE(keeps_level(run->results, spec.level), replicas == entry.replicas);
        if (replicas == entry.replicas) QCOMPARE(entry.results.ttft.p99, run->results.ttft.p99);
      }
    }
    QVERIFY(several);
  }
  void the_cheapest_fleet_is_first() {
    const ServiceSpec spec = busy_spec();
    const auto search = searched(some(spec), spec);
    for (size_t i = 0; i < search->sized; ++i) {
      const FleetEntry& entry = search->entries[i];
      QVERIFY(entry.dollars_per_hour && entry.cost.dollars && entry.cost.kwh);
      if (i > 0) QVERIFY(*entry.dollars_per_hour >= *search->entries[i - 1].dollars_per_hour);
    }
  }
  // A level that only percentiles give: a looser one needs no more engines.
  void a_looser_level_needs_no_more() {
    int64_t before = 0;
    for (const char* level : {"p99 ttft<80ms", "p90 ttft<100ms", "p50 ttft<100ms", "p50 ttft<100s"}) {
      const ServiceSpec spec = busy_spec(level);
      const auto search = searched({candidate("a100-sxm-80gb", 1, spec)}, spec);
      QCOMPARE(search->sized, size_t{1});
      const int64_t replicas = search->entries[0].replicas;
      if (before > 0) QVERIFY2(replicas <= before, level);
      before = replicas;
    }
    QCOMPARE(before, int64_t{1});
  }
  void threads_do_not_matter() {
    const ServiceSpec spec = busy_spec();
    std::vector<std::shared_ptr<const FleetSearch>> searches;
    for (const int threads : {1, 4})
      with_loop_threads(threads, [&] { searches.push_back(searched(some(spec), spec)); });
    QCOMPARE(searches[0]->simulations, searches[1]->simulations);
    for (size_t i = 0; i < searches[0]->entries.size(); ++i) {
      const FleetEntry &a = searches[0]->entries[i], &b = searches[1]->entries[i];
      QVERIFY(a.candidate.design == b.candidate.design);
      QCOMPARE(a.replicas, b.replicas);
      QCOMPARE(a.results.e2e.mean, b.results.e2e.mean);
    }
  }
  // Short prefixes only choose: the finalists have the answers of all requests.
  void prefixes_choose_finalists() {
    ServiceSpec spec = busy_spec();
    spec.source.requests = 1000;
    FleetOptions options;
    options.finalists = 1;
    const auto search = searched(some(spec), spec, options);
    std::set<std::string> accelerators;
    for (size_t i = 0; i < search->sized; ++i) {
      QCOMPARE(search->entries[i].results.finished, int64_t{1000});
      accelerators.insert(search->entries[i].candidate.design.cluster.accelerator);
    }
    QCOMPARE(accelerators.size(), size_t{3});  // the best of each stays
    QCOMPARE(search->sized, size_t{3});
    QVERIFY(search->entries.back().end == FleetEnd::OutOfPlace && !search->entries.back().reason.empty());
  }
  // Every candidate has an end and a reason: no room, a worse twin, a level that no fleet keeps, refusals.
  void what_is_left_out_has_a_reason() {
    ServiceSpec spec = busy_spec();
    std::vector<FleetCandidate> list{candidate("h100-sxm-80gb", 2, spec),
                                     candidate("h100-sxm-80gb", 2, spec)};
    FleetCandidate large = list[0];
    large.design = preset_design("llama3-70b", 1, 1, 1);
    list.push_back(large);
    auto search = searched(list, spec);
    QCOMPARE(search->sized, size_t{1});
    QVERIFY(search->entries[1].end == FleetEnd::Unfit && search->entries[2].end == FleetEnd::Dominated);
    QVERIFY(search->entries[1].reason.find("no room for a KV cache") != std::string::npos);
    spec = busy_spec("p99 tpot<1us");
    search = searched({candidate("h100-sxm-80gb", 1, spec)}, spec);
    QCOMPARE(search->sized, size_t{0});
    QVERIFY(search->entries[0].reason.find("engines exceed p99 tpot<1 us: ") != std::string::npos);
    spec = busy_spec();
    spec.engine.max_model_len = 100;
    search = searched({candidate("h100-sxm-80gb", 1, spec)}, spec);
    QVERIFY(search->entries[0].reason.find("300 requests are refused") != std::string::npos);
  }
  // A pipeline has longer steps and shorter stages: neither layout dominates the other.
  void a_pipeline_is_not_dominated() {
    ServiceSpec spec = busy_spec();
    spec.source.input_len = 8000;  // more than a step
    std::vector<FleetCandidate> list{candidate("h100-sxm-80gb", 4, spec),
                                     candidate("h100-sxm-80gb", 2, spec)};
    list[1].design.parallel.pp = 2;
    const auto search = searched(list, spec);
    for (const FleetEntry& entry : search->entries) QVERIFY(entry.end != FleetEnd::Dominated);
  }
  void problems() {
    const ServiceSpec open;
    const auto nothing = search_fleet({candidate("h100-sxm-80gb", 1, open)}, open);
    QCOMPARE(std::get<Problem>(nothing).where, std::string("slo"));
    QVERIFY(std::holds_alternative<Problem>(search_fleet({}, busy_spec())));
    ServiceSpec lost = busy_spec();
    lost.source.trace = "nowhere.csv";
    QVERIFY(std::holds_alternative<Problem>(search_fleet({candidate("h100-sxm-80gb", 1, lost)}, lost)));
  }
  void a_stopped_search_has_no_fleet() {
    std::stop_source stop;
    const ServiceSpec spec = busy_spec();
    const auto made = search_fleet(some(spec), spec, {}, stop.get_token(), {},
                                   [&](size_t, size_t) { stop.request_stop(); });
    QCOMPARE(std::get<0>(made)->sized, size_t{0});
  }
  // Prefill and decode engines of different accelerators: no fleet of up to 6 + 6 engines that keeps the
  // level costs less. Each size is a run of its own.
  void the_ratio_is_the_cheapest_data() {
    QTest::addColumn<QString>("level");
    QTest::addColumn<int>("input");
    QTest::addColumn<double>("rate");
    QTest::newRow("long prompts") << "p99 ttft<1s, p99 tpot<20ms" << 4000 << 20.0;
    QTest::newRow("short prompts") << "p99 ttft<300ms, p99 tpot<14ms" << 500 << 60.0;
  }
  void the_ratio_is_the_cheapest() {
    QFETCH(QString, level);
    QFETCH(int, input);
    QFETCH(double, rate);
    ServiceSpec spec = busy_spec(qPrintable(level));
    spec.source.requests = 150;
    spec.source.rate = rate;
    spec.source.input_len = input;
    FleetOptions options;
    options.prefill = {candidate("h100-sxm-80gb", 1, spec)};
    const auto search = searched({candidate("a100-sxm-80gb", 1, spec)}, spec, options);
    QCOMPARE(search->pairs, int64_t{1});
    const auto pair = std::find_if(
        search->entries.begin(), search->entries.end(),
        [](const FleetEntry& entry) { return entry.candidate.prefill.has_value(); });
    QVERIFY(pair != search->entries.end() && pair->end == FleetEnd::Sized);
    const FleetCandidate& of = pair->candidate;
    const auto clock = std::get<0>(service_clock(of.design, of.spec));
    const auto prefill = std::get<0>(service_clock(*of.prefill, of.spec));
    const Workload workload = std::get<0>(make_workload(spec.source));
    double best = 1e9;
    int64_t ratios = 0;
    for (int64_t p = 1; p <= 6; ++p)
      for (int64_t d = 1; d <= 6; ++d) {
        ServiceSpec own = spec;
        own.fleet.prefill_replicas = p;
        own.fleet.decode_replicas = d;
        const auto run = std::get<0>(run_requests(of.design, own, workload, *clock, {}, {}, RunSteps::Kept,
                                                  {&*of.prefill, prefill.get()}));
        if (!keeps_level(run->results, spec.level)) continue;
        ++ratios;
        const double cost = operation_of(of.prefill->cluster).price_per_hour * static_cast<double>(p) +
                            operation_of(of.design.cluster).price_per_hour * static_cast<double>(d);
        best = std::min(best, cost);
        if (p != pair->prefill_replicas || d != pair->decode_replicas()) continue;
        QCOMPARE(pair->results.ttft.p99, run->results.ttft.p99);
        QVERIFY(std::abs(*pair->dollars_per_hour - cost) < 1e-9);
      }
    QVERIFY2(ratios > 0 && ratios < 36, qPrintable(QString::number(ratios)));
    QVERIFY2(std::abs(*pair->dollars_per_hour - best) < 1e-9,
             qPrintable(QString("%1 %2").arg(*pair->dollars_per_hour).arg(best)));
    QCOMPARE(pair->accelerators, pair->replicas);
    QCOMPARE(pair->prefill_accelerators, pair->prefill_replicas);
  }
  // Pairs have equal settings. Dominated engines form none.
  void pairs_have_equal_settings() {
    ServiceSpec spec = busy_spec(), other = spec;
    spec.source.requests = other.source.requests = 60;
    other.engine.max_num_seqs = 64;
    const std::vector<FleetCandidate> list{candidate("h100-sxm-80gb", 1, spec),
                                           candidate("h100-sxm-80gb", 1, spec),
                                           candidate("h100-sxm-80gb", 1, other)};
    FleetOptions options;
    options.prefill = list;
    const auto search = searched(list, spec, options);
    QCOMPARE(search->pairs, int64_t{2});
    for (const FleetEntry& entry : search->entries)
      QVERIFY(!entry.candidate.prefill || (entry.prefill_replicas > 0 && entry.decode_replicas() > 0));
    with_loop_threads(1, [&] {
      const auto again = searched(list, spec, options);
      for (size_t i = 0; i < search->entries.size(); ++i)
        QCOMPARE(again->entries[i].results.e2e.mean, search->entries[i].results.e2e.mean);
    });
  }
  // A number of replicas that follows the load has at most the sized number.
  void a_least_number_is_part_of_the_fleet() {
    ServiceSpec spec = busy_spec("p99 ttft<100s");
    spec.fleet.least_replicas = 3;
    const auto search = searched({candidate("h100-sxm-80gb", 1, spec)}, spec);
    QCOMPARE(search->sized, size_t{1});
    QCOMPARE(search->entries[0].replicas, int64_t{1});
  }
  // Figures of an engine: its estimate is near the throughput when all requests arrive at once.
  void the_estimate_is_near_the_throughput() {
    ServiceSpec spec = busy_spec("p99 ttft<100s");
    spec.source.arrivals = ArrivalKind::AllAtOnce;
    for (const FleetCandidate& one : some(spec)) {
      const auto run = std::get<0>(run_service(one.design, spec));
      const auto clock = std::get<0>(service_clock(one.design, spec));
      const EngineFigures figures = std::get<0>(
          engine_figures(one.design, spec, workload_means(run->workload), *clock));
      const double share = figures.requests_per_second / run->results.requests_per_second;
      QVERIFY2(share > 0.7 && share < 1.6, qPrintable(QString::number(share)));
    }
  }
  // Each effect is the run with the changed setting; settings of other engines have none.
  void effects_are_runs() {
    ServiceSpec spec = busy_spec();
    const Design design = preset_design("llama3-8b", 1, 1, 1);
    const auto found = std::get<0>(setting_effects(design, spec));
    std::set<std::string> ids;
    double before = 1e9;
    for (const SettingEffect& effect : found->effects) {
      ids.insert(effect.setting->id);
      ServiceSpec changed = spec;
      QVERIFY(!set_setting(changed, *effect.setting, effect.value));
      QVERIFY(!check_engine(spec, *effect.setting));
      if (!effect.figures) continue;
      const auto run = std::get<0>(run_service(design, changed));
      QCOMPARE(effect.figures->results.ttft.p99, run->results.ttft.p99);
      QVERIFY(effect.change <= before);
      before = effect.change;
    }
    QVERIFY(ids.contains("max_num_batched_tokens") && ids.contains("enable_prefix_caching"));
    QVERIFY(!ids.contains("max_num_tokens") && !ids.contains("router") && !ids.contains("num_gpu_blocks"));
    QVERIFY(found->effects.front().change > 0.02);
  }
  void steps_of_settings() {
    const ServiceSpec spec;
    const auto steps = [&](const char* id) { return setting_steps(spec, *find_setting(id)); };
    QVERIFY(steps("speculative_method").empty());  // which drafts are accepted is not known
    using Texts = std::vector<std::string>;
    QVERIFY(steps("max_num_seqs") == Texts({"128", "512"}));
    QVERIFY(steps("gpu_memory_utilization") == Texts({"0.85", "0.95"}));
    QVERIFY(steps("async_scheduling") == Texts({"false"}));
    QVERIFY(steps("scheduling_policy") == Texts({"priority"}));
    for (const char* id : {"num_gpu_blocks", "engine", "max_running_requests", "trace", "watermark"})
      QVERIFY2(steps(id).empty(), id);
  }
};

QTEST_APPLESS_MAIN(FleetSearchTest)
#include "fleet_search_test.moc"
