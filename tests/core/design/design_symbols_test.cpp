// The symbols of a design: base ones, derived ones with their rules, layers of every stage.
#include <QtTest>
#include <algorithm>

#include "design/validate/validate.h"

using namespace shardscape;

namespace {

int64_t value(const Binding& binding, const char* symbol) {
  return binding.get(Symbol::intern(symbol)).value_or(-1);
}

}  // namespace

class DesignSymbolsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void even_layers_data() {
    QTest::addColumn<int>("layers");
    QTest::addColumn<int>("pp");
    QTest::addColumn<QList<int>>("stages");
    QTest::newRow("even") << 32 << 4 << QList<int>{8, 8, 8, 8};
    QTest::newRow("earlier stages take the rest") << 30 << 4 << QList<int>{8, 8, 7, 7};
    QTest::newRow("one each") << 3 << 3 << QList<int>{1, 1, 1};
    QTest::newRow("one stage") << 126 << 1 << QList<int>{126};
  }

  void even_layers() {
    QFETCH(int, layers);
    QFETCH(int, pp);
    QFETCH(QList<int>, stages);
    Design design = default_design();
    design.model.layers = layers;
    design.parallel.pp = pp;
    QCOMPARE(layers_per_stage(design), std::vector<int64_t>(stages.begin(), stages.end()));
    // Embedding and head counted: a layer more to share out, which the first or the last stage does not have.
    design.model.layers = 126;
    design.parallel.pp = 4;
    design.parallel.account_for_embedding_in_pipeline_split = true;
    QCOMPARE(layers_per_stage(design), (std::vector<int64_t>{31, 32, 32, 31}));
    design.parallel.account_for_loss_in_pipeline_split = true;
    QCOMPARE(layers_per_stage(design), (std::vector<int64_t>{31, 32, 32, 31}));
    design.parallel.account_for_embedding_in_pipeline_split = false;
    QCOMPARE(layers_per_stage(design), (std::vector<int64_t>{32, 32, 32, 30}));
    design.parallel.pp = 1;
    QCOMPARE(layers_per_stage(design), (std::vector<int64_t>{126}));
    design.parallel.stage_layers = {1, 2, 3};
    QCOMPARE(layers_per_stage(design), (std::vector<int64_t>{1, 2, 3}));
  }

  // The symbol of a split of a mesh axis and the device mesh have one number.
  void splits_data() {
    QTest::addColumn<Design>("design");
    QTest::addColumn<QString>("symbol");
    QTest::addColumn<int>("axis");
    QTest::addColumn<int>("number");  // 0: no split
    const auto row = [](const char* name, const char* preset, auto set, const char* symbol, MeshAxis axis,
                        int number) {
      Design design;
      apply_preset(design, preset);
      set(design.parallel, design);
      QTest::newRow(name) << design << QString(symbol) << static_cast<int>(axis) << number;
    };
    const auto ulysses = [](ContextMode mode) {
      return [mode](ParallelSpec& p, Design&) { p.cp = 8, p.context = mode, p.ulysses_degree = 4; };
    };
    row("Ulysses inside a ring", "llama3-8b", ulysses(ContextMode::UlyssesRing), "u", MeshAxis::CpUlysses, 4);
    row("Ulysses", "llama3-8b", ulysses(ContextMode::Ulysses), "u", MeshAxis::CpUlysses, 0);
    row("ring", "llama3-8b", ulysses(ContextMode::Ring), "u", MeshAxis::CpUlysses, 0);
    const auto shard = [](int64_t ranks) {
      return [ranks](ParallelSpec& p, Design&) { p.dp = 8, p.dp_shard = ranks; };
    };
    row("groups of two", "llama3-8b", shard(2), "ds", MeshAxis::DpShard, 2);
    row("one group", "llama3-8b", shard(8), "ds", MeshAxis::DpShard, 8);
    const auto context = [](int64_t ranks) {
      return [ranks](ParallelSpec& p, Design& d) {
        d.workload.mode = Mode::Decode;
        p.tp = 8, p.dcp = ranks;
      };
    };
    row("context over two ranks", "llama3-8b", context(2), "dcp", MeshAxis::TpContext, 2);
    row("whole context", "llama3-8b", context(1), "dcp", MeshAxis::TpContext, 0);
    const auto nodes = [](Dispatcher dispatcher, int64_t ranks) {
      return [=](ParallelSpec& p, Design& d) {
        p.dp = 16, p.ep = 8, p.dispatcher = dispatcher;
        d.cluster.gpus_per_node = ranks;
      };
    };
    row("two nodes", "mixtral-8x7b", nodes(Dispatcher::Flex, 4), "el", MeshAxis::EpLocal, 4);
    row("one node", "mixtral-8x7b", nodes(Dispatcher::Flex, 8), "el", MeshAxis::EpLocal, 0);
    row("one exchange", "mixtral-8x7b", nodes(Dispatcher::AllToAll, 4), "el", MeshAxis::EpLocal, 0);
  }
  void splits() {
    QFETCH(Design, design);
    QFETCH(QString, symbol);
    QFETCH(int, axis);
    QFETCH(int, number);
    const auto bound = bind_symbols(design).get(Symbol::intern(symbol.toStdString()));
    QCOMPARE(bound.value_or(0), int64_t{number});
    QCOMPARE(device_mesh(design).degree(static_cast<MeshAxis>(axis)), int64_t{std::max(1, number)});
  }

  // Xr counts the experts of a router, those without computation included. Other models have no such symbol.
  void all_routes() {
    Design design = default_design();
    apply_preset(design, "mixtral-8x7b");
    QCOMPARE(value(bind_symbols(design), "X"), int64_t{8});
    QCOMPARE(value(bind_symbols(design), "Xr"), int64_t{-1});
    apply_preset(design, "longcat-flash");
    QCOMPARE(value(bind_symbols(design), "Xr"), int64_t{512 + 256});
  }

  void symbols() {
    Design design = default_design();
    design.model.vocab = 128001;
    const Binding binding = bind_symbols(design);
    const std::pair<const char*, int64_t> wanted[] = {
        {"B", 32}, {"b", 1},   {"S", 8192},  {"L", 32},     {"D", 4096}, {"H", 32},
        {"G", 8},  {"E", 128}, {"F", 14336}, {"V", 128001}, {"Smax", 1}, {"tp", 2},
        {"cp", 1}, {"pp", 2},  {"dp", 2},    {"v", 1},      {"m", 16},   {"Vp", 128256}};
    for (const auto& [symbol, number] : wanted) QVERIFY2(value(binding, symbol) == number, symbol);
    QCOMPARE(binding.items().size(), std::size(wanted));
    QStringList rules;
    for (const DerivedSymbol& derived : derived_symbols(design))
      rules << QString::fromStdString(derived.definition());
    QCOMPARE(rules, (QStringList{"Vp = align(V, 128·tp)", "m = floor(B/(b·dp))"}));
    design.model.window = 100000;
    QCOMPARE(value(bind_symbols(design), "We"), int64_t{8192});
    design.model.window = 4096;
    QCOMPARE(value(bind_symbols(design), "We"), int64_t{4096});
    QCOMPARE(derived_symbols(design).back().definition(), std::string("We = min(W, S)"));
    apply_preset(design, "gpt3-175b");
    QCOMPARE(value(bind_symbols(design), "Smax"), int64_t{2048});
    design.parallel.dp = 0;
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, bind_symbols(design));
  }
};

QTEST_APPLESS_MAIN(DesignSymbolsTest)
#include "design_symbols_test.moc"
