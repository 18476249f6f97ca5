// The texts of layer patterns and layer variants.
#include <QtTest>

#include "model/layer_variant.h"
#include "model/library.h"

using namespace shardscape;

namespace {

// The kinds of the first layers of a model: "dense dense moe".
QString layers_text(const std::string& pattern, int layers) {
  const auto read = parse_layer_pattern(pattern);
  if (const auto* problem = std::get_if<Problem>(&read)) return QString::fromStdString(problem->what);
  const NamedPattern& named = std::get<NamedPattern>(read);
  QStringList out;
  for (int i = 0; i < layers; ++i)
    out << QString::fromStdString(named.names[static_cast<size_t>(named.layers.at(i, layers))]);
  return out.join(' ');
}

}  // namespace

class LayerPatternTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The text of a list of layers is short, and reads back as the same layers.
  void textOfLayers_data() {
    QTest::addColumn<QString>("layers");
    QTest::addColumn<QString>("text");
    QTest::newRow("one") << "a"
                         << "a*";
    QTest::newRow("equal") << "a a a a"
                           << "a*";
    QTest::newRow("lead") << "a b b b b"
                          << "a, b*";
    QTest::newRow("groups") << "a a a b a a a b"
                            << "(a*3, b)*";
    QTest::newRow("cut group") << "a a a b a a a b a"
                               << "(a*3, b)*";
    QTest::newRow("lead and groups") << "d a a b a a b b"
                                     << "d, (a*2, b)*, b";
    QTest::newRow("no repeats") << "a b c"
                                << "a, b, c";
    QTest::newRow("blocks") << "a b b b a a a a a c a"
                            << "a, b*, a*5, c, a";
  }
  void textOfLayers() {
    QFETCH(QString, layers);
    std::vector<std::string> names;
    for (const QString& name : layers.split(' ')) names.push_back(name.toStdString());
    const std::string text = layer_pattern_text(names);
    QTEST(QString::fromStdString(text), "text");
    QCOMPARE(layers_text(text, static_cast<int>(names.size())), layers);
  }
  // The time grows with the number of layers, not with its square.
  void textOfManyLayers() {
    std::vector<std::string> names;
    for (int i = 0; i < 300'000; ++i) names.push_back(i % 8 == 7 ? "full" : "linear");
    QCOMPARE(layer_pattern_text(names), std::string("(linear*7, full)*"));
  }
  void textOfRandomLayers() {
    uint64_t seed = 7;
    const auto random = [&](uint64_t below) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      return (seed >> 33) % below;
    };
    for (int round = 0; round < 400; ++round) {
      std::vector<std::string> names(1 + random(40));
      const size_t period = 1 + random(6);
      for (size_t i = 0; i < names.size(); ++i)
        names[i] = i < period || random(12) == 0 ? std::string(1, static_cast<char>('a' + random(3)))
                                                 : names[i - period];
      QStringList expected;
      for (const std::string& name : names) expected << QString::fromStdString(name);
      const std::string text = layer_pattern_text(names);
      QVERIFY2(layers_text(text, static_cast<int>(names.size())) == expected.join(' '), text.c_str());
    }
  }

  void patterns_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("layers");
    QTest::newRow("one") << "a"
                         << "a";
    QTest::newRow("list") << " a,b ,a"
                          << "a b a";
    QTest::newRow("times") << "a*3, b"
                           << "a a a b";
    QTest::newRow("fills") << "a*"
                           << "a a a a a";
    QTest::newRow("lead") << "dense*3, moe*"
                          << "dense dense dense moe moe";
    QTest::newRow("lead alone") << "dense*3, moe*"
                                << "dense dense dense";
    QTest::newRow("group") << "(a*2, b)*2, c"
                           << "a a b a a b c";
    QTest::newRow("groups in groups") << "((a, b)*2, c)*2"
                                      << "a b a b c a b a b c";
    QTest::newRow("filled by groups") << "(linear*3, full)*"
                                      << "linear linear linear full linear linear";
    QTest::newRow("prefix and suffix") << "k, (k*3, m)*, m"
                                       << "k k k k m k k m";
    QTest::newRow("suffix of several") << "a*, b*2"
                                       << "a a a b b";
    QTest::newRow("names") << "kda_1, B2*2"
                           << "kda_1 B2 B2";
  }

  void patterns() {
    QFETCH(QString, text);
    QFETCH(QString, layers);
    QCOMPARE(layers_text(text.toStdString(), static_cast<int>(layers.count(' ')) + 1), layers);
  }

  void wrongPatterns_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("column");
    QTest::newRow("nothing") << "" << 1;
    QTest::newRow("comma at the end") << "a, " << 4;
    QTest::newRow("two commas") << "a,,b" << 3;
    QTest::newRow("number first") << "3*a" << 1;
    QTest::newRow("no comma") << "a b" << 3;
    QTest::newRow("no name") << "a, *3" << 4;
    QTest::newRow("never closed") << "a, (b, c" << 4;
    QTest::newRow("no comma in a group") << "a, (b c)" << 7;
    QTest::newRow("never opened") << "a, b)" << 5;
    QTest::newRow("empty group") << "()" << 2;
    QTest::newRow("no times") << "a*0, b" << 3;
    QTest::newRow("too many times") << "a*99999" << 3;
    QTest::newRow("too many layers") << "(a*9999, b)*9999" << 12;
    QTest::newRow("two fill") << "a*, b*" << 6;
    QTest::newRow("a group that fills a group") << "(a*, b)*2" << 3;
    QTest::newRow("too deep") << "((((((((((a))))))))))" << 9;
  }

  void wrongPatterns() {
    QFETCH(QString, text);
    QFETCH(int, column);
    const auto read = parse_layer_pattern(text.toStdString());
    const auto* problem = std::get_if<Problem>(&read);
    QVERIFY(problem);
    QCOMPARE(problem->code, ProblemCode::LayerPatternSyntax);
    QCOMPARE(problem->where, std::string("layer_pattern"));
    QVERIFY2(QString::fromStdString(problem->what).startsWith(QString("column %1: ").arg(column)),
             problem->what.c_str());
  }

  void variants() {
    const std::string text = "full: global kv_heads=2 head_dim=512; wide: local ffn=8";
    const auto read = parse_layer_variants(" full :global  kv_heads=2 head_dim=512 ;wide: local ffn=8;");
    const auto* variants = std::get_if<0>(&read);
    QVERIFY(variants);
    QCOMPARE(layer_variants_text(*variants), text);
    ModelSpec model;
    model.heads = 16;
    const ModelSpec full = layer_model(model, variants->front());
    QCOMPARE(full.heads, int64_t{16});
    QCOMPARE(full.kv_heads, int64_t{2});
    QCOMPARE(full.head_dim, int64_t{512});
  }

  void wrongVariants_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("column");
    QTest::newRow("no colon") << "full global" << 1;
    QTest::newRow("no name") << "a: b; : c" << 7;
    QTest::newRow("no kind") << "full:" << 6;
    QTest::newRow("size for kind") << "full: ffn=8" << 7;
    QTest::newRow("no size") << "full: a fnn=8" << 9;
    QTest::newRow("size of the model") << "full: a hidden=8" << 9;
    QTest::newRow("no value") << "full: a ffn" << 9;
    QTest::newRow("no number") << "full: a ffn=big" << 13;
    QTest::newRow("too large") << "full: a ffn=999999999999" << 13;
    QTest::newRow("size twice") << "full: a ffn=8 ffn=9" << 15;
    QTest::newRow("name twice") << "a: b; a: c" << 7;
  }

  void wrongVariants() {
    QFETCH(QString, text);
    QFETCH(int, column);
    const auto read = parse_layer_variants(text.toStdString());
    const auto* problem = std::get_if<Problem>(&read);
    QVERIFY(problem);
    QCOMPARE(problem->code, ProblemCode::LayerVariantSyntax);
    QCOMPARE(problem->where, std::string("variants"));
    QVERIFY2(QString::fromStdString(problem->what).startsWith(QString("column %1: ").arg(column)),
             problem->what.c_str());
  }

  // Kinds of the architecture come first; only kinds in the pattern count.
  void kindsOfModels() {
    const Architecture* jamba = ModelLibrary::instance().architecture("jamba");
    ModelSpec model;
    QCOMPARE(layers_of(model, *jamba).kinds.size(), size_t{3});
    QVERIFY(layers_of(model, *jamba).pattern.repeat == jamba->pattern);
    model.variants = {{"wide", "mamba", {}}, {"attention", "attention", {{2, 8}}}};
    QCOMPARE(layers_of(model, *jamba).kinds.at(2).sizes.size(), size_t{1});
    model.layer_pattern = "wide, (attention, mamba_moe)*";
    const ModelLayers layers = layers_of(model, *jamba);
    QCOMPARE(layers.kinds.size(), size_t{3});
    QCOMPARE(layers.kinds[0].name, std::string("mamba_moe"));
    QCOMPARE(layers.kinds[1].name, std::string("attention"));
    QCOMPARE(layers.kinds[2].kind, std::string("mamba"));
    QVERIFY(layers.pattern == (LayerPattern{{2}, {1, 0}, {}}));
    model.layer_pattern = "no_kind*";
    QVERIFY(layers_of(model, *jamba).pattern.repeat == jamba->pattern);
  }
};

QTEST_APPLESS_MAIN(LayerPatternTest)
#include "layer_pattern_test.moc"
