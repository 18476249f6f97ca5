// Kinds of layers with another mixer or feed-forward part, and places in files.
#include <QtTest>

#include "model/layer_parts.h"
#include "model/library.h"
#include "model/made_kinds.h"
#include "model/own_files.h"

using namespace shardscape;

namespace {

const ModelLibrary& library() { return ModelLibrary::instance(); }

const SectionTemplate* kind_of(const Architecture& architecture, const std::string& name) {
  for (const SectionTemplate& kind : architecture.kinds)
    if (kind.name == name) return &kind;
  return nullptr;
}

}  // namespace

class MadeKindsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void texts_round_trip_data() {
    QTest::addColumn<QString>("text");
    for (const char* text :
         {"llama", "glm4-moe; qk_norm, part_rope", "llama; linear = layer(mixer = gated_delta_net)",
          "glm4-moe; qk_norm, wide = moe(mixer = self_attention(rope, window), feed_forward = moe + "
          "shared_mlp)",
          "llama; a = layer(), b = layer(feed_forward = relu2_mlp)"})
      QTest::newRow(text) << text;
  }
  void texts_round_trip() {
    QFETCH(QString, text);
    const auto call = parse_architecture_call(text.toStdString());
    QVERIFY(std::holds_alternative<ArchitectureCall>(call));
    QCOMPARE(QString::fromStdString(architecture_call_text(std::get<0>(call))), text);
    QVERIFY(library().architecture(text.toStdString()));
    QVERIFY(!library().architecture_problem(text.toStdString()));
  }

  void mistakes_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("what");
    QTest::newRow("no kind") << "llama; 3 = layer()"
                             << "column 8: \"3\" is not the name";
    QTest::newRow("no parentheses") << "llama; a = layer"
                                    << "column 12: \"layer\" does not define";
    QTest::newRow("part") << "llama; a = layer(mixr = moe)"
                          << "column 18: \"mixr\" is neither";
    QTest::newRow("from") << "llama; a = lair()"
                          << "no kind of layer \"lair\"";
    QTest::newRow("mixer") << "llama; a = layer(mixer = latent_atention)"
                           << "is not a mixer; did you mean \"latent_attention\"?";
    QTest::newRow("use") << "llama; a = layer(mixer = gated_mlp)"
                         << "\"gated_mlp\" is not a mixer";
    QTest::newRow("option") << "llama; a = layer(mixer = self_attention(ropes))"
                            << "did you mean \"rope\"?";
    QTest::newRow("no part") << "mamba; a = layer(feed_forward = gated_mlp)"
                             << "exactly one feed-forward part";
    QTest::newRow("architecture") << "lama; a = layer()"
                                  << "there is no architecture \"lama\"";
  }
  void mistakes() {
    QFETCH(QString, text);
    QFETCH(QString, what);
    QVERIFY(!library().architecture(text.toStdString()));
    const auto problem = library().architecture_problem(text.toStdString());
    QVERIFY(problem);
    QVERIFY2(QString::fromStdString(problem->what).contains(what), problem->what.c_str());
  }

  // The part's lines are replaced, the results that other lines read stay.
  void parts_are_replaced() {
    const Architecture* made = library().architecture(
        "deepseek3; moe = moe(mixer = self_attention(rope)), deep = dense(feed_forward = moe + shared_mlp)");
    QVERIFY(made);
    QVERIFY(made->uses(Axis::Heads) && made->uses(Axis::KvHeads) && made->uses(Axis::KvRank));
    const Sublayers moe = parts_of(*kind_of(*made, "moe"), library());
    QCOMPARE(moe.mixer.call, std::string("self_attention(rope)"));
    QCOMPARE(moe.feed_forward.call, std::string("sigmoid_moe + shared_mlp"));
    const Sublayers deep = parts_of(*kind_of(*made, "deep"), library());
    QCOMPARE(deep.mixer.call, std::string("latent_attention"));
    QCOMPARE(deep.feed_forward.call, std::string("moe + shared_mlp"));
    QCOMPARE(deep.feed_forward.output, std::string("mlp"));
    QCOMPARE(made->kinds.size(), size_t(3));
  }

  // Every kind of every architecture with one mixer and one feed-forward part shows calls that make the same
  // layer again.
  void parts_make_the_same_layer() {
    int tried = 0;
    for (const Architecture& architecture : library().architectures()) {
      if (architecture.id.find(';') != std::string::npos) continue;
      for (const SectionTemplate& kind : architecture.kinds) {
        const Sublayers parts = parts_of(kind, library());
        if (parts.mixer.call.empty()) continue;
        const Architecture* made = library().architecture(architecture.id + "; " + kind.name + " = " +
                                                          kind.name + "(mixer = " + parts.mixer.call + ")");
        QVERIFY2(made, architecture.id.c_str());
        const SectionTemplate* same = kind_of(*made, kind.name);
        QCOMPARE(same->lines.size(), kind.lines.size());
        for (size_t i = 0; i < kind.lines.size(); ++i) {
          QCOMPARE(same->lines[i].callee, kind.lines[i].callee);
          QCOMPARE(same->lines[i].output, kind.lines[i].output);
        }
        ++tried;
      }
    }
    QVERIFY(tried > 60);
  }

  void choices() {
    const auto has = [](BlockUse use, const std::string& call) {
      const auto all = part_choices(use, library());
      return std::any_of(all.begin(), all.end(), [&](const PartChoice& c) { return c.call == call; });
    };
    for (const char* call : {"self_attention(rope)", "mamba2_mixer", "gated_delta_net", "latent_attention"})
      QVERIFY2(has(BlockUse::Mixer, call), call);
    for (const char* call : {"gated_mlp", "moe", "sigmoid_moe + shared_mlp", "relu2_mlp"})
      QVERIFY2(has(BlockUse::FeedForward, call), call);
    for (const char* call :
         {"gated_mlp", "rms_norm", "vision_attention", "absorbed_latent_attention", "lm_head"})
      QVERIFY2(!has(BlockUse::Mixer, call), call);
  }

  void places() {
    const auto place = parse_place("/home/a b/x.json:12:7");
    QVERIFY(place);
    QCOMPARE(place->file, std::string("/home/a b/x.json"));
    QCOMPARE(place->line, 12);
    QCOMPARE(place->column, 7);
    QCOMPARE(parse_place("blocks/x.json:3")->column, 0);
    QVERIFY(!parse_place("architecture") && !parse_place("x:0") && !parse_place("x:y"));
    QCOMPARE(place_text(*place), std::string("/home/a b/x.json:12:7"));
  }

  // The text of an architecture with made kinds is that of the same layers.
  void written_out() {
    const std::string
        id = "deepseek3; deep = dense(mixer = self_attention(rope, window), feed_forward = moe)";
    const auto text = architecture_text(id, library());
    QVERIFY(std::holds_alternative<std::string>(text));
    QCOMPARE(kind_of_text(std::get<0>(text)).folder, std::string("architectures"));
    const ModelLibrary read = ModelLibrary::load(
        ModelLibrary::folders(), {{"architectures", "t", with_id(std::get<0>(text), "copy")}});
    for (const Problem& problem : read.problems()) QFAIL(to_string(problem).c_str());
    const Architecture &made = *library().architecture(id), *copy = read.architecture("copy");
    QVERIFY(copy);
    QCOMPARE(copy->kinds.size(), made.kinds.size());
    for (size_t kind = 0; kind < made.kinds.size(); ++kind)
      for (size_t i = 0; i < made.kinds[kind].lines.size(); ++i)
        QCOMPARE(copy->kinds[kind].lines[i].callee, made.kinds[kind].lines[i].callee);
    QCOMPARE(copy->lead, made.lead);
    QCOMPARE(copy->pattern, made.pattern);
    QCOMPARE(copy->mtp.lines.size(), made.mtp.lines.size());
    QVERIFY(read.content() != library().content());
  }
};

QTEST_GUILESS_MAIN(MadeKindsTest)
#include "made_kinds_test.moc"
