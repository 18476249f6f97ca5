#include "model/axis.h"

#include <array>
#include <stdexcept>
#include <string>

namespace shardscape {
namespace {

struct AxisInfo {
  std::string_view name;
  const char* size;
  const char* active = nullptr;  // size per token, if smaller
};
constexpr std::array<AxisInfo, kAxisCount> kAxes{
    {{"batch", "b·dp"},
     {"seq", "S"},
     {"hidden", "D"},
     {"heads", "H"},
     {"kv_heads", "G"},
     {"head_dim", "E"},
     {"ffn", "F"},
     {"vocab", "Vp"},
     {"positions", "Smax"},
     // A patch has three colours and pf frames of pv x pv pixels. Mv patches make one token.
     {"images", "b·dp·I"},
     {"image_tokens", "Np/Mv"},
     {"patch_inputs", "3·pf·pv^2"},
     {"vision_hidden", "D_vision"},
     {"merged", "Mv·D_vision"},
     {"projector_ffn", "Mv·D_vision"},
     {"merged_hidden", "Mv·D"},
     {"projector_width", "Wp"},
     {"projector_out", "Wp"},
     {"patches", "Np"},
     {"quarter_tokens", "Np/4"},
     {"doubled_channels", "2·D_vision"},
     {"quadrupled_channels", "4·D_vision"},
     {"conv_taps", "9"},
     {"clip_bounds", "2"},
     // Mamba: channels; state per channel; convolution taps; rank of the step size; projection of x (step
     // size, B and C). Mamba-2: groups that share B and C; heads per group; channels per head.
     {"ssm_inner", "e·D"},
     {"ssm_state", "N"},
     {"ssm_conv", "Kw"},
     {"ssm_dt_rank", "Rd"},
     {"ssm_proj", "Rd + 2·N"},
     {"ssm_groups", "Gs"},
     {"ssm_group_heads", "e·D/(P·Gs)"},
     {"ssm_head_dim", "P"},
     {"ssm_conv_state", "Kw - 1"},
     {"linear_key_heads", "Hk"},
     {"linear_group_heads", "Hv/Hk"},
     {"linear_norm_groups", "Gl"},
     {"linear_norm_heads", "Hv/Gl"},
     {"linear_key_dim", "Ek"},
     {"linear_value_dim", "El"},
     {"linear_conv", "Kl"},
     {"linear_conv_state", "Kl - 1"},
     {"linear_chunk", "Qle"},
     {"gate_rank", "Rg"},
     {"q_rank", "Rq"},
     {"kv_rank", "Rkv"},
     {"rope_head_dim", "Er"},
     {"nope_head_dim", "En"},
     {"qk_head_dim", "En + Er"},
     {"value_head_dim", "Ev"},
     {"index_heads", "Hi"},
     {"index_head_dim", "Ei"},
     {"index_nope_head_dim", "Ei - Er"},
     {"picked", "Kp"},
     {"compress_ratio", "Cr"},
     {"two_compress_ratios", "2·Cr"},
     {"halves", "2"},
     {"compressed", "Nc"},
     {"compressed_context", "Nc"},
     {"output_groups", "Go"},
     {"group_heads", "H/Go"},
     {"output_rank", "Ro"},
     {"two_hidden", "2·D"},
     {"per_layer", "Dl"},
     {"model_layers", "L"},
     {"streams", "n"},
     {"stream_mix", "2·n + n·n"},
     {"residual_blocks", "R"},
     {"grown_blocks", "R + 1"},
     {"experts", "X", "K"},
     {"routes", "X"},
     {"tokens", "b·dp·S"},
     {"choices", "K"},
     {"slots", "b·dp·S·K/X"},
     {"expert_ffn", "Fx"},
     {"shared_ffn", "Fs"},
     {"latent_width", "Rx"},
     {"all_routes", "Xr"},
     {"nodes", "ep/el"},
     {"node_slots", "Cn"},  // tokens from one rank
     {"lora_rank", "Ra"},
     {"one", "1"},
     {"context", "C"},
     {"window_context", "We"},
     {"chunk_context", "Wce"},
     {"latent_dim", "Rkv + Er"},
     {"parts", "cp·dcp"}}};

struct DTypeInfo {
  std::string_view name;
  int64_t bits;       // per element
  int64_t block = 1;  // elements per scale
  int64_t scale_bits = 0;
  int64_t rows = 1;  // outputs of a matrix that share a scale
};
constexpr std::array<DTypeInfo, kDTypeCount> kTypes{{{"bfloat16", 16},
                                                     {"float16", 16},
                                                     {"float32", 32},
                                                     {"int64", 64},
                                                     {"int32", 32},
                                                     {"bool", 8},
                                                     {"float8", 8},
                                                     {"float8_block", 8, 128, 32},
                                                     {"mxfp8", 8, 32, 8},
                                                     {"nvfp4", 4, 16, 8},
                                                     {"int8", 8},
                                                     {"float8_block2d", 8, 128, 32, 128},
                                                     {"float8_block2d_e8m0", 8, 128, 8, 128},
                                                     {"mxfp4", 4, 32, 8},
                                                     {"int4_g32", 4, 32, 16},
                                                     {"int4_g128", 4, 128, 16},
                                                     {"float8_entry", 8, 512, 576},
                                                     {"e5m6", 12, 128, 32},
                                                     {"int8_block256", 8, 256, 32},
                                                     {"nf4", 4, 64, 32},
                                                     {"nf4_double", 4, 64 * 256, 256 * 8 + 32}}};
const DTypeInfo& info(DType type) { return kTypes[static_cast<size_t>(type)]; }

}  // namespace

std::string_view axis_name(Axis axis) { return kAxes[static_cast<size_t>(axis)].name; }

std::optional<Axis> axis_from_name(std::string_view name) {
  for (size_t i = 0; i < kAxes.size(); ++i)
    if (kAxes[i].name == name) return static_cast<Axis>(i);
  return std::nullopt;
}

namespace {

std::array<Expr, kAxisCount> parse_sizes(bool active) {
  std::array<Expr, kAxisCount> out;
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = std::get<Expr>(Expr::parse(active && kAxes[i].active ? kAxes[i].active : kAxes[i].size));
  return out;
}

}  // namespace

const Expr& axis_size(Axis axis) {
  static const std::array<Expr, kAxisCount> sizes = parse_sizes(false);
  return sizes[static_cast<size_t>(axis)];
}

const Expr& axis_size_per_token(Axis axis) {
  static const std::array<Expr, kAxisCount> sizes = parse_sizes(true);
  return sizes[static_cast<size_t>(axis)];
}

std::optional<Axis> axis_of_size(const Expr& size, const SymbolScope& scope) {
  for (int i = 0; i < kAxisCount; ++i)
    if (scope.of(axis_size(static_cast<Axis>(i))) == size) return static_cast<Axis>(i);
  return std::nullopt;
}

bool is_optional_axis(Axis axis) { return axis == Axis::QRank; }

int dtype_bytes(DType type) {
  if (info(type).scale_bits != 0)
    throw std::logic_error(std::string(dtype_name(type)) + " has no whole number of bytes per element");
  return static_cast<int>(info(type).bits / 8);
}

const Expr& dtype_size(DType type) {
  static const std::array<Expr, kTypes.size()> sizes = [] {
    std::array<Expr, kTypes.size()> out;
    for (size_t i = 0; i < out.size(); ++i) {
      const int64_t elements = kTypes[i].block * kTypes[i].rows;
      out[i] = Expr(Rational(kTypes[i].bits * elements + kTypes[i].scale_bits, 8 * elements));
    }
    return out;
  }();
  return sizes[static_cast<size_t>(type)];
}

int64_t storage_bytes(DType type, int64_t elements) {
  const DTypeInfo& of = info(type);
  const int64_t block = of.block * of.rows, bits = of.bits * block + of.scale_bits;  // of one block
  const int64_t whole = elements / block, rest = elements % block;
  return (whole * bits + (rest * bits + block - 1) / block + 7) / 8;
}

bool is_quantized(DType type) { return type >= DType::FP8; }
bool is_integer(DType type) { return type == DType::Int64 || type == DType::Int32 || type == DType::Bool; }
bool is_arithmetic(DType type) { return !is_integer(type) && type <= DType::Int8; }
int64_t quantization_block(DType type) { return info(type).block; }
ElementFormat element_format(DType type) {
  return {info(type).bits, info(type).block, info(type).rows, info(type).scale_bits};
}
std::string_view dtype_name(DType type) { return info(type).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace shardscape
