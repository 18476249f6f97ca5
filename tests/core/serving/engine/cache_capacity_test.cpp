// The KV cache that an engine allocates.
#include <QtTest>

#include "serving/engine/cache_capacity.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design served(const char* preset, int64_t tp, const char* accelerator) {
  Design design = preset_design(preset, tp, 1, 1);
  design.cluster.accelerator = accelerator;
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
    const CacheCapacity of = capacity(served("llama3-8b", 1, "h100-sxm-80gb"),
                                      {0.9, 2048, 256, 16, 25'250'627'584});
    QCOMPARE(of.token_bytes, int64_t{2 * 32 * 8 * 128 * 2});
    QVERIFY2(std::abs(static_cast<double>(of.blocks) / 2588 - 1) < 0.03, std::to_string(of.blocks).c_str());
  }
  void parts_add_up() {
    for (const char* preset : {"llama3-70b", "qwen3-30b-a3b", "gpt-oss-120b"}) {
      const CacheCapacity of = capacity(served(preset, 4, "h200-sxm-141gb"), {});
      QCOMPARE(of.cache, of.usable - of.states - of.runtime - of.activations);
      QCOMPARE(of.blocks, of.cache / (of.token_bytes * 16));
      QVERIFY(of.states > 0 && of.activations > 0 && of.runtime > 0 && of.blocks > 0);
    }
  }
  // SGLang divides what the runtime leaves; TensorRT-LLM takes a share of what the largest step leaves.
  void engines_divide_the_memory() {
    CacheSettings settings;
    const Design design = served("llama3-8b", 1, "h100-sxm-80gb");
    settings.gpu_memory_utilization = 1;
    const int64_t all = capacity(design, settings).cache;
    settings.gpu_memory_utilization = 0.5;
    settings.engine = EngineKind::Sglang;
    const CacheCapacity sglang = capacity(design, settings);
    QCOMPARE(sglang.cache, sglang.usable - sglang.states);
    QVERIFY(sglang.cache > all / 4 && sglang.cache < all / 2);
    settings.engine = EngineKind::Trtllm;
    QVERIFY(std::abs(capacity(design, settings).cache - all / 2) <= 1);
  }
  void larger_steps_leave_less() {
    const Design design = served("llama3-8b", 1, "h100-sxm-80gb");
    const int64_t blocks = capacity(design, {}).blocks;
    QVERIFY(capacity(design, {0.9, 65536, 256}).blocks < blocks);
    QVERIFY(capacity(design, {0.9, 8192, 1024}).blocks < blocks);  // the sampler's logits
    QVERIFY(capacity(design, {0.8}).blocks < blocks);
    const int64_t wide = capacity(design, {0.9, 8192, 256, 32}).blocks;
    QVERIFY(wide == blocks / 2 || wide == blocks / 2 - 1);
  }
  // More sequences than tokens for each rank of a sequence-parallel group.
  void prompts_split_over_ranks() {
    Design design = served("llama3-8b", 4, "h100-sxm-80gb");
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
    const CacheCapacity of = capacity(served("llama3-70b", 1, "h100-sxm-80gb"), {});
    QCOMPARE(of.cache, int64_t{0});
    QCOMPARE(of.blocks, int64_t{0});
  }
  void wrong_layouts_are_problems() {
    QVERIFY(std::holds_alternative<Problem>(cache_capacity(served("llama3-8b", 3, "h100-sxm-80gb"), {})));
  }
};

QTEST_APPLESS_MAIN(CacheCapacityTest)
#include "cache_capacity_test.moc"
