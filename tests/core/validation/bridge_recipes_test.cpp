// Recipes of Megatron-Bridge's releases: every measured row has the one of its release, and what they say
// reaches the designs.
#include <QRegularExpression>
#include <QtTest>
#include <set>

#include "design/design.h"
#include "design/knobs/knobs.h"
#include "validation/bridge_recipes.h"
#include "validation/measured_set.h"

using namespace shardscape;

namespace {

BridgeRecipes table() {
  auto read = BridgeRecipes::read();
  if (auto* problem = std::get_if<Problem>(&read)) qFatal("%s", to_string(*problem).c_str());
  return std::get<BridgeRecipes>(std::move(read));
}

std::string said(const BridgeRecipe& recipe, const std::string& knob) {
  for (const auto& [name, value] : recipe.knobs)
    if (name == knob) return value;
  return "";
}

const char* kSmall =
    R"({"format": 1, "source": "x", "tags": {"26.02": "v1", "26.04": "v2", "26.04.01": "v3", "26.08": "v4"},
  "nvlink": {"source": "x", "gpus": {"rack": 64}}, "recipes": [
  {"model": "a", "system": "s", "precision": "BF16", "releases": ["26.04", "26.04.01"], "recipe": "middle",
   "knobs": {"dispatcher": "flex"}},
  {"model": "a", "system": "s", "precision": "BF16", "releases": ["26.08"], "recipe": "last", "knobs": {}},
  {"model": "a", "system": "s", "precision": "FP8", "releases": ["26.02"], "recipe": "other",
   "knobs": {}}]})";

}  // namespace

class BridgeRecipesTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void nearestReleaseIsTaken_data() {
    QTest::addColumn<QByteArray>("release");
    QTest::addColumn<QByteArray>("recipe");
    for (const auto& [release, recipe] : {std::pair{"26.04", "middle"},
                                          {"26.04.01", "middle"},
                                          {"26.06", "middle"},
                                          {"26.08", "last"},
                                          {"26.10", "last"},
                                          {"26.02", "middle"},
                                          {"25.11", "middle"}})
      QTest::newRow(release) << QByteArray(release) << QByteArray(recipe);
  }
  void nearestReleaseIsTaken() {
    QFETCH(QByteArray, release);
    QFETCH(QByteArray, recipe);
    const auto read = BridgeRecipes::read(kSmall, "small");
    QVERIFY(std::holds_alternative<BridgeRecipes>(read));
    const auto& small = std::get<BridgeRecipes>(read);
    const BridgeRecipe* found = small.find("a", "s", "BF16", release.toStdString());
    QVERIFY(found);
    QCOMPARE(QByteArray::fromStdString(found->name), recipe);
    QVERIFY(!small.find("b", "s", "BF16", release.toStdString()) &&
            !small.find("a", "t", "BF16", release.toStdString()) &&
            !small.find("a", "s", "NVFP4", release.toStdString()));
    QVERIFY(small.nvlink_gpus("rack") == 64 && !small.nvlink_gpus("s"));
  }

  // As read at the tags: what conditions on release, size and precision once missed.
  void recipesAreThoseOfTheTags_data() {
    QTest::addColumn<QByteArray>("at");
    QTest::addColumn<QByteArray>("dispatcher");
    QTest::addColumn<QByteArray>("overlap");
    QTest::addColumn<QByteArray>("modules");
    const auto row = [](const char* at, const char* dispatcher, const char* overlap, const char* modules) {
      QTest::newRow(at) << QByteArray(at) << QByteArray(dispatcher) << QByteArray(overlap)
                        << QByteArray(modules);
    };
    row("gpt-oss-120b gb200 BF16 26.04", "flex", "true", "layernorm,moe_act");
    row("gpt-oss-120b gb200 BF16 26.04.01", "flex", "true", "layernorm,moe_act");
    row("gpt-oss-120b gb200 BF16 26.02", "alltoall", "", "layernorm,moe_act");
    row("gpt-oss-120b gb300 BF16 26.04", "alltoall", "", "");
    row("gpt-oss-120b b200 BF16 26.04", "flex", "", "layernorm,moe_act");
    row("gpt-oss-120b b200 BF16 26.02.01", "alltoall", "", "layernorm,moe_act");
    row("gpt-oss-120b gb300 MXFP8 26.08", "flex", "true", "");
    row("qwen3-235b-a22b b300 MXFP8 26.04", "alltoall", "", "");
    row("qwen3-235b-a22b b200 MXFP8 26.04.01", "alltoall", "", "");
    row("qwen3-235b-a22b b300 MXFP8 26.02", "alltoall", "true", "");
    row("qwen3-235b-a22b h100 FP8 26.04", "alltoall", "true", "");
    row("qwen3-30b-a3b b200 MXFP8 26.02", "alltoall", "", "");
    row("qwen3-30b-a3b h100 FP8 26.06", "flex", "", "");
    row("deepseek-v3 gb200 MXFP8 26.06.01", "flex", "true", "mla_up_proj");
    row("deepseek-v3 gb200 MXFP8 26.04", "flex", "", "mlp");
    row("deepseek-v3 gb200 MXFP8 26.02.01", "flex", "", "mla_up_proj");
    row("deepseek-v3 gb300 MXFP8 26.06", "flex", "true", "");
    row("deepseek-v4-flash gb300 MXFP8 26.08", "flex", "", "mla_up_proj");
    row("kimi-k2 gb300 MXFP8 26.06", "flex", "", "mla_up_proj");
    row("llama3.1-405b gb200 NVFP4 26.06", "", "", "");
  }
  void recipesAreThoseOfTheTags() {
    QFETCH(QByteArray, at);
    QFETCH(QByteArray, dispatcher);
    QFETCH(QByteArray, overlap);
    QFETCH(QByteArray, modules);
    const auto words = at.split(' ');
    const BridgeRecipes recipes = table();
    const BridgeRecipe* found = recipes.find(words[0].toStdString(), words[1].toStdString(),
                                             words[2].toStdString(), words[3].toStdString());
    QVERIFY(found);
    QCOMPARE(QByteArray::fromStdString(said(*found, "dispatcher")), dispatcher);
    QCOMPARE(QByteArray::fromStdString(said(*found, "ep_comm_overlap")), overlap);
    QCOMPARE(QByteArray::fromStdString(said(*found, "recompute_modules")), modules);
    QCOMPARE(said(*found, "grad_dtype"), std::string("bf16"));
  }

  void everyRecipeIsOfAPresetAndSetsKnobs() {
    const BridgeRecipes recipes = table();
    std::set<std::string> seen;
    for (const BridgeRecipe& recipe : recipes.all()) {
      Design design;
      QVERIFY2(apply_preset(design, recipe.model), recipe.model.c_str());
      for (const std::string& release : recipe.releases)
        QVERIFY2(seen.insert(recipe.model + recipe.system + recipe.precision + release).second,
                 (recipe.name + " " + release).c_str());
      for (const auto& [name, value] : recipe.knobs) {
        const Knob* knob = find_knob(name);
        QVERIFY2(knob, name.c_str());
        const auto problem = set_knob(design, *knob, value);
        QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
      }
    }
  }

  // None of the rows here needs the rule for others.
  void everyMappedRowHasTheRecipeOfItsRelease() {
    const BridgeRecipes recipes = table();
    auto read = read_measured_set(SHARDSCAPE_TEST_DATA "/measured/megatron_bridge.json");
    QVERIFY(std::holds_alternative<MeasuredSet>(read));
    int mapped = 0;
    for (const MeasuredRow& row : std::get<MeasuredSet>(read).rows) {
      if (!row.unmapped.empty()) continue;
      ++mapped;
      const Design& d = row.design;
      const QStringList words = QString::fromStdString(row.name).split(
          ' ');  // "12: MODEL DGX-SYSTEM PRECISION RELEASE ..."
      const qsizetype at = words.indexOf(QRegularExpression("DGX-.*"));
      const BridgeRecipe* found = recipes.find(d.model.preset, words[at].mid(4).toLower().toStdString(),
                                               words[at + 1].toStdString(), words[at + 2].toStdString());
      QVERIFY2(found, row.name.c_str());
      QVERIFY2(std::count(found->releases.begin(), found->releases.end(), words[at + 2].toStdString()) == 1,
               row.name.c_str());
      QVERIFY2(d.parallel.ep_comm_overlap == (said(*found, "ep_comm_overlap") == "true"), row.name.c_str());
    }
    QCOMPARE(mapped, 95);
  }

  void wrongFilesAreToldApart_data() {
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::newRow("no JSON") << QByteArray("{") << QByteArray("");
    QTest::newRow("another format") << QByteArray("\"format\": 1") << QByteArray("\"format\": 2");
    QTest::newRow("a misspelt key") << QByteArray("\"system\"") << QByteArray("\"sytem\"");
    QTest::newRow("a release without a tag") << QByteArray("[\"26.08\"]") << QByteArray("[\"26.09\"]");
    QTest::newRow("a number for a text") << QByteArray("\"flex\"") << QByteArray("1");
    QTest::newRow("a text for a number") << QByteArray("64") << QByteArray("\"x\"");
  }
  void wrongFilesAreToldApart() {
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QByteArray text = kSmall;
    QVERIFY(text.contains(from));
    text.replace(text.indexOf(from), from.size(), to);
    const auto read = BridgeRecipes::read(text.toStdString(), "small");
    const auto* problem = std::get_if<Problem>(&read);
    QVERIFY(problem && problem->where.starts_with("small") && !problem->what.empty() &&
            !problem->accepted.empty());
  }
};

QTEST_GUILESS_MAIN(BridgeRecipesTest)
#include "bridge_recipes_test.moc"
