// Formats of weights as texts and in JSON, and the roles of the matrices of blocks.
#include <QtTest>
#include <set>

#include "design/document.h"
#include "model/layer_variant.h"
#include "model/library.h"
#include "model/weight_format.h"
#include "support/designs.h"
#include "symbolic/binding.h"

using namespace shardscape;
using namespace shardscape::test;

class WeightFormatTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void texts_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("written");  // empty: as read
    QTest::newRow("nothing") << ""
                             << "";
    QTest::newRow("a group") << "attention=fp8-block"
                             << "";
    QTest::newRow("a role") << "expert_up=mxfp4"
                            << "";
    QTest::newRow("later entries replace") << "mlp=fp8,mlp=nvfp4"
                                           << "mlp=nvfp4";
    QTest::newRow("roles of a group") << "gate=fp8, up=fp8, down=fp8"
                                      << "mlp=fp8";
    QTest::newRow("a group without a role") << "mlp=fp8, down=bf16"
                                            << "gate=fp8, up=fp8, down=bf16";
    QTest::newRow("spaces") << " q = int4-g32 ,head=nvfp4-a16 "
                            << "q=int4-g32, head=nvfp4-a16";
  }
  void texts() {
    QFETCH(QString, text);
    QFETCH(QString, written);
    const auto read = parse_weight_formats(text.toStdString());
    QVERIFY(std::holds_alternative<WeightFormats>(read));
    QCOMPARE(QString::fromStdString(weight_formats_text(std::get<0>(read))),
             written.isEmpty() ? text : written);
  }

  void mistakes_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("what");
    QTest::newRow("role") << "q=fp8, qq=fp8"
                          << "column 8: \"qq\" is not a role of weights";
    QTest::newRow("format") << "q=fp9"
                            << "column 1: \"fp9\" is not a format of weights";
    QTest::newRow("no format") << "mlp"
                               << "column 1: \"mlp\" has no format";
    QTest::newRow("comma") << "q=fp8,,k=fp8"
                           << "column 7: \"\" is not a role of weights";
  }
  void mistakes() {
    QFETCH(QString, text);
    QFETCH(QString, what);
    const auto read = parse_weight_formats(text.toStdString());
    QVERIFY(std::holds_alternative<Problem>(read));
    QVERIFY(std::get<Problem>(read).code == ProblemCode::WeightFormatSyntax);
    QCOMPARE(QString::fromStdString(std::get<Problem>(read).what), what);
  }

  // Every role and format has a name of its own, and each role is in one group.
  void names() {
    std::map<WeightRole, int> groups;
    for (const WeightGroup& group : weight_groups())
      for (const WeightRole role : group.roles) ++groups[role];
    for (int i = 0; i < kWeightRoleCount; ++i) {
      const auto role = static_cast<WeightRole>(i);
      QCOMPARE(groups[role], 1);
      QVERIFY(weight_role_from_name(weight_role_name(role)) == role);
    }
    for (int i = 0; i < kWeightFormatCount; ++i) {
      const auto format = static_cast<WeightFormat>(i);
      QVERIFY(weight_format_from_name(weight_format_name(format)) == format);
    }
  }

  // Bytes per weight, scales included.
  void bytesPerWeight_data() {
    QTest::addColumn<QString>("format");
    QTest::addColumn<int>("weights");
    QTest::addColumn<int>("bytes");
    QTest::newRow("fp8") << "fp8" << 1 << 1;
    QTest::newRow("fp8-block") << "fp8-block" << 128 * 128 << 128 * 128 + 4;
    QTest::newRow("fp8-block-e8m0") << "fp8-block-e8m0" << 128 * 128 << 128 * 128 + 1;
    QTest::newRow("mxfp8") << "mxfp8" << 32 << 33;
    QTest::newRow("mxfp4") << "mxfp4" << 32 << 17;
    QTest::newRow("nvfp4") << "nvfp4" << 16 << 9;
    QTest::newRow("int4-g32") << "int4-g32" << 32 << 18;
    QTest::newRow("int4-g128") << "int4-g128" << 128 << 66;
  }
  void bytesPerWeight() {
    QFETCH(QString, format);
    QFETCH(int, weights);
    QFETCH(int, bytes);
    const DType type = stored_type(*weight_format_from_name(format.toStdString()));
    QVERIFY(Expr(weights) * dtype_size(type) == Expr(bytes));
    QCOMPARE(storage_bytes(type, weights), bytes);
  }

  // A block that is not full has its share of a scale, rounded up to a byte.
  void storageOfAnySize() {
    QCOMPARE(storage_bytes(DType::Int8Block, 256), 260);
    QCOMPARE(storage_bytes(DType::Int8Block, 1), 2);
    QCOMPARE(storage_bytes(DType::Int8Block, 257), 262);
    QCOMPARE(storage_bytes(DType::NF4Double, 4096), 2113);
    QCOMPARE(storage_bytes(DType::BF16, 3), 6);
    QCOMPARE(storage_bytes(DType::NF4, 0), 0);
  }

  void variants() {
    const std::string text = "own: layer ffn=64 o_weights=bf16 mlp_weights=nvfp4; other: layer q_weights=fp8";
    const auto read = parse_layer_variants(text);
    QVERIFY(std::holds_alternative<std::vector<LayerVariant>>(read));
    QCOMPARE(QString::fromStdString(layer_variants_text(std::get<0>(read))), QString::fromStdString(text));
    const auto wrong = parse_layer_variants("own: layer mlp_weights=fp9");
    QVERIFY(std::get<Problem>(wrong).what.find("\"fp9\" is not a format") != std::string::npos);
    ModelSpec model;
    model.weight_formats = {{WeightRole::O, WeightFormat::FP8}, {WeightRole::Q, WeightFormat::FP8}};
    QCOMPARE(weight_formats_text(layer_model(model, std::get<0>(read)[0]).weight_formats),
             std::string("q=fp8, mlp=nvfp4"));
  }

  void documents() {
    Design design = preset_design("llama3-8b", 1, 1, 1);
    design.model.weight_formats = {{WeightRole::Up, WeightFormat::MXFP4}};
    design.model.variants = std::get<0>(parse_layer_variants("own: layer mlp_weights=nvfp4 o_weights=bf16"));
    const std::string text = to_json(design);
    QVERIFY(text.find("\"weight_formats\": \"up=mxfp4\"") != std::string::npos);
    QVERIFY(text.find("\"mlp\": \"nvfp4\"") != std::string::npos);
    const auto read = design_from_json(text, "design.json");
    QVERIFY(std::holds_alternative<Design>(read));
    QVERIFY(std::get<Design>(read) == design);
  }

  // A checkpoint may quantize every matrix that a GEMM reads, so each needs a role. Vectors have none.
  void everyMatrixHasARole() {
    const ModelLibrary& library = ModelLibrary::instance();
    std::set<std::string> names;
    for (const Preset& preset : library.presets()) names.insert(preset.model.architecture);
    for (const std::string& name : names)
      for (const SectionTemplate& kind : library.architecture(name)->kinds)
        for (const OpLine& call : kind.lines) {
          const BlockTemplate* block = library.block(call.callee);
          if (!block) continue;
          for (const OpLine& op : block->ops)
            for (const BlockParam& param : block->params)
              if (op.callee == "einsum" && !param.dtype && param.axes.size() > 1 &&
                  std::count(op.args.begin(), op.args.end(), param.name) > 0)
                QVERIFY2(param.role.has_value(), (block->id + "." + param.name).c_str());
          for (const BlockParam& param : block->params)
            QVERIFY2(!param.role || param.axes.size() > 1, (block->id + "." + param.name).c_str());
        }
  }
};

QTEST_APPLESS_MAIN(WeightFormatTest)
#include "weight_format_test.moc"
