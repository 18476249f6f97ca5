// Rules of validation for layer patterns and layer variants.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "model/layer_variant.h"
#include "support/validation_rules.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

void add_layers(Design& d, const char* pattern, const char* variants) {
  d.model.layer_pattern = pattern;
  d.model.variants = std::get<0>(parse_layer_variants(variants));
}

Change layers(const char* pattern, const char* variants) {
  return [=](Design& d) { add_layers(d, pattern, variants); };
}

}  // namespace

class ValidateLayersTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void rules_data() {
    add_rule_columns();
    row("syntax", layers("layer,,", ""), error, ProblemCode::LayerPatternSyntax, "layer_pattern",
        "separated by commas", 1);
    row("unknown kind in the pattern", layers("layer*2, moe*", "wide: layer"), error,
        ProblemCode::UnknownLayerKind, "layer_pattern", "one of layer or wide", 1);
    row("unknown kind of a variant", layers("", "wide: mlp ffn=8"), error, ProblemCode::UnknownLayerKind,
        "variants", "one of layer", 1);
    row("another number of layers", layers("layer*30", ""), error, ProblemCode::LayerPatternLength, "layers",
        "30", 1);
    row("too few layers", layers("layer*30, layer*, layer*4", ""), error, ProblemCode::LayerPatternLength,
        "layers", "at least 34", 1);
    row("no heads", layers("layer, none*", "none: layer head_dim=0"), error, ProblemCode::ValueTooSmall,
        "variants", "at least 1", 0);
    row("query heads over KV heads", layers("layer, odd*", "odd: layer kv_heads=6"), error,
        ProblemCode::KvHeadsIndivisible, "variants", "a divisor of 32", 0);
    row(
        "heads over tp",
        [](Design& d) {
          add_layers(d, "layer, few*", "few: layer heads=6");
          d.model.kv_heads = 2;
          d.parallel.tp = 4;
        },
        error, ProblemCode::HeadsIndivisibleByTp, "tp", "a divisor of 6: 1, 2, 3 or 6", 1);
    row("FFN over tp", layers("layer, odd*", "odd: layer ffn=14335"), error, ProblemCode::FfnIndivisibleByTp,
        "tp", "a divisor of 14,335", 1);
    row(
        "KV heads over tp",
        [](Design& d) {
          add_layers(d, "layer, few*", "few: layer heads=24 kv_heads=3");
          d.parallel.tp = 4;
        },
        error, ProblemCode::KvHeadsIndivisibleByTp, "tp", "a divisor or a multiple of 3", 1);
    row(
        "numbers of KV heads",
        [](Design& d) {
          add_layers(d, "(layer, a, b, c, e)*",
                     "a: layer kv_heads=1; b: layer kv_heads=2; c: layer kv_heads=4; e: layer kv_heads=8");
          d.model.kv_heads = 32;
          d.parallel.tp = 16;
          d.cluster.gpus_per_node = 16;
        },
        error, ProblemCode::TooManyKvSplits, "variants", "at most 3", 0);
  }
  void rules() { check_rule(Notes::Ignored); }

  void good_data() {
    add_good_columns();
    good_row("a pattern that fills", layers("layer*2, (layer*3, wide)*", "wide: layer ffn=28672"));
    good_row("all layers named", layers("layer*16, wide*16", "wide: layer heads=64 kv_heads=4"));
    good_row("a kind replaced", layers("", "layer: layer head_dim=64"));
    good_row("fewer KV heads than tp", layers("(layer, one)*", "one: layer kv_heads=1"));
  }
  void good() { check_good(); }

  void unusedVariant() {
    Design d = default_design();
    add_layers(d, "layer*", "wide: layer ffn=28672");
    const std::vector<Problem> problems = validate(d);
    QVERIFY(!has_errors(problems));
    QVERIFY2(std::any_of(problems.begin(), problems.end(),
                         [](const Problem& p) { return p.code == ProblemCode::UnusedLayerVariant; }),
             listing(problems).c_str());
  }

  // A kind with a window of its own needs no width of the model. The message names the other kinds.
  void windowsWithoutWidth() {
    Design d = default_design();
    QVERIFY(apply_preset(d, "gemma2-9b"));
    d.model.window = 0;
    std::vector<Problem> problems = validate(d);
    QVERIFY2(problems.size() == 1 && problems[0].code == ProblemCode::WindowWidthMissing,
             listing(problems).c_str());
    QVERIFY2(problems[0].what.starts_with("layers \"local\" have"), problems[0].what.c_str());
    QCOMPARE(problems[0].where, std::string("window"));
    Design mended = d;
    apply(mended, problems[0].fixes.at(0));
    QCOMPARE(mended.model.window, int64_t{4096});
    QCOMPARE(listing(validate(mended)), std::string());
    d.model.variants = std::get<0>(parse_layer_variants("local: local window=1024"));
    QCOMPARE(listing(validate(d)), std::string());
    // A kind that a person made of layers without a window.
    d = default_design();
    d.model.architecture = "llama; near = layer(mixer = self_attention(rope, window))";
    add_layers(d, "(near*3, layer)*", "");
    problems = validate(d);
    QVERIFY2(problems.size() == 1 && problems[0].code == ProblemCode::WindowWidthMissing,
             listing(problems).c_str());
    QVERIFY2(problems[0].what.starts_with("layers \"near\" have"), problems[0].what.c_str());
    // A ring supports no window, so nothing asks for one.
    d.parallel.cp = 2;
    d.parallel.context = ContextMode::Ring;
    QVERIFY(!has_errors(validate(d)));
    QVERIFY2(validate(d).empty(), listing(validate(d)).c_str());
  }

  // A message about one kind of layers names the kind.
  void messagesNameTheVariant() {
    Design d = default_design();
    add_layers(d, "layer, odd*", "odd: layer kv_heads=6");
    const std::vector<Problem> problems = validate(d);
    QVERIFY(!problems.empty());
    QCOMPARE(problems.front().what,
             std::string("layers \"odd\": 32 query heads cannot share 6 KV heads evenly"));
    QCOMPARE(first_error(d), std::string("variants"));
  }

  // The widths that models may set freely.
  void freeWidths() {
    Design d = default_design();
    QVERIFY(apply_preset(d, "mamba2-1.3b"));
    d.parallel = {};
    const int64_t heads = d.model.ssm_expand * d.model.hidden / d.model.ssm_head_dim;
    d.model.ssm_heads = heads + 1;
    d.model.ssm_expand = 0;
    QVERIFY2(!has_errors(validate(d)), listing(validate(d)).c_str());
    d.parallel.tp = 2;
    d.model.ssm_groups = 2;
    QCOMPARE(first_error(d), std::string("ssm_groups"));
    QVERIFY(apply_preset(d, "deepseek-moe-16b"));
    d.workload.seq = 4096;
    d.model.shared_experts = 0;
    QCOMPARE(first_error(d), std::string("shared_experts"));
    d.model.shared_ffn = 3001;
    QCOMPARE(first_error(d), std::string("tp"));
    d.model.shared_ffn = 3000;
    QVERIFY2(!has_errors(validate(d)), listing(validate(d)).c_str());
  }
};

QTEST_APPLESS_MAIN(ValidateLayersTest)
#include "validate_layers_test.moc"
