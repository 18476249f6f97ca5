#include "model/weight_format.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/number_text.h"
#include "base/units.h"

namespace shardscape {
namespace {

struct RoleRow {
  std::string_view name, group;
  bool linear = true;
};
constexpr std::array<RoleRow, kWeightRoleCount> kRoles{{{"q", "attention"},
                                                        {"k", "attention"},
                                                        {"v", "attention"},
                                                        {"o", "attention"},
                                                        {"q_a", "attention"},
                                                        {"q_b", "attention"},
                                                        {"kv_a", "attention"},
                                                        {"kv_b", "attention"},
                                                        {"attention_gate", "attention"},
                                                        {"index_q", "indexer"},
                                                        {"index_k", "indexer"},
                                                        {"index_weights", "index_weights", false},
                                                        {"compressor", "compressor", false},
                                                        {"gate", "mlp"},
                                                        {"up", "mlp"},
                                                        {"down", "mlp"},
                                                        {"expert_gate", "experts"},
                                                        {"expert_up", "experts"},
                                                        {"expert_down", "experts"},
                                                        {"shared_gate", "shared_experts"},
                                                        {"shared_up", "shared_experts"},
                                                        {"shared_down", "shared_experts"},
                                                        {"latent_down", "latent", false},
                                                        {"latent_up", "latent", false},
                                                        {"mixer_in", "mixer"},
                                                        {"mixer_x", "mixer"},
                                                        {"mixer_dt", "mixer"},
                                                        {"mixer_gate", "mixer_gate", false},
                                                        {"mixer_out", "mixer"},
                                                        {"router", "router", false},
                                                        {"shared_router", "shared_router", false},
                                                        {"embed", "embed", false},
                                                        {"head", "head", false},
                                                        {"mtp", "mtp"}}};
const RoleRow& row(WeightRole role) { return kRoles[static_cast<size_t>(role)]; }

struct FormatRow {
  std::string_view name;
  DType stored;
  std::optional<DType> product;
  int64_t matrix_bytes = 0;
};
// fp8: one float32 scale per tensor, which counts as nothing next to the matrix (NVIDIA Model Optimizer,
// FP8). fp8-block: DeepSeek-V3, arXiv 2412.19437, section 3.3.2; -e8m0: "scale_fmt": "ue8m0" of later
// DeepSeek files. mxfp4: OCP Microscaling formats, arXiv 2310.10537; weights only in gpt-oss (arXiv
// 2508.10925), with FP8 activations in DeepSeek-V4. nvfp4: arXiv 2509.25149, with one float32 scale per
// matrix. int4: packed weights of compressed-tensors with a 16-bit scale per group. a16: activations stay in
// the data type.
constexpr std::array<FormatRow, kWeightFormatCount> kFormats{
    {{"bf16", DType::BF16, std::nullopt},
     {"fp8", DType::FP8, DType::FP8},
     {"fp8-a16", DType::FP8, std::nullopt},
     {"fp8-block", DType::FP8Block2D, DType::FP8Block},
     {"fp8-block-e8m0", DType::FP8BlockE8M0, DType::FP8Block},
     {"mxfp8", DType::MXFP8, DType::MXFP8},
     {"mxfp4", DType::MXFP4, std::nullopt},
     {"mxfp4-a8", DType::MXFP4, DType::FP8Block},
     {"nvfp4", DType::NVFP4, DType::NVFP4, 4},
     {"nvfp4-a16", DType::NVFP4, std::nullopt, 4},
     {"int4-g32", DType::Int4G32, std::nullopt},
     {"int4-g128", DType::Int4G128, std::nullopt}}};
const FormatRow& row(WeightFormat format) { return kFormats[static_cast<size_t>(format)]; }

const WeightGroup* group_named(std::string_view name) {
  for (const WeightGroup& group : weight_groups())
    if (group.name == name) return &group;
  return nullptr;
}

std::string name_list() {
  std::vector<std::string> names;
  for (const WeightGroup& group : weight_groups()) names.emplace_back(group.name);
  for (const RoleRow& role : kRoles)
    if (role.name != role.group) names.emplace_back(role.name);
  return or_list(names);
}

}  // namespace

std::string_view weight_role_name(WeightRole role) { return row(role).name; }

std::optional<WeightRole> weight_role_from_name(std::string_view name) {
  for (size_t i = 0; i < kRoles.size(); ++i)
    if (kRoles[i].name == name) return static_cast<WeightRole>(i);
  return std::nullopt;
}

bool is_linear_role(WeightRole role) { return row(role).linear; }

const std::vector<WeightGroup>& weight_groups() {
  static const std::vector<WeightGroup> groups = [] {
    std::vector<WeightGroup> out;
    for (size_t i = 0; i < kRoles.size(); ++i) {
      const auto known = std::find_if(out.begin(), out.end(),
                                      [&](const WeightGroup& g) { return g.name == kRoles[i].group; });
      (known == out.end() ? out.emplace_back(WeightGroup{kRoles[i].group, {}}) : *known)
          .roles.push_back(static_cast<WeightRole>(i));
    }
    return out;
  }();
  return groups;
}

std::string_view weight_format_name(WeightFormat format) { return row(format).name; }

std::optional<WeightFormat> weight_format_from_name(std::string_view name) {
  for (size_t i = 0; i < kFormats.size(); ++i)
    if (kFormats[i].name == name) return static_cast<WeightFormat>(i);
  return std::nullopt;
}

std::string weight_format_list() {
  std::vector<std::string> names;
  for (const FormatRow& format : kFormats) names.emplace_back(format.name);
  return or_list(names);
}

DType stored_type(WeightFormat format) {
  if (format == WeightFormat::Plain) throw std::logic_error("weights in the data type have no format");
  return row(format).stored;
}
std::optional<DType> product_type(WeightFormat format) { return row(format).product; }
int64_t bytes_per_matrix(WeightFormat format) { return row(format).matrix_bytes; }

Result<WeightFormats> parse_weight_formats(std::string_view text) {
  const auto wrong = [](size_t column, const std::string& what, const std::string& accepted) {
    return Problem{ProblemCode::WeightFormatSyntax, "weight_formats",
                   "column " + std::to_string(column) + ": " + what, accepted};
  };
  WeightFormats out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = trimmed(text.substr(begin, end - begin));
    const size_t column = static_cast<size_t>(item.data() - text.data()) + 1, equals = item.find('=');
    begin = end + 1;
    if (item.empty() && end == text.size() && out.empty()) break;
    const std::string_view name = trimmed(item.substr(0, equals));
    const WeightGroup* group = group_named(name);
    const auto role = weight_role_from_name(name);
    if (!group && !role)
      return wrong(column, "\"" + std::string(name) + "\" is not a role of weights", name_list());
    const std::string_view word = equals == std::string_view::npos ? "" : trimmed(item.substr(equals + 1));
    const auto format = weight_format_from_name(word);
    if (!format)
      return wrong(column,
                   word.empty() ? "\"" + std::string(name) + "\" has no format"
                                : "\"" + std::string(word) + "\" is not a format of weights",
                   std::string(name) + "= and " + weight_format_list());
    if (group)
      for (const WeightRole member : group->roles) out[member] = *format;
    else
      out[*role] = *format;
  }
  return out;
}

std::vector<std::pair<std::string_view, WeightFormat>> named_formats(const WeightFormats& formats) {
  std::vector<std::pair<std::string_view, WeightFormat>> out;
  for (const WeightGroup& group : weight_groups()) {
    const auto first = formats.find(group.roles.front());
    const bool same = first != formats.end() &&
                      std::all_of(group.roles.begin(), group.roles.end(), [&](WeightRole role) {
                        const auto it = formats.find(role);
                        return it != formats.end() && it->second == first->second;
                      });
    if (same) out.emplace_back(group.name, first->second);
    for (const WeightRole role : same ? std::vector<WeightRole>() : group.roles)
      if (const auto it = formats.find(role); it != formats.end())
        out.emplace_back(weight_role_name(role), it->second);
  }
  return out;
}

std::string weight_formats_text(const WeightFormats& formats) {
  std::string out;
  for (const auto& [name, format] : named_formats(formats))
    out += (out.empty() ? "" : ", ") + std::string(name) + "=" + std::string(weight_format_name(format));
  return out;
}

WeightFormats without_plain(WeightFormats formats) {
  std::erase_if(formats, [](const auto& entry) { return entry.second == WeightFormat::Plain; });
  return formats;
}

}  // namespace shardscape
