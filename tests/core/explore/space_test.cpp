// Spaces of designs: values, sizes, numbering.
#include <QtTest>
#include <algorithm>
#include <random>
#include <set>

#include "design/validate/validate.h"
#include "explore/search.h"
#include "explore/values.h"
#include "support/spaces.h"

using namespace shardscape;
using namespace shardscape::test;

class SpaceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void values_data();
  void values();
  void bad_values_data();
  void bad_values();
  void all_values_of();
  void sizes_by_brute_force();
  void numbering();
  void cursor_goes_anywhere();
  void layouts_multiply_to_the_ranks();
  void dimensions_without_ranks();
  void nodes();
  void models();
  void structure_varies_slowly();
  void repeats();
  void valid_by_brute_force();
  void huge();
  void usual();
  void a_million_designs();
};

namespace {

QString joined(const std::vector<std::string>& words) {
  QStringList list;
  for (const std::string& word : words) list << QString::fromStdString(word);
  return list.join(' ');
}

std::vector<int64_t> numbers(const std::string& knob, const std::string& text) {
  std::vector<int64_t> out;
  const auto values = parse_values(*find_knob(knob), text);
  for (const std::string& value : std::get<0>(values)) out.push_back(std::stoll(value));
  return out;
}

// Throws if the spec has no problem.
Problem problem_of(const SpaceSpec& spec) { return std::get<Problem>(Space::make(spec)); }

}  // namespace

void SpaceTest::values_data() {
  QTest::addColumn<QString>("knob");
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("wanted");
  QTest::newRow("one") << "tp"
                       << "8"
                       << "8";
  QTest::newRow("list") << "tp"
                        << "1,2,4,8"
                        << "1 2 4 8";
  QTest::newRow("sorted, once") << "tp"
                                << "8, 1,2,2"
                                << "1 2 8";
  QTest::newRow("powers") << "tp"
                          << "1..64*2"
                          << "1 2 4 8 16 32 64";
  QTest::newRow("powers of three") << "tp"
                                   << "2..20*3"
                                   << "2 6 18";
  QTest::newRow("steps") << "tp"
                         << "1..9+4"
                         << "1 5 9";
  QTest::newRow("not up to the end") << "tp"
                                     << "1..8+3"
                                     << "1 4 7";
  QTest::newRow("every") << "tp"
                         << "3..6"
                         << "3 4 5 6";
  QTest::newRow("ranges and values") << "tp"
                                     << "1..4*2,16,5..6"
                                     << "1 2 4 5 6 16";
  QTest::newRow("kibi") << "seq"
                        << "2k,8k..32k*2"
                        << "2048 8192 16384 32768";
  QTest::newRow("decimals") << "capacity_factor"
                            << "1..2+0.5"
                            << "1 1.5 2";
  QTest::newRow("booleans") << "sequence_parallel"
                            << "on,false"
                            << "false true";
  QTest::newRow("choices in their order") << "recompute"
                                          << "FULL,none"
                                          << "none full";
  QTest::newRow("aliases") << "accelerator"
                           << "h100,a100"
                           << "a100-sxm-80gb h100-sxm-80gb";
  QTest::newRow("lists between bars") << "stage_layers"
                                      << "2,2|3,1"
                                      << "2,2 3,1";
  QTest::newRow("an empty list too") << "stage_layers"
                                     << "|3,1"
                                     << " 3,1";
  QTest::newRow("modules") << "recompute_modules"
                           << "mlp|core_attn,mlp"
                           << "mlp core_attn,mlp";
}

void SpaceTest::values() {
  QFETCH(QString, knob);
  QFETCH(QString, text);
  QFETCH(QString, wanted);
  const auto values = parse_values(*find_knob(knob.toStdString()), text.toStdString());
  QVERIFY2(std::holds_alternative<std::vector<std::string>>(values),
           std::holds_alternative<Problem>(values) ? to_string(std::get<Problem>(values)).c_str() : "");
  QCOMPARE(joined(std::get<0>(values)), wanted);
}

void SpaceTest::bad_values_data() {
  QTest::addColumn<QString>("knob");
  QTest::addColumn<QString>("text");
  QTest::addColumn<std::optional<ProblemCode>>("code");
  QTest::newRow("word") << "tp"
                        << "some" << std::optional(ProblemCode::NotANumber);
  QTest::newRow("nothing") << "tp"
                           << "" << std::optional(ProblemCode::ValueMissing);
  QTest::newRow("gap") << "tp"
                       << "1,,2" << std::optional(ProblemCode::ValueMissing);
  QTest::newRow("too small") << "tp"
                             << "0..4" << std::optional(ProblemCode::ValueTooSmall);
  QTest::newRow("too large") << "tp"
                             << "1..999999" << std::optional(ProblemCode::ValueTooLarge);
  QTest::newRow("down") << "tp"
                        << "8..1*2" << std::optional(ProblemCode::RangeInvalid);
  QTest::newRow("no step") << "tp"
                           << "1..8*" << std::optional<ProblemCode>();
  QTest::newRow("step of one") << "tp"
                               << "1..8*1" << std::optional(ProblemCode::RangeInvalid);
  QTest::newRow("word for step") << "tp"
                                 << "1..8+x" << std::optional(ProblemCode::RangeInvalid);
  QTest::newRow("powers of 0") << "microbatch_group"
                               << "0..8*2" << std::optional(ProblemCode::RangeInvalid);
  QTest::newRow("thousands") << "batch"
                             << "4,096" << std::optional(ProblemCode::ThousandsSeparator);
  QTest::newRow("tokens") << "batch"
                          << "2M tokens,4M tokens" << std::optional(ProblemCode::NotANumber);
  QTest::newRow("choice") << "recompute"
                          << "none,some" << std::optional(ProblemCode::UnknownChoice);
  QTest::newRow("too many") << "batch"
                            << "1..1000000" << std::optional(ProblemCode::TooManyValues);
}

void SpaceTest::bad_values() {
  QFETCH(QString, knob);
  QFETCH(QString, text);
  QFETCH(std::optional<ProblemCode>, code);
  const auto values = parse_values(*find_knob(knob.toStdString()), text.toStdString());
  if (!code) {
    QVERIFY(std::holds_alternative<std::vector<std::string>>(
        values));  // no number after the sign: the default step
    return;
  }
  QVERIFY(std::holds_alternative<Problem>(values));
  const Problem& problem = std::get<Problem>(values);
  QCOMPARE(QString::fromStdString(problem.where), knob);
  QVERIFY2(problem.code == *code, problem.what.c_str());
  QVERIFY(!problem.accepted.empty());
}

void SpaceTest::all_values_of() {
  Design d = small_gpt();
  const auto all = [&](const char* knob) { return joined(std::get<0>(all_values(*find_knob(knob), d))); };
  QCOMPARE(all("sequence_parallel"), QString("false true"));
  QCOMPARE(all("recompute"), QString("none selective full"));
  QCOMPARE(all("virtual_stages"), QString("1 2 4"));
  QCOMPARE(all("microbatch"), QString("1 2 4 8 16"));
  QCOMPARE(size_t(all("recompute_modules").count(' ') + 1),
           (size_t{1} << find_knob("recompute_modules")->choices.size()) - 1);
  QVERIFY(std::get<Problem>(all_values(*find_knob("hidden"), d)).code == ProblemCode::AllValuesUnknown);
}

// Degrees by loops over all numbers, other dimensions by multiplication.
void SpaceTest::sizes_by_brute_force() {
  std::mt19937 random(7);
  int checked = 0;
  for (int round = 0; round < 200; ++round) {
    SpaceSpec spec = random_space(random);
    const char* lists[] = {"1..16*2", "1,3,4", "2", "1..6"};
    for (auto& [id, values] : spec.dimensions)
      if (id == "tp" || id == "pp" || id == "cp") values = lists[random() % 4];
    if (random() % 3 == 0) spec.dimensions.emplace_back("dp", lists[random() % 4]);
    const auto list = [&](const char* id) {
      return spec.find(id) ? numbers(id, *spec.find(id)) : std::vector<int64_t>{1};
    };
    int64_t layouts = 0;
    for (int64_t world : numbers("dp", spec.gpus))
      for (int64_t tp : list("tp"))
        for (int64_t pp : list("pp"))
          for (int64_t cp : list("cp"))
            for (int64_t dp = 1; dp <= world; ++dp) {
              const std::vector<int64_t> allowed = list("dp");
              const bool listed = !spec.find("dp") ||
                                  std::find(allowed.begin(), allowed.end(), dp) != allowed.end();
              layouts += listed && tp * pp * cp * dp == world;
            }
    int64_t size = layouts;
    for (const auto& [id, values] : spec.dimensions) {
      if (id == "tp" || id == "pp" || id == "cp" || id == "dp") continue;
      const Knob& knob = *find_knob(id);
      size *= static_cast<int64_t>(
          std::get<0>(is_all(values) ? all_values(knob, spec.base) : parse_values(knob, values)).size());
    }
    if (layouts == 0) {
      QVERIFY(problem_of(spec).code == ProblemCode::NoLayoutForRanks);
      continue;
    }
    QCOMPARE(static_cast<int64_t>(made(spec)->size()), size);
    ++checked;
  }
  QVERIFY(checked > 100);
}

void SpaceTest::numbering() {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const auto space = made(random_space(random));
    SpaceCursor cursor(*space);
    std::set<std::vector<int>> seen;
    for (Wide i = 0; i < space->size(); ++i) {
      const std::vector<int> values = space->values_at(i);
      QVERIFY(seen.insert(values).second);
      QCOMPARE(static_cast<int64_t>(*space->index_of(values)), static_cast<int64_t>(i));
      QCOMPARE(static_cast<int64_t>(space->index_at(space->digits_at(i))), static_cast<int64_t>(i));
      const Design& design = cursor.at(i);
      QVERIFY(cursor.values() == values);
      for (size_t a = 0; a < values.size(); ++a) {
        const SpaceAxis& axis = space->axes()[a];
        if (axis.knob) QCOMPARE(knob_text(design, *axis.knob), axis.values[size_t(values[a])]);
      }
      QCOMPARE(static_cast<int64_t>(*space->index_of(design)), static_cast<int64_t>(i));
    }
  }
}

void SpaceTest::cursor_goes_anywhere() {
  std::mt19937 random(5);
  SpaceSpec spec = random_space(random);
  spec.dimensions.emplace_back("model", "gpt2,llama3-8b,gpt2-medium");
  spec.dimensions.emplace_back("layers", "4,8");
  const auto space = made(spec);
  SpaceCursor cursor(*space);
  for (int i = 0; i < 500; ++i) {
    const Wide index = static_cast<Wide>(random()) % space->size();
    QVERIFY(cursor.at(index) == space->design_at(index));
    if (index + 1 < space->size()) QVERIFY(cursor.at(index + 1) == space->design_at(index + 1));
  }
}

void SpaceTest::layouts_multiply_to_the_ranks() {
  SpaceSpec spec = small_space("24");
  const auto space = made(spec);
  for (Wide i = 0; i < space->size(); ++i) QCOMPARE(space->design_at(i).world(), int64_t{24});
  // tp 3 and 6 do not divide the four heads, and no more stages than layers.
  QCOMPARE(joined(space->axes()[size_t(space->axis("tp"))].values), QString("1 2 4"));
  spec.dimensions.emplace_back("dp", "6");
  for (Wide i = 0; i < made(spec)->size(); ++i) QCOMPARE(made(spec)->design_at(i).parallel.dp, int64_t{6});
  spec.gpus = "7";
  QVERIFY(problem_of(spec).code == ProblemCode::NoLayoutForRanks);
}

void SpaceTest::dimensions_without_ranks() {
  SpaceSpec spec;
  spec.base = small_gpt();
  spec.dimensions = {{"tp", "1,2"}, {"dp", "1,2,4"}};
  QCOMPARE(static_cast<int64_t>(made(spec)->size()), int64_t{6});
  spec.dimensions = {{"tp", "all"}};
  QVERIFY(problem_of(spec).code == ProblemCode::RanksUnknown);
  spec.dimensions = {{"tp", "1,2"}, {"tp", "4"}};
  QVERIFY(problem_of(spec).code == ProblemCode::RepeatedDimension);
  spec.dimensions.clear();
  QCOMPARE(static_cast<int64_t>(made(spec)->size()), int64_t{1});
  QVERIFY(made(spec)->design_at(0) == spec.base);
}

void SpaceTest::nodes() {
  SpaceSpec spec = small_space("");
  spec.nodes = "1,2,4";
  const auto space = made(spec);
  QCOMPARE(joined(space->axes()[size_t(space->axis("nodes"))].values), QString("1 2 4"));
  for (Wide i = 0; i < space->size(); ++i) {
    const int64_t nodes = std::stoll(space->axes()[size_t(space->axis("nodes"))]
                                         .values[size_t(space->values_at(i)[size_t(space->axis("nodes"))])]);
    QCOMPARE(space->design_at(i).world(), 8 * nodes);
  }
  spec.gpus = "8";
  QVERIFY(problem_of(spec).code == ProblemCode::ConflictingDimensions);
  spec.gpus.clear();
  spec.dimensions.emplace_back("gpus_per_node", "4,8");
  QVERIFY(problem_of(spec).code == ProblemCode::NodesOfVariousSizes);
}

void SpaceTest::models() {
  SpaceSpec spec;
  spec.base = small_gpt();
  spec.dimensions = {{"model", "gpt2,llama3-8b"}, {"seq", "256"}, {"layers", "6"}, {"vocab", "500,700"}};
  const auto space = made(spec);
  QCOMPARE(static_cast<int64_t>(space->size()), int64_t{4});
  for (Wide i = 0; i < 4; ++i) {
    const Design d = space->design_at(i);
    QCOMPARE(d.model.preset, std::string(i < 2 ? "gpt2" : "llama3-8b"));
    QCOMPARE(d.model.layers, int64_t{6});
    QCOMPARE(d.model.vocab, int64_t{i % 2 ? 700 : 500});
    QCOMPARE(d.workload.seq, int64_t{256});
  }
  spec.dimensions[0].second = "gpt2,gpt9";
  QVERIFY(problem_of(spec).code == ProblemCode::UnknownPreset);
}

// What only changes numbers varies fastest.
void SpaceTest::structure_varies_slowly() {
  SpaceSpec spec = small_space("16");
  spec.dimensions.insert(spec.dimensions.begin(), {"nic_bandwidth", "200,400"});
  spec.dimensions.emplace_back("model", "gpt2,gpt2-medium");
  const auto space = made(spec);
  std::vector<std::string> order;
  for (const Space::Digit& digit : space->digits())
    order.push_back(space->axes()[size_t(digit.axes.front())].id);
  QCOMPARE(order.front(), std::string("model"));
  QCOMPARE(order[1], std::string("tp"));
  QCOMPARE(order.back(), std::string("nic_bandwidth"));
}

void SpaceTest::repeats() {
  SpaceSpec spec;
  spec.base = small_gpt();
  spec.gpus = "4";
  spec.dimensions = {{"tp", "1,2"}, {"sequence_parallel", "all"}};
  const auto space = made(spec);
  SpaceCursor cursor(*space);
  std::map<std::pair<int64_t, bool>, bool> found;
  for (Wide i = 0; i < space->size(); ++i) {
    const Design& d = cursor.at(i);
    found[{d.parallel.tp, d.parallel.sequence_parallel}] = space->repeats(d, cursor.values());
  }
  const std::map<std::pair<int64_t, bool>, bool> wanted{
      {{1, false}, false}, {{1, true}, true}, {{2, false}, false}, {{2, true}, false}};
  QVERIFY(found == wanted);
}

void SpaceTest::valid_by_brute_force() {
  std::mt19937 random(11);
  for (int round = 0; round < 8; ++round) {
    const auto space = made(random_space(random));
    int64_t valid = 0;
    for (Wide i = 0; i < space->size(); ++i) {
      const Design d = space->design_at(i);
      valid += !has_errors(validate(d)) &&
               (space->spec().constraints.empty() || d.parallel.tp * d.parallel.cp <= 4);
    }
    const auto counted = count_valid(*space);
    QVERIFY(counted && counted->exact);
    QCOMPARE(static_cast<int64_t>(counted->valid), valid);
  }
}

void SpaceTest::huge() {
  SpaceSpec spec = small_space("131072");
  for (const char* id :
       {"batch", "vocab_multiple", "nic_bandwidth", "scaleup_bandwidth", "pod_size", "ddp_bucket_size"})
    spec.dimensions.emplace_back(id, "1..10000");
  const auto space = made(spec);
  QVERIFY(space->size() > Wide{1} << 80);
  for (Wide index : {Wide{0}, space->size() - 1, space->size() / 3 * 2 + 12345}) {
    QVERIFY(space->index_at(space->digits_at(index)) == index);
    QVERIFY(*space->index_of(space->design_at(index)) == index);
  }
  std::vector<std::string> told;
  const auto counted = count_valid(*space, [&](const ValidCount& c) { told.push_back(c.text()); });
  QVERIFY(counted && !counted->exact && !told.empty());
  QVERIFY2(counted->text().find("valid") != std::string::npos, counted->text().c_str());
  for (const char* id : {"moment_dtype", "zero_reduce_bucket_size", "stage3_prefetch_bucket_size",
                         "stage3_max_live_parameters", "rails", "network_latency", "scaleup_latency"})
    spec.dimensions.emplace_back(id, find_knob(id)->type == KnobType::Choice ? "all" : "1..4000");
  QVERIFY(problem_of(spec).code == ProblemCode::SpaceTooLarge);
}

void SpaceTest::usual() {
  for (const char* preset : {"gpt3-175b", "deepseek-v3", "llama3.1-405b"}) {
    SpaceSpec spec;
    spec.base = default_design();
    apply_preset(spec.base, preset);
    spec.base.workload.batch = 2048;
    spec.base.workload.seq = 32768;
    spec.gpus = "1024";
    spec.dimensions = usual_dimensions(spec.base, 1024, {"schedule"});
    QVERIFY(!spec.find("schedule"));
    QCOMPARE(spec.find("ep") != nullptr, spec.base.model.experts > 0);
    QVERIFY(spec.find("cp"));
    if (spec.base.model.positions > 0) continue;
    QVERIFY(count_valid(*made(spec), {}, {}, 0)->valid > 0);
  }
  // Inference has no gradients, and as many sequences at a time as there are.
  Design decode = default_design();
  decode.workload.mode = Mode::Decode;
  decode.workload.batch = 64;
  SpaceSpec spec;
  spec.dimensions = usual_dimensions(decode, 8, {});
  for (const char* knob : {"schedule", "recompute", "sync", "virtual_stages", "overlap_grad_reduce"})
    QVERIFY(!spec.find(knob));
  for (const char* knob : {"tp", "pp", "sequence_parallel", "tp_comm_overlap"}) QVERIFY(spec.find(knob));
  QCOMPARE(*spec.find("microbatch"), std::string("1,2,4,8,16,32,64"));
}

// The space that the searches of the benchmark go through.
void SpaceTest::a_million_designs() {
  const auto spec = load_space(SHARDSCAPE_TEST_DATA "/explore/gpt3_175b_4096.json");
  QVERIFY2(std::holds_alternative<SpaceSpec>(spec),
           std::holds_alternative<Problem>(spec) ? to_string(std::get<Problem>(spec)).c_str() : "");
  const auto space = made(std::get<SpaceSpec>(spec));
  QVERIFY(space->size() >= 1'000'000 && space->size() < 1'200'000);
  const Design d = space->design_at(0);
  QCOMPARE(d.model.preset, std::string("gpt3-175b"));
  QCOMPARE(d.world(), int64_t{4096});
  QCOMPARE(d.workload.batch, int64_t{4096});
  QCOMPARE(d.cluster.accelerator, std::string("a100-sxm-80gb"));
}

QTEST_GUILESS_MAIN(SpaceTest)
#include "space_test.moc"
