// Edits of the layers of a model.
#include <QtTest>

#include "design/design.h"
#include "design/layer_edits.h"
#include "design/validate/validate.h"
#include "model/layer_variant.h"
#include "model/model_sizes.h"

using namespace shardscape;

namespace {

const ModelLibrary& library() { return ModelLibrary::instance(); }
ModelSpec preset(const char* id) { return library().preset(id)->model; }

ModelSpec part(const ModelSpec& model, const char* name, BlockUse use, const char* call) {
  auto made = with_part(model, name, use, call, library());
  if (const auto* problem = std::get_if<Problem>(&made)) qWarning("%s", to_string(*problem).c_str());
  return std::holds_alternative<ModelSpec>(made) ? std::get<ModelSpec>(made) : ModelSpec{};
}

QString problems(const ModelSpec& model) {
  Design design;
  apply_model(design, model, "edited");
  QStringList out;
  for (const Problem& problem : validate(design))
    if (problem.severity == Severity::Error) out << QString::fromStdString(to_string(problem));
  return out.join('\n');
}

}  // namespace

class LayerEditsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Every mixer and every feed-forward part can be chosen; the sizes come along.
  void all_choices_data() {
    QTest::addColumn<bool>("mixer");
    QTest::addColumn<QString>("call");
    for (const bool mixer : {true, false})
      for (const PartChoice& choice :
           part_choices(mixer ? BlockUse::Mixer : BlockUse::FeedForward, library()))
        QTest::newRow(choice.call.c_str()) << mixer << QString::fromStdString(choice.call);
  }
  void all_choices() {
    QFETCH(bool, mixer);
    QFETCH(QString, call);
    const auto made = with_part(preset("llama3-8b"), "layer", mixer ? BlockUse::Mixer : BlockUse::FeedForward,
                                call.toStdString(), library());
    QVERIFY(std::holds_alternative<ModelSpec>(made));
    const ModelSpec& model = std::get<ModelSpec>(made);
    const Sublayers parts = parts_of(library().architecture(model.architecture)->kinds.front(), library());
    QCOMPARE(QString::fromStdString((mixer ? parts.mixer : parts.feed_forward).call), call);
    for (const ModelSize& size : kModelSizes)
      if (size.part.axis && size.part.needed &&
          library().architecture(model.architecture)->uses(*size.part.axis))
        QVERIFY2(model.*size.member > 0, size.id);
    QCOMPARE(problems(model), QString());
  }

  void parts_come_and_go() {
    ModelSpec model = part(preset("llama3-8b"), "layer", BlockUse::FeedForward, "relu2_mlp");
    QCOMPARE(model.architecture, std::string("llama; layer = layer(feed_forward = relu2_mlp)"));
    model = part(model, "layer", BlockUse::Mixer, "self_attention(rope, window)");
    QCOMPARE(model.architecture, std::string("llama; layer = layer(mixer = self_attention(rope, window), "
                                             "feed_forward = relu2_mlp)"));
    model = part(model, "layer", BlockUse::FeedForward, "gated_mlp");
    model = part(model, "layer", BlockUse::Mixer, "self_attention(rope)");
    QCOMPARE(model.architecture, std::string("llama"));
  }

  void new_kind() {
    std::string made;
    const ModelSpec llama = preset("llama3-8b");
    ModelSpec model = with_new_kind(llama, "layer", pattern_of(llama, library()), library(), made);
    QCOMPARE(made, std::string("layer_2"));
    QCOMPARE(model.layer_pattern, std::string("layer*, layer_2"));
    QCOMPARE(problems(model), QString());
    model = part(model, "layer_2", BlockUse::Mixer, "gated_delta_net");
    QCOMPARE(model.architecture, std::string("llama; layer_2 = layer(mixer = gated_delta_net)"));
    QCOMPARE(problems(model), QString());
    // The first kind stays as it was.
    QCOMPARE(parts_of(library().architecture(model.architecture)->kinds.front(), library()).mixer.call,
             std::string("self_attention(rope)"));
  }

  void sizes() {
    const int row = size_row(&ModelSpec::ffn);
    ModelSpec model = with_size(preset("deepseek-v3"), "dense", row, 1024);
    QCOMPARE(layer_variants_text(model.variants), std::string("dense: dense ffn=1024"));
    QCOMPARE(problems(model), QString());
    model = with_size(model, "dense", row, std::nullopt);
    QVERIFY(model.variants.empty());
  }

  void patterns_data() {
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<QStringList>("parts");
    QTest::newRow("one kind") << "layer*" << QStringList{"", "layer", ""};
    QTest::newRow("prefix") << "dense*3, moe*" << QStringList{"dense*3", "moe", ""};
    QTest::newRow("groups") << "(linear*3, full)*, full*2" << QStringList{"", "linear*3, full", "full*2"};
    QTest::newRow("fixed") << "a*2, b, a" << QStringList{"a*2, b, a", "", ""};
  }
  void patterns() {
    QFETCH(QString, pattern);
    QFETCH(QStringList, parts);
    const auto read = pattern_parts(pattern.toStdString());
    QVERIFY(std::holds_alternative<PatternParts>(read));
    const PatternParts& p = std::get<PatternParts>(read);
    QCOMPARE(QStringList({QString::fromStdString(p.prefix), QString::fromStdString(p.repeat),
                          QString::fromStdString(p.suffix)}),
             parts);
    QCOMPARE(QString::fromStdString(pattern_text(p)), pattern);
  }
  void patterns_of_models() {
    QCOMPARE(pattern_of(preset("deepseek-v3"), library()), std::string("dense*3, moe*"));
    QCOMPARE(pattern_of(preset("qwen3-next-80b-a3b"), library()), std::string("(linear*3, full)*"));
    QCOMPARE(pattern_of(preset("llama3-8b"), library()), std::string("layer*"));
  }
};

QTEST_GUILESS_MAIN(LayerEditsTest)
#include "layer_edits_test.moc"
