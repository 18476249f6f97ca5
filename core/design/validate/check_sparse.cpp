// Checks sparse attention: an indexer picks the keys that a query reads.
#include <algorithm>

#include "base/number_text.h"
#include "base/units.h"
#include "design/layer_sizes.h"
#include "design/validate/checks.h"
#include "model/kernel_profile.h"
#include "model/library.h"

namespace shardscape {
namespace {

constexpr int64_t kScaledKeys = 128;  // elements per scale of an index key in the cache (DType::FP8Block)

// A lightning indexer reads compressed queries, and rotates a part of its keys.
void check_lightning(Checks& checks) {
  const ModelSpec& m = checks.design.model;
  if (checks.in_range({"index_dim"}) && m.index_dim % kScaledKeys != 0)
    checks.error(ProblemCode::IndexDimUnscaled, "index_dim",
                 "the cache holds index keys as FP8 with a scale per " + grouped(kScaledKeys) +
                     " elements, but a key has " + grouped(m.index_dim),
                 "a multiple of " + grouped(kScaledKeys),
                 {set_to("index_dim", std::max<int64_t>(1, m.index_dim / kScaledKeys) * kScaledKeys)});
  if (checks.in_range({"index_dim", "rope_head_dim"}) && m.rope_head_dim >= m.index_dim)
    checks.error(ProblemCode::IndexDimRotated, "rope_head_dim",
                 "the indexer rotates " + grouped(m.rope_head_dim) + " of the " + grouped(m.index_dim) +
                     " elements of its keys, but some must stay without rotation",
                 "below index_dim = " + grouped(m.index_dim), {set_to("rope_head_dim", m.index_dim / 2)});
  if (checks.in_range({"q_rank"}) &&
      !all_layer_models(checks.design, [](const ModelSpec& layer) { return layer.q_rank > 0; }))
    checks.error(ProblemCode::IndexQueriesUncompressed, "q_rank",
                 "the lightning indexer projects its queries from the compressed queries of latent attention",
                 "at least 1", {set_to("q_rank", 1536)});
}

// A query may pick keys of the whole sequence, so each rank needs all of them. Megatron-core gathers the keys
// over cp (transformer/experimental_attention_variant/dsa.py), and vLLM has no decode context parallelism for
// sparse attention.
void check_parts(Checks& checks) {
  const ParallelSpec& p = checks.design.parallel;
  if (checks.design.workload.mode != Mode::Decode) {
    if (checks.in_range({"cp"}) && p.cp > 1 && p.context != ContextMode::AllGather)
      checks.error(ProblemCode::SparseNeedsAllKeys, "context",
                   "sparse attention selects keys of the whole sequence, and only all-gather brings all keys "
                   "to each rank of cp",
                   "all-gather", {set_to("context", std::string("all-gather")), set_to("cp", 1)});
    return;
  }
  for (const auto& [knob, degree] : {std::pair{"cp", p.cp}, {"dcp", p.dcp}})
    if (checks.in_range({knob}) && degree > 1)
      checks.error(ProblemCode::SparseContextSplit, knob,
                   "sparse attention selects keys of the whole context, but each rank of " +
                       std::string(knob) + " holds only a part",
                   "1", {set_to(knob, 1)});
}

// Whether the attention of the profile can gather picked keys: a kernel that saves its result instead of
// scores, and reads the keys themselves.
bool gathers_keys(const KernelProfile& profile) {
  const KernelRule* rule = profile.rule("attention");
  return rule && rule->saves_output &&
         std::none_of(rule->stats.begin(), rule->stats.end(),
                      [](const KernelStat& stat) { return stat.replaces == 1; });
}

}  // namespace

void check_sparse(Checks& checks) {
  const Design& d = checks.design;
  if (!uses_axis(d, Axis::IndexDim) && !uses_axis(d, Axis::CompressRatio)) return;
  if (uses_axis(d, Axis::IndexHeads)) check_lightning(checks);
  if (checks.in_range({"index_block"}) && picks_blocks(d.model.architecture) != (d.model.index_block > 0))
    checks.error(ProblemCode::IndexBlockUnfit, "index_block",
                 d.model.index_block > 0
                     ? "the " + d.model.architecture + " architecture selects single keys"
                     : "the " + d.model.architecture + " architecture selects blocks of keys",
                 d.model.index_block > 0 ? "0" : "at least 1",
                 {set_to("index_block", d.model.index_block > 0 ? 0 : kScaledKeys)});
  check_parts(checks);
  const KernelProfile* profile = checks.in_range({"profile"}) && trains(d)
                                     ? ModelLibrary::instance().profile(d.workload.profile)
                                     : nullptr;
  if (profile && !gathers_keys(*profile))
    checks.error(ProblemCode::SparseUnfusedAttention, "profile",
                 "the attention of the kernel profile " + profile->id +
                     " stores the scores of all keys, or a copy of the keys for each query head",
                 "a profile with fused attention, such as flash", {set_to("profile", std::string("flash"))});
}

}  // namespace shardscape
