// Explore by goodput: the largest rate of the best engines of a space.
#include <QtTest>

#include "explore/goodput_file.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

std::shared_ptr<const Space> decode_space(std::vector<std::pair<std::string, std::string>> dimensions) {
  SpaceSpec spec;
  spec.base = preset_design("llama3-8b", 1, 1, 1);
  spec.base.workload.mode = Mode::Decode;
  spec.base.workload.batch = 16;
  spec.gpus = "4";
  spec.dimensions = std::move(dimensions);
  const auto made = Space::make(spec);
  if (const auto* problem = std::get_if<Problem>(&made)) qFatal("%s", to_string(*problem).c_str());
  return std::get<0>(made);
}

GoodputOptions goodput(const char* level = "p99 ttft<1s, p99 tpot<15ms") {
  GoodputOptions out;
  out.spec.source.requests = 200;
  out.spec.source.output_len = 64;
  out.spec.level = std::get<ServiceLevel>(parse_service_level(level, "slo"));
  return out;
}

GoodputResult found(const std::shared_ptr<const Space>& space, const GoodputOptions& options,
                    int threads = 2) {
  SearchOptions search;
  search.threads = threads;
  const auto made = search_goodput(space, search, options);
  if (const auto* problem = std::get_if<Problem>(&made)) qFatal("%s", to_string(*problem).c_str());
  return std::get<GoodputResult>(made);
}

}  // namespace

class GoodputSearchTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The rate keeps the level; one that is 2 % higher does not, below the throughput.
  void the_rate_is_the_largest() {
    const auto result = found(decode_space({{"tp", "1,2,4"}}), goodput());
    QCOMPARE(result.entries.size(), size_t{3});
    const ServiceSpec base = goodput().spec;
    for (const GoodputEntry& entry : result.entries) {
      QVERIFY(entry.simulated && entry.found.rate > 0);
      QCOMPARE(entry.found.accelerators, int64_t{4});
      for (const double factor : {1.0, 1.02}) {
        ServiceSpec spec = base;
        spec.source.rate = entry.found.rate * factor;
        const bool kept = keeps_level(std::get<0>(run_service(entry.design, spec))->results, base.level);
        QVERIFY(kept == (factor == 1.0) || entry.found.by_throughput);
      }
    }
  }
  void the_best_is_first_on_any_number_of_threads() {
    const auto space = decode_space({{"tp", "1,2,4"}, {"pp", "1,2"}});
    const auto one = found(space, goodput(), 1), two = found(space, goodput(), 2);
    QCOMPARE(goodput_json(one, goodput()), goodput_json(two, goodput()));
    for (size_t i = 1; i < one.entries.size(); ++i)
      QVERIFY(one.entries[i].per_gpu() <= one.entries[i - 1].per_gpu());
  }
  // Batches and microbatches are no engines of their own. Only the most promising engines are simulated.
  void engines_differ_in_layout() {
    const auto space = decode_space({{"tp", "1,2,4"}, {"batch", "8,16,32"}});
    GoodputOptions options = goodput();
    options.evaluated = 2;
    const auto result = found(space, options);
    QCOMPARE(result.engines, size_t{3});
    QVERIFY(result.search.counts.timed > 3);
    QVERIFY(result.entries[1].simulated && !result.entries[2].simulated);
    QVERIFY(result.entries[2].estimated <= result.entries[1].estimated ||
            result.entries[2].estimated <= result.entries[0].estimated);
  }
  void no_rate_keeps_an_impossible_level() {
    const auto result = found(decode_space({{"tp", "1"}}), goodput("p99 tpot<1us"));
    QVERIFY(result.entries[0].simulated);
    QCOMPARE(result.entries[0].per_gpu(), 0.0);
  }
  // A search that stops goes on from its file to the same bytes.
  void a_stopped_search_goes_on() {
    const auto space = decode_space({{"tp", "1,2,4"}, {"pp", "1,2"}, {"batch", "8,16,32"}});
    GoodputOptions options = goodput();
    options.evaluated = 2;
    const auto whole = found(space, options);
    SearchOptions search;
    search.threads = 1;
    std::stop_source stop;
    SearchCallbacks callbacks;
    callbacks.points = [&](std::span<const Point>) { stop.request_stop(); };
    const auto stopped = search_goodput(space, search, options, callbacks, stop.get_token());
    const auto read = goodput_from_json(goodput_file_json(std::get<0>(stopped), options), "file");
    const GoodputFile& file = *std::get<0>(read);
    QVERIFY(file.options == options);
    for (const GoodputEntry& entry : file.result.entries) QVERIFY(!entry.simulated);
    search.resume = &file.result.search;
    const auto resumed = search_goodput(space, search, options, {}, {}, &file.result);
    QCOMPARE(goodput_json(std::get<0>(resumed), options), goodput_json(whole, options));
    QCOMPARE(goodput_file_json(std::get<0>(resumed), options), goodput_file_json(whole, options));
  }
  void problems() {
    const auto space = decode_space({{"tp", "1"}});
    const auto where = [](const std::shared_ptr<const Space>& of, const GoodputOptions& options) {
      const auto made = search_goodput(of, {}, options);
      const auto* problem = std::get_if<Problem>(&made);
      return problem ? problem->where : std::string();
    };
    QCOMPARE(where(space, GoodputOptions{}), std::string("slo"));
    GoodputOptions users = goodput();
    users.spec.source.users = 4;
    QCOMPARE(where(space, users), std::string("users"));
    SpaceSpec trains = space->spec();
    trains.base.workload.mode = Mode::Train;
    QCOMPARE(where(std::get<0>(Space::make(trains)), goodput()), std::string("mode"));
  }
};

QTEST_APPLESS_MAIN(GoodputSearchTest)
#include "goodput_search_test.moc"
