#include "model/axis.h"

#include <array>

namespace shardscape {
namespace {

struct AxisInfo {
  std::string_view name;
  const char* size;
};
constexpr std::array<AxisInfo, kAxisCount> kAxes{{{"batch", "b·dp"},
                                                  {"seq", "S"},
                                                  {"hidden", "D"},
                                                  {"heads", "H"},
                                                  {"kv_heads", "G"},
                                                  {"head_dim", "E"},
                                                  {"ffn", "F"},
                                                  {"vocab", "Vp"},
                                                  {"positions", "Smax"},
                                                  // Mamba: channels; the state of each; taps of the convolution; rank of the
                                                  // step size; what x is projected to (step size, B and C). Mamba-2: groups
                                                  // that share B and C; heads of each; channels of a head.
                                                  {"ssm_inner", "e·D"},
                                                  {"ssm_state", "N"},
                                                  {"ssm_conv", "Kw"},
                                                  {"ssm_dt_rank", "Rd"},
                                                  {"ssm_proj", "Rd + 2·N"},
                                                  {"ssm_groups", "Gs"},
                                                  {"ssm_group_heads", "e·D/(P·Gs)"},
                                                  {"ssm_head_dim", "P"}}};

struct DTypeInfo {
  std::string_view name;
  int bytes;
};
constexpr std::array<DTypeInfo, 5> kTypes{
    {{"bfloat16", 2}, {"float16", 2}, {"float32", 4}, {"int64", 8}, {"bool", 1}}};

}  // namespace

std::string_view axis_name(Axis axis) { return kAxes[static_cast<size_t>(axis)].name; }

std::optional<Axis> axis_from_name(std::string_view name) {
  for (size_t i = 0; i < kAxes.size(); ++i)
    if (kAxes[i].name == name) return static_cast<Axis>(i);
  return std::nullopt;
}

const Expr& axis_size(Axis axis) {
  static const std::array<Expr, kAxisCount> sizes = [] {
    std::array<Expr, kAxisCount> out;
    for (size_t i = 0; i < out.size(); ++i) out[i] = std::get<Expr>(Expr::parse(kAxes[i].size));
    return out;
  }();
  return sizes[static_cast<size_t>(axis)];
}

int dtype_bytes(DType type) { return kTypes[static_cast<size_t>(type)].bytes; }
std::string_view dtype_name(DType type) { return kTypes[static_cast<size_t>(type)].name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace shardscape
