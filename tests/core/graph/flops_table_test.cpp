// FLOPs of every mechanism of the models of 2025 and 2026 against closed forms, for contexts of 1 k to 1 M
// tokens: forward and backward of training, prefill, and decode. Sizes are those of the published
// configurations, worked out by hand. FLOPs count 2 per multiply-add, without masks.
#include <QtTest>

#include "design/validate/validate.h"
#include "graph/build.h"
#include "support/designs.h"
#include "support/execution_runs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

constexpr int64_t kContexts[] = {1024, 8192, 65536, 1048576};

using Form = Wide (*)(Wide tokens);
struct Mechanism {
  const char *name, *preset, *settings, *layer;
  const char* ops;                 // beginnings of op names, separated by blanks; empty: all
  OpKind kind;                     // and `also`
  Form prompt;                     // forward of so many tokens
  Form decode;                     // one token, the last of so many
  int backward_share[2] = {2, 1};  // backward / forward
  Form backward = nullptr;         // instead, where the parts of the forward have other shares
  OpKind also = kind;
};

QString text(Wide number) { return QString::fromStdString(to_string(number)); }

Wide least(Wide a, Wide b) { return a < b ? a : b; }
// Per token: 4 C dk of K K^T and Q K^T, C (dk + dv) of the triangular solve, 2 C dv inside the chunk,
// 6 dk dv of the state (Yang et al., arXiv 2412.06464, section 3.3).
constexpr Wide delta(Wide c, Wide k, Wide v) { return 4 * c * k + c * (k + v) + 2 * c * v + 6 * k * v; }
// Per token: a convolution of 4 taps, and SiLU with 4 per channel.
constexpr Wide conv(Wide channels) { return (2 * 4 + 4) * channels; }
// Per token: a site of hyper-connections with 4 streams: 24 weights, then the streams read, mixed and
// written.
constexpr Wide streams(Wide hidden) { return 2 * 24 * 4 * hidden + 2 * (4 + 16 + 4) * hidden; }

// The backward of attention multiplies three times with the size of keys, and twice with that of values.
const Mechanism kMechanisms[] = {
    {"full attention",
     "llama3-8b",
     "",
     "layer",
     "",
     OpKind::Attention,
     [](Wide s) { return 4 * s * s * 32 * 128; },
     [](Wide c) { return 4 * c * 32 * 128; },
     {5, 2}},
    {"sliding window",
     "mistral-7b-v0.1",
     "",
     "layer",
     "",
     OpKind::Attention,
     [](Wide s) { return 4 * s * s * 32 * 128; },
     [](Wide c) { return 4 * least(c, 4096) * 32 * 128; },
     {5, 2}},
    {"attention in chunks",
     "llama4-scout",
     "",
     "chunked",
     "",
     OpKind::Attention,
     [](Wide s) { return 4 * s * s * 40 * 128; },
     [](Wide c) { return 4 * least(c, 8192) * 40 * 128; },
     {5, 2}},
    {"values of another size",
     "mimo-v2-flash",
     "",
     "full",
     "",
     OpKind::Attention,
     [](Wide s) { return 2 * s * s * 64 * (192 + 128); },
     [](Wide c) { return 2 * c * 64 * (192 + 128); },
     {13, 5}},
    {"latent attention",
     "kimi-k2",
     "",
     "moe",
     "",
     OpKind::Attention,
     [](Wide s) { return 2 * s * s * 64 * (192 + 128); },
     [](Wide c) { return 2 * c * 64 * (576 + 512); },
     {13, 5}},
    {"gate of single elements", "qwen3-next-80b-a3b", "", "full", "attention.z", OpKind::Einsum,
     [](Wide s) { return 2 * s * 2048 * 16 * 256; }, [](Wide) { return Wide{2} * 2048 * 16 * 256; }},
    {"gate of heads", "step-3.7-flash", "", "sliding", "attention.z", OpKind::Einsum,
     [](Wide s) { return 2 * s * 4096 * 96; }, [](Wide) { return Wide{2} * 4096 * 96; }},
    {"lightning indexer",
     "deepseek-v3.2",
     "",
     "moe",
     "",
     OpKind::IndexTopK,
     [](Wide s) { return 2 * s * s * 64 * 128; },
     [](Wide c) { return 2 * c * 64 * 128; },
     {0, 1}},
    {"projections of the indexer",
     "deepseek-v3.2",
     "",
     "moe",
     "attention.iq attention.ik attention.iw",
     OpKind::Einsum,
     [](Wide s) { return 2 * s * (64 * 128 * 1536 + 128 * 7168 + 64 * 7168); },
     [](Wide) { return Wide{2} * (64 * 128 * 1536 + 128 * 7168 + 64 * 7168); },
     {0, 1}},
    {"attention to picked latents",
     "deepseek-v3.2",
     "",
     "moe",
     "",
     OpKind::Attention,
     [](Wide s) { return 2 * s * least(s, 2048) * 128 * (576 + 512); },
     [](Wide c) { return 2 * least(c, 2048) * 128 * (576 + 512); },
     {43, 17}},
    {"scores of blocks",
     "minimax-m3",
     "",
     "sparse",
     "",
     OpKind::IndexTopK,
     [](Wide s) { return 2 * s * s * 4 * 128; },
     [](Wide c) { return 2 * c * 4 * 128; },
     {0, 1}},
    {"projections of block indexers",
     "minimax-m3",
     "",
     "sparse",
     "attention.iq attention.ik",
     OpKind::Einsum,
     [](Wide s) { return 2 * s * 6144 * (4 + 1) * 128; },
     [](Wide) { return Wide{2} * 6144 * (4 + 1) * 128; },
     {0, 1}},
    {"attention to picked blocks",
     "minimax-m3",
     "",
     "sparse",
     "",
     OpKind::Attention,
     [](Wide s) { return 4 * s * least(s, 2048) * 64 * 128; },
     [](Wide c) { return 4 * least(c, 2048) * 64 * 128; },
     {5, 2}},
    {"index of compressed keys",
     "deepseek-v4-flash",
     "",
     "csa",
     "",
     OpKind::IndexTopK,
     [](Wide s) { return 2 * s * 64 * 128 * (s / 4); },
     [](Wide c) { return 2 * 64 * 128 * (c / 4); },
     {0, 1}},
    {"window and picked compressed keys",
     "deepseek-v4-flash",
     "",
     "csa",
     "",
     OpKind::Attention,
     [](Wide s) { return 4 * s * 64 * 512 * (least(s, 128) + least(s / 4, 512)); },
     [](Wide c) { return Wide{4} * 64 * 512 * (least(c, 128) + least(c / 4, 512)); },
     {5, 2}},
    {"window and all compressed keys",
     "deepseek-v4-flash",
     "",
     "hca",
     "",
     OpKind::Attention,
     [](Wide s) { return 4 * s * 64 * 512 * (least(s, 128) + s / 128); },
     [](Wide c) { return Wide{4} * 64 * 512 * (least(c, 128) + c / 128); },
     {5, 2}},
    {"output projection in groups", "deepseek-v4-flash", "", "csa", "attention.oa", OpKind::Einsum,
     [](Wide s) { return 2 * s * 64 * 512 * 1024; }, [](Wide) { return Wide{2} * 64 * 512 * 1024; }},
    {"Gated DeltaNet",
     "qwen3-next-80b-a3b",
     "",
     "linear",
     "",
     OpKind::LinearScan,
     [](Wide s) { return s * 32 * delta(64, 128, 128); },
     [](Wide) { return Wide{32} * 7 * 128 * 128; },
     {3, 1}},
    {"convolutions of Gated DeltaNet", "qwen3-next-80b-a3b", "", "linear", "", OpKind::CausalConv,
     [](Wide s) { return s * conv(2 * 16 * 128 + 32 * 128); },
     [](Wide) { return conv(2 * 16 * 128 + 32 * 128); }},
    {"Kimi Delta Attention",
     "kimi-linear-48b-a3b",
     "",
     "linear",
     "",
     OpKind::LinearScan,
     [](Wide s) { return s * 32 * delta(64, 128, 128); },
     [](Wide) { return Wide{32} * 7 * 128 * 128; },
     {3, 1}},
    {"low-rank gates of Kimi Delta Attention", "kimi-linear-48b-a3b", "", "linear",
     "attention.fa attention.fb attention.ga attention.z", OpKind::Einsum,
     [](Wide s) { return 2 * s * 2 * 128 * (2304 + 32 * 128); },
     [](Wide) { return Wide{2} * 2 * 128 * (2304 + 32 * 128); }},
    {"lightning attention",
     "minimax-m1",
     "",
     "linear",
     "",
     OpKind::LinearScan,
     [](Wide s) { return s * 64 * (4 * 256 * 128 + 4 * 128 * 128); },
     [](Wide) { return Wide{64} * 4 * 128 * 128; },
     {3, 1}},
    {"Mamba-2",
     "nemotron-h-56b",
     "",
     "mamba",
     "",
     OpKind::Ssd,
     [](Wide s) { return 2 * s * (8 * 256 * 128 + 256 * 64 * 128 + 2 * 256 * 64 * 256); },
     [](Wide) { return Wide{6} * 256 * 64 * 256; },
     {},
     // C B and states again; two products for each of C B, its product with x, and both of states
     [](Wide s) { return 2 * s * (3 * 8 * 256 * 128 + 2 * 256 * 64 * 128 + 5 * 256 * 64 * 256); }},
    {"convolutions of Mamba-2", "nemotron-h-56b", "", "mamba", "", OpKind::CausalConv,
     [](Wide s) { return s * conv(256 * 64 + 2 * 8 * 256); },
     [](Wide) { return conv(256 * 64 + 2 * 8 * 256); }},
    {"Mamba-1",
     "jamba-v0.1",
     "",
     "mamba",
     "",
     OpKind::SelectiveScan,
     [](Wide s) { return 9 * s * 8192 * 16; },
     [](Wide) { return Wide{9} * 8192 * 16; },
     {8, 3}},
    {"experts", "mixtral-8x7b", "", "layer", "moe.", OpKind::Einsum,
     [](Wide s) { return 2 * s * (4096 * 8 + 2 * 3 * 4096 * 14336); },
     [](Wide) { return Wide{2} * (4096 * 8 + 2 * 3 * 4096 * 14336); }},
    {"experts in a latent width", "nemotron3-ultra-550b-a55b", "", "moe", "moe.", OpKind::Einsum,
     [](Wide s) { return 2 * s * (8192 * 512 + 2 * 8192 * 2048 + 22 * 2 * Wide{2048} * 5120); },
     [](Wide) { return 2 * (8192 * 512 + 2 * 8192 * 2048 + 22 * 2 * Wide{2048} * 5120); }},
    {"gated experts in a latent width", "kimi-k3", "", "full_9", "moe.", OpKind::Einsum,
     [](Wide s) { return 2 * s * (7168 * 896 + 2 * 7168 * 3584 + 16 * 3 * Wide{3584} * 3072); },
     [](Wide) { return 2 * (7168 * 896 + 2 * 7168 * 3584 + 16 * 3 * Wide{3584} * 3072); }},
    {"zero-computation experts", "longcat-flash", "", "layer", "moe.", OpKind::Einsum,
     [](Wide s) { return 2 * s * (6144 * 768 + 8 * 3 * Wide{6144} * 2048); },
     [](Wide) { return 2 * (6144 * 768 + 8 * 3 * Wide{6144} * 2048); }},
    {"hyper-connections",
     "deepseek-v4-flash",
     "",
     "csa",
     "p1. r1. h.",
     OpKind::Einsum,
     [](Wide s) { return s * streams(4096); },
     [](Wide) { return streams(4096); },
     {2, 1},
     nullptr,
     OpKind::Mix},
    {"prediction module", "mimo-7b", "mtp_layers=1", "head", "mtp1_x.", OpKind::Einsum,
     [](Wide s) { return 2 * s * 2 * 4096 * 4096; }, [](Wide) { return Wide{0}; }},
    // An image of 32 x 32 patches; decode reads no images.
    {"attention of a vision tower",
     "qwen3-vl-8b",
     "images=1 image_size=512",
     "vision_layer",
     "",
     OpKind::Attention,
     [](Wide) { return Wide{4} * 1024 * 1024 * 16 * 72; },
     [](Wide) { return Wide{0}; },
     {5, 2}},
    {"products of a vision tower", "qwen3-vl-8b", "images=1 image_size=512", "vision_layer", "",
     OpKind::Einsum, [](Wide) { return Wide{2} * 1024 * (4 * 1152 * 1152 + 2 * 1152 * 4304); },
     [](Wide) { return Wide{0}; }},
    {"attention residuals", "kimi-k3", "", "full_9", "r1. r2.", OpKind::Mix,
     [](Wide s) { return 2 * 4 * s * 9 * 7168; }, [](Wide) { return Wide{2} * 4 * 9 * 7168; }}};

bool counts(const Mechanism& m, const Op& op) {
  if ((op.kind != m.kind && op.kind != m.also) || is_recomputation(op)) return false;
  const QStringList names = QString(m.ops).split(' ');
  return std::any_of(names.begin(), names.end(),
                     [&](const QString& name) { return op.name.starts_with(name.toStdString()); });
}

// FLOPs of the mechanism in one layer.
struct Counted {
  Wide forward = 0, backward = 0;
};
Counted counted(const Mechanism& m, Mode mode, int64_t tokens) {
  Design d = preset_design(m.preset, 1, 1, 1);
  set_knobs(d, m.settings);
  d.workload.mode = mode;
  d.workload.seq = d.workload.context_length = tokens;
  d.workload.batch = d.workload.microbatch = 1;
  if (const std::string problem = first_problem(d); !problem.empty()) qFatal("%s", problem.c_str());
  const auto graph = std::get<0>(build_graph(structure_of(effective_design(d)), ModelLibrary::instance()));
  const Binding binding = bind_symbols(effective_design(d));
  Counted out;
  for (const Segment& s : graph->segments) {
    if (s.name != m.layer) continue;
    for (const Op& op : s.ops)
      if (counts(m, op))
        (op.grad == GradRole::None ? out.forward
                                   : out.backward) += std::get<Wide>(evaluate(s.scope.of(op.flops), binding));
  }
  return out;
}

}  // namespace

class FlopsTableTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsClosedForm_data() {
    QTest::addColumn<int>("mechanism");
    QTest::addColumn<qint64>("tokens");
    for (size_t i = 0; i < std::size(kMechanisms); ++i)
      for (const int64_t tokens : kContexts)
        QTest::addRow("%s, %lld tokens", kMechanisms[i].name, static_cast<long long>(tokens))
            << static_cast<int>(i) << static_cast<qint64>(tokens);
  }
  void equalsClosedForm() {
    QFETCH(int, mechanism);
    QFETCH(qint64, tokens);
    const Mechanism& m = kMechanisms[mechanism];
    const Wide forward = m.prompt(tokens);
    const Counted trained = counted(m, Mode::Train, tokens);
    QCOMPARE(text(trained.forward), text(forward));
    const Wide backward = m.backward ? m.backward(tokens)
                                     : forward * m.backward_share[0] / m.backward_share[1];
    QCOMPARE(text(trained.backward), text(backward));
    const bool predicts = QByteArray(m.ops).startsWith("mtp");  // inference leaves the modules out
    QCOMPARE(text(counted(m, Mode::Prefill, tokens).forward), text(predicts ? 0 : forward));
    QCOMPARE(text(counted(m, Mode::Decode, tokens).forward), text(m.decode(tokens)));
  }
};

QTEST_APPLESS_MAIN(FlopsTableTest)
#include "flops_table_test.moc"
