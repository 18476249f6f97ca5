// Prefill after cached tokens: the chunks of a prompt compute what the whole prompt computes, and read what
// the cache holds.
#include <QtTest>

#include "graph/stage_symbols.h"
#include "plan/report.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design prompt_of(const char* preset, int64_t tokens, int64_t cached, int64_t tp = 1) {
  Design design = preset_design(preset, tp, 1, 1);
  design.workload.mode = Mode::Prefill;
  design.workload.seq = tokens;
  design.workload.cached_tokens = cached;
  design.workload.batch = design.workload.microbatch = 1;
  return design;
}

std::shared_ptr<const Report> report_of(const Design& design) {
  auto report = make_report(design, std::make_shared<PlanCache>());
  for (const Problem& problem : report->problems)
    if (problem.severity == Severity::Error) qFatal("%s", to_string(problem).c_str());
  return report;
}

Wide whole(const Expr& expr, const Report& report) {
  const auto value = evaluate(expr, report.stages.front().binding);
  if (const auto* error = std::get_if<EvalError>(&value)) qFatal("%s", error->message.c_str());
  return std::get<Wide>(value);
}

bool reads_cache(const Segment& segment, const Op& op) {
  return std::any_of(op.inputs.begin(), op.inputs.end(),
                     [&](TensorId id) { return segment.tensor(id).role == TensorRole::Cache; });
}

// Useful FLOPs of all layers. up: those of products with cached latents.
struct Work {
  Wide rest = 0, up = 0;
};
Work work_of(const Design& design) {
  const auto report = report_of(design);
  Work out;
  for (size_t i = 0; i < report->graph().segments.size(); ++i) {
    const Segment& segment = report->graph().segments[i];
    if (segment.kind != SegmentKind::Layer) continue;
    const Expr times = instances_in_model(report->graph(), static_cast<int>(i));
    for (const Op& op : segment.ops) {
      const bool up = op.kind == OpKind::Einsum && op.inputs.size() > 1 &&
                      (reads_cache(segment, op) || op.name.ends_with(".k_nope") || op.name.ends_with(".v")) &&
                      segment.tensor(op.inputs[1]).axes.front() == Axis::KvRank;
      (up ? out.up : out.rest) += whole(times * op.useful_flops, *report);
    }
  }
  return out;
}

const Segment& layer_with(const Report& report, Axis cached) {
  for (const Segment& segment : report.graph().segments)
    for (const TensorId id : segment.caches)
      for (const Axis axis : segment.tensor(id).axes)
        if (axis == cached) return segment;
  qFatal("no layer has such a cache");
}

const Op& attention_in(const Segment& segment) {
  for (const Op& op : segment.ops)
    if (op.kind == OpKind::Attention) return op;
  qFatal("the layer has no attention");
}

}  // namespace

class CachedPromptTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Chunks of any sizes: below and above windows and chunks of attention, across their borders. Scans have
  // chunks of 64 to 256 tokens.
  void chunks_compute_the_whole_prompt_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QList<int>>("chunks");
    const QList<int> any{1, 700, 1, 63, 4097, 9000, 127, 129, 33}, scans{256, 512, 2048, 1024, 256};
    for (const char* preset :
         {"llama3-8b", "gpt2-xl", "mistral-7b-v0.1", "gpt-oss-20b", "gemma3-27b", "gemma2-9b", "llama4-scout",
          "deepseek-v2-lite", "deepseek-v3", "glm-5", "gemma4-e2b", "olmo3-7b"})
      QTest::newRow(preset) << preset << (QString(preset) == "gpt2-xl" ? QList<int>{1, 700, 63, 200} : any);
    for (const char* preset : {"qwen3-next-80b-a3b", "minimax-m1", "jamba-v0.1", "mamba2-1.3b",
                               "kimi-linear-48b-a3b", "nemotron-h-56b"})
      QTest::newRow(preset) << preset << scans;
  }
  void chunks_compute_the_whole_prompt() {
    QFETCH(QString, preset);
    QFETCH(QList<int>, chunks);
    const QByteArray name = preset.toUtf8();
    Work sum;
    int64_t at = 0;
    for (const int tokens : chunks) {
      const Work of = work_of(prompt_of(name, tokens, at));
      sum.rest += of.rest;
      // Cached latents are projected again for every chunk.
      if (of.up > 0) QVERIFY(of.up * tokens == work_of(prompt_of(name, tokens, 0)).up * (at + tokens));
      at += tokens;
    }
    QVERIFY(sum.rest > 0);
    QVERIFY(sum.rest == work_of(prompt_of(name, at, 0)).rest);
  }
  // Attention of 512 tokens after 4,096 reads the keys and values of 4,608.
  void attention_reads_the_cache() {
    const auto report = report_of(prompt_of("llama3-8b", 512, 4096));
    const Segment& layer = layer_with(*report, Axis::Context);
    const int64_t queries = 512 * 32 * 128, keys = 4608 * 8 * 128;
    QVERIFY(whole(attention_in(layer).read_bytes, *report) == 2 * (queries + 2 * keys));
    // The layer writes the new tokens only.
    for (const Op& op : layer.ops)
      if (op.kind == OpKind::CacheWrite) QVERIFY(whole(op.written_bytes, *report) == 2 * 512 * 8 * 128);
    QVERIFY(report->kv_cache_bytes.value == report_of(prompt_of("llama3-8b", 512, 0))->kv_cache_bytes.value);
  }
  // A window of 128 tokens: the first query sees 127 cached tokens. A chunk of 8,192 tokens: all since its
  // start.
  void masks_bound_what_is_read() {
    const auto window = report_of(prompt_of("gpt-oss-20b", 512, 4096));
    const Segment& sliding = layer_with(*window, Axis::WindowContext);
    const Tensor& keys = sliding.tensor(attention_in(sliding).inputs[1]);
    QVERIFY(whole(local_size(keys, 1), *window) == 512 + 127);
    const auto chunk = report_of(prompt_of("llama4-scout", 512, 8192 + 1000));
    const Segment& chunked = layer_with(*chunk, Axis::ChunkContext);
    QVERIFY(whole(local_size(chunked.tensor(attention_in(chunked).inputs[1]), 1), *chunk) == 1000 + 512);
  }
  // cp gathers cached and new keys and values.
  void cp_gathers_cached_keys() {
    Design design = prompt_of("llama3-8b", 512, 4096);
    design.parallel.cp = 2;
    design.parallel.context = ContextMode::AllGather;
    const auto report = report_of(design);
    const Segment& layer = layer_with(*report, Axis::Context);
    Wide gathered = 0;
    for (const Op& op : layer.ops)
      if (op.kind == OpKind::AllGather) gathered += whole(collective_bytes(layer, op), *report);
    QVERIFY(gathered == 2 * 2 * 4608 * 8 * 128);
    design.workload.cached_tokens = 4095;
    const auto refused = make_report(design, std::make_shared<PlanCache>());
    QCOMPARE(refused->problems.front().code, ProblemCode::ContextIndivisible);
    QCOMPARE(QString::fromStdString(refused->problems.front().where), QString("cached_tokens"));
  }
  // A scan starts from the cached state; the first chunk has none.
  void scans_read_states() {
    const auto scans = [](int64_t cached) {
      const auto report = report_of(prompt_of("mamba2-1.3b", 512, cached));
      int reading = 0;
      for (const Segment& segment : report->graph().segments)
        for (const Op& op : segment.ops) reading += reads_cache(segment, op);
      return reading;
    };
    QVERIFY(scans(512) > 0);
    QCOMPARE(scans(0), 0);
  }
  // Where a step cannot begin after cached tokens, the effective design has none.
  void blocks_of_keys_have_no_cached_tokens() {
    for (const char* preset : {"deepseek-v4-flash", "minimax-m3"}) {
      const Design design = prompt_of(preset, 512, 4096);
      QVERIFY(!no_cached_tokens(design).empty());
      QCOMPARE(effective_design(design).workload.cached_tokens, int64_t{0});
    }
    Design ring = prompt_of("llama3-8b", 512, 4096);
    ring.parallel.cp = 2;
    ring.parallel.context = ContextMode::Ring;
    QVERIFY(!no_cached_tokens(ring).empty());
  }
};

QTEST_APPLESS_MAIN(CachedPromptTest)
#include "cached_prompt_test.moc"
