// Checks the weights that a checkpoint stores in formats of its own.
#include <algorithm>
#include <set>

#include "base/units.h"
#include "design/validate/checks.h"
#include "hardware/accelerator.h"

namespace shardscape {
namespace {

// The inputs of a matrix that one rank multiplies.
struct Inputs {
  const char *knob, *name;
  int64_t size, parts;
};

// The inputs of the attention's output projection. Groups of heads have two projections.
std::vector<Inputs> output_inputs(const Design& d) {
  const ModelSpec& m = d.model;
  const int64_t tp = d.parallel.tp, groups = m.output_groups;
  const bool own_values = uses_axis(d, Axis::KvRank) || m.value_head_dim > 0;
  const int64_t heads = m.heads * (own_values ? m.value_head_dim : m.head_dim);
  if (groups == 0) return {{"heads", "heads x head size", heads, tp}};
  return {{"output_groups", "heads of a group x head size", heads, groups},
          {"output_rank", "output groups x output rank", groups * m.output_rank, tp}};
}

// Empty for a role without matrix products. A role of several blocks has the inputs of each; a size of 0 is
// of a block that the model lacks.
std::vector<Inputs> inputs_of(const Design& d, WeightRole role) {
  using enum WeightRole;
  const ModelSpec& m = d.model;
  const int64_t tp = d.parallel.tp;
  const Inputs hidden{"hidden", "the hidden size", m.hidden, 1},
      of_gate{"gate_rank", "the rank of gates", m.gate_rank, 1},
      of_linear{"linear_value_dim", "value heads x value head size",
                m.linear_value_heads * m.linear_value_dim, tp};
  switch (role) {
    case O: {
      std::vector<Inputs> out = output_inputs(d);
      out.push_back(of_linear);
      return out;
    }
    case QB:
    case IndexQ: return {{"q_rank", "the rank of queries", m.q_rank, 1}};
    case KvB: return {{"kv_rank", "the rank of keys and values", m.kv_rank, 1}};
    case Down: return {{"ffn", "the FFN size", m.ffn, tp}};
    case ExpertDown: return {{"expert_ffn", "the FFN size of experts", m.expert_ffn, d.parallel.expert_tp()}};
    case SharedDown: return {{"shared_ffn", "the width of shared experts", m.shared_width(), tp}};
    case MixerX: return {{"ssm_expand", "the channels of mixers", ssm_channels(d), tp}};
    case MixerOut: return {{"ssm_expand", "the channels of mixers", ssm_channels(d), tp}, of_linear};
    case MixerDt: return {{"ssm_dt_rank", "the rank of the step size", m.ssm_dt_rank, 1}, of_gate};
    case AttentionGate: return {hidden, of_gate};
    case Q:
    case K:
    case V:
    case QA:
    case KvA:
    case IndexK:
    case IndexWeights:
    case Compressor:
    case Gate:
    case Up:
    case SharedGate:
    case SharedUp:
    case LatentDown:
    case MixerIn:
    case MixerGate:
    case Router:
    case SharedRouter:
    case Head: return {hidden};
    case ExpertGate:
    case ExpertUp:
      if (m.latent_ffn == 0) return {hidden};
      [[fallthrough]];
    case LatentUp: return {{"latent_ffn", "the latent width of experts", m.latent_ffn, 1}};
    case Embed:  // no matrix product
    case Mtp: return {};
  }
  return {};
}

// Elements of the activations that share a scale lie along the inputs. A rank's inputs consist of whole
// blocks; weights may have a last block in part.
void check_inputs(Checks& checks, WeightRole role, WeightFormat format, const Inputs& inputs) {
  const std::optional<DType> type = product_type(format);
  if (!type || inputs.size == 0) return;
  const int64_t block = quantization_block(*type), parts = std::max<int64_t>(1, inputs.parts);
  if (inputs.size % parts != 0 || inputs.size / parts % block == 0) return;
  if (checks.record_first("weight_formats")) return;
  const std::string per_rank = parts > 1
                                   ? " over tp = " + grouped(parts) + " gives " + grouped(inputs.size / parts)
                                   : "";
  checks.error(ProblemCode::QuantizedFeaturesIndivisible, "weight_formats",
               "the GEMM of the weights " + std::string(weight_role_name(role)) + "=" +
                   std::string(weight_format_name(format)) + " needs " + inputs.name + " in multiples of " +
                   grouped(block) + " on every rank, but " + grouped(inputs.size) + per_rank,
               "a multiple of " + grouped(parts * block) + ", or another format of these weights",
               {set_to("weight_formats", std::string())});
}

void note_units(Checks& checks, const WeightFormats& formats) {
  const Accelerator* accelerator = find_accelerator(checks.design.cluster.accelerator);
  if (checks.first_only || !accelerator || !checks.in_range({"accelerator"})) return;
  std::set<DType> noted;
  for (const auto& [role, format] : formats) {
    const std::optional<DType> type = product_type(format);
    if (!type || has_matrix_units(*accelerator, *type) || !noted.insert(*type).second) continue;
    checks.note(ProblemCode::NoMatrixUnits, "weight_formats",
                accelerator->name + " has no matrix units for " + std::string(dtype_name(*type)) +
                    "; times are those of the next wider type",
                "formats whose GEMMs run in the data type, or an accelerator with these units");
  }
}

}  // namespace

void check_weight_formats(Checks& checks) {
  const WeightFormats& formats = checks.design.model.weight_formats;
  if (formats.empty() || trains(checks.design)) return;
  if (checks.in_range({"tp",
                       "etp",
                       "heads",
                       "head_dim",
                       "hidden",
                       "ffn",
                       "expert_ffn",
                       "shared_ffn",
                       "shared_experts",
                       "latent_ffn",
                       "q_rank",
                       "kv_rank",
                       "value_head_dim",
                       "ssm_expand",
                       "ssm_heads",
                       "ssm_head_dim",
                       "ssm_dt_rank",
                       "gate_rank",
                       "output_groups",
                       "output_rank",
                       "linear_value_heads",
                       "linear_value_dim"}))
    for (const auto& [role, format] : formats)
      for (const Inputs& inputs : inputs_of(checks.design, role)) check_inputs(checks, role, format, inputs);
  note_units(checks, formats);
}

}  // namespace shardscape
