// The KV cache that an engine allocates.
#include <QtTest>
#include <cmath>

#include "serving/engine/cache_capacity.h"
#include "support/served_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design served(const char* preset, int64_t tp, const char* accelerator, const char* formats = "") {
  Design design = engine_on(preset, tp, accelerator);
  design.model.weight_formats = std::get<0>(parse_weight_formats(formats));
  return design;
}

CacheCapacity capacity(const Design& design, const CacheSettings& settings) {
  const auto made = cache_capacity(design, settings);
  if (const auto* problem = std::get_if<Problem>(&made)) qFatal("%s", to_string(*problem).c_str());
  return std::get<0>(made);
}

}  // namespace

class CacheCapacityTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // vLLM 0.19.0 printed 41,408 tokens on an RTX 4090 (casys-kaist/LLMServingSim, bench/examples, MIT).
  void blocks_that_vllm_printed() {
    const CacheCapacity of = capacity(engine_on("llama3-8b", 1, "h100-sxm-80gb"),
                                      {0.9, 2048, 256, 16, 25'250'627'584});
    QCOMPARE(of.token_bytes, int64_t{2 * 32 * 8 * 128 * 2});
    QVERIFY2(std::abs(static_cast<double>(of.blocks) / 2588 - 1) < 0.03, std::to_string(of.blocks).c_str());
  }
  // GiB that vLLM 0.11 logs on an H100 with 79.18 GiB (llm-d/llm-d-benchmark @4f4d449,
  // config_explorer/empirical-vllm-memory-results.md): weights, peak activations with 1,024 sequences, cache.
  void memory_that_vllm_logged_data() {
    QTest::addColumn<QByteArray>("preset");
    QTest::addColumn<int>("tp");
    QTest::addColumn<double>("weights");
    QTest::addColumn<double>("activations");
    QTest::addColumn<double>("cache");
    const auto row = [](const char* preset, int tp, double weights, double activations, double cache) {
      QTest::addRow("%s, tp %d", preset, tp) << QByteArray(preset) << tp << weights << activations << cache;
    };
    row("llama3-8b", 1, 14.99, 4.76, 51.38);
    row("qwen3-0.6b", 1, 1.12, 5.56, 64.45);
    row("qwen3-32b", 2, 30.59, 5.64, 34.49);
    row("gpt-oss-20b", 1, 13.47, 7.38, 50.28);
  }
  void memory_that_vllm_logged() {
    QFETCH(QByteArray, preset);
    QFETCH(int, tp);
    QFETCH(double, weights);
    QFETCH(double, activations);
    QFETCH(double, cache);
    CacheSettings settings{0.9, 8192, 1024, 128, static_cast<int64_t>(79.18 * 0x1p30)};
    const CacheCapacity of = capacity(
        served(preset.constData(), tp, "h100-sxm-80gb", preset.startsWith("gpt-oss") ? "experts=mxfp4" : ""),
        settings);
    const auto gib = [](int64_t bytes) { return static_cast<double>(bytes) / 0x1p30; };
    const auto text = std::to_string(gib(of.states)) + " " + std::to_string(gib(of.activations)) + " " +
                      std::to_string(gib(of.cache));
    QVERIFY2(std::abs(gib(of.states) / weights - 1) < 0.02, text.c_str());
    QVERIFY2(std::abs(gib(of.activations) / activations - 1) < 0.05, text.c_str());
    QVERIFY2(std::abs(gib(of.cache) / cache - 1) < 0.03, text.c_str());
  }
  // vLLM logs 65.97 GiB of weights of gpt-oss-120b with Marlin's kernels and 64.38 GiB with Triton's on an
  // H100.
  void kernels_pad_experts() {
    CacheSettings settings;
    const Design design = served("gpt-oss-120b", 1, "h200-sxm-141gb", "experts=mxfp4");
    const auto weights = [&](const Design& of) {
      return static_cast<double>(capacity(of, settings).states) / 0x1p30;
    };
    const double triton = weights(design);
    QVERIFY2(std::abs(triton - 64.38) < 0.15, std::to_string(triton).c_str());
    settings.mxfp4_use_marlin = true;
    const double marlin = weights(design);
    QVERIFY2(std::abs(marlin - 65.97) < 0.15, std::to_string(marlin).c_str());
    settings.engine = EngineKind::Trtllm;
    QVERIFY(weights(design) < 61.5);
    settings.engine = EngineKind::Vllm;
    QCOMPARE(weights(served("llama3-8b", 1, "h200-sxm-141gb")),
             weights(served("llama3-8b", 1, "b200-hgx-180gb")));
  }
  void parts_add_up() {
    for (const char* preset : {"llama3-70b", "qwen3-30b-a3b", "gpt-oss-120b"}) {
      const CacheCapacity of = capacity(engine_on(preset, 4, "h200-sxm-141gb"), {});
      QCOMPARE(of.cache, of.usable - of.states - of.runtime - of.activations);
      QCOMPARE(of.blocks, of.cache / of.block_bytes);
      QVERIFY(of.states > 0 && of.activations > 0 && of.runtime > 0 && of.blocks > 0);
    }
  }
  // The groups of vLLM: layers with the same storage, as many in a group as the rarest storage has. Bytes of
  // gpt-oss and Gemma 3 follow from their configurations, states of Qwen3-Next and Nemotron-H from vLLM's
  // mamba_utils.py.
  void layers_share_blocks_in_groups_data() {
    QTest::addColumn<QByteArray>("preset");
    QTest::addColumn<int>("full");
    QTest::addColumn<int>("states");
    QTest::addColumn<QList<int>>("window");  // tokens and blocks of a row
    QTest::addColumn<qint64>("row_tokens");
    QTest::addColumn<qint64>("block_bytes");
    const auto row = [](const char* preset, int full, int states, QList<int> window, qint64 tokens,
                        qint64 bytes) {
      QTest::newRow(preset) << QByteArray(preset) << full << states << window << tokens << bytes;
    };
    row("llama3-8b", 1, 0, {}, 16, 32 * 4096 * 16);
    row("gpt-oss-120b", 1, 0, {128, 1}, 16, 18 * 2048 * 16);
    row("gemma3-27b", 1, 0, {1024, 6}, 16, 10 * 8192 * 16);    // 10 and 52 layers
    row("llama4-scout", 1, 0, {8192, 3}, 16, 12 * 4096 * 16);  // chunks
    row("mimo-v2-flash", 1, 0, {128, 10}, 32, 9 * 5120 * 16);  // full layers store half of a window's token
    row("mistral-7b-v0.1", 0, 0, {4096, 1}, 16, 32 * 4096 * 16);
    row("qwen3-next-80b-a3b", 1, 3, {}, 1056, qint64{12} * 2048 * 1056);  // a state has 2,146,304 bytes
    row("nemotron-h-56b", 1, 6, {}, 4128, qint64{10} * 4096 * 4128);
    row("mamba-2.8b", 0, 1, {}, 16, 64 * 358400);
  }
  void layers_share_blocks_in_groups() {
    QFETCH(QByteArray, preset);
    QFETCH(int, full);
    QFETCH(int, states);
    QFETCH(QList<int>, window);
    QFETCH(qint64, row_tokens);
    QFETCH(qint64, block_bytes);
    const Design design = engine_on(preset.constData(), 1, "h200-sxm-141gb");
    const auto read = cache_storage(design, {});
    QVERIFY(std::holds_alternative<CacheCapacity>(read));
    const CacheCapacity& of = std::get<0>(read);
    QCOMPARE(of.layout.full, full);
    QCOMPARE(of.layout.states, states);
    QCOMPARE(of.layout.windows.size(), static_cast<size_t>(window.size() / 2));
    if (!window.empty()) {
      QCOMPARE(of.layout.windows[0].tokens, int64_t{window[0]});
      QCOMPARE(of.layout.windows[0].blocks, window[1]);
      QCOMPARE(of.layout.windows[0].chunked, preset.startsWith("llama4"));
    }
    QCOMPARE(of.row_tokens, int64_t{row_tokens});
    QCOMPARE(of.block_bytes, int64_t{block_bytes});
    QCOMPARE(of.layout.prefixes, states == 0);
  }
  // Without the hybrid manager a window stores every token.
  void windows_can_store_all_tokens() {
    CacheSettings settings;
    const Design design = engine_on("gpt-oss-120b", 4, "h200-sxm-141gb");
    const CacheCapacity hybrid = capacity(design, settings);
    settings.disable_hybrid_kv_cache_manager = true;
    const CacheCapacity whole = capacity(design, settings);
    QCOMPARE(whole.token_bytes, 2 * hybrid.token_bytes);
    QCOMPARE(whole.sequence_bytes, int64_t{0});
    QVERIFY(whole.layout == CacheLayout());
    QCOMPARE(whole.tokens, whole.blocks * 16);
    // Both print the same tokens: those of a sequence that has not left its window.
    QVERIFY(std::abs(whole.tokens - hybrid.tokens) <= 32);
  }
  // Windows take 0.8 of the tokens in SGLang, states 0.9 / 1.9 of the memory; TensorRT-LLM reserves them.
  void engines_store_windows_and_states() {
    CacheSettings settings;
    settings.block_size = 1;
    settings.engine = EngineKind::Sglang;
    const Design windows = engine_on("gpt-oss-120b", 4, "h200-sxm-141gb"),
                 states = engine_on("qwen3-next-80b-a3b", 4, "h200-sxm-141gb");
    CacheCapacity of = capacity(windows, settings);
    QCOMPARE(of.block_bytes, of.token_bytes + of.token_bytes * 4 / 5);
    QCOMPARE(of.sequences, int64_t{0});
    QCOMPARE(of.state_slots, int64_t{0});
    settings.request_states = 5;
    of = capacity(states, settings);
    const double share = static_cast<double>(of.state_slots * of.sequence_bytes) /
                         static_cast<double>(of.cache);
    QVERIFY(std::abs(share - 0.9 / 1.9) < 0.01);
    QCOMPARE(of.sequences, of.state_slots / 5);
    settings.engine = EngineKind::Trtllm;
    settings.max_num_seqs = 64;
    of = capacity(states, settings);
    QCOMPARE(of.blocks, (of.cache - 64 * of.sequence_bytes) / of.block_bytes);
    QVERIFY(!of.layout.prefixes);
  }
  // 80 GB and one accelerator: graphs of 256 sequences, chunks of 8,192 tokens (server_args.py).
  void sglang_estimates_its_share() {
    CacheSettings settings;
    settings.engine = EngineKind::Sglang;
    settings.gpu_memory_utilization = 0;
    settings.memory_bytes = int64_t{80} << 30;
    const CacheCapacity of = capacity(engine_on("llama3-8b", 1, "h100-sxm-80gb"), settings);
    const double reserved = 512 + 1.5 * 8192 + 2 * 256 + 128;
    const double share = std::round((1 - reserved / (80 * 1024)) * 1000) / 1000;
    QCOMPARE(of.usable,
             static_cast<int64_t>(share * static_cast<double>(settings.memory_bytes - of.runtime)));
  }
  // SGLang divides what the runtime leaves; TensorRT-LLM takes a share of what the largest step leaves.
  void engines_divide_the_memory() {
    CacheSettings settings;
    const Design design = engine_on("llama3-8b", 1, "h100-sxm-80gb");
    settings.gpu_memory_utilization = 1;
    settings.max_num_seqs = 1;  // TensorRT-LLM measures one prompt
    const int64_t all = capacity(design, settings).cache;
    settings.gpu_memory_utilization = 0.5;
    settings.engine = EngineKind::Sglang;
    const CacheCapacity sglang = capacity(design, settings);
    QCOMPARE(sglang.cache, sglang.usable - sglang.states);
    QVERIFY(sglang.cache > all / 4 && sglang.cache < all / 2);
    settings.engine = EngineKind::Trtllm;
    const CacheCapacity trtllm = capacity(design, settings);
    const int64_t left = trtllm.usable - trtllm.states - trtllm.runtime - trtllm.activations;
    QVERIFY(std::abs(trtllm.cache - left / 2) <= 1);
    QVERIFY(left < all);  // vLLM does not count the CUDA context
  }
  void larger_steps_leave_less() {
    const Design design = engine_on("llama3-8b", 1, "h100-sxm-80gb");
    const int64_t blocks = capacity(design, {}).blocks;
    QVERIFY(capacity(design, {0.9, 65536, 256}).blocks < blocks);
    QVERIFY(capacity(design, {0.9, 8192, 1024}).blocks < blocks);  // the sampler's logits
    QVERIFY(capacity(design, {0.8}).blocks < blocks);
    CacheSettings trtllm;
    trtllm.engine = EngineKind::Trtllm;
    trtllm.max_num_seqs = 2048;
    const int64_t one_prompt = capacity(design, trtllm).blocks;
    trtllm.max_num_seqs = 16;
    QCOMPARE(capacity(design, trtllm).blocks, one_prompt);
    trtllm.max_num_batched_tokens = 16384;
    QVERIFY(capacity(design, trtllm).blocks < one_prompt);
    const int64_t wide = capacity(design, {0.9, 8192, 256, 32}).blocks;
    QVERIFY(wide == blocks / 2 || wide == blocks / 2 - 1);
  }
  // More sequences than tokens for each rank of a sequence-parallel group.
  void prompts_split_over_ranks() {
    Design design = engine_on("llama3-8b", 4, "h100-sxm-80gb");
    design.parallel.sequence_parallel = true;
    QVERIFY(capacity(design, {0.9, 256, 1024}).blocks > 1000);
  }
  // The fullest stage decides.
  void stages_share_the_cache() {
    Design design = preset_design("llama3-70b", 2, 4, 1);
    design.cluster.accelerator = "h100-sxm-80gb";
    const CacheCapacity of = capacity(design, {});
    QCOMPARE(of.token_bytes, int64_t{2 * 20 * 4 * 128 * 2});
  }
  void no_room_is_no_cache() {
    const CacheCapacity of = capacity(engine_on("llama3-70b", 1, "h100-sxm-80gb"), {});
    QCOMPARE(of.cache, int64_t{0});
    QCOMPARE(of.blocks, int64_t{0});
  }
  void wrong_layouts_are_problems() {
    QVERIFY(std::holds_alternative<Problem>(cache_capacity(engine_on("llama3-8b", 3, "h100-sxm-80gb"), {})));
  }
};

QTEST_APPLESS_MAIN(CacheCapacityTest)
#include "cache_capacity_test.moc"
