// Checks the sizes that quantized matrix products require.
#include <algorithm>

#include "base/units.h"
#include "design/validate/checks.h"
#include "hardware/accelerator.h"

namespace shardscape {
namespace {

const std::string kStorage = "storage";

// Elements that share a scale lie along the contraction: along a token's features in the forward, along
// tokens in the weight gradient. Without blocks, matrix units require multiples of 16 and 8 (Transformer
// Engine, FP8 GEMM). XLA pads operands of INT8.
int64_t wanted(DType type, bool tokens) {
  if (type == DType::Int8) return 1;
  return quantization_block(type) > 1 ? quantization_block(type) : tokens ? 8 : 16;
}

// The features of linear attention. features: the check of one size, as in check_sizes.
template <class Features>
void linear_attention_features(const Checks& checks, const Features& features) {
  const Design& d = checks.design;
  const ModelSpec& m = d.model;
  if (!uses_axis(d, Axis::LinearValueDim) ||
      !checks.in_range({"linear_key_heads", "linear_value_heads", "linear_key_dim", "linear_value_dim"}))
    return;
  const int64_t tp = d.parallel.tp;
  if (uses_axis(d, Axis::LinearKeyHeads))
    features("linear_key_dim", "key heads x key head size", m.linear_key_heads * m.linear_key_dim, tp, false);
  features("linear_value_dim", "value heads x value head size", m.linear_value_heads * m.linear_value_dim, tp,
           false);
  if (uses_axis(d, Axis::GateRank) && checks.in_range({"gate_rank"}))
    features("gate_rank", "the rank of the gates", m.gate_rank, 1, true);
}

// The features of compressed attention: compressed queries, and heads in groups with a second projection.
template <class Features>
void compressed_attention_features(const Checks& checks, const Features& features) {
  const Design& d = checks.design;
  const ModelSpec& m = d.model;
  if (!uses_axis(d, Axis::KvRank) && uses_axis(d, Axis::QRank) && checks.in_range({"q_rank"}) && m.q_rank > 0)
    features("q_rank", "the rank of queries", m.q_rank, 1, true);
  if (uses_axis(d, Axis::OutputRank) && checks.in_range({"output_groups", "output_rank"}))
    features("output_rank", "output groups x output rank", m.output_groups * m.output_rank, d.parallel.tp,
             false);
}

void check_sizes(Checks& checks) {
  const Design& d = checks.design;
  const DType type = compute_dtype(d.workload);
  if (!is_quantized(type) ||
      !checks.in_range({"compute", "tp", "cp", "heads", "head_dim", "hidden", "ffn", "seq", "microbatch"}))
    return;
  const int64_t tp = d.parallel.tp, rows = wanted(type, true);
  const Fix off = set_to("compute", kStorage);
  const std::string name(dtype_name(type));
  int64_t block = wanted(type, false);
  const auto features = [&](const char* knob, const char* size_name, int64_t size, int64_t parts,
                            bool fixable) {
    if (size % parts != 0 || size / parts % block == 0)
      return;  // other checks report sizes that do not split at all
    std::vector<Fix> fixes;
    if (fixable) offer(fixes, knob, (size / (parts * block) + 1) * parts * block);
    fixes.push_back(off);
    checks.error(ProblemCode::QuantizedFeaturesIndivisible, knob,
                 name + " needs " + size_name + " in multiples of " + grouped(block) +
                     " on every rank, but " + grouped(size) +
                     (parts > 1 ? " over tp = " + grouped(parts) + " gives " + grouped(size / parts) : ""),
                 "a multiple of " + grouped(parts * block) + ", or compute " + kStorage, std::move(fixes));
  };
  features("hidden", "the hidden size", d.model.hidden, 1, false);
  features("ffn", "the FFN size", d.model.ffn, tp, true);
  if (!uses_axis(d, Axis::KvRank))
    features("heads", "heads x head size", d.model.heads * d.model.head_dim, tp, false);
  if (uses_axis(d, Axis::Experts) &&
      checks.in_range({"experts", "expert_ffn", "shared_experts", "shared_ffn", "etp"})) {
    features("expert_ffn", "the FFN size of experts", d.model.expert_ffn, d.parallel.expert_tp(), true);
    if (d.model.shared_ffn > 0 || d.model.expert_ffn % (tp * block) != 0)
      features(d.model.shared_ffn > 0 ? "shared_ffn" : "expert_ffn", "the width of shared experts",
               d.model.shared_width(), tp, false);
    if (uses_axis(d, Axis::LatentWidth) && checks.in_range({"latent_ffn"}))
      features("latent_ffn", "the latent width of experts", d.model.latent_ffn, 1, true);
  }
  if (uses_axis(d, Axis::KvRank) && checks.in_range({"q_rank", "kv_rank", "value_head_dim"})) {
    features("heads", "heads x value head size", d.model.heads * d.model.value_head_dim, tp, false);
    features("q_rank", "the rank of queries", d.model.q_rank, 1, true);
    features("kv_rank", "the rank of keys and values", d.model.kv_rank, 1, true);
  }
  compressed_attention_features(checks, features);
  linear_attention_features(checks, features);
  // Only weight gradients contract over tokens, so inference does not restrict the number of tokens. Types
  // with blocks require multiples of the block for all features.
  if (!trains(d)) {
    if (quantization_block(type) > 1 &&
        checks.in_range({"ssm_expand", "ssm_heads", "ssm_head_dim", "ssm_dt_rank"})) {
      if (uses_axis(d, Axis::SsmConv))
        features("ssm_expand", "the channels of mixers", ssm_channels(d), tp, false);
      if (uses_axis(d, Axis::SsmDtRank))
        features("ssm_dt_rank", "the rank of the step size", d.model.ssm_dt_rank, 1, true);
    }
    // A 128x128 block of weights shares one float32 scale. If inputs form whole blocks, this many outputs
    // fill one byte of the scale.
    if (type != DType::FP8Block || !checks.in_range({"kv_heads", "rope_head_dim", "nope_head_dim"})) return;
    block /= dtype_bytes(DType::FP32);
    if (!uses_axis(d, Axis::KvRank)) {
      features("head_dim", "KV heads x head size",
               std::max<int64_t>(1, d.model.kv_heads / tp) * d.model.head_dim, 1, false);
      return;
    }
    features("rope_head_dim", "the rotary head size", d.model.rope_head_dim, 1, true);
    features("nope_head_dim", "heads x non-rotary head size", d.model.heads * d.model.nope_head_dim, tp,
             false);
    return;
  }
  const int64_t parts = d.parallel.cp * (d.parallel.sequence_parallel ? tp : 1), b = d.workload.microbatch,
                seq = d.workload.seq;
  if (seq % parts != 0 || seq / parts * b % rows == 0) return;
  std::vector<Fix> fixes;
  const int64_t multiple = parts * rows;
  offer(fixes, "seq", seq >= multiple ? seq / multiple * multiple : multiple);
  fixes.push_back(off);
  checks.error(ProblemCode::QuantizedTokensIndivisible, "seq",
               name + " needs the tokens of a rank in multiples of " + grouped(rows) + ", but b S gives " +
                   grouped(seq / parts * b),
               "a multiple of " + grouped(multiple) + ", or compute " + kStorage, std::move(fixes));
}

void check_units(Checks& checks) {
  const Design& d = checks.design;
  const DType type = compute_dtype(d.workload);
  if (checks.first_only || !is_quantized(type) || !checks.in_range({"compute", "accelerator"})) return;
  const Accelerator* accelerator = find_accelerator(d.cluster.accelerator);
  if (!accelerator || has_matrix_units(*accelerator, type)) return;
  std::vector<Fix> fixes;
  if (has_matrix_units(*accelerator, DType::FP8)) fixes.push_back(set_to("compute", std::string("fp8")));
  fixes.push_back(set_to("compute", kStorage));
  checks.note(ProblemCode::NoMatrixUnits, "compute",
              accelerator->name + " has no matrix units for " + std::string(dtype_name(type)) +
                  "; times are those of the next wider type",
              has_matrix_units(*accelerator, DType::FP8)
                  ? "fp8 or storage, or an accelerator with these units"
                  : "storage, or an accelerator with these units",
              std::move(fixes));
}

// Tiles of 128 features of a token share a scale.
void check_activation_cache(Checks& checks) {
  const Design& d = checks.design;
  if (d.workload.activation_cache != ActivationCache::FP8 || !trains(d) ||
      d.workload.recompute == Recompute::Full ||
      !checks.in_range({"tp", "heads", "head_dim", "ffn", "recompute"}))
    return;
  const int64_t tp = d.parallel.tp, block = quantization_block(DType::FP8Block);
  const auto features = [&](const char* knob, const char* size_name, int64_t size, int64_t parts) {
    if (size % parts != 0 || size / parts % block == 0) return;  // other checks report uneven splits
    checks.error(ProblemCode::QuantizedFeaturesIndivisible, knob,
                 std::string("activation_cache fp8 needs ") + size_name + " in multiples of " +
                     grouped(block) + " on every rank, but " + grouped(size) +
                     (parts > 1 ? " over tp = " + grouped(parts) + " gives " + grouped(size / parts) : ""),
                 "a multiple of " + grouped(parts * block) + ", or activation_cache same",
                 {set_to("activation_cache", std::string("same"))});
  };
  features("ffn", "the FFN size", d.model.ffn, tp);
  if (!uses_axis(d, Axis::KvRank))
    features("heads", "heads x head size", d.model.heads * d.model.head_dim, tp);
  else if (checks.in_range({"value_head_dim"}))
    features("heads", "heads x value head size", d.model.heads * d.model.value_head_dim, tp);
  if (!uses_axis(d, Axis::Experts) ||
      !checks.in_range({"experts", "expert_ffn", "shared_experts", "shared_ffn", "etp"}))
    return;
  features("expert_ffn", "the FFN size of experts", d.model.expert_ffn, d.parallel.expert_tp());
  features(d.model.shared_ffn > 0 ? "shared_ffn" : "expert_ffn", "the width of shared experts",
           d.model.shared_width(), tp);
}

// Blocks of 64 weights share a scale. With double quantization, 256 scales share one.
void check_frozen_weights(Checks& checks) {
  const Design& d = checks.design;
  const FrozenWeights type = frozen_weights(d);
  if (type == FrozenWeights::Same ||
      !checks.in_range({"tp", "hidden", "heads", "kv_heads", "head_dim", "ffn"}))
    return;
  const int64_t block = quantization_block(type == FrozenWeights::NF4 ? DType::NF4 : DType::NF4Double),
                tp = d.parallel.tp;
  for (const auto& [knob, width] :
       {std::pair{"heads", d.model.heads * d.model.head_dim},
        std::pair{"kv_heads", d.model.kv_heads * d.model.head_dim}, std::pair{"ffn", d.model.ffn}}) {
    const int64_t elements = d.model.hidden * width;
    if (elements % (tp * block) == 0) continue;
    checks.error(ProblemCode::QuantizedFeaturesIndivisible, knob,
                 "frozen_dtype needs matrices in multiples of " + grouped(block) +
                     " weights on every rank, but hidden size x " + grouped(width) + " is " +
                     grouped(elements) + " weights over tp = " + grouped(tp),
                 "a multiple of " + grouped(tp * block) + ", or frozen_dtype same",
                 {set_to("frozen_dtype", std::string("same"))});
    return;
  }
}

}  // namespace

void check_precision(Checks& checks) {
  check_sizes(checks);
  check_frozen_weights(checks);
  check_activation_cache(checks);
  check_units(checks);
  check_weight_formats(checks);
}

}  // namespace shardscape
