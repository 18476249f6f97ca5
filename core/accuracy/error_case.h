// The case of a run: what decides which measured errors are comparable with the errors of a prediction.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "design/design.h"

namespace shardscape {

// The type of most matrix products: 32 bits, 16 bits, 8 bits, 4 bits. In inference, of the narrowest weights.
enum class PrecisionClass : uint8_t { Bits32, Bits16, Bits8, Bits4 };
// Hybrid: layers with a state (state-space mixers, linear attention), with or without experts.
enum class ModelKind : uint8_t { Dense, Experts, Hybrid };
// Node: all ranks in one node. UpTo64 and UpTo1024: on several nodes, at most so many ranks.
enum class ScaleClass : uint8_t { Node, UpTo64, UpTo1024, More };
inline constexpr int kPrecisionClassCount = 4, kModelKindCount = 3, kScaleClassCount = 4;

// "16", "experts", "up_to_64": in data files.
std::string_view precision_class_name(PrecisionClass precision);
std::string_view model_kind_name(ModelKind kind);
std::string_view scale_class_name(ScaleClass scale);
// "16 bits", "mixtures of experts", "up to 64 GPUs": for people.
std::string_view precision_class_label(PrecisionClass precision);
std::string_view model_kind_label(ModelKind kind);
std::string_view scale_class_label(ScaleClass scale);

struct ErrorCase {
  std::string accelerator;  // id in the catalogue
  PrecisionClass precision = PrecisionClass::Bits16;
  ModelKind kind = ModelKind::Dense;
  ScaleClass scale = ScaleClass::Node;
  friend auto operator<=>(const ErrorCase&, const ErrorCase&) = default;
};

// The case of a valid design.
ErrorCase error_case(const Design& design);

}  // namespace shardscape
