// "Find a layout": near the optimum of exhaustive search, three aims, what helps where nothing fits.
#include <QtTest>
#include <algorithm>
#include <set>

#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "explore/layout.h"
#include "explore/search.h"
#include "explore/sensitivity.h"
#include "memory/allocator_use.h"
#include "memory/estimate.h"
#include "support/spaces.h"

using namespace shardscape;
using namespace shardscape::test;

using Settings = std::vector<std::pair<std::string, std::string>>;
Q_DECLARE_METATYPE(Settings)

namespace {

Design design_of(const std::string& preset, const Settings& settings) {
  Design d = default_design();
  if (!apply_preset(d, preset)) qFatal("no preset %s", preset.c_str());
  d.parallel = {};
  for (const auto& [id, value] : settings)
    if (const auto problem = set_knob(d, *find_knob(id), value)) qFatal("%s", to_string(*problem).c_str());
  return d;
}

Layouts layouts_of(const Design& design, int64_t gpus, int threads = 0) {
  LayoutOptions options;
  options.gpus = gpus;
  options.threads = threads;
  return *find_layouts(design, options);
}

// Whether the allocator has room for all tensors.
bool allocator_fits(const Design& design) {
  const auto replay = fragmentation(*estimate(design));
  return !replay || replay->native.fits;
}

}  // namespace

class LayoutsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void near_the_optimum_data();
  void near_the_optimum();
  void three_aims();
  void the_given_design_competes();
  void neighbours_are_usual();
  void whatever_the_threads();
  void given_knobs_stay();
  void distance();
  void questions();
  void nothing_fits();
  void help_fits();
  void combinations();
  void stopped();
  void mechanisms();
};

void LayoutsTest::near_the_optimum_data() {
  QTest::addColumn<QString>("preset");
  QTest::addColumn<qint64>("gpus");
  QTest::addColumn<Settings>("settings");
  QTest::newRow("dense") << "llama3-8b" << qint64{8} << Settings{{"batch", "64"}};
  QTest::newRow("tight") << "qwen2.5-32b" << qint64{16} << Settings{{"batch", "64"}};
  QTest::newRow("experts") << "mixtral-8x7b" << qint64{16} << Settings{{"batch", "64"}};
  QTest::newRow("long context") << "llama3-8b" << qint64{8} << Settings{{"batch", "8"}, {"seq", "32768"}};
  QTest::newRow("decode") << "llama3-70b" << qint64{8} << Settings{{"mode", "decode"}, {"batch", "64"}};
  QTest::newRow("prefill") << "llama3-70b" << qint64{16} << Settings{{"mode", "prefill"}, {"batch", "32"}};
  QTest::newRow("decode of experts") << "gpt-oss-120b" << qint64{8}
                                     << Settings{{"mode", "decode"}, {"batch", "128"}};
}

void LayoutsTest::near_the_optimum() {
  QFETCH(QString, preset);
  QFETCH(qint64, gpus);
  QFETCH(Settings, settings);
  const Layouts layouts = layouts_of(design_of(preset.toStdString(), settings), gpus);
  QCOMPARE(layouts.found.size(), size_t{3});
  const SearchResult all = found(layouts.space);
  QVERIFY(layouts.evaluated < all.counts.timed + all.counts.too_large || layouts.space->size() <= 600);
  const double ratio = layouts.found.front().evaluation.tokens_per_second /
                       all.best.front().evaluation.tokens_per_second;
  QVERIFY2(ratio > 0.99 && ratio <= 1, qPrintable(QString::number(ratio, 'g', 12)));
}

void LayoutsTest::three_aims() {
  const Layouts layouts = layouts_of(design_of("llama3-70b", {{"batch", "64"}}), 64);
  QCOMPARE(layouts.found.size(), size_t{3});
  const FoundLayout &fastest = layouts.found[0], &small = layouts.found[1], &simple = layouts.found[2];
  QVERIFY(fastest.aim == LayoutAim::Fastest && small.aim == LayoutAim::LeastMemory &&
          simple.aim == LayoutAim::Simplest);
  for (const FoundLayout& layout : layouts.found) {
    QVERIFY(!has_errors(validate(layout.design)));
    QCOMPARE(layout.design.world(), int64_t{64});
    QCOMPARE(layout.design.workload.batch, int64_t{64});
    QVERIFY(layout.evaluation.feasibility == Feasibility::Fits && layout.evaluation.timed());
    QVERIFY(layout.slower >= 0 && layout.slower <= kLayoutSlower);
    QVERIFY(!layout.reason.empty());
    const Evaluation again = Evaluator().evaluate(layout.design);
    QCOMPARE(again.memory, layout.evaluation.memory);
    QVERIFY(std::abs(again.step_seconds / layout.evaluation.step_seconds - 1) < 0.01);
  }
  QVERIFY(small.evaluation.memory < fastest.evaluation.memory);
  QVERIFY(layout_mechanisms(simple.design).size() < layout_mechanisms(fastest.design).size());
  // The settings of a layout turn the given design into it.
  Design design = design_of("llama3-70b", {{"batch", "64"}});
  for (const auto& [id, value] : small.settings) QVERIFY(!set_knob(design, *find_knob(id), value));
  QVERIFY(design == small.design);
}

// The space has no sizes of buckets: a given design with large ones is faster on a slow network, and stays
// the fastest, here and among the sizes of a scaling line.
void LayoutsTest::the_given_design_competes() {
  const Design given = design_of("llama3.2-1b", {{"dp", "64"},
                                                 {"seq", "2048"},
                                                 {"batch", "64"},
                                                 {"sync", "ddp-buckets"},
                                                 {"bucket_cap_mb", "1000"},
                                                 {"network_latency", "1000000"},
                                                 {"nic_bandwidth", "50"}});
  LayoutOptions options;
  options.fixed = {"tp", "pp", "cp", "sync", "recompute", "microbatch", "virtual_stages"};
  const auto layouts = find_layouts(given, options);
  QVERIFY(layouts && !layouts->found.empty());
  QCOMPARE(layouts->now.feasibility, Feasibility::Fits);
  QVERIFY(layouts->found.front().design == given);
  QCOMPARE(layouts->found.front().slower, 0.0);
  for (const FoundLayout& layout : layouts->found) QVERIFY(layout.slower >= 0 && !layout.reason.empty());
  const auto sizes = layouts_at_sizes(given, {{32, 64}, {64, 64}}, options);
  QVERIFY(sizes && sizes->at(1).fastest && sizes->at(0).fastest);
  QVERIFY(sizes->at(1).fastest->design == given);
  QCOMPARE(sizes->at(0).fastest->design.parallel.bucket_cap_mb, given.parallel.bucket_cap_mb);
}

// Sensitivity offers an H100 neither NVFP4, for which it has no units, nor the networks of other makers.
void LayoutsTest::neighbours_are_usual() {
  const auto found = sensitivity(design_of("llama3-8b", {{"dp", "8"}, {"batch", "64"}}));
  QVERIFY(found);
  std::set<std::string> precisions, networks;
  for (const KnobSensitivity& effect : found->knobs)
    for (const Neighbour& n : effect.neighbours) {
      if (effect.knob->id == "compute") precisions.insert(n.value);
      if (effect.knob->id == "network") networks.insert(n.value);
    }
  QVERIFY(precisions.contains("fp8") && !precisions.contains("nvfp4") && !precisions.contains("mxfp8"));
  for (const std::string& network : networks)
    QVERIFY2(network.find("tpu") == std::string::npos && network.find("trn") == std::string::npos,
             network.c_str());
}

void LayoutsTest::whatever_the_threads() {
  const Design design = design_of("mixtral-8x7b", {{"batch", "128"}});
  const Layouts one = layouts_of(design, 32, 1), two = layouts_of(design, 32, 2),
                more = layouts_of(design, 32, 4);
  for (const Layouts* other : {&two, &more}) {
    QCOMPARE(other->evaluated, one.evaluated);
    for (size_t i = 0; i < 3; ++i) {
      QVERIFY(other->found[i].design == one.found[i].design);
      QCOMPARE(other->found[i].evaluation.step_seconds, one.found[i].evaluation.step_seconds);
      QCOMPARE(other->found[i].reason, one.found[i].reason);
    }
  }
}

void LayoutsTest::given_knobs_stay() {
  Design design = design_of("llama3-8b", {{"batch", "64"}, {"tp", "2"}, {"recompute", "full"}, {"dp", "4"}});
  LayoutOptions options;
  options.gpus = 16;
  options.fixed = {"tp", "recompute", "dp"};
  const auto layouts = find_layouts(design, options);
  QCOMPARE(layouts->found.size(), size_t{3});
  for (const FoundLayout& layout : layouts->found) {
    QCOMPARE(layout.design.parallel.tp, int64_t{2});
    QCOMPARE(layout.design.parallel.dp, int64_t{4});
    QCOMPARE(layout.design.parallel.pp, int64_t{2});
    QVERIFY(layout.design.workload.recompute == Recompute::Full);
  }
  options.fixed = {"tp", "pp", "dp"};  // 2 x 1 x 4 are not 16
  const auto impossible = find_layouts(design, options);
  QVERIFY(impossible->unavailable && impossible->unavailable->code == ProblemCode::NoLayoutForRanks);
}

void LayoutsTest::distance() {
  const Design design = design_of("llama3-8b", {{"batch", "64"}, {"tp", "8"}});
  const Layouts slow = layouts_of(design, 0);
  QVERIFY(*slower_than_best(slow, slow.now) > 0.05);
  QVERIFY(QString::fromStdString(distance_text(slow, slow.now)).endsWith(" % slower than the best found"));
  const Evaluation best = Evaluator().evaluate(slow.found.front().design);
  QVERIFY(std::abs(*slower_than_best(slow, best)) < 1e-9);
  QCOMPARE(distance_text(slow, best), std::string("as fast as the best found"));
  QVERIFY(!slower_than_best(slow, {}) && distance_text(slow, {}).empty());
  // An invalid design, and a design of another number of GPUs, have layouts but no distance.
  Design invalid = design;
  invalid.parallel.tp = 3;
  QVERIFY(!slower_than_best(layouts_of(invalid, 8), layouts_of(invalid, 8).now));
  QVERIFY(!layouts_of(design, 16).now.timed());
}

void LayoutsTest::questions() {
  Design design = design_of("llama3-8b", {{"batch", "64"}, {"tp", "8"}});
  const Layouts layouts = layouts_of(design, 0);
  const Design given = design;
  QVERIFY(answers(layouts, given));
  design = layouts.found.front().design;
  design.name = "edited";
  QVERIFY(answers(layouts, design));
  design.workload.batch = 128;
  QVERIFY(!answers(layouts, design));
  design = given;
  design.parallel.dp = 2;  // 16 GPUs
  QVERIFY(!answers(layouts, design));
  design = given;
  design.cluster.accelerator = "h200-sxm-141gb";
  QVERIFY(!answers(layouts, design));
}

void LayoutsTest::nothing_fits() {
  const Design design = design_of("llama3.1-405b", {{"batch", "512"}, {"dp", "8"}});
  const Layouts layouts = layouts_of(design, 8);
  QVERIFY(layouts.found.empty());
  QVERIFY(layouts.now.feasibility == Feasibility::DoesNotFit);
  QVERIFY(layouts.fewest_gpus > 8 && layouts.at_fewest);
  QCOMPARE(layouts.at_fewest->design.world(), layouts.fewest_gpus);
  QVERIFY(layouts.at_fewest->evaluation.feasibility == Feasibility::Fits);
  // Half of the GPUs are too few.
  QVERIFY(layouts_of(design, layouts.fewest_gpus / 2).found.empty());
}

void LayoutsTest::help_fits() {
  const Design design = design_of("llama3-8b", {{"batch", "64"}, {"dp", "8"}});
  const auto help = layout_help(design);
  QVERIFY(!help.empty());
  QVERIFY(help.front().fits);
  bool grows = false;
  for (const LayoutHelp& one : help) {
    QVERIFY(one.saved > 0);
    QCOMPARE(one.design.world(), design.world());
    const Evaluation again = Evaluator().evaluate(one.design);
    QCOMPARE(again.feasibility == Feasibility::Fits && allocator_fits(one.design), one.fits);
    Design changed = design;
    for (const auto& [id, value] : one.settings) QVERIFY(!set_knob(changed, *find_knob(id), value));
    QVERIFY(changed == one.design);
    grows = grows || one.design.parallel.tp > 1;
  }
  QVERIFY(grows);
  Design fits = help.front().design;
  QVERIFY(layout_help(fits).empty());
  fits.parallel.tp = 3;  // invalid
  QVERIFY(layout_help(fits).empty());
  // A change that fills the device to its last GiB fits only if the allocator finds room.
  const Design large = design_of("llama3.1-405b", {{"batch", "64"}, {"tp", "8"}, {"pp", "2"}, {"dp", "4"}});
  for (const LayoutHelp& one : layout_help(large))
    if (one.fits) QVERIFY2(allocator_fits(one.design), one.what.c_str());
}

// All states of 70 billion parameters on every rank: no single change is enough, and several together are.
void LayoutsTest::combinations() {
  const Design design = design_of("llama3-70b", {{"batch", "64"}, {"dp", "16"}});
  const auto help = layout_help(design);
  QVERIFY(help.size() > 2);
  const LayoutHelp& together = help.front();
  QVERIFY(std::none_of(help.begin() + 1, help.end(), [](const LayoutHelp& h) { return h.fits; }));
  QVERIFY(together.fits);
  QVERIFY(together.settings.size() > 1);
  QVERIFY2(together.what.find(" and ") != std::string::npos, together.what.c_str());
  QVERIFY(Evaluator().evaluate(together.design).feasibility == Feasibility::Fits);
  for (size_t i = 1; i < help.size(); ++i) QVERIFY(together.saved > help[i].saved);
}

void LayoutsTest::stopped() {
  std::stop_source stop;
  stop.request_stop();
  QVERIFY(!find_layouts(design_of("llama3-8b", {}), {}, stop.get_token()));
}

void LayoutsTest::mechanisms() {
  Design design = design_of("llama3-8b", {{"dp", "8"}});
  QVERIFY(layout_mechanisms(design).empty());
  design.parallel.schedule = ScheduleKind::ZbV;  // no effect on one stage
  QVERIFY(layout_mechanisms(design).empty());
  design.parallel.tp = 2;
  design.parallel.pp = 4;
  design.workload.recompute = Recompute::Full;
  QCOMPARE(layout_mechanisms(design).size(), size_t{4});
  design.workload.mode = Mode::Decode;
  QCOMPARE(layout_mechanisms(design).size(), size_t{2});
}

QTEST_APPLESS_MAIN(LayoutsTest)
#include "layouts_test.moc"
