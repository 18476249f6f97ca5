// The engines among which a fleet search chooses.
#include <QtTest>
#include <set>

#include "explore/fleet_candidates.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

std::vector<FleetCandidate> candidates(const Design& design, const FleetSpace& space,
                                       const ServiceSpec& spec = {}) {
  const auto made = fleet_candidates(design, spec, space);
  if (const auto* problem = std::get_if<Problem>(&made)) qFatal("%s", to_string(*problem).c_str());
  return std::get<0>(made).list;
}

std::set<std::string> layouts(const std::vector<FleetCandidate>& list) {
  std::set<std::string> out;
  for (const FleetCandidate& one : list) out.insert(one.layout);
  return out;
}

}  // namespace

class FleetCandidatesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // All splits of a dense model over tp and pp; the given design has one of them.
  void splits_of_a_dense_model() {
    const Design design = preset_design("llama3-8b", 2, 1, 4);
    const auto list = candidates(design, {{}, {1, 2, 4}, {}});
    const std::set<std::string> wanted{"1 GPU", "tp 2", "pp 2", "tp 4", "tp 2, pp 2", "pp 4"};
    QVERIFY(layouts(list) == wanted);
    QCOMPARE(list.size(), wanted.size());
    for (const FleetCandidate& one : list) {
      QVERIFY(engine_design(one.design) == one.design);
      QVERIFY(one.design.model == design.model);
    }
  }
  // Replicas of a dense model are engines of their own; replicas that share experts are one.
  void replicas_that_share_experts() {
    const auto list = candidates(preset_design("qwen3-30b-a3b", 4, 1, 1), {{}, {4}, {}});
    bool shared = false;
    for (const FleetCandidate& one : list) {
      QCOMPARE(one.design.world(), int64_t{4});
      QVERIFY(engine_design(one.design) == one.design);
      shared = shared || (one.design.parallel.dp == 4 && one.design.parallel.ep == 4);
    }
    QVERIFY(shared);
    QCOMPARE(layouts(list).size(), list.size());  // none twice
  }
  // Other accelerators have their own nodes and prices.
  void accelerators() {
    Design design = preset_design("llama3-8b", 1, 1, 1);
    design.cluster.price_per_hour = 1000;
    const auto list = candidates(design, {{"h100-sxm-80gb", "gb200-nvl72-186gb"}, {1}, {}});
    QCOMPARE(list.size(), size_t{2});
    QCOMPARE(list[0].design.cluster.price_per_hour, int64_t{1000});
    QCOMPARE(list[1].design.cluster.price_per_hour, int64_t{0});
    QVERIFY(list[1].design.cluster.gpus_per_node != list[0].design.cluster.gpus_per_node);
  }
  void settings_vary_in_all_combinations() {
    const auto list = candidates(
        preset_design("llama3-8b", 1, 1, 1),
        {{}, {1}, {{"max_num_seqs", {"32", "64"}}, {"router", {"round-robin", "least-outstanding"}}}});
    QCOMPARE(list.size(), size_t{4});
    std::set<std::string> texts;
    for (const FleetCandidate& one : list) {
      texts.insert(one.settings);
      QVERIFY(one.spec.engine.max_num_seqs == 32 || one.spec.engine.max_num_seqs == 64);
    }
    QVERIFY(texts.contains("max_num_seqs 64, router least-outstanding") && texts.size() == 4);
  }
  void mistakes() {
    const Design design = preset_design("llama3-8b", 1, 1, 1);
    const std::pair<FleetSpace, const char*> rows[] = {
        {{{"h1000"}, {}, {}}, "accelerator"},
        {{{}, {0}, {}}, "engine_gpus"},
        {{{}, {}, {{"rate", {"2"}}}}, "rate"},
        {{{}, {}, {{"replicas", {"2"}}}}, "replicas"},
        {{{}, {}, {{"max_num_seqs", {"many"}}}}, "max_num_seqs"},
        {{{}, {}, {{"max_num_seqs", {"0"}}}}, "max_num_seqs"},
        {{{}, {}, {{"max_batch_size", {"8"}}}}, "max_batch_size"},
        {{{}, {}, {{"nothing", {"8"}}}}, "nothing"}};
    for (const auto& [space, where] : rows) {
      const auto made = fleet_candidates(design, {}, space);
      QVERIFY2(std::holds_alternative<Problem>(made), where);
      QCOMPARE(std::get<Problem>(made).where, std::string(where));
    }
  }
};

QTEST_APPLESS_MAIN(FleetCandidatesTest)
#include "fleet_candidates_test.moc"
