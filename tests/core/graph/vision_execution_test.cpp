// Proof by execution: a vision tower, its projector and the language model compute what the unsharded run
// computes.
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>

#include "base/data_dir.h"
#include "design/validate/validate.h"
#include "graph/build.h"
#include "plan/model_parts.h"
#include "support/designs.h"
#include "support/equivalence.h"
#include "support/execution_runs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// Settings of knobs, between spaces.
constexpr const char* kRuns[] = {
    "",
    "dp=2 microbatch=2",
    "tp=2",
    "tp=2 sequence_parallel=true",
    "tp=4 sequence_parallel=true",  // more ranks than KV heads
    "cp=2",
    "cp=2 context=ring",
    "cp=2 context=ulysses",
    "pp=2",
    "pp=2 schedule=zb-h1",
    "pp=2 virtual_stages=2 layers=4",
    "pp=2 schedule=dualpipe-v virtual_stages=2 layers=4",
    "pp=2 dp=2 tp=2 sequence_parallel=true",
    "recompute=full",
    "recompute=full recompute_num_layers=2 tp=2 pp=1",
    "recompute=selective recompute_modules=core_attn,mlp tp=2 sequence_parallel=true",
    "tp=2 vision_parallel=data",
    "tp=2 sequence_parallel=true vision_parallel=data dp=2",
    "cp=2 vision_parallel=data",
    "tp=2 cp=2 microbatch=2 vision_parallel=data context=ring",
    "vision_training=frozen",
    "vision_training=frozen tp=2 sequence_parallel=true pp=2",
    "vision_training=frozen tp=2 vision_parallel=data dp=2",
    "vision_training=frozen pp=2 schedule=zb-h1",
    "vision_recompute=true tp=2 dp=2",
    "vision_recompute=true recompute=full recompute_num_layers=2 pp=2 schedule=zb-h1",
    "vision_recompute=true cp=2 vision_parallel=data recompute=selective recompute_modules=mlp",
    "pp=3 vision_stage=own vision_recompute=true tp=2",
    "pp=3 vision_stage=own",
    "pp=2 vision_stage=own tp=2 dp=2",
    "pp=2 vision_stage=own tp=2 sequence_parallel=true recompute=full",
    "pp=2 vision_stage=own cp=2 schedule=zb-h1",
    "pp=3 vision_stage=own schedule=gpipe tp=2 vision_parallel=data",
    "pp=3 vision_stage=own vision_training=frozen tp=2",
    "pp=2 vision_stage=own vision_training=frozen schedule=zb-h1 cp=2 vision_parallel=data",
    "layers=4 pp=4",
    "layers=4 pp=4 tp=2 sequence_parallel=true recompute=full",
    "layers=4 pp=2 virtual_stages=2 vision_training=frozen recompute=full",
    "layers=4 pp=3 vision_stage=own recompute=full",
    "layers=3 pp=2 schedule=zb-h1 cp=2",
    "images=0",
    "images=0 tp=2 pp=2"};

// Towers of other families, and sizes that they need.
constexpr std::pair<const char*, const char*> kTowers[] = {
    {"qwen3.5", ""},
    {"moonvit", ""},
    {"siglip", ""},
    {"moonvit-k3", "vision_head_dim=4"},
    {"llama4", "vision_projector=12"},
    {"minimax-m3", "vision_projector=12"},
    {"perception", "vision_merge=16 image_size=4 frames=1 vision_positions=16"},
    {"gemma4", ""},
    {"gemma4-clipped", ""}};

Design run_design(const char* architecture, const char* settings) {
  Design d = tower_design(architecture);
  set_knobs(d, settings);
  return d;
}

// The library, in which qwen3-vl has another tower.
ModelLibrary library_with(const QString& tower) {
  QTemporaryDir dir;
  QDir(dir.path()).mkdir("architectures");
  QFile file(dir.filePath("architectures/other.json"));
  if (!file.open(QIODevice::WriteOnly)) qFatal("no file");
  file.write(
      QString(R"({"architecture": "qwen3-vl", "language": "qwen3", "tower": "%1"})").arg(tower).toUtf8());
  file.close();
  return ModelLibrary::load({(data_dir() / "models").string(), dir.path().toStdString()});
}

}  // namespace

class VisionExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() {
    QTest::addColumn<QString>("settings");
    for (const char* settings : kRuns) QTest::newRow(settings) << QString(settings);
  }
  void equalsUnsharded() {
    QFETCH(QString, settings);
    const Design d = run_design("qwen3-vl", qPrintable(settings));
    const std::vector<Problem> problems = validate(d);
    QVERIFY2(!has_errors(problems), problems.empty() ? "" : to_string(problems.front()).c_str());
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void equalsFiniteDifferences_data() {
    QTest::addColumn<QString>("settings");
    for (const char* settings :
         {"batch=1", "batch=1 vision_training=frozen", "batch=1 profile=transformers-eager"})
      QTest::newRow(settings) << QString(settings);
  }
  void equalsFiniteDifferences() {
    QFETCH(QString, settings);
    QCOMPARE(QString::fromStdString(difference_from_slopes(run_design("qwen3-vl", qPrintable(settings)))),
             QString());
  }

  // Towers whose language models have other blocks.
  void otherTowers_data() {
    QTest::addColumn<QString>("tower");
    QTest::addColumn<QString>("settings");
    for (const auto& [tower, sizes] : kTowers)
      for (const char* settings : {"tp=2 sequence_parallel=true dp=2", "tp=2 vision_parallel=data"})
        QTest::addRow("%s %s", tower, settings) << QString(tower) << QString("%1 %2").arg(sizes, settings);
  }
  void otherTowers() {
    QFETCH(QString, tower);
    QFETCH(QString, settings);
    const ModelLibrary library = library_with(tower);
    QVERIFY(library.problems().empty());
    const Design d = run_design("qwen3-vl", qPrintable(settings));
    const Parameters parameters = random_parameters(d, 7, library);
    const RunResult whole = run_step(unsharded(d), parameters, 11, true, library),
                    sharded = run_step(d, parameters, 11, true, library);
    QCOMPARE(sharded.gradients.size(), parameters.size());
    QVERIFY(std::abs(whole.loss - sharded.loss) < 1e-11);
    for (const auto& [name, gradient] : whole.gradients)
      for (size_t i = 0; i < gradient.data.size(); ++i)
        QVERIFY2(std::abs(gradient.data[i] - sharded.gradients.at(name).data[i]) < 1e-11, name.c_str());
  }

  void otherTowersEqualFiniteDifferences_data() {
    QTest::addColumn<QString>("tower");
    QTest::addColumn<QString>("settings");
    for (const auto& [tower, sizes] : kTowers) QTest::newRow(tower) << QString(tower) << QString(sizes);
  }
  void otherTowersEqualFiniteDifferences() {
    QFETCH(QString, tower);
    QFETCH(QString, settings);
    const Design d = run_design("qwen3-vl", qPrintable("batch=1 layers=1 " + settings));
    QCOMPARE(QString::fromStdString(difference_from_slopes(d, 5, library_with(tower))), QString());
  }

  // Parameters of published checkpoints, counted from the shapes of their tensors.
  void parameters_data() {
    QTest::addColumn<QString>("tower");
    // Hidden size of the language model, D, layers, F, positions, pv, pf, Mv, then heads, head size, Wp.
    QTest::addColumn<QList<int>>("sizes");
    QTest::addColumn<qint64>("vision");
    QTest::addColumn<qint64>("projector");
    QTest::newRow("Qwen3-VL-4B") << "qwen3-vl" << QList<int>{2560, 1024, 24, 4096, 2304, 16, 2, 4}
                                 << qint64{306242560} << qint64{109105152};
    QTest::newRow("Qwen3.5-27B") << "qwen3.5" << QList<int>{5120, 1152, 27, 4304, 2304, 16, 2, 4}
                                 << qint64{415891440} << qint64{44838656};
    QTest::newRow("Kimi-K2.5") << "moonvit" << QList<int>{7168, 1152, 27, 4304, 4096, 14, 1, 4}
                               << qint64{416866032} << qint64{54277888};
    QTest::newRow("Kimi-K3") << "moonvit-k3" << QList<int>{7168, 1024, 27, 4096, 4096, 14, 1, 4, 12, 128}
                             << qint64{401214464} << qint64{46144512};
    QTest::newRow("Llama-4-Scout") << "llama4"
                                   << QList<int>{5120, 1408, 34, 5632, 577, 14, 1, 4, 16, 88, 4096}
                                   << qint64{811115008} << qint64{60817408};
    QTest::newRow("MiniMax-M3") << "minimax-m3" << QList<int>{6144, 1280, 32, 5120, 0, 14, 2, 4, 16, 80, 6144}
                                << qint64{631185920} << qint64{234381312};
    QTest::newRow("Step-3.7-Flash") << "perception"
                                    << QList<int>{4096, 1536, 47, 8960, 2704, 14, 1, 16, 16, 96}
                                    << qint64{1955848960} << qint64{25165824};
    QTest::newRow("Gemma-4-26B-A4B") << "gemma4" << QList<int>{2816, 1152, 27, 4304, 10240, 16, 1, 9, 16, 72}
                                     << qint64{569550384} << qint64{3244032};
    QTest::newRow("Gemma-4-E2B") << "gemma4-clipped"
                                 << QList<int>{1536, 768, 16, 3072, 10240, 16, 1, 9, 12, 64}
                                 << qint64{167365056} << qint64{1179648};
    QTest::newRow("Gemma-3-27B") << "siglip" << QList<int>{5376, 1152, 27, 4304, 4096, 14, 1, 16}
                                 << qint64{416866032} << qint64{6194304};
  }
  void parameters() {
    QFETCH(QString, tower);
    QFETCH(QList<int>, sizes);
    QFETCH(qint64, vision);
    QFETCH(qint64, projector);
    Design d = tower_design();
    ModelSpec& m = d.model;
    m.hidden = sizes[0];
    m.vision_hidden = sizes[1];
    m.vision_layers = sizes[2];
    m.vision_ffn = sizes[3];
    m.vision_positions = sizes[4];
    m.vision_patch = sizes[5];
    m.vision_frames = sizes[6];
    m.vision_merge = sizes[7];
    m.vision_heads = sizes.value(8, 16);
    m.vision_head_dim = sizes.value(9, static_cast<int>(m.vision_hidden / 16));
    m.vision_projector = sizes.value(10);
    d.workload.images = 0;
    const auto built = build_graph(structure_of(d), library_with(tower));
    const ModelParts parts = count_parts(*std::get<0>(built));
    const Binding binding = bind_symbols(d);
    const auto count = [&](ModelPart part) {
      return static_cast<qint64>(
          std::get<Wide>(evaluate(parts[static_cast<size_t>(part)].parameters, binding)));
    };
    QCOMPARE(count(ModelPart::Vision), vision);
    QCOMPARE(count(ModelPart::Projector), projector);
  }

  // Parts of the tower follow the head. Without images they hold weights alone.
  void textAloneRunsNoTower() {
    for (const char* settings : {"images=0", "mode=decode"}) {
      const Design d = run_design("qwen3-vl", settings);
      const auto built = build_graph(structure_of(d), ModelLibrary::instance());
      const Graph& graph = *std::get<0>(built);
      QCOMPARE(graph.tower_parts, 3);
      QCOMPARE(graph.head(), 2);
      QCOMPARE(graph.segments[0].input, -1);
      for (int i = 3; i < 6; ++i) {
        const Segment& s = graph.segments[static_cast<size_t>(i)];
        QVERIFY(s.kind == SegmentKind::Tower && s.ops.empty() && !s.params.empty());
        for (const Param& p : s.params) QCOMPARE(p.gradient, -1);
      }
    }
  }

  // Results of the projector are added to the first layers (DeepStack), the third to the last of two layers.
  // The stages of the layers receive them.
  void deepStack() {
    const auto added = [](const Segment& s) {
      return std::count_if(s.ops.begin(), s.ops.end(), [](const Op& op) {
        return op.kind == OpKind::AddTokens && op.phase == Phase::Forward;
      });
    };
    for (const auto& [settings, first, second, third] :
         {std::tuple{"layers=2", 1, 2, -1}, {"layers=4", 1, 1, 1}, {"layers=4 images=0", 0, 0, 0}}) {
      const Design d = run_design("qwen3-vl", settings);
      const auto built = build_graph(structure_of(d), ModelLibrary::instance());
      const Graph& graph = *std::get<0>(built);
      const int counts[] = {first, second, third, 0};
      for (int64_t layer = 0; layer < d.model.layers; ++layer)
        QCOMPARE(added(graph.segments[static_cast<size_t>(1 + graph.layer_kind(layer, d.model))]),
                 counts[layer]);
    }
  }

  // A frozen tower has no backward, and the embedding no gradient of the images.
  void frozenTowersHaveNoBackward() {
    const Design d = run_design("qwen3-vl", "vision_training=frozen");
    const auto built = build_graph(structure_of(d), ModelLibrary::instance());
    const Graph& graph = *std::get<0>(built);
    QVERIFY(graph.segments[0].input >= 0);
    QCOMPARE(graph.segments[0].input_grad, -1);
    for (int i = 1; i <= 3; ++i) {
      const Segment& s = graph.segments[static_cast<size_t>(graph.head() + i)];
      QCOMPARE(s.backward_begin, static_cast<OpId>(s.ops.size()));
      QVERIFY(s.saved.empty());
    }
  }
};

QTEST_APPLESS_MAIN(VisionExecutionTest)
#include "vision_execution_test.moc"
