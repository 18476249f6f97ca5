// How a checkpoint stores the matrices of a model: a format for each role that a matrix plays. The bytes per
// weight and the way a format is multiplied follow from the publishers' files and inference engines; the
// table in weight_format.cpp names the source of each format.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.h"
#include "model/axis.h"

namespace shardscape {

// The role of a matrix in its block. Parameters of one block with the same role and inputs are one matrix of
// the checkpoint, as the two parts of a query head are of "q_b_proj". Vectors (norms, biases) and
// convolutions have no role: checkpoints store them in the data type.
enum class WeightRole : uint8_t {
  Q,
  K,
  V,
  O,
  QA,  // latent attention: down and up projections of queries, of keys and values
  QB,
  KvA,
  KvB,
  AttentionGate,  // multiplies the results of heads
  IndexQ,         // indexer of sparse attention
  IndexK,
  IndexWeights,
  Compressor,  // projections and gates of compressed keys
  Gate,
  Up,
  Down,
  ExpertGate,
  ExpertUp,
  ExpertDown,
  SharedGate,
  SharedUp,
  SharedDown,
  LatentDown,  // around experts of another width
  LatentUp,
  MixerIn,
  MixerX,
  MixerDt,
  MixerGate,  // decay, step and gate of linear attention
  MixerOut,
  Router,
  SharedRouter,  // the gate of shared experts
  Embed,
  Head,
  Mtp  // projection into a depth of multi-token prediction
};
inline constexpr int kWeightRoleCount = static_cast<int>(WeightRole::Mtp) + 1;
std::string_view weight_role_name(WeightRole role);  // "kv_a"
std::optional<WeightRole> weight_role_from_name(std::string_view name);
// Whether a format for all linear layers includes the role. Router, embedding, head and the small gates are
// included only where a file names them.
bool is_linear_role(WeightRole role);

// Roles under one name: "attention", "experts". Each role is in exactly one group.
struct WeightGroup {
  std::string_view name;
  std::vector<WeightRole> roles;
};
const std::vector<WeightGroup>& weight_groups();

enum class WeightFormat : uint8_t {
  Plain,  // in the data type
  FP8,
  FP8A16,
  FP8Block,
  FP8BlockE8M0,
  MXFP8,
  MXFP4,
  MXFP4A8,
  NVFP4,
  NVFP4A16,
  Int4G32,
  Int4G128
};
inline constexpr int kWeightFormatCount = static_cast<int>(WeightFormat::Int4G128) + 1;
std::string_view weight_format_name(WeightFormat format);  // "fp8-block"
std::optional<WeightFormat> weight_format_from_name(std::string_view name);
std::string weight_format_list();  // all names, for messages
// Type in memory. Not for Plain.
DType stored_type(WeightFormat format);
// Type of the matrix product. Nothing: the kernel dequantizes the weights and multiplies in the data type.
std::optional<DType> product_type(WeightFormat format);
// Bytes of scales that a whole matrix has beyond those of its blocks.
int64_t bytes_per_matrix(WeightFormat format);

// Formats by role; a role without an entry is stored in the data type.
using WeightFormats = std::map<WeightRole, WeightFormat>;
// Reads and writes formats as one text: "attention=fp8-block, experts=mxfp4, o=bf16". A name is a role or a
// group; a later entry replaces an earlier one. A Problem names the column.
Result<WeightFormats> parse_weight_formats(std::string_view text);
std::string weight_formats_text(const WeightFormats& formats);
// The entries under the names of groups where all roles of a group agree, otherwise of roles.
std::vector<std::pair<std::string_view, WeightFormat>> named_formats(const WeightFormats& formats);
// Drops entries that say what a missing entry says.
WeightFormats without_plain(WeightFormats formats);

}  // namespace shardscape
