// Imports of Nemotron-H, Nemotron 3, Granite 4 H, LongCat-Flash and ERNIE 4.5: their layers, and what they
// refuse.
#include <QJsonArray>
#include <QtTest>

#include "model/layer_pattern.h"
#include "support/hf_configs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

const QString kGranite = "../hf26/ibm-granite--granite-4.0-h-small__reconstructed";
const QString kLongCat = "../hf26/meituan-longcat--LongCat-Flash-Chat__reconstructed";
const QString kErnie = "../hf26/baidu--ERNIE-4.5-21B-A3B-PT__reconstructed";

// A small model of the family; letters: its layers.
QJsonObject nemotron(const QString& letters) {
  return {{"model_type", "nemotron_h"},
          {"hybrid_override_pattern", letters},
          {"num_hidden_layers", letters.size()},
          {"hidden_size", 2688},
          {"vocab_size", 131072},
          {"num_attention_heads", 32},
          {"num_key_value_heads", 2},
          {"head_dim", 128},
          {"intermediate_size", 1856},
          {"mamba_num_heads", 64},
          {"mamba_head_dim", 64},
          {"n_groups", 8},
          {"ssm_state_size", 128},
          {"conv_kernel", 4},
          {"mlp_hidden_act", "relu2"},
          {"n_routed_experts", letters.contains('E') ? QJsonValue(128) : QJsonValue::Null},
          {"num_experts_per_tok", 6},
          {"moe_intermediate_size", 1856},
          {"moe_shared_expert_intermediate_size", 3712}};
}

QJsonObject base(const QString& file) {
  return file.startsWith("nemotron ") ? nemotron(file.mid(9)) : config(file);
}

}  // namespace

class HfHybridsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void layers_data() {
    QTest::addColumn<QJsonObject>("file");
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("pattern");
    QJsonObject latent = nemotron("MEMEM*E");
    latent["moe_latent_size"] = 512;
    QJsonObject listed = nemotron("");
    listed["layers_block_type"] = QJsonArray{"mamba", "mlp", "mamba", "mlp", "attention"};
    listed.remove("num_hidden_layers");
    QTest::newRow("experts") << nemotron("MEMEM*EMEM*E") << "nemotron3"
                             << "mamba, moe, (mamba, moe, mamba, attention, moe)*";
    QTest::newRow("latents") << latent << "nemotron3; latent"
                             << "(mamba, moe)*, mamba, attention, moe";
    QTest::newRow("MLPs, as a list") << listed << "nemotron_h"
                                     << "(mamba, mlp)*, attention";
    QTest::newRow("granite") << config(kGranite) << "granite_hybrid"
                             << "mamba*5, attention, (mamba*9, attention)*, mamba*4";
  }
  void layers() {
    QFETCH(QJsonObject, file);
    QFETCH(QString, architecture);
    QFETCH(QString, pattern);
    const ImportResult result = imported(file);
    QVERIFY2(result.ok(), listing(result).c_str());
    QCOMPARE(QString::fromStdString(result.model.architecture), architecture);
    const auto found = parse_layer_pattern(result.model.layer_pattern),
               wanted = parse_layer_pattern(pattern.toStdString());
    const auto& is = std::get<NamedPattern>(found);
    const auto& should = std::get<NamedPattern>(wanted);
    for (int64_t i = 0; i < result.model.layers; ++i)
      QCOMPARE(is.names[static_cast<size_t>(is.layers.at(i, result.model.layers))],
               should.names[static_cast<size_t>(should.layers.at(i, result.model.layers))]);
  }

  void sizes() {
    const ModelSpec longcat = imported(config(kLongCat)).model;
    QCOMPARE(longcat.zero_experts, int64_t{256});
    QCOMPARE(longcat.experts_per_token, int64_t{12});
    const ModelSpec nano = imported(nemotron("M*E")).model;
    QCOMPARE(nano.ssm_heads, int64_t{64});
    QCOMPARE(nano.shared_width(), int64_t{3712});
    QCOMPARE(nano.ffn, int64_t{0});
    const ModelSpec granite = imported(config(kGranite)).model;
    QCOMPARE(granite.shared_width(), int64_t{1536});
    QCOMPARE(granite.expert_ffn, int64_t{768});
    const ModelSpec ernie = imported(config(kErnie)).model;
    QCOMPARE(ernie.dense_layers, int64_t{1});
    QVERIFY(ernie.tied_embeddings);
  }

  void problems_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("key");
    QTest::addColumn<QJsonValue>("value");
    QTest::addColumn<ProblemCode>("code");
    QTest::addColumn<QString>("accepted");
    const auto row = [](const char* name, const QString& file, const char* key, QJsonValue value,
                        ProblemCode code, const char* accepted) {
      QTest::newRow(name) << file << key << value << code << accepted;
    };
    using enum ProblemCode;
    row("number of layers", "nemotron M-", "num_hidden_layers", 3, HfSizesContradict, "2");
    row("unknown letter", "nemotron M-X", "vocab_size", 8, HfUnsupportedVariant, "M, *, - or E");
    row("no layers", "nemotron ", "vocab_size", 8, HfUnsupportedVariant, "M, *, - or E");
    row("experts and MLPs", "nemotron M-E", "vocab_size", 8, HfUnsupportedVariant, "either of them");
    row("another activation", "nemotron M-", "mlp_hidden_act", "silu", HfUnsupportedVariant, "relu2");
    row("a module of another form", "nemotron M-", "num_nextn_predict_layers", 1, HfUnsupportedVariant,
        "attention and moe");
    row("layers of a module", "nemotron ME", "mtp_layers_block_type", QJsonArray{"mamba"},
        HfUnsupportedVariant, "attention and moe");
    row("kinds of granite", kGranite, "layer_types", QJsonArray{"mamba"}, HfUnsupportedVariant, "40 entries");
    row("positions of granite", kGranite, "position_embedding_type", "rope", HfUnsupportedVariant, "nope");
    row("zero experts", kLongCat, "zero_expert_type", "drop", HfUnsupportedVariant, "identity");
    row("attention of longcat", kLongCat, "attention_method", "GQA", HfUnsupportedVariant, "MLA");
    row("router bias", kLongCat, "router_bias", true, HfUnsupportedVariant, "false");
    row("every other layer", kErnie, "moe_layer_interval", 2, HfUnsupportedVariant, "1");
    row("last layers dense", kErnie, "moe_layer_end_index", 20, HfUnsupportedVariant, "27");
    row("experts by modality", kErnie, "moe_num_experts", QJsonArray{64, 64}, HfSizeInvalid,
        "a whole number");
  }
  void problems() {
    QFETCH(QString, file);
    QFETCH(QString, key);
    QFETCH(QJsonValue, value);
    QFETCH(ProblemCode, code);
    QFETCH(QString, accepted);
    QJsonObject object = base(file);
    object[key] = value;
    if (key == "mtp_layers_block_type") object["num_nextn_predict_layers"] = 1;
    const ImportResult result = imported(object);
    const auto meant = [&](const Problem& p) {
      return p.code == code && QString::fromStdString(p.accepted).contains(accepted);
    };
    QVERIFY2(std::any_of(result.problems.begin(), result.problems.end(), meant), listing(result).c_str());
  }
};

QTEST_APPLESS_MAIN(HfHybridsTest)
#include "hf_hybrids_test.moc"
