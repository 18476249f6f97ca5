// What attention to compressed keys computes, caches and holds, against closed forms (DeepSeek-V4, arXiv
// 2606.19348).
#include <QtTest>

#include "performance/attention_model.h"
#include "plan/report.h"
#include "support/op_counts.h"
#include "support/served_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

struct Model {
  const char* preset;
  int64_t heads, window_layers, csa_layers, hca_layers, top_k;
};
constexpr Model kFlash{"deepseek-v4-flash", 64, 2, 21, 20, 512},
    kPro{"deepseek-v4-pro", 128, 0, 30, 31, 1024};
constexpr int64_t kWindow = 128, kHead = 512, kIndexHeads = 64, kIndexHead = 128;

// One sequence on one rank.
Design deepseek4(const Model& model, Mode mode, int64_t tokens) {
  Design d = preset_design(model.preset, 1, 1, 1);
  d.workload.mode = mode;
  d.workload.seq = d.workload.context_length = tokens;
  d.workload.batch = d.workload.microbatch = 1;
  d.model.mtp_layers = 0;
  return d;
}

struct Flops {
  Wide counted = 0, useful = 0;
};
Flops flops(const Report& report, OpKind kind, Phase phase = Phase::Forward) {
  Flops out;
  for (const StageReport& stage : report.stages)
    for (const FlopsValue& f : stage.flops)
      if (f.kind == kind && f.phase == phase) {
        out.counted += f.counted.value;
        out.useful += f.useful.value;
      }
  return out;
}

// The sum over all queries of the keys that each sees, by counting.
struct Seen {
  Wide window = 0, all = 0, picked = 0, index = 0;
};
Seen seen(int64_t tokens, int64_t top_k) {
  Seen out;
  for (int64_t i = 1; i <= tokens; ++i) {
    out.window += std::min(i, kWindow);
    out.all += i / 128;
    out.picked += std::min(i / 4, top_k);
    out.index += i / 4;
  }
  return out;
}

void add_contexts() {
  QTest::addColumn<qint64>("tokens");
  for (const qint64 tokens : {1024, 1027, 4096, 65536, 1048576})
    QTest::newRow(qPrintable(QString::number(tokens))) << tokens;
}

}  // namespace

class CompressedTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Per token and layer: 4 n 512 FLOPs for each key of the window and each compressed key; the indexer 2 x 64
  // x 128 for each key of four tokens.
  void decodedTokens_data() { add_contexts(); }
  void decodedTokens() {
    QFETCH(qint64, tokens);
    for (const Model& model : {kFlash, kPro}) {
      const auto report = make_report(deepseek4(model, Mode::Decode, tokens));
      QVERIFY2(report->valid(), report->problems.empty() ? "" : to_string(report->problems[0]).c_str());
      QCOMPARE(flops(*report, OpKind::IndexTopK).counted,
               Wide{model.csa_layers} * 2 * kIndexHeads * kIndexHead * (tokens / 4));
      const Wide keys = Wide{model.window_layers} * kWindow +
                        Wide{model.csa_layers} * (kWindow + std::min<int64_t>(tokens / 4, model.top_k)) +
                        Wide{model.hca_layers} * (kWindow + tokens / 128);
      QCOMPARE(flops(*report, OpKind::Attention).counted, Wide{4} * model.heads * kHead * keys);
    }
  }

  void prompts_data() { add_contexts(); }
  void prompts() {
    QFETCH(qint64, tokens);
    for (const Mode mode : {Mode::Prefill, Mode::Train}) {
      const auto report = make_report(deepseek4(kFlash, mode, tokens));
      QVERIFY2(report->valid(), report->problems.empty() ? "" : to_string(report->problems[0]).c_str());
      const Seen keys = seen(tokens, kFlash.top_k);
      const Flops index = flops(*report, OpKind::IndexTopK), attention = flops(*report, OpKind::Attention);
      const Wide per_score = Wide{kFlash.csa_layers} * 2 * kIndexHeads * kIndexHead,
                 per_key = Wide{4} * kFlash.heads * kHead;
      QCOMPARE(index.counted, per_score * tokens * (tokens / 4));
      QCOMPARE(index.useful, per_score * keys.index);
      // Kernels of layers with a window alone are counted without the mask.
      QCOMPARE(attention.counted,
               per_key * tokens *
                   (kFlash.window_layers * tokens +
                    kFlash.csa_layers * (kWindow + std::min<int64_t>(tokens / 4, kFlash.top_k)) +
                    kFlash.hca_layers * (kWindow + tokens / 128)));
      QCOMPARE(attention.useful,
               per_key * (43 * keys.window + kFlash.csa_layers * keys.picked + kFlash.hca_layers * keys.all));
    }
  }

  // The projections: queries, keys, compressed keys and index keys, and an output projection whose first part
  // multiplies the heads of a group alone, 2 n 512 o_lora FLOPs.
  void projections() {
    constexpr int64_t kTokens = 4096, D = 4096, Rq = 1024, n = 64, Ro = 1024, groups = 8;
    Design d = deepseek4(kFlash, Mode::Prefill, kTokens);
    d.model.layers = 1;
    const auto products = [&](const char* kind) {
      d.model.layer_pattern = kind;
      const auto report = make_report(d);
      if (!report->valid()) qFatal("%s", to_string(report->problems[0]).c_str());
      const Segment& layer = report->graph().segments[1];
      Wide out = 0;
      for (const Op& op : layer.ops)
        if (op.kind == OpKind::Einsum && op.name.starts_with("attention."))
          out += std::get<Wide>(evaluate(op.flops, report->binding));
      return out / kTokens;
    };
    const Wide window = 2 * (D * Rq + Rq * n * kHead + D * kHead + n * kHead * Ro + groups * Ro * D);
    QCOMPARE(products("window"), window);
    QCOMPARE(products("hca"), window + 2 * 2 * D * kHead);
    QCOMPARE(products("csa"), window + 2 * 2 * D * 2 * (kHead + kIndexHead) +
                                  2 * Rq * kIndexHeads * kIndexHead + 2 * D * kIndexHeads);
  }

  // 584 bytes of every entry, 132 of every index key; windows apart (aiconfigurator, deepseek_v4.py).
  void cacheBytes() {
    for (const Model& model : {kFlash, kPro})
      for (const Mode mode : {Mode::Prefill, Mode::Decode}) {
        Design d = deepseek4(model, mode, 4096);
        d.workload.kv_cache_dtype = DType::FP8;
        const auto report = make_report(d);
        QVERIFY(report->valid());
        const double entries = model.csa_layers * (584 + 132) / 4.0 + model.hca_layers * 584 / 128.0;
        QCOMPARE(report->kv_cache_per_token, entries);
        QCOMPARE(static_cast<int64_t>(report->kv_cache_bytes.value),
                 static_cast<int64_t>(std::ceil(entries)));
        const int64_t layers = model.window_layers + model.csa_layers + model.hca_layers;
        QCOMPARE(static_cast<int64_t>(report->window_bytes.value), layers * kWindow * 584);
        // What the layers projected of the last block, and of the block before where keys overlap.
        const int64_t states = model.csa_layers * 2 * 8 * 2 * (kHead + kIndexHead) * 4 +
                               model.hca_layers * 2 * 128 * kHead * 4;
        QCOMPARE(static_cast<int64_t>(report->state_bytes.value), states);
        QCOMPARE(static_cast<int64_t>(
                     report->stages[0].memory[static_cast<size_t>(MemoryCategory::KvCache)].value),
                 static_cast<int64_t>(4096 * entries) + layers * kWindow * 584 + states);
        d.workload.kv_cache_dtype = DType::BF16;
        QCOMPARE(make_report(d)->kv_cache_per_token,
                 model.csa_layers * (1024 + 132) / 4.0 + model.hca_layers * 1024 / 128.0);
      }
    const auto report = make_report(deepseek4(kFlash, Mode::Train, 4096));
    QCOMPARE(static_cast<int64_t>(report->window_bytes.value), int64_t{43} * kWindow * 1024);
  }
  void publishedCache() {
    Design d = deepseek4(kFlash, Mode::Decode, 1048576);
    d.workload.kv_cache_dtype = DType::FP8;
    const auto report = make_report(d);
    QCOMPARE(report->kv_cache_per_token, 3850.25);
    QCOMPARE(static_cast<int64_t>(report->window_bytes.value), int64_t{3214336});
  }

  // All ranks of tp hold the compressed keys and the indexer; heads and groups are split.
  void tensorParallel() {
    Design d = deepseek4(kFlash, Mode::Prefill, 4096);
    const auto whole = make_report(d);
    d.parallel.tp = 8;
    const auto split = make_report(d);
    QVERIFY2(split->valid(), split->problems.empty() ? "" : to_string(split->problems[0]).c_str());
    for (const OpKind kind : {OpKind::IndexTopK, OpKind::Compress})
      QCOMPARE(flops(*split, kind).counted, flops(*whole, kind).counted);
    QCOMPARE(flops(*split, OpKind::Attention).counted * 8, flops(*whole, OpKind::Attention).counted);
    d.parallel.tp = 16;
    const auto refused = make_report(d);
    QVERIFY(!refused->valid());
    QCOMPARE(refused->problems.front().code, ProblemCode::OutputGroupsIndivisibleByTp);
  }

  // Under cp every rank has some of the queries. Keys of single blocks are made where their tokens are, and
  // gathered; overlapping ones are made everywhere.
  void contextParallel() {
    Design d = deepseek4(kFlash, Mode::Train, 8192);
    const auto whole = make_report(d);
    d.parallel.cp = 4;
    d.parallel.context = ContextMode::AllGather;
    const auto split = make_report(d);
    QVERIFY2(split->valid(), split->problems.empty() ? "" : to_string(split->problems[0]).c_str());
    QCOMPARE(flops(*split, OpKind::IndexTopK).counted * 4, flops(*whole, OpKind::IndexTopK).counted);
    QCOMPARE(flops(*split, OpKind::Attention).useful * 4, flops(*whole, OpKind::Attention).useful);
    for (const Segment& s : split->graph().segments)
      for (const Op& op : s.ops)
        if (op.kind == OpKind::Compress && op.phase == Phase::Forward)
          QCOMPARE(s.tensor(op.outputs[0]).placement.shards[1].empty(), s.name.starts_with("csa"));
  }

  // Seconds of decode do not depend on the context but by the index scores and the keys of 128 tokens.
  void seconds() {
    const Accelerator* device = find_accelerator("h200-sxm-141gb");
    QVERIFY(device);
    AttentionShape prompt{1, 64, 1, 8192, 8192, 512, 512, true};
    prompt.values_in_keys = true;
    prompt.window = kWindow;
    const double window = attended_pairs(prompt);
    prompt.compressed = 512;
    prompt.ratio = 4;
    prompt.gathered = true;
    const Seen keys = seen(8192, 512);
    QCOMPARE(attended_pairs(prompt), static_cast<double>(keys.window + keys.picked));
    QCOMPARE(window, static_cast<double>(keys.window));
    QCOMPARE(computed_pairs(prompt), 8192.0 * (128 + 512));
    QCOMPARE(attention_flops(prompt), 2.0 * 64 * 8192 * (128 + 512) * 1024);
    QVERIFY(attention_bytes(prompt) > 8192.0 * 512 * 512 * 2);
    prompt.compressed = 64;
    prompt.ratio = 128;
    prompt.gathered = false;
    QCOMPARE(attended_pairs(prompt), static_cast<double>(keys.window + keys.all));
    QVERIFY(attention_bytes(prompt) < 8192.0 * 64 * 1024 * 2 + 2e7);
    // The second half of the queries, on the last of two ranks.
    AttentionShape half = prompt;
    half.queries = 4096;
    AttentionShape first = half;
    first.first_query = 0;
    QCOMPARE(attended_pairs(half) + attended_pairs(first), attended_pairs(prompt));
    AttentionShape index{1, 64, 1, 8192, 2048, 128, 0, true};
    index.ratio = 4;
    index.first_query = 0;
    QCOMPARE(attended_pairs(index), static_cast<double>(keys.index));
    const auto decoded = [&](int64_t compressed) {
      AttentionShape shape{64, 64, 1, 1, kWindow, 512, 512};
      shape.compressed = compressed;
      shape.gathered = true;
      shape.values_in_keys = true;
      return modelled_attention_seconds(*device, {}, shape);
    };
    QVERIFY(decoded(512) < decoded(8192) / 4);
  }
};

QTEST_APPLESS_MAIN(CompressedTest)
#include "compressed_test.moc"
